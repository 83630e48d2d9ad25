"""Read a JSON list of objects, with every problem by line and column; tasks check the contents of the objects.

Objects are read one after the other, so that each knows its position. Nothing is repaired: a repeated key, half of a
character (`\ud83d` alone) and text after the list are problems.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

from evergold.scoring.errors import Problems, quoted, shorten
from evergold.scoring.tables.reading import decode_text

#: More objects than this are no submission.
MOST_ENTRIES = 100_000

_SPACE = re.compile(r"[ \t\n\r]*")
_HALF_CHARACTER = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Entry:
    """An object of the list: its values by key, and the position of its start (line and character, both from 1)."""

    values: dict[str, Any]
    line: int
    column: int

    @property
    def place(self) -> str:
        """Position like `on line 4`; on the first line with the character, since a file may have no line breaks."""
        return f"on line {self.line}" if self.line > 1 else f"on line 1, character {self.column}"


def read_json_list(data: bytes, problems: Problems, file: str | None = None) -> list[Entry] | None:
    """Return the objects in order, or None if the file cannot be read to its end; faults are added to `problems`.

    data: UTF-8 with or without byte-order mark. file: its name for problems. An element that is not an object is a
    problem and left out. Raises nothing.
    """
    text = decode_text(data, problems, file=file)
    if text is None:
        return None
    try:
        return list(_Reader(text, problems, file).entries())
    except _Stop:
        return None


def kind_of(value: object) -> str:
    """Name the kind of a JSON value for people."""
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    kinds = {str: "a text", float: "a number", list: "a list", dict: "an object"}
    return kinds[type(value)]


class _Stop(Exception):
    """The rest cannot be read; the problem has been reported."""


class _Reader:
    """A text, the position up to which its lines are counted, and the collector of problems."""

    def __init__(self, text: str, problems: Problems, file: str | None) -> None:
        self.text, self.problems, self.file = text, problems, file
        self._counted, self._line, self._line_start = 0, 1, 0
        self._repeated: list[str] = []
        # Numbers in these lists do not matter, and int() refuses very long ones. The decoder must not hold this reader,
        # or the text would stay in memory until the next collection of cycles.
        self._decoder = json.JSONDecoder(object_pairs_hook=_objects(self._repeated), parse_int=float)

    def entries(self) -> Iterator[Entry]:
        """Yield every object; raise _Stop at a fault after which nothing can be parsed."""
        place = self._skip(self._opening())
        if self._mark(place) != "]":
            for _ in range(MOST_ENTRIES):
                value, end = self._element(place)
                if isinstance(value, dict):
                    yield Entry(value, *self._position(place))
                place = self._skip(end)
                if self._mark(place) != ",":
                    break
                place = self._skip(place + 1)
            else:
                self._stop(place, f"the list has more than {MOST_ENTRIES:,} objects")
        self._close(place)

    def _opening(self) -> int:
        place = self._skip(0)
        if self._mark(place) == "{":
            self._stop(place, "this is an object, not a list: put [ before the first object and ] after the last one")
        if self._mark(place) != "[":
            self._stop(place, "this is not JSON: a list must begin with [")
        return place + 1

    def _close(self, place: int) -> None:
        if self._mark(place) != "]":
            found = f"there is {quoted(self.text[place : place + 20])}" if self._mark(place) else "the file ends"
            self._stop(place, f"this is not JSON: {found} where a comma or the list's ] must follow")
        behind = self._skip(place + 1)
        if self._mark(behind):
            found = shorten(self.text[behind : behind + 20])
            self._stop(behind, f"there is text behind the end of the list: {found!r}")

    def _element(self, place: int) -> tuple[Any, int]:
        """Return the value that begins here, and its end; its faults are reported."""
        self._repeated.clear()
        try:
            value, end = self._decoder.raw_decode(self.text, place)
        except json.JSONDecodeError as fault:
            self._stop(fault.pos, f"this is not JSON: {_reason(fault)}")
        except RecursionError:
            self._stop(place, "lists are nested too deeply: this is not a list of objects")
        if not isinstance(value, dict):
            self._note("not-an-object", place, f"here is {kind_of(value)} where an object {{…}} is expected")
        elif self._repeated:
            self._note("duplicate-key", place, f"the key {quoted(self._repeated[0])} occurs twice in one object")
        elif _HALF_CHARACTER.search("".join(text for pair in value.items() for text in pair if isinstance(text, str))):
            self._note(
                ("half-character"), place, "a text has an unpaired surrogate: a \\ud… escape without its other half"
            )
        return value, end

    def _skip(self, place: int) -> int:
        match = _SPACE.match(self.text, place)
        return match.end() if match else place

    def _mark(self, place: int) -> str:
        return self.text[place : place + 1]

    def _position(self, place: int) -> tuple[int, int]:
        """Return line and character of a position. Positions must be given in the order of the text, which is scanned
        once.
        """
        breaks = self.text.count("\n", self._counted, place)
        if breaks:
            self._line += breaks
            self._line_start = self.text.rindex("\n", self._counted, place) + 1
        self._counted = max(self._counted, place)
        return self._line, place - self._line_start + 1

    def _note(self, code: str, place: int, message: str) -> None:
        line, column = self._position(place)
        self.problems.add(code, message, file=self.file, line=line, column=str(column))

    def _stop(self, place: int, message: str) -> NoReturn:
        self._note("wrong-json", place, message)
        raise _Stop


def _objects(repeated: list[str]) -> Callable[[list[tuple[str, Any]]], dict[str, Any]]:
    """Return a hook that makes an object of its keys and values, and adds repeated keys to `repeated`."""

    def as_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in pairs:
            if key in found:
                repeated.append(key)
            found[key] = value
        return found

    return as_object


def _reason(fault: json.JSONDecodeError) -> str:
    """Return Python's reason, or a clearer one; a file that ends too early is by far the most frequent case."""
    if fault.msg.startswith("Unterminated string") or not fault.doc[fault.pos :].strip():
        return f"the file ends in the middle ({fault.msg}): is it complete?"
    if fault.doc[fault.pos] == "]" and fault.msg == "Expecting value":
        return "there is a comma before the list's ], and nothing between them"
    if fault.msg.startswith("Invalid control character"):
        return "write a line break or another control character inside a text as \\n or another escape"
    if fault.doc[fault.pos] in "'‘’“”":
        return 'texts and keys must be in double quotes, "…"'
    return fault.msg
