"""Challenges of EvalAI become competitions: splits are boards, phases overlap, limits and questions stay."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from app.importers.bundles.archive import InvalidBundle
from app.importers.bundles.imported import Imported, Target
from app.importers.bundles.moments import Assumed
from app.importers.bundles.notes import Fate
from app.importers.evalai.importing import import_evalai
from tests.importers.bundles import made

MAIN = "challenge_config.yaml"


def imported(tmp_path: Path, text: str = made.EVALAI) -> tuple[Imported, dict[str, Any]]:
    challenge = made.written(tmp_path / "challenge.zip", made.files(text, MAIN))
    found = import_evalai(challenge, Target(tmp_path / "to", tmp_path / "gold"), Assumed())
    document = yaml.safe_load((tmp_path / "to/competition.yaml").read_text())
    return found, document["competitions"][0]


def test_phases_with_their_dates_in_utc_overlap(tmp_path: Path) -> None:
    found, competition = imported(tmp_path)
    assert [(one["name"], one["start"], one["end"]) for one in competition["phases"]] == [
        ("dev", "2026-01-01 00:00 UTC", "2026-06-01 00:00 UTC"),
        ("test", "2026-03-01 00:00 UTC", "2026-12-31 00:00 UTC"),
    ]
    assert any(one.fate is Fate.ASSUMED and "UTC, as chosen for the import" in one.text for one in found.notes)
    assert [one["title"] for one in competition["phases"]] == ["Dev", "Test"]
    assert [one.get("description") for one in competition["phases"]] == ["# Hello\n\nWorld", None]


def test_a_phase_without_an_end_stays_open_and_one_that_ends_first_is_refused(tmp_path: Path) -> None:
    end = "    end_date: 2026-06-01 00:00:00\n"
    _, competition = imported(tmp_path, made.replaced(made.EVALAI, {end: ""}))
    assert "end" not in competition["phases"][0]
    shutil.rmtree(tmp_path / "to")
    with pytest.raises(InvalidBundle) as refused:
        imported(tmp_path, made.replaced(made.EVALAI, {end: end.replace("2026", "2025")}))
    assert [one.message for one in refused.value.problems] == ["challenge_phases[0] ends before it starts"]


def test_flags_of_boards_that_mean_nothing_here_are_no_task_for_the_organiser(tmp_path: Path) -> None:
    shown = made.EVALAI.replace("leaderboard_decimal_precision: 3,", "show_execution_time: True,")
    found, _ = imported(tmp_path, shown)
    fates = {one.fate for one in found.notes if one.path.endswith("show_execution_time")}
    assert fates == {Fate.NONE}


def test_archives_are_no_pattern_of_files(tmp_path: Path) -> None:
    _, competition = imported(tmp_path, made.EVALAI.replace('".json, .txt"', '".json, .tar.gz"'))
    assert competition["tasks"][0]["options"]["files"] == {"allowed": ["*.json"]}


def test_phases_with_different_splits_have_tasks_of_their_own(tmp_path: Path) -> None:
    _, competition = imported(tmp_path)
    assert [(one["name"], one["task"], one["title"]) for one in competition["boards"]] == [
        ("task-1-seen", "task-1", "Seen"),
        ("task-2-seen", "task-2", "Seen"),
        ("task-2-unseen", "task-2", "Unseen"),
    ]
    assert [list(one["tasks"]) for one in competition["phases"]] == [["task-1"], ["task-2"]]


def test_phases_with_the_same_splits_share_a_task(tmp_path: Path) -> None:
    third = next(line for line in made.EVALAI.splitlines(keepends=True) if "dataset_split_id: 2" in line)
    _, competition = imported(tmp_path, made.EVALAI.replace(third, ""))
    assert [one["name"] for one in competition["tasks"]] == ["main"]
    assert [list(one["tasks"]) for one in competition["phases"]] == [["main"], ["main"]]


def test_labels_of_each_split_are_metrics_with_their_direction(tmp_path: Path) -> None:
    _, competition = imported(tmp_path)
    options = competition["tasks"][1]["options"]
    assert options["contract"] == "evalai"
    assert [(one["name"], one["key"], one["title"], one["better"]) for one in options["metrics"]] == [
        ("seen_Share", "seen/Share", "Share", "higher"),
        ("seen_Error", "seen/Error", "Error", "lower"),
        ("unseen_Share", "unseen/Share", "Share", "higher"),
        ("unseen_Error", "unseen/Error", "Error", "lower"),
    ]
    assert {one["decimals"] for one in options["metrics"]} == {3}


def test_limits_entry_files_phase_and_questions(tmp_path: Path) -> None:
    _, competition = imported(tmp_path)
    dev, test = competition["phases"]
    assert dev["limits"] == {"per_day": 5, "per_month": 40, "total": 40}
    assert (dev["entry"], test["entry"]) == ("best", "chosen")
    assert dev["tasks"]["task-1"]["options"] == {"phase": "dev"}
    assert competition["tasks"][0]["options"]["files"] == {"allowed": ["*.json", "*.txt"]}
    assert competition["method_card"]["fields"] == [
        {
            "name": "kind",
            "title": "Kind",
            "kind": "choice",
            "choices": ["a", "b"],
            "required": True,
            "help": "of the model",
        }
    ]


def test_the_strictest_visibility_of_a_phase_holds_and_is_named(tmp_path: Path) -> None:
    found, competition = imported(tmp_path)
    assert competition["phases"][0]["visibility"] == {"slices": "columns"}
    assert competition["phases"][1]["visibility"] == {
        "slices": "columns",
        "board": "hidden",
        "own_scores": "after_close",
    }
    assert any(one.path == "challenge_phase_splits[2].visibility" for one in found.open_notes)


def test_gold_keeps_its_name_and_the_package_is_the_program(tmp_path: Path) -> None:
    found, _ = imported(tmp_path)
    assert found.written.gold["dev", "task-1"] == tmp_path / "gold/spoons-again/dev/task-1/truth.txt"
    assert (tmp_path / "to/programs/scripts/__init__.py").is_file()


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("leaderboard_id: 1, dataset_split_id: 2", "leaderboard_id: 5, dataset_split_id: 2", "there is no '5'"),
        ("evaluation_script: scripts.zip", "evaluation_script: gone.zip", "no evaluation_script"),
        ("title: Spoons again", "title: ''", "there is no title"),
    ],
)
def test_what_is_wrong_is_refused(tmp_path: Path, old: str, new: str, words: str) -> None:
    with pytest.raises(InvalidBundle) as refused:
        imported(tmp_path, made.replaced(made.EVALAI, {old: new}))
    assert any(words in one.message for one in refused.value.problems)
    assert not (tmp_path / "to").exists()
