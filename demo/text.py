"""Bags of words and character n-grams, and how alike two of them are: what all demo systems share."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache

Bag = Mapping[str, float]


def words(text: str) -> list[str]:
    """The words of a text in lower case, punctuation left out."""
    return re.findall(r"\w+", text.casefold())


@cache
def character_ngrams(text: str, shortest: int = 2, longest: int = 4) -> Bag:
    """How often each character n-gram occurs inside the words, a space standing for either edge of a word."""
    counts: Counter[str] = Counter()
    for word in words(text):
        padded = f" {word} "
        for n in range(shortest, longest + 1):
            counts.update(padded[i : i + n] for i in range(len(padded) - n + 1))
    return {gram: float(count) for gram, count in counts.items()}


def inverse_document_frequencies(texts: Iterable[str]) -> Bag:
    """ln((1 + texts) / (1 + texts with the word)) + 1, by word."""
    documents = [set(words(text)) for text in texts]
    counts = Counter(word for document in documents for word in sorted(document))
    return {word: math.log((1 + len(documents)) / (1 + count)) + 1 for word, count in counts.items()}


def weighted_words(text: str, weights: Bag) -> Bag:
    """The words of a text, each as often as it occurs times its weight; 1 for a word without one."""
    return {word: count * weights.get(word, 1.0) for word, count in Counter(words(text)).items()}


def cosine(a: Bag, b: Bag) -> float:
    """The cosine of two bags, from 0 to 1; 0 if one is empty."""
    product = math.fsum(value * b[key] for key, value in a.items() if key in b)
    norms = math.fsum(v * v for v in a.values()) * math.fsum(v * v for v in b.values())
    return product / math.sqrt(norms) if norms else 0.0


def jaccard(a: Iterable[str], b: Iterable[str]) -> float:
    """The shared part of two sets, from 0 to 1; 0 if both are empty."""
    left, right = set(a), set(b)
    return len(left & right) / len(left | right) if left | right else 0.0
