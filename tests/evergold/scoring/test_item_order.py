"""A blind file need not have gold's order: every item comes with its own answer, and no score is another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from evergold.scoring.task import AnyTask, item_results, read_options, score_with_outcomes
from evergold.scoring.tasks import TASKS
from tests.evergold.scoring.test_item_results import CASES, GOLDEN

#: What names its items. Sentences of a treebank, or of a column file, are told apart by their place.
NAMED = sorted(name for name in CASES if (GOLDEN / name / "items.csv").exists())


def turned(path: Path, into: Path) -> Path:
    """Write the same lines below the head, the last one first; return the path."""
    head, *rows = path.read_text(encoding="utf-8").splitlines()
    into.write_text("\n".join([head, *reversed(rows)]) + "\n", encoding="utf-8")
    return into


def told(name: str, items: Path, prediction: Path) -> tuple[Any, Any, Any]:
    """Scores, outcomes and item results of a golden case, whose prediction was checked against these blind items."""
    task: AnyTask = TASKS[name]
    options = read_options(task, {})
    gold = task.read_gold(GOLDEN / name / CASES[name][0], options)
    checked = task.read_prediction(prediction, task.read_items(items, options), options)
    scores, outcomes = score_with_outcomes(task, gold, checked, options)
    return scores, outcomes, item_results(task, gold, checked, options, outcomes)


@pytest.mark.parametrize("name", NAMED)
def test_items_come_with_their_own_answers_where_the_blind_file_has_another_order(name: str, tmp_path: Path) -> None:
    items, prediction = GOLDEN / name / "items.csv", GOLDEN / name / CASES[name][1]
    expected = told(name, items, prediction)
    found = told(name, turned(items, tmp_path / "items.csv"), prediction)
    assert found[0] == expected[0]
    assert repr(found[1]) == repr(expected[1]), "outcomes are in gold's order, whoever asks"
    assert found[2] == expected[2]


@pytest.mark.parametrize("name", [name for name in NAMED if CASES[name][1].endswith(".csv")])
def test_the_order_of_a_prediction_does_not_matter(name: str, tmp_path: Path) -> None:
    items, prediction = GOLDEN / name / "items.csv", GOLDEN / name / CASES[name][1]
    found = told(name, items, turned(prediction, tmp_path / "prediction.csv"))
    expected = told(name, items, prediction)
    assert (found[0], found[2]) == (expected[0], expected[2])
