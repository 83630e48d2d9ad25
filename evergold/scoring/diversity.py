"""Diversity of a set of outcomes: richness, entropy and evenness of the types that occur in it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple


class Diversity(NamedTuple):
    """Diversity of a distribution of types.

    richness: number of types.
    entropy: entropy of the distribution, in nats; None if no type occurs.
    evenness: entropy over its maximum; None with fewer than two types, where it would be 0/0.
    """

    richness: int
    entropy: float | None
    evenness: float | None


def diversity(occurrences: Iterable[int]) -> Diversity:
    """Compute richness (0 or more), Shannon entropy (0 to ln(richness)) and Pielou's evenness (0 to 1) of a
    distribution.

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
    # math.fsum and the sorted order: the same value for any order of the types.
    entropy = math.fsum(count / total * math.log(total / count) for count in sorted(counts))
    evenness = entropy / math.log(len(counts)) if len(counts) > 1 else None
    return Diversity(len(counts), entropy, evenness)
