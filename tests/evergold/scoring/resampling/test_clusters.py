"""`resample_by`: items that belong together are drawn together; no score depends on it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from evergold.scoring.errors import InvalidGold
from evergold.scoring.resampling.intervals import Interval, intervals
from evergold.scoring.task import read_options
from evergold.scoring.tasks import TASKS
from tests.evergold.scoring.resampling.cases import run_of

#: Of each task type gold with a column MWE, two rows to an idiom, and a prediction.
FILES = {
    "idiom-detection": (
        "ID,Language,Label,MWE",
        [f"{n},EN,{n % 3 % 2},idiom {n // 2}" for n in range(12)],
        "ID,Language,Setting,Label",
        [f"{n},EN,zero_shot,{n % 2}" for n in range(12)],
    ),
    "idiom-similarity": (
        "ID,DataID,Language,sim,otherID,MWE",
        [f"{n},dev.EN.1.{n},EN,{n / 12},,idiom {n // 2}" for n in range(12)],
        "ID,Language,Setting,Sim",
        [f"{n},EN,pre_train,{n * 7 % 5}" for n in range(12)],
    ),
    "meaning-matching": (
        "ID,Language,SentenceID,Label,MWE",
        [f"{n},EN,{n // 2},{n % 2},idiom {n // 4}" for n in range(12)],
        "ID,Language,Setting,Label",
        [f"{n},EN,zero_shot,{n % 3 % 2}" for n in range(12)],
    ),
    "ranking": (
        "query,document,relevance,MWE",
        [f"q{n},{name},{(n + place) % 2},idiom {n // 2}" for n in range(12) for place, name in enumerate("abc")],
        "query,document,score",
        [f"q{n},{name},{n * 7 % 5 * place}" for n in range(12) for place, name in enumerate("abc")],
    ),
    "table": (
        "id,label,MWE",
        [f"{n},{'ab'[n % 2]},idiom {n // 2}" for n in range(12)],
        "id,label",
        [f"{n},{'ab'[n % 3 % 2]}" for n in range(12)],
    ),
}


def files(name: str, folder: Path) -> tuple[Path, Path]:
    header, gold, second, prediction = FILES[name]
    paths = folder / "gold.csv", folder / "prediction.csv"
    for path, lines in zip(paths, ([header, *gold], [second, *prediction]), strict=True):
        path.write_text("\n".join(lines) + "\n")
    return paths


@pytest.mark.parametrize("name", FILES)
def test_units_are_what_the_column_joins_and_scores_stay(name: str, tmp_path: Path) -> None:
    gold, prediction = files(name, tmp_path)
    alone, together = (run_of(name, gold, prediction, options) for options in ({}, {"resample_by": "MWE"}))
    assert alone.scores == together.scores, "signatures too"
    assert len(together.sample.units) < len(alone.sample.units)
    assert together.sample.units.kind == "MWE"
    for score, value in alone.sample.scores().items():
        assert together.sample.scores()[score] == pytest.approx(value, abs=1e-12)


def test_interval_says_what_was_drawn(tmp_path: Path) -> None:
    run = run_of("idiom-detection", *files("idiom-detection", tmp_path), options={"resample_by": "MWE"})
    found = intervals(run.sample, TASKS["idiom-detection"].metrics)["accuracy", "zero_shot/all"]
    assert isinstance(found, Interval)
    assert found.method.endswith("units:MWE,6")


@pytest.mark.parametrize("name", FILES)
def test_gold_without_the_column_or_with_an_empty_cell_is_rejected(name: str, tmp_path: Path) -> None:
    gold, _ = files(name, tmp_path)
    task = TASKS[name]

    def read(column: str) -> Any:
        return task.read_gold(gold, read_options(task, {"resample_by": column}))

    assert read("MWE")
    with pytest.raises(InvalidGold, match="Document"):
        read("Document")
    gold.write_text(gold.read_text().replace("idiom 2\n", " \n"))
    with pytest.raises(InvalidGold, match=r"column MWE: resample_by: the cluster of the row is empty"):
        read("MWE")
