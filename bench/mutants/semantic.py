"""Faults of careless refactoring: code that still reads well but uses a neighbouring value.

A filter is dropped; two values of one kind are swapped, in filters or in arguments side by side; a right, a role, a
state or a visibility becomes its neighbour; any run passes for the current one; an id passes for a position or a
number; before becomes after; a key of a cache, or a version, has a part less. All run: no name and no type changes.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path

import libcst as cst

from bench.mutants.faults import Change, Fault, functions_of

ROOT = Path(__file__).resolve().parents[2]

#: An operator of the database's tables alone.
COLUMN = "another column"
#: What it makes of a value is nothing that could be assigned to.
ANY_RUN = "any run"
_FILTERS = frozenset({"where", "filter", "having"})
_BOTH = frozenset({"and_"})
#: Calls that mean the same with their arguments swapped.
_SYMMETRIC = frozenset(
    {"max", "min", "and_", "or_", "union", "isdisjoint", "zip", "isclose", "join", "print", "where", "group_by"}
)
_CURRENT = "is_current"
#: A column, and the one that is taken for it.
_POSITIONS = {"position": "id", "number": "id"}
_MOMENTS = {"starts_at": "ends_at", "ends_at": "starts_at"}
_SMALLER = {cst.LessThan: cst.GreaterThan, cst.LessThanEqual: cst.GreaterThanEqual}
_TURNED = {**_SMALLER, **{later: sooner for sooner, later in _SMALLER.items()}}
_EXTREMES = {"max": "min", "min": "max", "asc": "desc", "desc": "asc"}
_MOMENT = re.compile(r"(^now|_at|^at|_from|^start|^ends?|^since|^until|^close|^closed|moment|deadline|cutoff)$")
_KEY = re.compile(r"(^|_)(key|version|versions|etag|stamp|rules|identity|digest|fingerprint|tag)(_|$)")
_CACHED = re.compile(r"(cache|kept|found|known|seen)")
#: The kind of a value by how its name ends: two of one kind are easily taken for each other.
_KINDS = (
    (re.compile(r"(^|_)ids?$"), "id"),
    (_MOMENT, "moment"),
    (re.compile(r"(^|_)(bytes|seconds|count|total|limit|number|position|left|done|day|week|month|hour)$"), "number"),
    (re.compile(r"(^|_)(name|username|title|note|filename|text|sha256)$"), "text"),
    (re.compile(r"^(is|has|may|with|shows)_"), "truth"),
)
_PLAIN = frozenset(
    {"int", "str", "float", "bool", "UUID", "datetime", "User", "Team", "Phase", "PhaseTask", "Competition"}
)


def semantic_faults_of(module: str, source: str) -> list[Fault]:
    """Return the faults of the module to try, in the order of the code, each once."""
    tree = cst.parse_module(source)
    found: list[Fault] = []
    for name, function in functions_of(tree.body):
        search = _Search(name, _annotations(function))
        function.visit(search)
        found += [
            Fault(module, name, number, tree, function, old, new, kind)
            for number, (kind, old, new) in enumerate(search.found)
            if kind != COLUMN or module.startswith("app/")  # elsewhere nothing has an id beside its position
        ]
    return found


class _Search(cst.CSTVisitor):
    """Collects (operator, node, replacement) for every node of a function."""

    def __init__(self, function: str, annotated: Mapping[str, str]) -> None:
        super().__init__()
        self.found: list[tuple[str, cst.CSTNode, cst.CSTNode]] = []
        self._annotated = annotated
        self._targets: set[cst.CSTNode] = set()
        self._makes_key = bool(_KEY.search(function.rpartition(".")[2]))

    def on_visit(self, node: cst.CSTNode) -> bool:
        if isinstance(node, (cst.Annotation, cst.Decorator)) or _is_log(node):
            return False
        if isinstance(node, cst.AssignTarget):
            self._targets.add(node.target)
        for kind, operator in _OPERATORS:
            if kind != ANY_RUN or node not in self._targets:
                self.found += [(kind, *change) for change in operator(node)]
        for kind, by_kind in _BY_KIND:
            self.found += [(kind, *change) for change in by_kind(node, self._kind_of)]
        if self._makes_key or _is_key(node):
            self.found += [("a part of a key less", *change) for change in _without_a_part(node)]
        return True

    def _kind_of(self, value: cst.BaseExpression) -> str:
        """Return the kind of a value, empty if unknown."""
        if isinstance(value, (cst.Integer, cst.Float)):
            return "number"
        if not isinstance(value, (cst.Name, cst.Attribute)):
            return ""
        name = value.value if isinstance(value, cst.Name) else value.attr.value
        if isinstance(value, cst.Name) and value.value in self._annotated:
            return self._annotated[value.value]
        if (
            isinstance(value, cst.Attribute)
            and isinstance(value.value, cst.Name)
            and value.value.value in enumerations()
        ):
            return value.value.value
        return next((kind for ending, kind in _KINDS if ending.search(name)), "")


def _annotations(function: cst.FunctionDef) -> dict[str, str]:
    """Return the plain types of annotated parameters; `int | None` counts as int."""
    every = [*function.params.params, *function.params.kwonly_params, *function.params.posonly_params]
    said = {
        one.name.value: cst.Module([]).code_for_node(one.annotation.annotation).removesuffix(" | None")
        for one in every
        if one.annotation is not None
    }
    return {name: kind for name, kind in said.items() if kind in _PLAIN or kind in enumerations()}


@cache
def enumerations() -> Mapping[str, Sequence[str]]:
    """Return the members of every enumeration of the project, by its name."""
    found: dict[str, Sequence[str]] = {}
    for folder in ("app", "evergold", "workers"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            text = path.read_text(encoding="utf-8")
            if "Enum" in text:
                found |= dict(_enumerations_in(text))
    return found


def _enumerations_in(source: str) -> Iterator[tuple[str, list[str]]]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ClassDef) and any("Enum" in ast.unparse(base) for base in node.bases):
            targets = [one.targets[0] for one in node.body if isinstance(one, ast.Assign)]
            yield node.name, [target.id for target in targets if isinstance(target, ast.Name)]


# ----------------------------------------------------------------------------------------------------------- operators


def _dropped_filters(node: cst.CSTNode) -> Iterator[Change]:
    """Drop a condition of a query, of a comprehension, or next to another one."""
    if isinstance(node, cst.Call) and _called(node) in _FILTERS | _BOTH:
        conditions = [argument for argument in node.args if argument.keyword is None and not argument.star]
        if len(conditions) > 1:
            yield from ((node, node.with_changes(args=_without(node.args, one))) for one in conditions)
        elif conditions and _called(node) in _FILTERS and isinstance(node.func, cst.Attribute):
            yield node, _in_brackets_of(node, node.func.value)
    if isinstance(node, cst.CompFor):
        yield from ((node, node.with_changes(ifs=[one for one in node.ifs if one is not left])) for left in node.ifs)
    if isinstance(node, cst.BooleanOperation) and isinstance(node.operator, cst.And):
        yield from ((node, _in_brackets_of(node, side)) for side in (node.left, node.right))


def _neighbours(node: cst.CSTNode) -> Iterator[Change]:
    """`Right.GOLD` becomes `Right.MESSAGES`, `RunStatus.QUEUED` becomes `RunStatus.RUNNING`."""
    if isinstance(node, cst.Attribute) and isinstance(node.value, cst.Name):
        members = enumerations().get(node.value.value, ())
        if node.attr.value in members and len(members) > 1:
            following = members[(members.index(node.attr.value) + 1) % len(members)]
            yield node, node.with_changes(attr=cst.Name(following))


def _any_run(node: cst.CSTNode) -> Iterator[Change]:
    """Replace a check for the current run by one that accepts any run."""
    if isinstance(node, cst.Attribute) and node.attr.value == _CURRENT:
        yield node, cst.parse_expression(f"({cst.Module([]).code_for_node(node)} | True)")


def _other_columns(node: cst.CSTNode) -> Iterator[Change]:
    if isinstance(node, cst.Attribute) and isinstance(node.value, cst.Name):
        other = {**_POSITIONS, **_MOMENTS}.get(node.attr.value)
        if other:
            yield node, node.with_changes(attr=cst.Name(other))


def _turned(node: cst.CSTNode) -> Iterator[Change]:
    """Turn before into after, and the first into the last."""
    if isinstance(node, cst.Comparison) and len(node.comparisons) == 1:
        target = node.comparisons[0]
        other = _TURNED.get(type(target.operator))
        if other and any(_is_moment(side) for side in (node.left, target.comparator)):
            yield node, node.with_changes(comparisons=[target.with_changes(operator=other())])
    if isinstance(node, cst.BinaryOperation) and _is_moment(node.left):
        sign = {cst.Add: cst.Subtract, cst.Subtract: cst.Add}.get(type(node.operator))
        if sign and not _is_moment(node.right):
            yield node, node.with_changes(operator=sign())
    if isinstance(node, cst.Call) and _called(node) in _EXTREMES:
        other_name = cst.Name(_EXTREMES[_called(node)])
        func = node.func.with_changes(attr=other_name) if isinstance(node.func, cst.Attribute) else other_name
        yield node, node.with_changes(func=func)


KindOf = Callable[[cst.BaseExpression], str]


def _swapped_filters(node: cst.CSTNode, kind_of: KindOf) -> Iterator[Change]:
    """Swap the values of `where(A.x == one, B.y == other)`, if they are of one kind."""
    if not isinstance(node, cst.Call) or _called(node) not in _FILTERS | _BOTH:
        return
    equal = [(argument, compared) for argument in node.args if (compared := _compared(argument.value))]
    for (one, (_, first)), (other, (_, second)) in pairwise(equal):
        if _are_alike(first, second, kind_of):
            changed = {id(one): (first, second), id(other): (second, first)}
            yield (
                node,
                node.with_changes(
                    args=[
                        argument.deep_replace(*changed[id(argument)]) if id(argument) in changed else argument
                        for argument in node.args
                    ]
                ),
            )


def _swapped_arguments(node: cst.CSTNode, kind_of: KindOf) -> Iterator[Change]:
    """Swap two adjacent arguments of one kind."""
    if not isinstance(node, cst.Call) or _called(node) in _SYMMETRIC | _FILTERS:
        return
    for place, (one, other) in enumerate(pairwise(node.args)):
        if one.star or other.star or (one.keyword is None) != (other.keyword is None):
            continue
        if _are_alike(one.value, other.value, kind_of):
            args = list(node.args)
            args[place], args[place + 1] = one.with_changes(value=other.value), other.with_changes(value=one.value)
            yield node, node.with_changes(args=args)


def _without_a_part(node: cst.CSTNode) -> Iterator[Change]:
    """Drop a part of a tuple, or of an f-string of several values."""
    if isinstance(node, (cst.Assign, cst.AnnAssign, cst.Return)) and node.value is not None:
        yield from _shorter(node.value)
    if isinstance(node, cst.Call) and _called(node) in {"sha256", "dumps", "repr"} and node.args:
        yield from _shorter(node.args[0].value)
    if isinstance(node, (cst.Assign, cst.Return)) and isinstance(node.value, cst.Call):
        yield from (change for argument in node.value.args for change in _shorter(argument.value))


def _shorter(value: cst.BaseExpression) -> Iterator[Change]:
    if isinstance(value, (cst.Tuple, cst.List)) and len(value.elements) > 1:
        for left in value.elements:
            elements = [one for one in value.elements if one is not left]
            last = elements[-1].with_changes(comma=cst.Comma()) if len(elements) == 1 else elements[-1]
            yield value, value.with_changes(elements=[*elements[:-1], last])
    if isinstance(value, cst.FormattedString):
        parts = [part for part in value.parts if isinstance(part, cst.FormattedStringExpression)]
        if len(parts) > 1:
            yield from (
                (value, value.with_changes(parts=[part for part in value.parts if part is not left])) for left in parts
            )


_OPERATORS: Sequence[tuple[str, Callable[[cst.CSTNode], Iterable[Change]]]] = (
    ("a filter less", _dropped_filters),
    ("a neighbouring constant", _neighbours),
    (ANY_RUN, _any_run),
    (COLUMN, _other_columns),
    ("before for after", _turned),
)
_BY_KIND: Sequence[tuple[str, Callable[[cst.CSTNode, KindOf], Iterable[Change]]]] = (
    ("filters swapped", _swapped_filters),
    ("arguments swapped", _swapped_arguments),
)


# ------------------------------------------------------------------------------------------------------------- looking


def _is_key(node: cst.CSTNode) -> bool:
    """Return whether this names a key: `key = (…)`."""
    return isinstance(node, cst.Assign) and any(
        isinstance(one.target, cst.Name) and bool(_KEY.search(one.target.value)) for one in node.targets
    )


def _is_moment(value: cst.BaseExpression) -> bool:
    name = value.attr if isinstance(value, cst.Attribute) else value
    return isinstance(name, cst.Name) and bool(_MOMENT.search(name.value))


def _compared(value: cst.BaseExpression) -> tuple[cst.BaseExpression, cst.BaseExpression] | None:
    """Return the sides of `A.x == one`."""
    if isinstance(value, cst.Comparison) and len(value.comparisons) == 1:
        target = value.comparisons[0]
        if isinstance(target.operator, cst.Equal):
            return value.left, target.comparator
    return None


def _are_alike(one: cst.BaseExpression, other: cst.BaseExpression, kind_of: KindOf) -> bool:
    return bool(kind_of(one)) and kind_of(one) == kind_of(other) and not one.deep_equals(other)


def _in_brackets_of(whole: cst.BaseExpression, part: cst.BaseExpression) -> cst.BaseExpression:
    """Put a replacement in the brackets of the whole, since these may join several lines."""
    changed: cst.BaseExpression = part.with_changes(lpar=[*whole.lpar, *part.lpar], rpar=[*part.rpar, *whole.rpar])
    return changed


def _without(arguments: Sequence[cst.Arg], left: cst.Arg) -> list[cst.Arg]:
    return [argument for argument in arguments if argument is not left]


def _is_log(node: cst.CSTNode) -> bool:
    if not isinstance(node, cst.Call) or not isinstance(node.func, cst.Attribute):
        return False
    return isinstance(node.func.value, cst.Name) and node.func.value.value in {"log", "logger"}


def _called(call: cst.Call) -> str:
    """Return the last part of the called name."""
    return getattr(getattr(call.func, "attr", call.func), "value", "")
