"""Parses a scores file: JSON, or the lines `key: value` of scores.txt; its content is untrusted."""

from __future__ import annotations

import json
import re
from typing import Any

import yaml

MOST_KEYS = 10_000
DEEPEST = 20
#: `key:value` without a blank, which YAML reads as one word; programs of several shared tasks write it.
_NO_BLANK = re.compile(r"^([^\s:#'\"\[\]{}&*!|>%@`-][^:#]*):([^\s:/].*)$", re.MULTILINE)
_JSON_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?$", re.ASCII)
_WORDS = {"nan": float("nan"), "inf": float("inf"), "infinity": float("inf")}
#: Maximum length of a number, more than any score has: parsing takes quadratic time.
_LONGEST_NUMBER = 400


def parse_scores(name: str, data: bytes) -> dict[str, object]:
    """Return the content of the file: keys with numbers (including NaN and infinities), texts, lists or mappings.

    name: `scores.json` is JSON, where NaN, Infinity and -Infinity are numbers; any other file is YAML without tags,
    anchors and aliases, where `key:value` needs no blank. Raises ValueError with the reason: not UTF-8, not a mapping,
    keys that are not text or repeated, more than MOST_KEYS, deeper than DEEPEST.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"{name} is not in UTF-8 (byte {error.start + 1})") from None
    found = _read_json(name, text) if name.endswith(".json") else _read_yaml(name, text)
    if not isinstance(found, dict):
        raise ValueError(f"{name} is not a mapping of keys to scores")
    _check(name, found)
    return {str(key): value for key, value in found.items()}


def _read_json(name: str, text: str) -> object:
    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            raise ValueError(f"{name}: a key occurs twice")
        return found

    def whole(digits: str) -> int:
        if len(digits) > _LONGEST_NUMBER:
            raise ValueError(f"{name}: a number has more than {_LONGEST_NUMBER} digits")
        return int(digits)

    _check_depth(name, text)
    try:
        return json.loads(text, object_pairs_hook=unique, parse_int=whole)
    except json.JSONDecodeError as error:
        raise ValueError(f"{name}, line {error.lineno}: {error.msg}") from None


def _check_depth(name: str, text: str) -> None:
    """Raise ValueError for too deeply nested text before a parser reads it, by counting brackets outside of strings."""
    depth, is_inside, is_escaped = 0, False, False
    for sign in text:
        if is_inside:
            is_inside = is_escaped or sign != '"'
            is_escaped = sign == "\\" and not is_escaped
        elif sign == '"':
            is_inside = True
        elif sign in "[{":
            depth += 1
            if depth > DEEPEST:
                raise ValueError(f"{name} is nested deeper than {DEEPEST}")
        elif sign in "]}":
            depth -= 1


def _read_yaml(name: str, text: str) -> object:
    """Parse YAML from its events, without the part of the library that creates objects."""
    prepared = _NO_BLANK.sub(r"\1: \2", text.expandtabs(1))
    reader = _Reader(name)
    try:
        for event in yaml.parse(prepared, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
            reader.take(event)
    except yaml.MarkedYAMLError as error:
        if "nesting depth" in str(error.problem):  # the library's own bound, which it meets while it looks ahead
            raise ValueError(f"{name} is nested deeper than {DEEPEST}") from None
        line = getattr(error.problem_mark, "line", None)
        where = name if line is None else f"{name}, line {line + 1}"
        raise ValueError(f"{where}: {error.problem}") from None
    except yaml.YAMLError:
        raise ValueError(f"{name} holds characters that YAML does not allow") from None
    return reader.document


class _Reader:
    """Builds mappings, lists and scalars from the events of one document."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._open: list[dict[str, object] | list[object]] = []
        #: The key whose value comes next, for each open part; None in a list, and before a key.
        self._keys: list[str | None] = []
        self._parts = 0
        self.document: object = None
        self._documents = 0

    def take(self, event: yaml.Event) -> None:
        if isinstance(event, yaml.DocumentStartEvent):
            self._documents += 1
            if self._documents > 1:
                raise ValueError(f"{self._name} holds more than one document")
        elif isinstance(event, yaml.NodeEvent):
            self._take_node(event)
        elif isinstance(event, yaml.CollectionEndEvent):
            self._open.pop()
            self._keys.pop()

    def _take_node(self, event: yaml.NodeEvent) -> None:
        line = event.start_mark.line + 1 if event.start_mark else 0
        if isinstance(event, yaml.AliasEvent) or event.anchor is not None:
            raise ValueError(f"{self._name}, line {line}: anchors and aliases (& and *) are not allowed")
        if getattr(event, "tag", None) is not None:
            raise ValueError(f"{self._name}, line {line}: tags (!) are not allowed")
        self._parts += 1
        if self._parts > 4 * MOST_KEYS:
            raise ValueError(f"{self._name} holds more than {MOST_KEYS:,} keys")
        if isinstance(event, yaml.ScalarEvent):
            self._place(event.value if event.style else _scalar(event.value), event.value, line)
            return
        part: dict[str, object] | list[object] = {} if isinstance(event, yaml.MappingStartEvent) else []
        self._place(part, None, line)
        self._open.append(part)
        self._keys.append(None)
        if len(self._open) > DEEPEST:
            raise ValueError(f"{self._name} is nested deeper than {DEEPEST}")

    def _place(self, value: object, text: str | None, line: int) -> None:
        """Add a value to the current list or mapping; in a mapping every other value is a key, as text."""
        if not self._open:
            self.document = value
            return
        holder, key = self._open[-1], self._keys[-1]
        if isinstance(holder, list):
            holder.append(value)
        elif key is None:
            if text is None:
                raise ValueError(f"{self._name}, line {line}: a key is not text")
            if text in holder:
                raise ValueError(f"{self._name}, line {line}: the key {text[:100]} occurs twice")
            self._keys[-1] = text
        else:
            holder[key] = value
            self._keys[-1] = None


def _scalar(text: str) -> object:
    """Return a plain scalar as a number, None or a boolean if it is one, otherwise as text.

    NaN and infinities have several spellings: `nan`, `.nan`, `NaN`, `-inf`, `Infinity`.
    """
    sign, bare = (-1.0, text[1:]) if text[:1] == "-" else (1.0, text.removeprefix("+"))
    word = bare.removeprefix(".").lower()
    if word in _WORDS:
        return sign * _WORDS[word]
    if len(text) <= _LONGEST_NUMBER and _JSON_NUMBER.match(text):
        return int(text) if text.lstrip("+-").isdigit() else float(text)
    return {"": None, "~": None, "null": None, "true": True, "false": False}.get(text.lower(), text)


def _check(name: str, found: dict[Any, Any]) -> None:
    """Raise ValueError for too many keys or too much depth, without recursion."""
    left: list[tuple[object, int]] = [(found, 1)]
    keys = 0
    while left:
        part, depth = left.pop()
        if depth > DEEPEST:
            raise ValueError(f"{name} is nested deeper than {DEEPEST}")
        if isinstance(part, dict):
            keys += len(part)
            left += [(value, depth + 1) for value in part.values() if isinstance(value, dict | list)]
        elif isinstance(part, list):
            left += [(value, depth + 1) for value in part if isinstance(value, dict | list)]
        if keys > MOST_KEYS:
            raise ValueError(f"{name} holds more than {MOST_KEYS:,} keys")
