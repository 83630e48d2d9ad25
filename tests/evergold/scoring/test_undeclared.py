"""Labels and types that a task does not declare: one verdict with blind items, with gold's, locally and on a server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from evergold.scoring.errors import InvalidPrediction
from evergold.scoring.task import read_options
from evergold.scoring.tasks import get_task

#: By task type: gold, blind items, and a prediction with labels that gold has not.
FILES = {
    "table": ("id,label\n1,pos\n2,neg\n", "id\n1\n2\n", "id,label\n1,POS\n2,neg\n", "labels"),
    "multi-label": ("id,labels\n1,pos\n2,neg\n", "id\n1\n2\n", "id,labels\n1,POS\n2,neg\n", "labels"),
    "sequence-labelling": ("a\tB-pos\nb\tB-neg\n", "a\t_\nb\t_\n", "a\tB-POS\nb\tB-neg\n", "types"),
}


def verdict(tmp_path: Path, type_: str, prediction: str, items: str, **options: Any) -> list[str]:
    """The sentences of all problems, else those of all warnings; items: `gold`, `blind`, or `gold as items`."""
    task, (gold, blind, _, _) = get_task(type_), FILES[type_]
    chosen = read_options(task, options)
    paths = {name: tmp_path / name for name in ("gold", "blind", "prediction")}
    for name, text in (("gold", gold), ("blind", blind), ("prediction", prediction)):
        paths[name].write_text(text)
    wanted = {
        "gold": lambda: task.items_of(task.read_gold(paths["gold"], chosen), chosen),
        "blind": lambda: task.read_items(paths["blind"], chosen),
        "gold as items": lambda: task.read_items(paths["gold"], chosen),
    }[items]()
    try:
        return [str(one) for one in task.read_prediction(paths["prediction"], wanted, chosen).warnings]
    except InvalidPrediction as invalid:
        return [str(one) for one in invalid.problems]


@pytest.mark.parametrize("type_", FILES)
def test_label_that_gold_lacks_gets_one_verdict_that_tells_no_label_of_gold(tmp_path: Path, type_: str) -> None:
    told = {items: verdict(tmp_path, type_, FILES[type_][2], items) for items in ("gold", "blind", "gold as items")}
    assert told["gold"] == told["blind"] == told["gold as items"]
    (sentence,) = told["gold"]
    assert "check the spelling of the 2 in this file: POS, neg" in sentence
    assert "pos" not in sentence.replace("POS", "")


@pytest.mark.parametrize("type_", FILES)
def test_label_that_is_not_among_those_declared_is_refused_everywhere(tmp_path: Path, type_: str) -> None:
    declared = {FILES[type_][3]: ["pos", "neg"]}
    told = [verdict(tmp_path, type_, FILES[type_][2], items, **declared) for items in ("gold", "blind")]
    assert told[0] == told[1]
    assert "is pos meant? upper and lower case count" in told[0][0]


@pytest.mark.parametrize("type_", FILES)
@pytest.mark.parametrize(
    ("written", "why"),
    [("po\u200bs", "U+200B ZERO WIDTH SPACE"), ("pe\u0301", "write NFC"), ("NEG", "looks like")],
)
def test_slip_that_gold_cannot_hold_is_refused_although_nothing_is_declared(
    tmp_path: Path, type_: str, written: str, why: str
) -> None:
    prediction = FILES[type_][2].replace("POS", written)
    told = [verdict(tmp_path, type_, prediction, items) for items in ("gold", "blind")]
    assert told[0] == told[1]
    assert why in told[0][0]


@pytest.mark.parametrize("type_", FILES)
def test_organisers_are_advised_to_declare(type_: str) -> None:
    task, option = get_task(type_), FILES[type_][3]
    assert task.advice is not None
    assert f"declare `{option}`" in str(task.advice(read_options(task, {})))
    assert task.advice(read_options(task, {option: ["pos", "neg"]})) is None
