"""SemEval-2022 Task 2: the official evaluators' numbers, to 1e-9, however files come in; the official templates."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from evergold import scoring
from evergold.scoring.task import read_options
from tests.conformance import conformance

GOLD = {"a": "SubTaskA/Data/dev_gold.csv", "b": "SubTaskB/EvaluationData/dev.gold.csv"}
BLIND = {"a": "SubTaskA/Data/dev.csv", "b": "SubTaskB/EvaluationData/dev.csv"}
TASK_NAMES = {"a": "idiom-detection", "b": "idiom-similarity"}
SUBMISSIONS = ["A_noisy", "A_majority", "A_zero_shot_only", "B_char", "B_word_pretrain_only", "B_constant"]


def data(*parts: str) -> Path:
    return conformance("semeval2022", *parts)


def expected(name: str) -> dict[str, float | None]:
    """The official values by our split: `EN+PT` is pooled, and `null` is undefined or not entered."""
    document = json.loads(data("submissions", "expected.json").read_text())[f"subtask_{name[0].lower()}"][name]
    values: dict[str, float | None] = {}
    for cell, official in document.items():
        setting, languages = cell.split("/")
        split = f"{setting}/{'all' if '+' in languages else languages.lower()}"
        if isinstance(official, dict):
            values |= {f"{split}/{subset}": value for subset, value in official.items()}
        else:
            values[split] = official
    return values


def assert_official(name: str, actual: dict[str, float | None]) -> None:
    official = expected(name)
    assert actual.keys() == official.keys()
    for split, value in official.items():
        assert actual[split] == (None if value is None else pytest.approx(value, abs=1e-9)), split


def ranking_values(scores: list[Any]) -> dict[str, float | None]:
    return {score.split: score.value for score in scores if score.metric in ("macro_f1", "spearman")}


@pytest.mark.parametrize("name", SUBMISSIONS)
@pytest.mark.parametrize("items_from", ["gold", "blind file"])
@pytest.mark.parametrize("packed", [False, True], ids=["plain", "zip"])
def test_scores_are_the_official_ones(name: str, items_from: str, packed: bool, tmp_path: Path) -> None:
    task = name[0].lower()
    prediction = data("submissions", f"{name}.csv")
    if packed:
        prediction = tmp_path / "upload"
        with zipfile.ZipFile(prediction, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.write(data("submissions", f"{name}.csv"), f"submission/{name}.csv")
    items = data("repository", BLIND[task]) if items_from == "blind file" else None
    scores = scoring.score(TASK_NAMES[task], data("repository", GOLD[task]), prediction, items=items)
    assert_official(name, ranking_values(scores))


@pytest.mark.parametrize("name", SUBMISSIONS)
def test_command_line_prints_the_official_scores(name: str) -> None:
    task = name[0].lower()
    command = [sys.executable, "-m", "evergold.scoring", TASK_NAMES[task], "--format", "json"]
    command += ["--gold", str(data("repository", GOLD[task])), "--items", str(data("repository", BLIND[task]))]
    command += ["--prediction", str(data("submissions", f"{name}.csv")), "--option", "languages=en,pt"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    rows = [row for row in json.loads(done.stdout)["scores"] if row["metric"] in ("macro_f1", "spearman")]
    assert_official(name, {row["split"]: row["value"] for row in rows})


@pytest.mark.parametrize(
    ("task", "blind", "template"),
    [
        ("a", "SubTaskA/Data/dev.csv", "SubTaskA/Data/dev_submission_format.csv"),
        ("a", "SubTaskA/Data/eval.csv", "SubTaskA/Data/eval_submission_format.csv"),
        ("a", "SubTaskA/TestData/test.csv", "SubTaskA/TestData/test_submission_format.csv"),
        ("b", "SubTaskB/EvaluationData/dev.csv", "SubTaskB/EvaluationData/dev.submission_format.csv"),
        ("b", "SubTaskB/EvaluationData/eval.csv", "SubTaskB/EvaluationData/eval.submission_format.csv"),
        ("b", "SubTaskB/TestData/test.csv", "SubTaskB/TestData/test_submission_format.csv"),
    ],
)
def test_template_is_the_official_one(task: str, blind: str, template: str) -> None:
    kind = scoring.get_task(TASK_NAMES[task])
    options = read_options(kind)
    items = kind.read_items(data("repository", blind), options)
    assert kind.template(items, options) == data("repository", template).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("task", "ours", "theirs"),
    [
        ("a", "SubTaskA/TestData/test.csv", "SubTaskA/Data/dev_submission_format.csv"),
        ("a", "SubTaskA/TestData/test.csv", "SubTaskA/Data/eval_submission_format.csv"),
        ("a", "SubTaskA/Data/dev.csv", "SubTaskA/TestData/test_submission_format.csv"),
        ("a", "SubTaskA/Data/dev.csv", "SubTaskA/Data/eval_submission_format.csv"),
        ("b", "SubTaskB/TestData/test.csv", "SubTaskB/EvaluationData/dev.submission_format.csv"),
        ("b", "SubTaskB/EvaluationData/eval.csv", "SubTaskB/TestData/test_submission_format.csv"),
    ],
)
def test_file_for_another_phase_is_recognised_though_ids_overlap(task: str, ours: str, theirs: str) -> None:
    """Check phases that share most of their id numbers: only the languages, or the other ids, distinguish them."""
    with pytest.raises(scoring.InvalidPrediction) as caught:
        scoring.validate(TASK_NAMES[task], data("repository", ours), data("repository", theirs))
    assert [problem.code for problem in caught.value.problems] == ["wrong-phase"]


@pytest.mark.parametrize(("task", "other"), [("a", "B_char"), ("b", "A_noisy")])
def test_file_for_the_other_subtask_is_recognised(task: str, other: str) -> None:
    with pytest.raises(scoring.InvalidPrediction, match="looks like a file for idiom-"):
        scoring.validate(TASK_NAMES[task], data("repository", BLIND[task]), data("submissions", f"{other}.csv"))


def test_submission_is_checked_without_gold() -> None:
    for task, name in (("a", "A_zero_shot_only"), ("b", "B_char")):
        blind, prediction = data("repository", BLIND[task]), data("submissions", f"{name}.csv")
        assert scoring.validate(TASK_NAMES[task], blind, prediction) == ()
