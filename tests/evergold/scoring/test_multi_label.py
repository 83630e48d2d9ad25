"""Sets of labels: every score against scikit-learn, the files in all forms, every problem by line."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evergold.scoring.errors import InvalidGold, InvalidOptions, InvalidPrediction
from evergold.scoring.task import Score, read_options
from evergold.scoring.tasks.multi_label import TASK, MultiLabelOptions

Write = Callable[[str, str], Path]

LABELS = ("a", "b", "c", "d", "e")
GOLD = "id,labels\n1,a|b\n2,\n3,c\n"


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def _write(name: str, text: str) -> Path:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return _write


def scored(write: Write, gold: str, prediction: str, items: str | None = None, **options: Any) -> dict[str, Score]:
    chosen = read_options(TASK, options)
    assert isinstance(chosen, MultiLabelOptions)
    answers = TASK.read_gold(write("gold.csv", gold), chosen)
    wanted = TASK.read_items(write("items.csv", items), chosen) if items else TASK.items_of(answers, chosen)
    found = TASK.score(answers, TASK.read_prediction(write("prediction.csv", prediction), wanted, chosen), chosen)
    return {f"{score.metric} {score.split}": score for score in found}


def refused(write: Write, prediction: str, **options: Any) -> list[str]:
    with pytest.raises(InvalidPrediction) as caught:
        scored(write, GOLD, prediction, **options)
    return [str(problem) for problem in caught.value.problems]


def written(sets: Sequence[Sequence[str]]) -> str:
    return "id,labels\n" + "".join(f"{place},{'|'.join(labels)}\n" for place, labels in enumerate(sets))


@pytest.mark.parametrize("both_empty", [0, 1])
@pytest.mark.parametrize("seed", range(5))
def test_scores_are_those_of_scikit_learn(seed: int, both_empty: int, write: Write) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    chance = random.Random(seed)
    gold, ours = (
        [[label for label in LABELS[: 3 + seed % 3] if chance.random() < 0.35] for _ in range(40)] for _ in range(2)
    )
    gold[0] = ["a"]
    found = scored(write, written(gold), written(ours), labels=LABELS, both_empty=both_empty)
    present = sorted({label for side in (gold, ours) for labels in side for label in labels})
    truth, guess = (np.array([[label in labels for label in present] for labels in side]) for side in (gold, ours))
    for average in ("micro", "macro", "samples"):
        expected = metrics.f1_score(truth, guess, average=average, zero_division=both_empty)
        assert found[f"{average}_f1 all"].value == pytest.approx(expected, abs=1e-12)
    assert found["subset_accuracy all"].value == pytest.approx(metrics.accuracy_score(truth, guess))
    for place, label in enumerate(present):
        expected = metrics.f1_score(truth[:, place], guess[:, place], zero_division=0)
        assert found[f"label_f1 label/{label}"].value == pytest.approx(expected)
    for label in set(LABELS) - set(present):
        assert found[f"label_f1 label/{label}"].reason == "neither gold nor prediction has this label"


def test_a_perfect_prediction_has_all_scores_at_their_maximum(write: Write) -> None:
    found = scored(write, GOLD, GOLD, both_empty=1)
    assert {score.value for score in found.values()} == {1.0}


def test_neither_the_order_of_items_nor_of_labels_matters(write: Write) -> None:
    prediction = "id,labels\n1,a|c\n2,b\n3,c\n"
    turned = "id,labels\n3,c\n2,b\n1,c|a\n"
    assert scored(write, GOLD, prediction) == scored(write, GOLD, turned)


def test_lists_in_json_lines_and_a_separator_of_ones_own(write: Write) -> None:
    lines = '{"id": "1", "labels": ["a", "c"]}\n{"id": 2, "labels": []}\n{"id": "3", "labels": null}\n'
    assert scored(write, GOLD, lines) == scored(write, GOLD, "id,labels\n1,a|c\n2,\n3,\n")
    semicolons = scored(write, GOLD.replace("|", ";"), "id,labels\n1,a;c\n2,\n3,\n", separator=";")
    assert semicolons == scored(write, GOLD, "id,labels\n1,a|c\n2,\n3,\n")


def test_every_problem_is_told_by_line(write: Write) -> None:
    assert sorted(refused(write, "id,labels\n1,a|a\n1,x\n9,a||b\n", labels=["a", "b", "c"])) == [
        "column id: 2 of 3 ids are missing: 2, 3",
        "line 2, column labels: the label 'a' occurs twice",
        "line 3, column id: id 1 appears twice, first on line 2",
        "line 3, column labels: invalid label 'x': expected one of a, b, c",
        "line 4, column id: id '9' is not an item",
        "line 4, column labels: invalid label '': expected one of a, b, c",
    ]


def test_labels_that_only_a_prediction_has_count_as_errors(write: Write) -> None:
    """Check with a blind file without labels: a is right, x is not: 1 hit, 3 in gold, 2 predicted."""
    found = scored(write, GOLD, "id,labels\n1,a|x\n2,\n3,\n", items="id\n1\n2\n3\n")
    assert found["micro_f1 all"].value == pytest.approx(2 * 1 / (3 + 2))
    assert found["macro_f1 all"].value == pytest.approx(1 / 4)
    assert "label_f1 label/x" not in found


def test_many_labels_of_a_prediction_take_no_more_room_than_they_are(write: Write) -> None:
    """20,000 items and as many labels would be 400 million cells."""
    ids = range(20_000)
    gold = "id,labels\n" + "".join(f"{place},a\n" for place in ids)
    ours = "id,labels\n" + "".join(f"{place},x{place}\n" for place in ids)
    found = scored(write, gold, ours, items="id\n" + "\n".join(map(str, ids)) + "\n")
    assert found["micro_f1 all"].value == 0


@pytest.mark.parametrize(
    ("option", "moves"),
    [({"both_empty": 1}, {"samples_f1 all"}), ({"rank_by": "macro_f1"}, set()), ({"labels": ["a", "b", "c"]}, set())],
)
def test_signatures_change_with_what_can_move_a_score(option: dict[str, Any], moves: set[str], write: Write) -> None:
    usual, other = scored(write, GOLD, GOLD), scored(write, GOLD, GOLD, **option)
    assert {name for name in usual if usual[name].signature != other[name].signature} == moves


def test_items_that_belong_together_are_drawn_together(write: Write) -> None:
    """Check units by thread: 1 and 3 are one unit, drawn twice with 2 left out: 1 is right, 3 is not."""
    options = MultiLabelOptions(resample_by="thread")
    gold = TASK.read_gold(write("gold.csv", "id,labels,thread\n1,a,x\n2,b,y\n3,c,x\n"), options)
    prediction = TASK.read_prediction(
        write("own.csv", "id,labels\n1,a\n2,b\n3,b\n"), TASK.items_of(gold, options), options
    )
    assert TASK.sample is not None
    assert TASK.outcomes is not None
    sample = TASK.sample(TASK.outcomes(gold, prediction, options))
    assert (sample.units.keys, sample.units.kind) == (("x", "y"), "thread")
    assert sample.weighted(np.array([[2.0, 0.0]]))["subset_accuracy", "all"].tolist() == [0.5]


def test_the_ranking_score_is_the_first_column() -> None:
    assert TASK.columns(MultiLabelOptions(rank_by="macro_f1"))[0].metric == "macro_f1"
    assert [column.split for column in TASK.columns(MultiLabelOptions(labels=("a", "b")))][-2:] == [
        "label/a",
        "label/b",
    ]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"separator": ","}, "separator"),
        ({"labels": ["a b"]}, "'a b' cannot be a label"),
        ({"labels": ["a" * 61]}, "cannot be a label: 1 to 60 characters"),
        ({"id": "x", "value": "x"}, "must be different columns"),
    ],
)
def test_options_that_do_not_fit_are_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidOptions, match=words):
        read_options(TASK, options)


def test_gold_without_a_label_is_refused(write: Write) -> None:
    with pytest.raises(InvalidGold, match="no item has a label"):
        TASK.read_gold(write("gold.csv", "id,labels\n1,\n"), MultiLabelOptions())


def test_a_prediction_for_other_items_is_refused(write: Write) -> None:
    with pytest.raises(InvalidGold, match="1 gold items are not in the items file: 3"):
        scored(write, GOLD, "id,labels\n1,a\n2,\n", items="id\n1\n2\n")


def test_the_template_has_every_id_and_no_label(write: Write) -> None:
    options = MultiLabelOptions(labels=("joy", "fear"))
    items = TASK.read_items(write("items", "id,text\n3,c\n1,a\n"), options)
    assert TASK.template(items, options) == "id,labels\n3,\n1,\n"


def test_what_is_noticed_of_a_file_that_is_right_comes_with_it(write: Write) -> None:
    options = MultiLabelOptions(labels=('"joy"',))
    gold = TASK.read_gold(write("gold", 'id,labels\n1,"""joy"""\n2,\n'), options)
    found = TASK.read_prediction(write("own", 'id\tlabels\n1\t"joy"\n2\t\n'), TASK.items_of(gold, options), options)
    assert [(one.code, one.line) for one in found.warnings] == [("quoted-cell", 2)]


@pytest.mark.parametrize("options", [{}, {"labels": ["a", "b", "c"]}])
def test_a_wrong_label_is_told_with_its_column_and_the_whole_cell(write: Write, options: dict[str, Any]) -> None:
    with pytest.raises(InvalidPrediction) as caught:
        scored(write, GOLD, "id,labels\n1,a|x/y\n2,\n3,c\n", **options)
    (problem,) = caught.value.problems
    assert (problem.code, problem.line, problem.column, problem.text) == ("bad-value", 2, "labels", "a|x/y")
