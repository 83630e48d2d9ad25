"""Items in two parts, public and private: each is scored as if it were all there is.

Which part an item is in follows from its id and the seed alone, so that corrected gold moves no other item, no order
of a file matters, and whoever has the seed gets the same parts anywhere. What belongs together (`resample_by`) stays
together. Nobody can tell a part without the seed: it is the key of an HMAC.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from evergold.scoring.errors import InvalidGold, InvalidOptions, Problem

if TYPE_CHECKING:
    from evergold.scoring.task import G, I, O, P, Score, Task

#: Whether an item is kept, by what decides for it: its id, or what it belongs to.
Keep = Callable[[str], bool]
#: A seed that is shorter can be guessed, and with it which items are private.
SEED_CHARACTERS = 16


class Half(StrEnum):
    """A part of the items."""

    PUBLIC = "public"
    PRIVATE = "private"


@dataclass(frozen=True, slots=True)
class Division:
    """How items are divided. share: of the items that are private, above 0 and below 1, met on average; seed: a secret
    of at least SEED_CHARACTERS."""

    share: float
    seed: str

    def half_of(self, key: str) -> Half:
        """The part of an item: the first 64 bits of HMAC-SHA256(seed, key) as a fraction, below `share` private."""
        digest = hmac.new(self.seed.encode(), key.encode(), hashlib.sha256).digest()
        return Half.PRIVATE if int.from_bytes(digest[:8]) < self.share * 2**64 else Half.PUBLIC

    @property
    def fingerprint(self) -> str:
        """Tells divisions apart, and proves a seed that is told later; it says nothing of the seed."""
        return hashlib.sha256(f"evergold division\0{self.share!r}\0{self.seed}".encode()).hexdigest()[:12]


def half(task: Task[O, I, G, P], gold: G, prediction: P, division: Division, wanted: Half) -> tuple[G, P]:
    """Gold and prediction with the items of one part alone. Raises InvalidOptions where the task type has no items that
    could be divided, InvalidGold where none is in this part."""
    if task.part is None:
        raise InvalidOptions([Problem("no-parts", f"{task.name} cannot score a part of its items")])

    count = 0

    def keep(key: str) -> bool:
        nonlocal count
        is_kept = division.half_of(key) is wanted
        count += is_kept
        return is_kept

    found = task.part(gold, prediction, keep)
    if not count:
        raise InvalidGold([Problem("empty-part", f"no item is in the {wanted} part: there are too few to be divided")])
    return found


def signed(scores: Iterable[Score], division: Division, of: Half) -> list[Score]:
    """Scores of one part, whose signatures say of which."""
    said = f"|items:{of},{division.share:g},{division.fingerprint}"
    return [replace(score, signature=score.signature + said) for score in scores]


def kept_places(ids: Sequence[str], clusters: Sequence[str] | None, keep: Keep) -> list[int]:
    """Which of the items are kept, in their order."""
    return [place for place, key in enumerate(clusters if clusters is not None else ids) if keep(key)]


def kept_clusters(clusters: Sequence[str] | None, places: Sequence[int]) -> tuple[str, ...] | None:
    """What the kept items belong to."""
    return None if clusters is None else tuple(clusters[place] for place in places)
