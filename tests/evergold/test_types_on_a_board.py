"""Spans, sets of labels and rankings from the golden files, all the way: declared, submitted, scored, on the board."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from sqlalchemy import Engine

from app.declarations.check import check_phases
from tests.evergold.scoring.test_golden import GOLDEN, the, wanted
from tests.whole import NOW, board, open_competition, sent, site_of, taking_part, values

DECLARATION = """version: 1
competitions:
  - name: trial
    title: "Trial"
    tasks:
      - {{name: trial, type: {type}, title: "Trial", options: {options}}}
    boards:
      - {{name: trial, title: "Trial", task: trial, columns: [{columns}]}}
    phases:
      - name: evaluation
        title: "Evaluation"
        start: "2026-01-10 12:00 UTC"
        tasks: {{trial: {{gold: trial/{gold}, items: {items}}}}}
"""


@pytest.mark.parametrize(
    ("name", "columns"),
    [
        ("sequence-labelling", ["f1 all", "lenient_f1 macro", "f1 type/PER"]),
        ("multi-label", ["micro_f1 all", "samples_f1 all", "label_f1 label/joy"]),
        ("ranking", ["ndcg_3 all", "map all"]),
    ],
)
def test_golden_scores_stand_on_the_board(
    name: str, columns: list[str], sqlite_engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gold, items, prediction = (the(GOLDEN / name, part) for part in ("gold", "items", "prediction"))
    assert gold
    assert items
    assert prediction
    expected = json.loads((GOLDEN / name / "expected.json").read_text(encoding="utf-8"))
    (tmp_path / "gold" / "trial").mkdir(parents=True)
    shutil.copy(gold, tmp_path / "gold" / "trial" / gold.name)
    shutil.copy(items, tmp_path / items.name)
    places = (column.split() for column in columns)
    titled = ", ".join(f'{{metric: {metric}, split: {split}, title: "{metric} {split}"}}' for metric, split in places)
    options = json.dumps(expected["options"])
    text = DECLARATION.format(type=name, options=options, columns=titled, gold=gold.name, items=items.name)
    declaration = tmp_path / "competition.yaml"
    declaration.write_text(text, encoding="utf-8")
    assert check_phases(declaration, now=NOW) == []
    with site_of(sqlite_engine) as site:
        open_competition(site, declaration, tmp_path / "gold", monkeypatch)
        with taking_part(site) as (ada, _):
            submission = sent(ada, "trial/evaluation/trial", prediction)
            assert submission["status"] == "scored", submission["problems"]
        found = values(board(site, "trial/evaluation/trial"), "ada")
        assert found == {column: wanted(expected["scores"][column]) for column in columns}
