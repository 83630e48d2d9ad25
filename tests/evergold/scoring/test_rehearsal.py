"""Simulated systems: as often wrong as they should be, and no easier to recognise by how much they answer."""

from __future__ import annotations

from pathlib import Path

import pytest

from evergold.scoring.rehearsal import RIGHT, simulated
from evergold.scoring.tasks.multi_label import TASK, MultiLabelOptions

LABELS = ("a", "b", "c", "d", "e")


def test_a_simulated_set_of_labels_has_as_many_as_gold_and_some_of_them_right(tmp_path: Path) -> None:
    own = {f"{number}": {LABELS[number % 5], LABELS[number * number % 5]} for number in range(400)}
    path = tmp_path / "gold.csv"
    path.write_text("id,labels\n" + "".join(f"{id_},{'|'.join(sorted(has))}\n" for id_, has in own.items()))
    options = MultiLabelOptions(labels=LABELS)
    prediction = simulated(TASK, TASK.read_gold(path, options), options, 1)
    assert prediction is not None
    made = prediction.values
    wanted = sum(map(len, own.values()))
    # Four standard deviations of sums of 2,000 chances of at most a half are 89.
    assert sum(map(len, made.values())) == pytest.approx(wanted, abs=89 + wanted * (1 - RIGHT) * wanted / 2000)
    assert sum(len(own[id_].intersection(found)) for id_, found in made.items()) == pytest.approx(
        RIGHT * wanted, abs=89
    )
