"""Checks keys and types with the pydantic model, and reports each problem in plain words at the line of its key."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from app.declarations.findings import Findings
from app.declarations.model import PhasesFile
from app.declarations.values import NAME_PATTERN
from evergold.value_words import did_you_mean, fault_words, field_of, listed, shown
from evergold.yaml_lines import Node, read_yaml


def check_shape(node: Node, model: type[BaseModel], findings: Findings) -> None:
    """Add a finding for everything that violates the model."""
    try:
        model.model_validate(node.plain())
    except ValidationError as invalid:
        report(node, invalid, model, findings)


def report(node: Node, invalid: ValidationError, model: type[BaseModel], findings: Findings) -> None:
    """Add findings for all problems of a failed validation. node: the validated value."""
    faults = invalid.errors(include_url=False)
    for fault in faults:
        # Pydantic reports a list with invalid elements as too short; those are reported already.
        if fault["type"] != "too_short" or not any(_is_below(other["loc"], fault["loc"]) for other in faults):
            findings.error(place_of(node, fault["loc"]), in_words(fault, model))


def _is_below(path: Sequence[str | int], above: Sequence[str | int]) -> bool:
    return len(path) > len(above) and path[: len(above)] == above


def place_of(node: Node, path: Sequence[str | int]) -> Node:
    """Return the node of a pydantic error: the value, its key, or the mapping that lacks it."""
    return node.at([step for step in path if step != "[key]"])


def in_words(fault: ErrorDetails, model: type[BaseModel]) -> str:
    """Return a pydantic error as a sentence for people who do not know pydantic."""
    path, context = fault["loc"], fault.get("ctx", {})
    name = next((str(step) for step in reversed(path) if isinstance(step, str) and step != "[key]"), "")
    if fault["type"] == "missing":
        return f"{_owner(path[:-1])} needs the key '{name}'"
    if fault["type"] == "extra_forbidden":
        fields = (model_at(model, path[:-1]) or model).model_fields
        known = [field.alias or name for name, field in fields.items()]
        return f"there is no key '{name}' here{did_you_mean(name, known)}; the keys are {listed(known)}"
    if fault["type"] == "string_pattern_mismatch":
        return _pattern_words(name, fault["input"], context["pattern"], path[-1] == "[key]")
    owner = model_at(model, path[:-1])
    words = fault_words(fault, field_of(owner, path[-1:]) if owner else None)
    if path and isinstance(path[-1], int) and name in _ONE_OF:
        return f"{_ONE_OF[name]} that begins here {words}"
    return f"'{name}' {words}" if name else f"this {words}"


def model_at(model: type[BaseModel], path: Sequence[str | int]) -> type[BaseModel] | None:
    """Return the model of the value at the end of a path; None if it is not a model."""
    inner: type[BaseModel] | None = model
    for step in path:
        if inner is not None and isinstance(step, str) and step in inner.model_fields:
            inner = _inner_model(inner.model_fields[step].annotation)
    return inner


def _inner_model(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((model for part in get_args(annotation) if (model := _inner_model(part))), None)


#: Nouns for an element of a list, or for a value of a mapping.
_ONE_OF = {
    "competitions": "the competition",
    "tracks": "the track",
    "tasks": "the task",
    "boards": "the board",
    "phases": "the phase",
    "columns": "the column",
    "historic": "the entry of 'historic'",
    "downloads": "the download",
    "baselines": "the baseline",
    "fields": "the field",
}


def _owner(path: Sequence[str | int]) -> str:
    if not path:
        return "the file"
    if len(path) > 1 and path[-2] in _ONE_OF:
        return f"{_ONE_OF[str(path[-2])]} that begins here"
    return f"'{path[-1]}'"


def _pattern_words(name: str, value: object, pattern: str, is_key: bool) -> str:
    if name == "website":
        return f"'website' must begin with http:// or https:// and have no spaces, but is {shown(value)}"
    if pattern != NAME_PATTERN:
        return f"'{name}' must have the form {pattern}, but is {shown(value)}"
    what = f"'{name}'" if is_key else shown(value)
    return f"{what} cannot be a name: use only lower-case letters a-z, digits, and single hyphens between them"


#: Maximum number of files that a server's phases.yaml may include.
FILES_LIMIT = 500
_WILD = frozenset("*?[")


def read_phases_files(path: Path, findings: Findings) -> list[Node]:
    """Return the documents, the main file first, whether or not their contents are valid."""
    documents: dict[Path, Node | None] = {}
    _read(path, None, (), documents, findings)
    return [document for document in documents.values() if document is not None]


def _read(
    path: Path,
    included_by: Node | None,
    above: tuple[Path, ...],
    documents: dict[Path, Node | None],
    findings: Findings,
) -> None:
    file = path.resolve()
    if file in above:
        chain = " → ".join(part.name for part in (*above[above.index(file) :], file))
        if included_by is not None:
            findings.error(included_by, f"files include each other in a circle: {chain}")
        return
    if file in documents:
        return
    if len(documents) >= FILES_LIMIT:
        if included_by is not None:
            findings.error(included_by, f"more than {FILES_LIMIT} files are included")
        return
    documents[file] = None  # reserves its position in the order
    document = documents[file] = _open(path, included_by, findings)
    if document is None:
        return
    check_shape(document, PhasesFile, findings)
    include = document.entries.get("include")
    for pattern in include.elements if include else []:
        for included in _named_by(pattern, path, findings):
            _read(included, pattern, (*above, file), documents, findings)


def _open(path: Path, included_by: Node | None, findings: Findings) -> Node | None:
    try:
        document, faults = read_yaml(path, str(path))
    except OSError as error:
        message = f"{path} cannot be read: {error.strerror or error}"
        if included_by is not None:
            findings.error(included_by, message)
        else:
            findings.unreadable(str(path), message)
        return None
    for fault in faults:
        findings.unreadable(str(path), fault.message, fault.line, fault.column)
    return document


def _named_by(pattern: Node, path: Path, findings: Findings) -> list[Path]:
    """Return the files matched by an element of `include`; a pattern may match none, and never matches its own file."""
    text = pattern.text
    if not text or text.startswith("/") or ".." in Path(text).parts or "\0" in text:
        return []  # reported already as a fault of the shape
    if not _WILD & set(text):
        return [path.parent / text]
    try:
        matches = sorted(path.parent.glob(text))
    except (ValueError, NotImplementedError) as error:
        findings.error(pattern, f"'{text}' is not a pattern of file names: {error}")
        return []
    return [match for match in matches if match.is_file() and match.resolve() != path.resolve()]


def elements(node: Node, key: str) -> list[Node]:
    """Return the elements of the list under a key; empty if there is no list."""
    inside = node.entries.get(key)
    return inside.elements if inside else []


def text_of(node: Node, key: str) -> str | None:
    """Return the text under a key; None if there is none."""
    inside = node.entries.get(key)
    return inside.text if inside else None
