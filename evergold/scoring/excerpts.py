"""Quote the line of a problem if the reader that found it did not.

The quote is a short piece of the sender's own text; nothing else is read here.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from evergold.scoring.archives import begins_as_zip, iterate_members
from evergold.scoring.characters import visible
from evergold.scoring.errors import InvalidFile, InvalidPrediction, Problem, shorten

EXCERPT_CHARACTERS = 100
#: The beginning of a line as long as this is no help: JSON without line breaks, a missing quotation mark.
LONG_CHARACTERS = 1_000


def with_excerpts(error: InvalidPrediction, path: Path) -> InvalidPrediction:
    """Return the same problems, with `text` filled in where a line is named and nothing is quoted.

    Unchanged if the file cannot be read again as lines. path: the upload, a file or a zip.
    """
    wanted: dict[str | None, set[int]] = {}
    for problem in error.problems:
        if _lacks_text(problem):
            wanted.setdefault(problem.file, set()).add(problem.line or 0)
    if not wanted:
        return error
    try:
        quoted = _quoted(path, wanted)
    except (InvalidFile, OSError):
        return error
    explained = [
        replace(problem, text=quoted.get((problem.file, problem.line or 0))) if _lacks_text(problem) else problem
        for problem in error.problems
    ]
    return InvalidPrediction(explained, error.omitted)


def _lacks_text(problem: Problem) -> bool:
    return problem.text is None and problem.line is not None


def _quoted(path: Path, wanted: Mapping[str | None, set[int]]) -> dict[tuple[str | None, int], str]:
    """Return the text of each wanted (file, line)."""
    if path.is_file() and not begins_as_zip(path):
        with path.open(encoding="utf-8-sig", errors="replace") as lines:
            return {(None, line): text for line, text in _lines(lines, wanted.get(None, set())).items()}
    found: dict[tuple[str | None, int], str] = {}
    for name, data in iterate_members(path):
        # The only file of a zip is referred to without its name.
        key = visible(name) if visible(name) in wanted else None
        text = io.StringIO(data.decode("utf-8-sig", errors="replace"), newline=None)
        found |= {(key, line): quoted for line, quoted in _lines(text, wanted.get(key, set())).items()}
    return found


def _lines(lines: Iterable[str], wanted: set[int]) -> dict[int, str]:
    """Return the text of these lines, counted from 1, without those that are blank or too long."""
    last, found = max(wanted, default=0), {}
    for number, line in enumerate(lines, start=1):
        if number > last:
            break
        text = line.rstrip("\n")
        if number in wanted and text.strip() and len(text) <= LONG_CHARACTERS:
            found[number] = shorten(text, EXCERPT_CHARACTERS)
    return found
