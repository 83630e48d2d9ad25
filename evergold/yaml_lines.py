"""Read YAML with the line and column of every value. Sizes, depth and aliases are bounded; no tag runs any code.

Plain values follow YAML 1.2: `no` is a word and not false, `2026-01-10 12:00 UTC` is text, `12:30` no number.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

#: Limit of the size of a file, and of its values once every alias is written out.
FILE_LIMIT_BYTES = 256 * 1024
#: Limits of the number of values in a file, aliases counted as often as they are used, and of their depth.
NODES_LIMIT = 20_000
DEPTH_LIMIT = 50
#: Number of faults of a file that are reported.
FAULTS_LIMIT = 50

Scalar = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Node:
    """A value and its position; for an entry of a mapping, the position of its key. Lines and columns begin at 1."""

    value: Scalar | dict[str, Node] | list[Node]
    file: str
    line: int
    column: int

    @property
    def entries(self) -> dict[str, Node]:
        """The entries of a mapping; empty for anything else."""
        return self.value if isinstance(self.value, dict) else {}

    @property
    def elements(self) -> list[Node]:
        """The elements of a list; empty for anything else."""
        return self.value if isinstance(self.value, list) else []

    @property
    def text(self) -> str | None:
        """The value if it is text, else None."""
        return self.value if isinstance(self.value, str) else None

    def plain(self) -> Any:
        """Return the value as Python has it: dictionaries, lists, scalars."""
        if isinstance(self.value, dict):
            return {name: node.plain() for name, node in self.value.items()}
        return [node.plain() for node in self.value] if isinstance(self.value, list) else self.value

    def at(self, path: Sequence[str | int]) -> Node:
        """Return the value at the end of the path of keys and indices, or the last existing one on the way."""
        node = self
        for step in path:
            inside: Node | None = None
            if isinstance(step, int):
                inside = node.elements[step] if step < len(node.elements) else None
            else:
                inside = node.entries.get(step)
            if inside is None:
                break
            node = inside
        return node


@dataclass(frozen=True, slots=True)
class Fault:
    """A reason why a file, or a part of it, cannot be read as YAML."""

    line: int
    column: int
    message: str


def read_yaml(path: Path, file: str) -> tuple[Node | None, list[Fault]]:
    """Return the document (None if it cannot be read at all) and its faults. file: its name in every Node.

    Raises OSError if the file cannot be opened.
    """
    with path.open("rb") as stream:
        data = stream.read(FILE_LIMIT_BYTES + 1)
    if len(data) > FILE_LIMIT_BYTES:
        return None, [_too_long()]
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        return None, [Fault(1 + data.count(b"\n", 0, fault.start), 1, "the file is not UTF-8 text")]
    return read_yaml_text(text, file)


def read_yaml_text(text: str, file: str) -> tuple[Node | None, list[Fault]]:
    """Parse a text as `read_yaml` parses a file; `file` names it in every Node."""
    if len(text.encode("utf-8", "surrogatepass")) > FILE_LIMIT_BYTES:
        return None, [_too_long()]
    try:
        loader = _Loader(text)
        try:
            tree = loader.get_single_node()
        finally:
            loader.dispose()
    except yaml.reader.ReaderError as fault:
        line = 1 + text.count("\n", 0, fault.position)
        return None, [Fault(line, 1, "this line contains a control character: remove it")]
    except _TooMuch as reached:
        return None, [reached.fault]
    except yaml.MarkedYAMLError as fault:
        return None, [_syntax_fault(fault)]
    except RecursionError:  # the parser recurses once for each level
        return None, [Fault(1, 1, f"values are nested more than {DEPTH_LIMIT} deep")]
    if tree is None:
        return None, [Fault(1, 1, "the file is empty")]
    builder = _Builder(file)
    node = builder.build(tree, tree.start_mark, 0)
    return node, builder.faults


def _too_long() -> Fault:
    return Fault(1, 1, f"the file is larger than {FILE_LIMIT_BYTES // 1024} KiB: is this the right one?")


class _Loader(yaml.SafeLoader):
    """Counts values while it parses, so that a hostile file ends early.

    Leaves plain values to `plain_scalar`: without resolvers everything is text.
    """

    yaml_implicit_resolvers: dict[str, Any] = {}

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.values = self.depth = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        self.values += 1
        if self.values > NODES_LIMIT:
            raise self._fault(f"the file has more than {NODES_LIMIT:,} values")
        if self.depth > DEPTH_LIMIT:
            raise self._fault(f"values are nested more than {DEPTH_LIMIT} deep")
        self.depth += 1
        try:
            return super().compose_node(parent, index)
        finally:
            self.depth -= 1

    def _fault(self, message: str) -> _TooMuch:
        mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]  # as types-PyYAML has it
        return _TooMuch(Fault(mark.line + 1, mark.column + 1, message))


class _TooMuch(Exception):
    """A limit was reached while parsing."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.message)
        self.fault = fault


@dataclass(slots=True)
class _Builder:
    """Turns PyYAML's nodes into ours, counting, because an alias may repeat a very large value many times."""

    file: str
    faults: list[Fault] = field(default_factory=list)
    built: int = 0
    characters: int = 0

    def build(self, tree: yaml.Node, place: yaml.Mark, depth: int) -> Node:
        value: Scalar | dict[str, Node] | list[Node] = None
        if self.is_too_much(place, depth):
            pass
        elif isinstance(tree, yaml.MappingNode):
            value = self.mapping(tree, depth)
        elif isinstance(tree, yaml.SequenceNode):
            value = [self.build(child, child.start_mark, depth + 1) for child in tree.value]
        elif isinstance(tree, yaml.ScalarNode):
            value = self.scalar(tree)
        if tree.tag not in _PLAIN_TAGS:
            self.note(place, f"the tag {_tag(tree.tag)} is not allowed here")
        return Node(value, self.file, place.line + 1, place.column + 1)

    def mapping(self, tree: yaml.MappingNode, depth: int) -> dict[str, Node]:
        """Return the entries in order; those merged by `<<` come first, and the mapping's own entries override them."""
        merged: dict[str, Node] = {}
        entries: dict[str, Node] = {}
        for key, child in tree.value:
            if not isinstance(key, yaml.ScalarNode):
                self.note(key.start_mark, "a key is a single word, not a list or mapping")
            elif key.value == "<<" and key.style is None:
                for source in self.merge_sources(child):
                    if not self.is_too_much(key.start_mark, depth):
                        merged.update(self.mapping(source, depth + 1))
            elif key.value in entries:
                first = entries[key.value].line
                self.note(key.start_mark, f"the key '{key.value}' occurs twice; first on line {first}")
            else:
                entries[key.value] = self.build(child, key.start_mark, depth + 1)
        return {**merged, **entries}

    def merge_sources(self, tree: yaml.Node) -> Iterator[yaml.MappingNode]:
        sources = tree.value if isinstance(tree, yaml.SequenceNode) else [tree]
        for source in reversed(sources):  # of several, the first one wins
            if isinstance(source, yaml.MappingNode):
                yield source
            else:
                self.note(tree.start_mark, "'<<' needs a mapping (or a list of mappings), usually an alias")

    def scalar(self, tree: yaml.ScalarNode) -> Scalar:
        text: str = tree.value
        self.characters += len(text)
        if "\0" in text or any("\ud800" <= character <= "\udfff" for character in text):
            self.note(tree.start_mark, "the text has a character that cannot be stored (NUL or an unpaired surrogate)")
            return ""
        return text if tree.style else plain_scalar(text)

    def is_too_much(self, place: yaml.Mark, depth: int) -> bool:
        """Count one more value and return whether a limit is exceeded.

        The limit of depth ends an alias that contains itself.
        """
        self.built += 1
        if self.built <= NODES_LIMIT and depth <= DEPTH_LIMIT and self.characters <= FILE_LIMIT_BYTES:
            return False
        if not any(fault.message == _TOO_MUCH for fault in self.faults):
            self.faults.append(Fault(place.line + 1, place.column + 1, _TOO_MUCH))
        return True

    def note(self, place: yaml.Mark, message: str) -> None:
        fault = Fault(place.line + 1, place.column + 1, message)
        if len(self.faults) < FAULTS_LIMIT and fault not in self.faults:
            self.faults.append(fault)


_TOO_MUCH = "the value is too large or too deep; does an alias (*name) contain itself?"
_PLAIN_TAGS = frozenset(f"tag:yaml.org,2002:{kind}" for kind in ("str", "seq", "map"))
_WORDS: dict[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_INTEGER = re.compile(r"[-+]?[0-9]{1,18}")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")


def plain_scalar(text: str) -> Scalar:
    """Return the meaning of a plain value: None, a truth value, a number, or else text."""
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text):
        return int(text)
    if _FLOAT.fullmatch(text) and math.isfinite(number := float(text)):
        return number
    return text


def _tag(tag: str) -> str:
    return tag.replace("tag:yaml.org,2002:", "!!")[:60]


#: Complaints of the parser, and advice for organisers.
_IN_WORDS = {
    "cannot start any token": (
        "this character is not allowed here: indent YAML with spaces, not tabs, and put text with special "
        "characters in quotes"
    ),
    "mapping values are not allowed here": (
        "a ':' is not expected here: put text that contains ': ' in quotes, and indent all keys of a mapping equally"
    ),
    "could not find expected ':'": "this is neither 'key: value' nor the continuation of the lines before",
    "unexpected end of stream": "a quotation mark is opened here and never closed",
    "expected <block end>": "the indentation does not fit the lines before",
    "expected ',' or": "a list [a, b] or mapping {a: b} was opened before and not closed",
    "undefined alias": "there is no anchor (&name) before this alias",
    "duplicate anchor": "the anchor's name is used twice",
    "expected a single document": "a second document ('---') begins here; a file may contain only one",
    "unknown escape character": "a backslash in double quotes may only precede certain letters; use single quotes",
}


def _syntax_fault(fault: yaml.MarkedYAMLError) -> Fault:
    message = f"{fault.problem or ''} {fault.context or ''}"
    known = next((words for sign, words in _IN_WORDS.items() if sign in message), None)
    unclosed = known is not None and "never closed" in known
    mark = (fault.context_mark if unclosed else fault.problem_mark) or fault.context_mark
    line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
    return Fault(line, column, f"not YAML: {known or message.strip()}")
