"""`evergold tasks`: every task type, where it is from, and what it offers."""

from __future__ import annotations

import json

import pytest

from evergold.cli import run
from evergold.scoring import TASKS
from evergold.version import VERSION


def test_every_task_type_is_listed_with_its_distribution(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["tasks"]) == 0
    head, *rows = capsys.readouterr().out.splitlines()
    assert head.split("\t") == ["Task type", "Version", "Title", "From"]
    assert [row.split("\t") for row in rows] == [
        [name, str(TASKS[name].version), TASKS[name].title, f"evergold {VERSION}"] for name in sorted(TASKS)
    ]


@pytest.mark.parametrize("name", sorted(TASKS))
def test_one_of_them_has_all_its_options_metrics_and_formats(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["tasks", name, "--json"]) == 0
    [task] = json.loads(capsys.readouterr().out)["tasks"]
    assert list(task["options"]) == [
        option
        for option in TASKS[name].options.model_fields
        if option != "program_sha256"  # filled in by the server
    ]
    assert [metric["name"] for metric in task["metrics"]] == list(TASKS[name].metrics)
    assert task["formats"] == ["table", "json", *TASKS[name].text_reports]
    assert run(["tasks", name]) == 0
    text = capsys.readouterr().out
    assert f"{name}, version {TASKS[name].version}, from evergold {VERSION}" in text
    assert all(f"\n{metric}\t" in text for metric in TASKS[name].metrics)


def test_defaults_are_shown_as_they_are_written(capsys: pytest.CaptureFixture[str]) -> None:
    run(["tasks", "idiom-detection"])
    assert "settings\tzero_shot,one_shot\n" in capsys.readouterr().out


def test_an_unknown_one_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["tasks", "idiom-similarty"]) == 64
    assert "did you mean idiom-similarity?" in capsys.readouterr().err
