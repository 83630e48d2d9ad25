"""Items in two parts, public and private: each is scored as if it were the whole.

An item's part depends on its id and the seed alone, so that corrected gold moves no other item, the order of a file
does not matter, and the same seed gives the same parts anywhere. Items of one cluster (`resample_by`) stay together.
Parts cannot be guessed without the seed: it is the key of an HMAC.
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

#: Decides whether an item is kept, by the key that places it: its id, or its cluster.
Keep = Callable[[str], bool]
#: A shorter seed can be guessed, and with it which items are private.
SEED_CHARACTERS = 16


class Half(StrEnum):
    """A part of the items."""

    PUBLIC = "public"
    PRIVATE = "private"


@dataclass(frozen=True, slots=True)
class Division:
    """A division of items.

    share: expected share of private items, above 0 and below 1.
    seed: a secret of at least SEED_CHARACTERS.
    """

    share: float
    seed: str

    def half_of(self, key: str) -> Half:
        """Return the part of an item: private if the first 64 bits of HMAC-SHA256(seed, key) are below `share`."""
        digest = hmac.new(self.seed.encode(), key.encode(), hashlib.sha256).digest()
        return Half.PRIVATE if int.from_bytes(digest[:8]) < self.share * 2**64 else Half.PUBLIC

    @property
    def fingerprint(self) -> str:
        """Identifies a division without revealing its seed, and later proves that a revealed seed is the right one."""
        return hashlib.sha256(f"evergold division\0{self.share!r}\0{self.seed}".encode()).hexdigest()[:12]


def half(task: Task[O, I, G, P], gold: G, prediction: P, division: Division, wanted: Half) -> tuple[G, P]:
    """Return gold and prediction with only the items of one part.

    Raises InvalidOptions if the task type has no divisible items, InvalidGold if no item is in this part.
    """
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
    """Return the scores of one part with signatures that name the part."""
    suffix = f"|items:{of},{division.share:g},{division.fingerprint}"
    return [replace(score, signature=score.signature + suffix) for score in scores]


def kept_places(ids: Sequence[str], clusters: Sequence[str] | None, keep: Keep) -> list[int]:
    """Return the indices of the kept items, in order."""
    return [place for place, key in enumerate(clusters if clusters is not None else ids) if keep(key)]


def kept_clusters(clusters: Sequence[str] | None, places: Sequence[int]) -> tuple[str, ...] | None:
    """Return the clusters of the kept items."""
    return None if clusters is None else tuple(clusters[place] for place in places)
