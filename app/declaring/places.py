"""From a finding's line in a declaration that was laid out to the path of the value that it is about."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from app.declaring.documents import Path as ValuePath
from app.declaring.documents import dotted, name_of
from app.findings import Finding
from app.yaml_lines import Node, read_yaml


def findings_by_path(main: Path, findings: Sequence[Finding]) -> dict[str, str]:
    """What is wrong by dotted path, several sentences of one path together; `declaration`: the whole."""
    places = _places(main)
    said: dict[str, list[str]] = {}
    for finding in findings:
        path = places.get((finding.line, finding.column), ())
        said.setdefault(dotted(path) or "declaration", []).append(_sentence(finding.message))
    return {path: " ".join(dict.fromkeys(sentences)) for path, sentences in said.items()}


def _sentence(message: str) -> str:
    return f"{message[:1].upper()}{message[1:]}{'' if message.endswith('.') else '.'}"


def _places(main: Path) -> dict[tuple[int, int], ValuePath]:
    """The path of every value by line and column; of several in one place the outermost."""
    document, _ = read_yaml(main, str(main))
    competitions = document.entries.get("competitions") if document else None
    found: dict[tuple[int, int], ValuePath] = {}
    for competition in competitions.elements if competitions else ():
        for path, node in _walk(competition, ()):
            found.setdefault((node.line, node.column), path)
    return found


def _walk(node: Node, path: ValuePath) -> Iterator[tuple[ValuePath, Node]]:
    yield path, node
    for name, child in node.entries.items():
        yield from _walk(child, (*path, name))
    for place, child in enumerate(node.elements):
        yield from _walk(child, (*path, name_of(child.plain(), place)))
