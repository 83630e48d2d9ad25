"""Number of lines that a team changed since its last submission, as a sign of hill climbing by small steps.

Lines are compared verbatim and in any order; archives by the lines of all their files. Neither the meaning of the lines
nor the gold is used, and organisers see only the count.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from evergold.scoring.archives import Limits, begins_as_zip, read_members
from evergold.scoring.errors import InvalidPrediction

#: Larger files are not compared; hill climbing with them is unlikely.
MOST_BYTES = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class ChangedLines:
    """The size of a change.

    changed: lines that only the new file has, or lines that only the old one has, whichever are more.
    of: lines of the new file.
    """

    changed: int
    of: int


def changed_lines(new: Path, old: Path) -> ChangedLines | None:
    """Count the lines changed from `old` to `new`; None if a file is binary, too large, or gone."""
    here, before = _lines(new), _lines(old)
    if here is None or before is None:
        return None
    return ChangedLines(max((here - before).total(), (before - here).total()), here.total())


def _lines(path: Path) -> Counter[bytes] | None:
    try:
        if path.stat().st_size > MOST_BYTES:
            return None
        limits = Limits(total_bytes=MOST_BYTES)
        contents = list(read_members(path, limits).values()) if begins_as_zip(path) else [path.read_bytes()]
    except (OSError, InvalidPrediction):
        return None
    if any(b"\0" in content[:4096] for content in contents):
        return None  # binary data: lines mean nothing
    return Counter(line for content in contents for line in content.splitlines() if line.strip())
