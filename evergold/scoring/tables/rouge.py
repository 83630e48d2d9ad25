"""ROUGE of texts by Google's `rouge_score`, with the longest common subsequence from `rapidfuzz`, written in C.

`rouge_score` fills a table in Python with one cell per pair of words: four billion for 131,072 characters on either
side. The numbers are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from evergold.scoring.optional import load_package

ROUGE = "rouge_"

Words = list[str]


def rouge_f1(
    metric: str, references: Sequence[Sequence[str | None]], texts: Sequence[str], *, stemmer: bool
) -> list[float]:
    """Compute the F1 of each of n texts with its best reference, in [0, 1].

    metric: `rouge_1`, `rouge_2` or `rouge_l`; references: one or more for each text, None or empty in place of missing
    ones;
    stemmer: True to compare stems (English only).
    """
    compare = _longest_subsequence_f1 if metric == ROUGE + "l" else _ngram_f1(metric)
    words_of = _package("tokenizers").DefaultTokenizer(stemmer).tokenize
    return [
        max(compare(words_of(reference), words) for reference in of_text if reference)
        for of_text, words in zip(references, map(words_of, texts), strict=True)
    ]


def _ngram_f1(metric: str) -> Callable[[Words, Words], float]:
    """Return the library's own scorer for words instead of texts."""
    name = metric.replace("_", "")
    scorer = _package("rouge_scorer").RougeScorer([name], tokenizer=_Split)
    return lambda reference, words: float(scorer.score(reference, words)[name].fmeasure)


class _Split:
    """A tokenizer that takes words, so that each text is split only once, however many references it has."""

    @staticmethod
    def tokenize(words: Words) -> Words:
        """Return the words unchanged."""
        return words


def _longest_subsequence_f1(reference: Words, words: Words) -> float:
    if not reference or not words:
        return 0.0
    length = longest_common_subsequence(reference, words)
    return float(_package("scoring").fmeasure(length / len(words), length / len(reference)))


def longest_common_subsequence(one: Sequence[str], other: Sequence[str]) -> int:
    """Return the length in words of the longest common subsequence: 0 to the smaller number of words."""
    numbers: dict[str, int] = {}  # rapidfuzz compares numbers exactly; for words it would compare hashes
    left, right = ([numbers.setdefault(word, len(numbers)) for word in words] for words in (one, other))
    return int(load_package("rapidfuzz.distance", "rouge").LCSseq.similarity(left, right))


def _package(module: str) -> Any:
    return load_package(f"rouge_score.{module}", "rouge")
