"""Baselines of idiomaticity-probing: surface similarity of sentences, or of their compounds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from evergold.baselines.baseline import Baseline, Row, read_rows, written_rows
from evergold.baselines.text import number, trigram_cosine, word_overlap
from evergold.scoring.probing.items import ITEM_COLUMNS, NC, ORIGINAL, PREDICTION_COLUMNS
from evergold.scoring.tasks.idiomaticity_probing import ProbingOptions


def _predict(
    similarity: Callable[[str, str], float], items: Path, training: Sequence[Path], options: ProbingOptions
) -> bytes:
    rows = [row for row in read_rows(items, ITEM_COLUMNS) if row["language"] in options.languages]
    return written_rows(PREDICTION_COLUMNS, _similarities(rows, options.levels, similarity))


def _similarities(
    rows: Sequence[Row], levels: Sequence[str], similarity: Callable[[str, str], float]
) -> Iterator[tuple[str, ...]]:
    """Yield the similarity of every probe to the original of its compound and context, at every level."""
    originals = {_place(row): row for row in rows if row["probe"] == ORIGINAL}
    for row in rows:
        if row["probe"] != ORIGINAL:
            original = originals[_place(row)]
            for level in levels:
                value = similarity(_text(original, level), _text(row, level))
                yield (*_place(row), row["probe"], level, number(value))


def _place(row: Row) -> tuple[str, str, str]:
    return row["language"], row["context"], row["compound"]


def _text(row: Row, level: str) -> str:
    """Return the sentence, or only its words that are marked as the compound."""
    if level != NC:
        return row["sentence"]
    marks = row["nc"].split()
    return " ".join(word for word, mark in zip(row["sentence"].split(), marks, strict=False) if mark == "1")


BASELINES = (
    Baseline("trigrams", "The cosine of the texts' character trigrams.", partial(_predict, trigram_cosine)),
    Baseline("word-overlap", "The share of words that the two texts have in common.", partial(_predict, word_overlap)),
)
