"""Baselines of meaning-matching: the meaning that shares most words with the sentence; no meaning; every meaning."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from evergold.baselines.baseline import Baseline, Row, read_rows, written_rows
from evergold.baselines.text import trigram_cosine
from evergold.scoring.tasks.meaning_matching import MatchingOptions

_HEADER = ("ID", "Language", "Setting", "Label")


def _nearest(rows: Sequence[Row]) -> list[str]:
    """Return 1 for the meaning most similar to its sentence, the first of equal ones; 0 for the others."""
    best: dict[str, tuple[float, int]] = {}
    for place, row in enumerate(rows):
        likeness = trigram_cosine(row["Sentence"], row["Meaning"])
        if likeness > best.get(_sentence(row), (-1.0, 0))[0]:
            best[_sentence(row)] = likeness, place
    chosen = {place for _, place in best.values()}
    return ["1" if place in chosen else "0" for place in range(len(rows))]


def _sentence(row: Row) -> str:
    return row.get("SentenceID") or row["Sentence"]


def _always(label: str, rows: Sequence[Row]) -> list[str]:
    return [label] * len(rows)


def _predict(
    decide: Callable[[Sequence[Row]], list[str]], items: Path, training: Sequence[Path], options: MatchingOptions
) -> bytes:
    """Return the label of each pair, the same in every setting."""
    rows = read_rows(items, ("ID", "Language", "Sentence", "Meaning"), ("SentenceID",))
    labels = decide(rows)
    return written_rows(
        _HEADER,
        (
            (row["ID"], row["Language"], name, label)
            for name in options.settings
            for row, label in zip(rows, labels, strict=True)
        ),
    )


BASELINES = (
    Baseline(
        "nearest",
        "Only the meaning whose character trigrams are most similar to the sentence's fits.",
        partial(_predict, _nearest),
    ),
    Baseline("none", "No meaning fits.", partial(_predict, partial(_always, "0"))),
    Baseline("all", "Every meaning fits.", partial(_predict, partial(_always, "1"))),
)
