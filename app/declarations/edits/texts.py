"""Declarations as YAML for the web process: read and written in the helper, since organisers control their size."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Any

from app.base.errors import InvalidForm
from app.declarations.edits.yaml_text import declaration_text
from app.declarations.revisions.documents import Document
from app.helper.process import Job, TooMuchWork, run
from app.helper.wire import Message
from evergold.yaml_lines import read_yaml_text

_HERE = "app.declarations.edits.texts"
_READ = Job(f"{_HERE}:read_text", processor_seconds=10, seconds=30, mebibytes=512)
_READ_VALUES = Job(f"{_HERE}:read_texts", processor_seconds=10, seconds=30, mebibytes=512)
_WRITE = Job(f"{_HERE}:write_text", processor_seconds=10, seconds=30, mebibytes=512)
_COMPARE = Job(f"{_HERE}:compare", processor_seconds=10, seconds=30, mebibytes=512)
#: Longer texts are cut: the time of a comparison grows with the square of the number of lines.
_LINES_COMPARED = 4_000
_ONE = "A declaration has the key 'competitions' with one competition, as `evergold export yaml` writes it."

#: A sign (`+`, `-`, blank, `@`) and a line.
ComparedLines = list[tuple[str, str]]


def read_declaration(text: str) -> Document:
    """Return the one competition declared by a text in the form of phases.yaml. Raises InvalidForm, or Busy."""
    try:
        answer, _ = run(_READ, {}, text.encode("utf-8", "replace"))
    except TooMuchWork:
        answer = {"refused": "It takes too long to read."}
    if "refused" in answer:
        raise InvalidForm("This is no declaration.", fields={"yaml": answer["refused"]})
    document: Document = answer["document"]
    return document


def read_text(_: dict[str, Any], content: bytes) -> Message:
    """Return the `document` of a declaration, or the reason as `refused`. A job of the helper."""
    node, faults = read_yaml_text(content.decode(), "declaration")
    if faults or node is None:
        said = "; ".join(f"line {fault.line}: {fault.message}" for fault in faults) or "it is empty"
        return {"refused": f"{said}."}, b""
    whole: Any = node.plain()
    competitions = whole.get("competitions") if isinstance(whole, dict) else None
    if not isinstance(competitions, list) or len(competitions) != 1 or not isinstance(competitions[0], dict):
        return {"refused": _ONE}, b""
    return {"document": competitions[0]}, b""


def read_values(texts: Sequence[str]) -> list[Any]:
    """Parse each text as the value of a key; a text that is not YAML, or too large, stays a text."""
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
