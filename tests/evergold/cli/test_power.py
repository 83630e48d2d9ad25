"""`evergold power`: the smallest difference that gold can detect, against a rule of thumb by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evergold.cli import run
from evergold.scoring.rehearsal import simulated, sizes_by_language
from evergold.scoring.resampling.power import smallest_difference, smallest_of_shares
from evergold.scoring.task import read_gold, read_options
from evergold.scoring.tasks import TASKS

GOLDEN = Path(__file__).parents[2] / "golden"
ITEMS = 400


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    """400 items in two languages, one of three labelled 1."""
    path = tmp_path / "gold.csv"
    rows = [f"{n},{'EN' if n < 300 else 'PT'},{int(n % 3 == 0)}" for n in range(ITEMS)]
    path.write_text("\n".join(["ID,Language,Label", *rows]) + "\n")
    return path


def prediction(folder: Path, wrong: int) -> str:
    """Write a prediction of which every `wrong`th label is wrong."""
    path = folder / f"{wrong}.csv"
    rows = [f"{n},{'EN' if n < 300 else 'PT'},zero_shot,{int(n % 3 == 0) ^ int(n % wrong == 1)}" for n in range(ITEMS)]
    path.write_text("\n".join(["ID,Language,Setting,Label", *rows]) + "\n")
    return str(path)


def document(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> Any:
    assert run(["power", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def of(found: Any, metric: str, split: str) -> Any:
    return next(one for one in found["scores"] if (one["metric"], one["split"]) == (metric, split))


def test_factor_of_the_standard_error_is_that_of_textbooks() -> None:
    assert smallest_difference(1.0) == pytest.approx(1.959964 + 0.841621, abs=1e-6)
    assert smallest_of_shares(100) == pytest.approx(2.801585 * (2 * 0.75 * 0.25 / 100) ** 0.5, abs=1e-6)


def test_made_up_systems_come_near_the_rule_of_thumb(gold: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = document(["idiom-detection", "--gold", str(gold)], capsys)
    assert "simulated" in found["systems"]
    for split, items in (("all", 400), ("en", 300), ("pt", 100)):
        one = of(found, "accuracy", f"zero_shot/{split}")
        assert one["units"] == items
        assert one["smallest_difference"] == pytest.approx(smallest_of_shares(items), rel=0.2)


def test_a_single_prediction_has_an_unrelated_rival(
    gold: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = document(["idiom-detection", "--gold", str(gold), "--prediction", prediction(tmp_path, 4)], capsys)
    one = of(found, "accuracy", "zero_shot/all")
    assert one["score"] == 0.75
    # The standard error of a mean of 400 with n - 1; twice its square for two.
    assert one["smallest_difference"] == pytest.approx(2.801585 * (2 * 0.75 * 0.25 / 399) ** 0.5, abs=1e-6)


def test_systems_with_the_same_errors_are_told_apart_more_easily(
    gold: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Check 400 answers of which 100 and 50 are wrong, 50 of them the same."""
    files = [option for wrong in (4, 8) for option in ("--prediction", prediction(tmp_path, wrong))]
    found = document(["idiom-detection", "--gold", str(gold), *files, "--power", "0.5"], capsys)
    assert found["systems"] == "the 2 predictions given"
    # The differences are 50 times 1 and 350 times 0: variance 1/8 · 7/8 · 400/399. Half power needs 1.96 + 0.
    expected = 1.959964 * (1 / 8 * 7 / 8 / 399) ** 0.5
    assert of(found, "accuracy", "zero_shot/all")["smallest_difference"] == pytest.approx(expected, abs=1e-6)


def test_scores_that_have_no_interval_are_left_out_and_others_only_where_they_are_wanted(
    gold: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = document(["mwe-identification", "--gold", str(next((GOLDEN / "mwe-identification").glob("gold*")))], capsys)
    metrics = {one["metric"] for one in found["scores"]}
    assert ("mwe_f1" in metrics, "languages" in metrics) == (True, False)
    whole = document(["idiom-detection", "--gold", str(gold)], capsys)["scores"]
    some = document(["idiom-detection", "--gold", str(gold), "--metric", "accuracy"], capsys)["scores"]
    assert some == [one for one in whole if one["metric"] == "accuracy"]


def test_table_says_what_it_was_made_from(gold: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["power", "idiom-detection", "--gold", str(gold), "--metric", "macro_f1 zero_shot/pt"]) == 0
    output = capsys.readouterr()
    lines = output.out.splitlines()
    assert lines[0] == "Metric\tSplit\tUnits\tScore\tSmallest difference"
    assert [line.split("\t")[:3] for line in lines[1:]] == [["macro_f1", "zero-shot · Portuguese", "100"]]
    assert "80 times in 100" in output.err


@pytest.mark.parametrize(
    "name",
    sorted({name for name, task in TASKS.items() if task.run is None} & {path.name for path in GOLDEN.iterdir()}),
)
def test_made_up_systems_of_every_task_type_can_be_scored_or_are_said_to_be_missing(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = next(iter(sorted((GOLDEN / name).glob("gold*"))))
    task = TASKS[name]
    options = read_options(task)
    answers = read_gold(task, path, (), options)
    made = simulated(task, answers, options, 1)
    if made is None:
        assert run(["power", name, "--gold", str(path)]) == 1
        assert "give the --prediction" in capsys.readouterr().err
        return
    assert any(score.value is not None for score in task.score(answers, made, options))
    again = simulated(task, answers, options, 1)
    assert task.score(answers, again, options) == task.score(answers, made, options), "the same each time"
    again = task.score(answers, simulated(task, answers, options, 1), options)
    assert again == task.score(answers, made, options), "the same each time"
    assert all(size > 0 for size in sizes_by_language(task, answers).values())
    assert sizes_by_language(task, answers)
