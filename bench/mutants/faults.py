"""The faults of a module: changes by mutmut's operators in functions, except in texts and code that only costs time.

A fault is identified by the function and the lines that it changes, so that moving code does not make it a new one.
"""

from __future__ import annotations

import difflib
import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import libcst as cst
from libcst import matchers
from mutmut.mutation.mutators import mutation_operators

#: What is loaded along, locked or remembered: tests on one SQLite see no difference. Races have tests of their own.
_ONLY_COSTS_TIME = frozenset({"options", "execution_options", "with_for_update"})
#: zip's: what it asserts cannot happen, or would be a fault of its own. Locks, and what is read anew under them: as
#: above. The name of an encoding: Python takes it in capitals, too.
_NEVER_CHANGED_ARGUMENTS = frozenset(
    {"strict", "with_for_update", "lock", "key_share", "populate_existing", "encoding"}
)
_NEVER_CHANGED = frozenset({"len", "isinstance", "cast"})
#: Take a code, and a sentence for people.
_PROBLEMS = frozenset({"add", "Problem"})
_LOGGERS = frozenset({"log", "logger"})
#: `Team.id == Submission.team_id`: without it SQLAlchemy joins by the same foreign key, or refuses where there are two.
_JOINS = frozenset({"join", "outerjoin"})
_ID = matchers.Attribute(value=matchers.Name(), attr=matchers.Name("id"))
_COLUMN = matchers.Attribute(value=matchers.Name())
_OF_A_KEY = matchers.Comparison(_ID, [matchers.ComparisonTarget(matchers.Equal(), _COLUMN)]) | matchers.Comparison(
    _COLUMN, [matchers.ComparisonTarget(matchers.Equal(), _ID)]
)


#: A node, and what an operator makes of it.
Change = tuple[cst.CSTNode, cst.CSTNode]


@dataclass(frozen=True)
class Fault:
    """One changed expression. function: its qualified name; number: its index in the function; kind: the name of a
    semantic operator, empty for mutmut's."""

    module: str
    function: str
    number: int
    tree: cst.Module
    node: cst.FunctionDef
    old: cst.CSTNode
    new: cst.CSTNode
    kind: str = ""

    def rank(self, seed: str) -> str:
        """Return its rank in a sample, from the fault alone, so that changes of other functions do not matter."""
        kind = f" {self.kind}" if self.kind else ""
        return hashlib.sha256(f"{seed} {self.module} {self.function} {self.number}{kind}".encode()).hexdigest()

    def source(self) -> str:
        """Return the whole changed module."""
        return cst.ensure_type(self.tree.deep_replace(self.old, self.new), cst.Module).code

    def lines(self) -> tuple[str, str]:
        """Return the changed lines before and after; each stripped, several joined."""
        before, after = (cst.Module([node]).code for node in (self.node, self.node.deep_replace(self.old, self.new)))  # type: ignore[list-item]
        told = list(difflib.ndiff(before.splitlines(), after.splitlines()))
        gone, come = ([line[2:].strip() for line in told if line.startswith(sign)] for sign in ("- ", "+ "))
        return " ".join(gone), " ".join(come)


Key = tuple[str, str, str, str]


def key_of(fault: Fault) -> Key:
    """Return the identity of a fault: its module, its function, and the lines before and after."""
    return (fault.module, fault.function, *fault.lines())


def faults_of(module: str, source: str) -> list[Fault]:
    """Return the faults of the module to try, in the order of the code."""
    tree = cst.parse_module(source)
    found: list[Fault] = []
    for name, function in functions_of(tree.body):
        changes = _Changes()
        function.visit(changes)
        found += [
            Fault(module, name, number, tree, function, old, new) for number, (old, new) in enumerate(changes.found)
        ]
    return found


def functions_of(body: Sequence[cst.CSTNode], within: str = "") -> Iterator[tuple[str, cst.FunctionDef]]:
    """Return the functions of the module and of its classes, with their names; nested functions are part of them."""
    for node in body:
        if isinstance(node, cst.FunctionDef):
            yield within + node.name.value, node
        elif isinstance(node, cst.ClassDef):
            yield from functions_of(node.body.body, f"{within}{node.name.value}.")


class _Changes(cst.CSTVisitor):
    """Collects (node, replacement) for every node of a function that decides something."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[cst.CSTNode, cst.CSTNode]] = []
        self._left_alone: set[int] = set()
        self._raised: set[int] = set()
        self._without_effect: set[int] = set()

    def on_visit(self, node: cst.CSTNode) -> bool:
        if id(node) in self._left_alone or _is_for_readers(node):
            return False
        if isinstance(node, cst.Expr) and _only_locks(node.value):
            return False
        if isinstance(node, cst.Arg) and node.keyword and node.keyword.value in _NEVER_CHANGED_ARGUMENTS:
            return False
        if isinstance(node, cst.Raise) and isinstance(node.exc, cst.Call):
            self._leave_alone(_words_of(node.exc))
            self._raised.add(id(node.exc))
        if isinstance(node, cst.ComparisonTarget) and isinstance(node.operator, cst.In):
            self._leave_alone(
                [node.comparator] if isinstance(node.comparator, cst.SimpleString) else []
            )  # of characters
        if isinstance(node, cst.Call):
            self._without_effect |= {id(inner) for inner in _without_effect(node)}
        if id(node) in self._without_effect and isinstance(node, cst.Call):
            self._leave_alone(node.args)
        else:
            self._change(node)
        return True

    def _leave_alone(self, nodes: Iterable[cst.CSTNode]) -> None:
        self._left_alone |= {id(node) for node in nodes}

    def _change(self, node: cst.CSTNode) -> None:
        for kind, operator in mutation_operators:
            if isinstance(node, kind):
                self.found += [(node, changed) for changed in operator(node) if not self._is_no_fault(node, changed)]

    def _is_no_fault(self, node: cst.CSTNode, changed: cst.CSTNode) -> bool:
        if isinstance(node, cst.Call) and isinstance(changed, cst.Call):
            return (
                self._takes_words(node, changed)
                or _left_alone_in(node) != _left_alone_in(changed)
                or _is_none_for_false(node, changed)
            )
        return False

    def _takes_words(self, node: cst.Call, changed: cst.Call) -> bool:
        """Return whether it only removes the sentence of an error; its class and details count, its words do not."""
        if id(node) in self._raised:
            return _words_of(node) != _words_of(changed)
        return _is_problem(node) and _words_of(node)[1] not in _words_of(changed)[1:2]


def _is_for_readers(node: cst.CSTNode) -> bool:
    """Return whether it changes types, texts, logs, docstrings, or decorators and defaults that run on import."""
    if isinstance(node, (cst.Annotation, cst.Decorator, cst.FormattedString, cst.ConcatenatedString)):
        return True
    if isinstance(node, cst.SimpleString):
        return any(character.isspace() for character in node.value)
    if isinstance(node, cst.Param):
        return not isinstance(node.default, (cst.Name, cst.BaseNumber, cst.BaseString, type(None)))
    if not isinstance(node, cst.Call):
        return False
    logger = matchers.Attribute(value=matchers.Name())
    is_log = matchers.matches(node.func, logger) and cst.ensure_type(node.func, cst.Attribute).value.value in _LOGGERS  # type: ignore[attr-defined]
    return is_log or _name_of(node) in _NEVER_CHANGED


def _without_effect(call: cst.Call) -> list[cst.Call]:
    """Return the calls, this or inner ones, whose arguments no test of a trial could distinguish."""
    if _name_of(call) in _ONLY_COSTS_TIME:
        ordered = _chain(call.func) if _name_of(call) == "with_for_update" else []
        return [call, *(inner for inner in ordered if _name_of(inner) == "order_by")]  # in which rows are locked
    if _name_of(call) == "scalar" and call.args:  # takes the first row, of however many
        return [inner for inner in _chain(call.args[0].value) if _name_of(inner) == "limit"]
    return []


def _only_locks(statement: cst.BaseExpression) -> bool:
    """`session.execute(select(…).with_for_update())`, of which nobody takes the rows."""
    executed = [call for call in _chain(statement) if _name_of(call) == "execute" and call.args]
    return any(_name_of(call) == "with_for_update" for one in executed for call in _chain(one.args[0].value))


def _chain(node: cst.BaseExpression) -> list[cst.Call]:
    """`select(…)`, `.where(…)` and so on of a statement, the last one first."""
    calls: list[cst.Call] = []
    while isinstance(node, (cst.Call, cst.Attribute)):
        if isinstance(node, cst.Call):
            calls.append(node)
        node = node.func if isinstance(node, cst.Call) else node.value
    return calls


def _left_alone_in(call: cst.Call) -> list[str]:
    """Return the arguments of a call that are never changed or dropped, as written."""
    named = [argument for argument in call.args if argument.keyword]
    kept = [one.value for one in named if one.keyword and one.keyword.value in _NEVER_CHANGED_ARGUMENTS]
    kept += [one.value for one in call.args if _name_of(call) in _JOINS and matchers.matches(one.value, _OF_A_KEY)]
    return [cst.Module([]).code_for_node(value) for value in kept]


def _is_none_for_false(call: cst.Call, changed: cst.Call) -> bool:
    """Return whether None replaces False or the reverse; replacing it by True is a separate fault."""
    if len(call.args) != len(changed.args):
        return False
    pairs = [(_name(old.value), _name(new.value)) for old, new in zip(call.args, changed.args, strict=True)]
    return ("False", "None") in pairs


def _name(node: cst.BaseExpression) -> str:
    return node.value if isinstance(node, cst.Name) else ""


def _words_of(call: cst.Call) -> list[cst.Arg]:
    return [argument for argument in call.args if argument.keyword is None]


def _is_problem(call: cst.Call) -> bool:
    """`problems.add("bad-id", "a sentence", …)`, `Problem("bad-id", "a sentence", …)`."""
    words = _words_of(call)
    return _name_of(call) in _PROBLEMS and len(words) > 1 and isinstance(words[0].value, cst.SimpleString)


def _name_of(call: cst.Call) -> str:
    """Return the last part of the called name."""
    return getattr(getattr(call.func, "attr", call.func), "value", "")
