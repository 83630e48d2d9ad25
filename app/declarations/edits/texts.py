"""Declarations as YAML for the web process: parsed and written in the helper, because organisers control their size."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Any

import yaml

from app.base.errors import InvalidForm
from app.declarations.revisions.documents import Document
from app.helper.process import Job, TooMuchWork, run
from app.helper.wire import Message
from evergold.yaml_lines import plain_scalar, read_yaml_text

_WIDTH = 110
#: Mappings and lists of scalars up to this length are written on one line.
_ONE_LINE_CHARACTERS = 90


def declaration_text(document: dict[str, Any], comment: str = "") -> str:
    """Return one competition as a file in the format of phases.yaml, with the keys in their order."""
    whole = {"version": 1, "competitions": [_dressed(document)]}
    text = yaml.dump(whole, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=_WIDTH)
    return "".join(f"# {line}".rstrip() + "\n" for line in comment.splitlines()) + text


class _OneLineMapping(dict[str, Any]):
    """A mapping to write on one line: `{metric: macro_f1, split: zero_shot/all}`."""


class _OneLineList(list[Any]):
    """A list to write on one line: `[en, pt]`."""


def _dressed(value: Any) -> Any:
    """Return the same values, with those marked that fit on one line."""
    if isinstance(value, dict):
        inside = {name: _dressed(one) for name, one in value.items()}
        return _OneLineMapping(inside) if _fits_on_a_line(inside) else inside
    if isinstance(value, list):
        elements = [_dressed(one) for one in value]
        are_single = not any(isinstance(one, dict | list) for one in elements)
        return _OneLineList(elements) if are_single and _is_short(elements) else elements
    return value


def _fits_on_a_line(mapping: dict[str, Any]) -> bool:
    are_small = all(not isinstance(one, dict) and type(one) is not list for one in mapping.values())
    return are_small and "name" not in mapping and _is_short([*mapping, *mapping.values()])


def _is_short(values: list[Any]) -> bool:
    texts = [str(value) for value in values]
    return sum(len(text) + 2 for text in texts) <= _ONE_LINE_CHARACTERS and not any("\n" in text for text in texts)


class _Dumper(yaml.SafeDumper):
    """A dumper that indents lists and never writes aliases, which are hard to read."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)

    def ignore_aliases(self, data: object) -> bool:
        return True


def _text(dumper: _Dumper, value: str) -> yaml.Node:
    """Return the node of a text: long texts become blocks, ambiguous ones and those with invisible characters are
    quoted.
    """
    lines = value.replace("\n", "").replace("\t", "")
    if "\n" in value.rstrip("\n") and value == value.strip(" \t") and lines.isprintable():
        style: str | None = "|"
    else:
        style = None if value.isprintable() and plain_scalar(value) == value else '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


def _mapping(dumper: _Dumper, value: _OneLineMapping) -> yaml.Node:
    return dumper.represent_mapping("tag:yaml.org,2002:map", value, flow_style=True)


def _list(dumper: _Dumper, value: _OneLineList) -> yaml.Node:
    return dumper.represent_sequence("tag:yaml.org,2002:seq", value, flow_style=True)


_Dumper.add_representer(str, _text)
_Dumper.add_representer(_OneLineMapping, _mapping)
_Dumper.add_representer(_OneLineList, _list)


_HERE = "app.declarations.edits.texts"
_READ = Job(f"{_HERE}:read_text", processor_seconds=10, seconds=30, mebibytes=512)
_READ_VALUES = Job(f"{_HERE}:read_texts", processor_seconds=10, seconds=30, mebibytes=512)
_WRITE = Job(f"{_HERE}:write_text", processor_seconds=10, seconds=30, mebibytes=512)
_COMPARE = Job(f"{_HERE}:compare", processor_seconds=10, seconds=30, mebibytes=512)
#: Maximum number of compared lines: the time of a comparison grows with the square of the number of lines.
_LINES_COMPARED = 4_000
_ONE = "A declaration must have the key 'competitions' with one competition, as written by `evergold export yaml`."

#: A sign (`+`, `-`, blank, `@`) and a line.
ComparedLines = list[tuple[str, str]]


def read_declaration(text: str) -> Document:
    """Return the competition declared by a text in the format of phases.yaml. Raises InvalidForm if there is not
    exactly one, or Busy.
    """
    try:
        answer, _ = run(_READ, {}, text.encode("utf-8", "replace"))
    except TooMuchWork:
        answer = {"refused": "Reading this takes too long."}
    if "refused" in answer:
        raise InvalidForm("This is not a declaration.", fields={"yaml": answer["refused"]})
    document: Document = answer["document"]
    return document


def read_text(_: dict[str, Any], content: bytes) -> Message:
    """Return the `document` of a declaration, or the reason as `refused`. A job of the helper."""
    node, faults = read_yaml_text(content.decode(), "declaration")
    if faults or node is None:
        words = "; ".join(f"line {fault.line}: {fault.message}" for fault in faults) or "it is empty"
        return {"refused": f"{words}."}, b""
    whole: Any = node.plain()
    competitions = whole.get("competitions") if isinstance(whole, dict) else None
    if not isinstance(competitions, list) or len(competitions) != 1 or not isinstance(competitions[0], dict):
        return {"refused": _ONE}, b""
    return {"document": competitions[0]}, b""


def read_values(texts: Sequence[str]) -> list[Any]:
    """Return each text parsed as the value of a key; a text that is not YAML, or is too large, stays a text."""
    if not texts:
        return []
    try:
        values: list[Any] = run(_READ_VALUES, {"texts": list(texts)})[0]["values"]
    except TooMuchWork:
        return list(texts)
    return values


def read_texts(head: dict[str, Any], _: bytes) -> Message:
    """Return the `values` of `texts`. A job of the helper."""
    return {"values": [_value(text) for text in head["texts"]]}, b""


def _value(text: str) -> Any:
    indented = "\n".join(f"  {line}" for line in text.split("\n"))
    node, faults = read_yaml_text(f"data:\n{indented}\n", "form")
    return text if node is None or faults else node.plain().get("data")


def yaml_of(document: Document, comment: str = "") -> str:
    """Return the declaration as YAML, preceded by comment lines. Raises TooMuchWork, or Busy."""
    return run(_WRITE, {"document": document, "comment": comment})[1].decode("utf-8", "surrogatepass")


def write_text(head: dict[str, Any], _: bytes) -> Message:
    """Return a document as YAML. A job of the helper."""
    return {}, declaration_text(head["document"], head["comment"]).encode("utf-8", "surrogatepass")


def compared(before: Document, after: Document, most: int) -> ComparedLines:
    """Return at most `most` lines of the differences between two declarations, with some context.

    Raises TooMuchWork, or Busy.
    """
    answer, _ = run(_COMPARE, {"before": before, "after": after, "most": most})
    return [(sign, line) for sign, line in answer["lines"]]


def compare(head: dict[str, Any], _: bytes) -> Message:
    """Return the `lines` that differ between two documents. A job of the helper."""
    old, new = (declaration_text(head[name]).splitlines()[:_LINES_COMPARED] for name in ("before", "after"))
    lines = list(difflib.unified_diff(old, new, lineterm="", n=2))[2:]
    shown = [[line[:1], line[1:] if line[:1] != "@" else "…"] for line in lines[: head["most"]]]
    return {"lines": shown}, b""
