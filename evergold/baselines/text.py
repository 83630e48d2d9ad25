"""Surface similarity of two texts: the words or the character trigrams that they share."""

from __future__ import annotations

import math
import re
from collections import Counter
from functools import lru_cache

_WORD = re.compile(r"\w+(?:['’-]\w+)*")


def words(text: str) -> list[str]:
    """Return the words in lower case, without punctuation."""
    return _WORD.findall(text.casefold())


def word_overlap(text: str, other: str) -> float:
    """Return the share, in [0, 1], of all different words that both texts have; 0 if there are none."""
    left, right = _different_words(text), _different_words(other)
    return len(left & right) / len(left | right) if left | right else 0.0


def trigram_cosine(text: str, other: str) -> float:
    """Return the cosine, in [0, 1], of the counts of character trigrams, with a space around each word."""
    left, right = _trigrams(text), _trigrams(other)
    shared = sum(left[trigram] * right[trigram] for trigram in left.keys() & right.keys())
    return min(1.0, shared / math.sqrt(_square(left) * _square(right))) if shared else 0.0


# Most sentences are compared with several others.
@lru_cache(maxsize=4096)
def _different_words(text: str) -> frozenset[str]:
    return frozenset(words(text))


@lru_cache(maxsize=4096)
def _trigrams(text: str) -> Counter[str]:
    spaced = f" {' '.join(words(text))} "
    return Counter(spaced[place : place + 3] for place in range(len(spaced) - 2))


def _square(counts: Counter[str]) -> int:
    return sum(count * count for count in counts.values())


def number(value: float) -> str:
    """Format a number for submissions: six decimals are enough, and the same on every machine."""
    return f"{value:.6f}"
