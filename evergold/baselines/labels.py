"""Baselines of idiom-detection: the same label for all, the most frequent label, and that of each expression."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from evergold.baselines.baseline import Baseline, Row, needs_training, read_rows, written_rows
from evergold.scoring.tasks.idiom_detection import Options

#: Names of the columns of labelled data: SemEval's, then AStitch's.
_LABELS, _EXPRESSIONS = ("Label", "label"), ("MWE", "sentence2")
_HEADER = ("ID", "Language", "Setting", "Label")


def _idiomatic(items: Path, training: Sequence[Path], options: Options) -> bytes:
    return _written(items, options, lambda row: options.labels[0])


def _not_idiomatic(items: Path, training: Sequence[Path], options: Options) -> bytes:
    return _written(items, options, lambda row: options.labels[-1])


def _majority(items: Path, training: Sequence[Path], options: Options) -> bytes:
    label = _most_frequent((label for label, _ in _examples(training, options)), options)
    return _written(items, options, lambda row: label)


def _frequency(items: Path, training: Sequence[Path], options: Options) -> bytes:
    examples = _examples(training, options)
    fallback = _most_frequent((label for label, _ in examples), options)
    labels: defaultdict[str, list[str]] = defaultdict(list)
    for label, expression in examples:
        if expression:
            labels[expression].append(label)
    usual = {expression: _most_frequent(found, options) for expression, found in labels.items()}
    return _written(items, options, lambda row: usual.get(row.get("MWE", "").casefold(), fallback))


def _written(items: Path, options: Options, predict: Callable[[Row], str]) -> bytes:
    """Return the label of each item, the same in every setting."""
    rows = read_rows(items, ("ID", "Language"), ("MWE",))
    return written_rows(
        _HEADER, ((row["ID"], row["Language"], name, predict(row)) for name in options.settings for row in rows)
    )


def _examples(training: Sequence[Path], options: Options) -> list[tuple[str, str]]:
    """Return labels and lower-case expressions of the training data; labels that the task does not have are skipped.

    The expression is "" if a file has none. Raises InvalidItems if nothing is left.
    """
    examples = []
    for path in training:
        rows = read_rows(path, (), (*_LABELS, *_EXPRESSIONS))
        for row in rows:
            label = next((row[name].strip() for name in _LABELS if name in row), "")
            expression = next((row[name] for name in _EXPRESSIONS if name in row), "")
            if label in options.labels:
                examples.append((label, expression.casefold()))
    if not examples:
        labels = " or ".join(options.labels)
        raise needs_training(f"this baseline learns: give labelled data, CSV with a column Label that says {labels}")
    return examples


def _most_frequent(labels: Iterable[str], options: Options) -> str:
    """Return the most frequent label; of equally frequent ones the task's first."""
    counts = Counter(labels)
    return max(options.labels, key=lambda label: counts[label])


BASELINES = (
    Baseline("idiomatic", "The task's first label, idiomatic, for every item.", _idiomatic),
    Baseline("not-idiomatic", "The task's last label, not idiomatic, for every item.", _not_idiomatic),
    Baseline("majority", "The most frequent label of the training data for every item.", _majority, learns=True),
    Baseline(
        "frequency",
        "The most frequent label of each expression in the training data; for unseen expressions, the most frequent "
        "label overall.",
        _frequency,
        learns=True,
    ),
)
