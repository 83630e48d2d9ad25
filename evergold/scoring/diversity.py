"""How diverse a set of outcomes is: richness, entropy and evenness of the types that occur in it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple


class Diversity(NamedTuple):
    """richness: number of types; entropy: of their distribution, in nats; evenness: entropy over its maximum.

    entropy is None without any occurrence, evenness is None with fewer than two types: 0/0 says nothing there.
    """

    richness: int
    entropy: float | None
    evenness: float | None


def diversity(occurrences: Iterable[int]) -> Diversity:
    """Richness (0 or more), Shannon entropy (0 to ln(richness)) and Pielou's evenness (0 to 1) of a distribution.

    occurrences: how often each type occurs, one number of at least 0 per type; types that do not occur do not count.
    Raises ValueError for a negative number. Source: PARSEME 2.0, where they are called richness, entropy and evenness
    (identification) or variety, entropy and balance (paraphrasing).
    """
    counts = [count for count in occurrences if count]
    if any(count < 0 for count in counts):
        raise ValueError("a type cannot occur less than 0 times")
    if not counts:
        return Diversity(0, None, None)
    total = sum(counts)
    # math.fsum and the sorted order: the same value whatever the order of the types.
    entropy = math.fsum(count / total * math.log(total / count) for count in sorted(counts))
    evenness = entropy / math.log(len(counts)) if len(counts) > 1 else None
    return Diversity(len(counts), entropy, evenness)
