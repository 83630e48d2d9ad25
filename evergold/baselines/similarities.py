"""Baselines of idiom-similarity: the surface similarity of two sentences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from evergold.baselines.baseline import Baseline, read_rows, written_rows
from evergold.baselines.text import number, trigram_cosine, word_overlap
from evergold.scoring.tasks.idiom_similarity import Options

_HEADER = ("ID", "Language", "Setting", "Sim")


def _predict(similarity: Callable[[str, str], float], items: Path, training: Sequence[Path], options: Options) -> bytes:
    """Return the similarity of each pair, the same in every setting."""
    rows = read_rows(items, ("ID", "Language", "sentence1", "sentence2"))
    found = [(row, number(similarity(row["sentence1"], row["sentence2"]))) for row in rows]
    return written_rows(
        _HEADER, ((row["ID"], row["Language"], name, value) for name in options.settings for row, value in found)
    )


BASELINES = (
    Baseline(
        ("word-overlap"), "The share of words that the two sentences have in common.", partial(_predict, word_overlap)
    ),
    Baseline("trigrams", "The cosine of the sentences' character trigrams.", partial(_predict, trigram_cosine)),
)
