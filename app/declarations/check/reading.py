"""Reading of phases.yaml and all included files, each once; unreadable files and circular includes are findings."""

from __future__ import annotations

from pathlib import Path

from app.declarations.check.shape import check_shape
from app.declarations.findings import Findings
from app.declarations.model import PhasesFile
from evergold.yaml_lines import Node, read_yaml

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
