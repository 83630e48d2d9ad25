"""How much of a file a team changed since its last submission: what shows hill climbing by small steps.

Lines are compared as they are, in any order, archives by the lines of all their files. What the lines mean is not
looked at, and nothing of the gold is: the count alone goes to the organisers.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from evergold.scoring.archives import Limits, begins_as_zip, read_members
from evergold.scoring.errors import InvalidPrediction

#: Larger files than this are not compared; nobody climbs hills with them.
MOST_BYTES = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class ChangedLines:
    """changed: lines of the new file that the old one had not, or the other way round, whichever is more; of: lines of
    the new file.
    """

    changed: int
    of: int


def changed_lines(new: Path, old: Path) -> ChangedLines | None:
    """What changed from `old` to `new`; None where that cannot be said: not text, too large, no longer there."""
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
        return None  # numbers in binary: a line says nothing
    return Counter(line for content in contents for line in content.splitlines() if line.strip())
