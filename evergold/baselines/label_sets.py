"""Baselines of multi-label: no label at all, and the labels that most items have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from evergold.baselines.baseline import Baseline, needs_training, read_any_rows, written_rows
from evergold.scoring.tasks.multi_label import MultiLabelOptions


def _no_label(items: Path, training: Sequence[Path], options: MultiLabelOptions) -> bytes:
    return _written(items, options, "")


def _majority(items: Path, training: Sequence[Path], options: MultiLabelOptions) -> bytes:
    lists = {options.answer: options.separator}
    cells = [row[options.answer] for path in training for row in read_any_rows(path, [options.answer], lists=lists)]
    counts = Counter(label for cell in cells if cell for label in cell.split(options.separator))
    if not counts:
        raise needs_training(f"this baseline learns: give labelled data with a column {options.answer}")
    usual = sorted(label for label, times in counts.items() if 2 * times > len(cells))
    first = min(counts, key=lambda label: (-counts[label], label))
    return _written(items, options, options.separator.join(usual or [first]))


def _written(items: Path, options: MultiLabelOptions, cell: str) -> bytes:
    rows = read_any_rows(items, [options.id])
    return written_rows((options.id, options.value), ((row[options.id], cell) for row in rows))


BASELINES = (
    Baseline("no-label", "No label for any item.", _no_label),
    Baseline(
        "majority",
        "For every item the labels of more than half of the training data, or else the most frequent one.",
        _majority,
        learns=True,
    ),
)
