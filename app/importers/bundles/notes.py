"""Notes on each key of a bundle, collected while reading, so that none is silently dropped."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from evergold.scoring.errors import Problems
from evergold.yaml_lines import Node

_TRUE = frozenset({"true", "yes", "on", "y", "1"})
_FALSE = frozenset({"false", "no", "off", "n", "0", ""})


class Fate(StrEnum):
    """The result for a key of the bundle.

    - open: somebody has to do something before this works.
    - assumed: the bundle leaves it out or is ambiguous, and this was chosen.
    - none: there is no counterpart, and nothing has to be done.
    """

    BECAME = "became"
    ASSUMED = "assumed"
    NONE = "none"
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class Note:
    """A note on one key, with its line and its result."""

    fate: Fate
    path: str
    line: int
    text: str


@dataclass(slots=True)
class Notes:
    """All notes of an import, and the problems of the bundle."""

    problems: Problems = field(default_factory=Problems)
    notes: list[Note] = field(default_factory=list)

    def add(self, fate: Fate, path: str, line: int, text: str) -> None:
        """Add a note, unless there is an equal one."""
        note = Note(fate, path, line, text)
        if note not in self.notes:
            self.notes.append(note)

    def refuse(self, code: str, message: str, node: Node | None = None) -> None:
        """Add a problem, so that nothing is imported."""
        self.problems.add(
            code, message, file=node.file if node is not None else None, line=node.line if node is not None else None
        )

    def of(self, fate: Fate) -> list[Note]:
        """Return the notes with this result, in the order of the bundle."""
        return sorted((one for one in self.notes if one.fate is fate), key=lambda one: one.line)

    def add_unknown(self, root: Node) -> None:
        """Add a note for every key without one, if there is none for keys inside or above it either."""
        noted = {one.path for one in self.notes}
        above = {start for path in noted for start in _starts(path)}
        for path, line in _unread(root, "", noted, above):
            self.add(Fate.NONE, path, line, "not a known key")


def _starts(path: str) -> Iterator[str]:
    for match in re.finditer(r"[.\[]", path):
        yield path[: match.start()]


def _unread(node: Node, path: str, noted: set[str], above: set[str]) -> Iterator[tuple[str, int]]:
    children = [(f"{path}.{key}" if path else key, child) for key, child in node.entries.items()]
    children += [(f"{path}[{place}]", child) for place, child in enumerate(node.elements)]
    for name, child in children:
        if name in above:
            yield from _unread(child, name, noted, above)
        elif name not in noted:
            yield name, child.line


@dataclass(frozen=True, slots=True)
class Keys:
    """A mapping of the bundle whose keys are read one by one, each with a note of its result."""

    node: Node
    path: str
    notes: Notes

    def at(self, key: str) -> str:
        """Return the path of a key."""
        return f"{self.path}.{key}" if self.path else key

    def line(self, key: str) -> int:
        """Return the line of a key, or that of the mapping."""
        found = self.node.entries.get(key)
        return found.line if found is not None else self.node.line

    def take(self, key: str, became: str, fate: Fate = Fate.BECAME) -> Node | None:
        """Return the value of a key, and note its result; None if the key is absent or empty."""
        found = self.node.entries.get(key)
        if found is None:
            return None
        self.notes.add(fate, self.at(key), found.line, became if found.value is not None else "empty, as if absent")
        return found if found.value is not None else None

    def note(self, key: str, fate: Fate, text: str) -> None:
        """Add a note on a key, present or not."""
        self.notes.add(fate, self.at(key), self.line(key), text)

    def ignore(self, reasons: Mapping[str, str]) -> None:
        """Add a note for each of these keys that is present: it has no counterpart, with the reason."""
        for key, why in reasons.items():
            if key in self.node.entries:
                self.note(key, Fate.NONE, why)

    def has(self, key: str) -> bool:
        """Return whether the key is present with a value."""
        found = self.node.entries.get(key)
        return found is not None and found.value is not None

    def text(self, key: str, became: str, default: str = "") -> str:
        """Return a value as text; add a problem for a list or mapping."""
        found = self.take(key, became)
        if found is None:
            return default
        if isinstance(found.value, dict | list):
            self.notes.refuse("not-text", f"{self.at(key)} is one text, not a list or mapping", found)
            return default
        return text_of(found)

    def flag(self, key: str, became: str, default: bool, fate: Fate = Fate.BECAME) -> bool:
        """Return a boolean, in any spelling of YAML 1.1; add a problem for other values."""
        found = self.take(key, became, fate)
        if found is None:
            return default
        written = text_of(found).strip().lower()
        if written not in _TRUE | _FALSE or isinstance(found.value, dict | list):
            self.notes.refuse("not-a-truth-value", f"{self.at(key)} is true or false, not '{written[:40]}'", found)
            return default
        return written in _TRUE

    def whole(self, key: str, became: str, default: int | None) -> int | None:
        """Return a whole number; add a problem for other values."""
        found = self.take(key, became)
        if found is None:
            return default
        written = text_of(found).strip()
        if not re.fullmatch(r"[-+]?[0-9]{1,15}(\.0*)?", written) or isinstance(found.value, dict | list):
            self.notes.refuse("not-a-number", f"{self.at(key)} is a whole number, not '{written[:40]}'", found)
            return default
        return int(float(written))

    def items(self, key: str) -> list[Keys]:
        """Return the elements of a list of mappings, each of which notes its own keys."""
        found = self.node.entries.get(key)
        if found is None or found.value is None:
            return []
        if not isinstance(found.value, list):
            self.notes.refuse("not-a-list", f"{self.at(key)} is a list", found)
            return []
        return [
            Keys(element, f"{self.at(key)}[{place}]", self.notes)
            for place, element in enumerate(found.value)
            if self._is_mapping(element, f"{self.at(key)}[{place}]")
        ]

    def named(self, key: str) -> list[tuple[str, Keys]]:
        """Return the entries of a mapping of mappings, by name."""
        found = self.node.entries.get(key)
        if found is None or found.value is None:
            return []
        if not isinstance(found.value, dict):
            self.notes.refuse("not-a-mapping", f"{self.at(key)} is a mapping of names", found)
            return []
        return [
            (name, Keys(element, f"{self.at(key)}.{name}", self.notes))
            for name, element in found.value.items()
            if self._is_mapping(element, f"{self.at(key)}.{name}")
        ]

    def _is_mapping(self, element: Node, path: str) -> bool:
        if isinstance(element.value, dict):
            return True
        self.notes.refuse("not-a-mapping", f"{path} has keys and values, not one value", element)
        return False


def text_of(node: Node) -> str:
    """Return a single value as text, as it was written."""
    return node.value if isinstance(node.value, str) else "" if node.value is None else str(node.value)
