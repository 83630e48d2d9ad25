"""Baselines of table and text-generation: the same label or number for every item, or the item's text unchanged."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from math import fsum
from pathlib import Path

from evergold.baselines.baseline import Baseline, Row, needs_training, read_any_rows, written_rows
from evergold.baselines.text import number
from evergold.scoring.errors import InvalidItems, Problem
from evergold.scoring.numerals import finite_number
from evergold.scoring.tables.options import TableOptions

#: The end of a sentence: a mark followed by white space.
_SENTENCE_END = re.compile(r"(?<=[.!?。！？])\s+")


def _constant(items: Path, training: Sequence[Path], options: TableOptions) -> bytes:
    label = options.labels[0] if options.labels else ""
    return _written(items, options, lambda row: label)


def _majority(items: Path, training: Sequence[Path], options: TableOptions) -> bytes:
    counts = Counter(_answers(training, options))
    label = min(counts, key=lambda name: (-counts[name], name))
    return _written(items, options, lambda row: label)


def _middle(items: Path, training: Sequence[Path], options: TableOptions) -> bytes:
    bounds = [bound for bound in (options.minimum, options.maximum) if bound is not None]
    value = number(fsum(bounds) / len(bounds) if bounds else 0.0)
    return _written(items, options, lambda row: value)


def _mean(items: Path, training: Sequence[Path], options: TableOptions) -> bytes:
    numbers = [found for text in _answers(training, options) if (found := finite_number(text)) is not None]
    if not numbers:
        raise needs_training(f"this baseline learns: the column {options.answer} has no number")
    value = number(fsum(numbers) / len(numbers))
    return _written(items, options, lambda row: value)


def _copy(items: Path, training: Sequence[Path], options: TableOptions) -> bytes:
    return _written(items, options, lambda row: _text_of(row, options))


def _lead(items: Path, training: Sequence[Path], options: TableOptions) -> bytes:
    return _written(items, options, lambda row: _SENTENCE_END.split(_text_of(row, options).strip(), maxsplit=1)[0])


def _text_of(row: Row, options: TableOptions) -> str:
    """Return the first text in a column other than the id; raise InvalidItems if there is none and an empty one is not
    allowed.
    """
    text = next((text for name, text in row.items() if name != options.id and text.strip()), "")
    if not text and not options.allow_empty:
        message = f"item {row[options.id]} has no text to copy, only an ID"
        raise InvalidItems([Problem("no-text", message)])
    return text


def _written(items: Path, options: TableOptions, predict: Callable[[Row], str]) -> bytes:
    rows = read_any_rows(items, [options.id])
    return written_rows((options.id, options.value), ((row[options.id], predict(row)) for row in rows))


def _answers(training: Sequence[Path], options: TableOptions) -> list[str]:
    """Return the answers in the training data, without empty cells."""
    found = [row[options.answer] for path in training for row in read_any_rows(path, [options.answer])]
    if not any(found):
        raise needs_training(f"this baseline learns: give labelled data with a column {options.answer}")
    return [text for text in found if text]


def _has_labels(options: TableOptions) -> bool:
    return options.kind == "labels" and options.labels is not None


def _of_kind(kind: str) -> Callable[[TableOptions], bool]:
    return lambda options: options.kind == kind


_LABELS, _NUMBERS, _TEXTS = _of_kind("labels"), _of_kind("numbers"), _of_kind("texts")
BASELINES_OF_TEXTS = (
    Baseline("copy", "The item's text, from the first column other than the ID.", _copy, fits=_TEXTS),
    Baseline("lead", "The first sentence of the item's text.", _lead, fits=_TEXTS),
)
BASELINES = (
    Baseline("constant", "The first of the labels that the task declares.", _constant, fits=_has_labels),
    Baseline("majority", "The most frequent label of the training data.", _majority, learns=True, fits=_LABELS),
    Baseline("middle", "The middle of the allowed range; 0 if no range is declared.", _middle, fits=_NUMBERS),
    Baseline("mean", "The mean of the training data's numbers.", _mean, learns=True, fits=_NUMBERS),
    *BASELINES_OF_TEXTS,
)
