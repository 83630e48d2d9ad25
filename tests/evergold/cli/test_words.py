"""Messages of commands before they contact a server, and the form in which they show its response."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

from evergold.cli import run
from evergold.cli.look import _full_title
from evergold.cli.output import Code
from evergold.cli.parts import entries
from evergold.cli.submissions import show_submission
from evergold.client import http


@pytest.fixture(autouse=True)
def _own_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Start without a log-in, a typing user, or a server that responds."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("EVERGOLD_SERVER", "http://127.0.0.1:9")
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    monkeypatch.setattr(http, "BRIEF", ())


def test_a_column_is_named_by_metric_and_title_once_each_and_by_its_title_where_a_board_names_no_metric() -> None:
    named = [("Macro F1", "English"), ("Macro F1", "Macro F1"), ("", "English")]
    said = [_full_title({"metric_title": metric, "title": title}) for metric, title in named]
    assert [*said, _full_title({"title": "English"})] == ["Macro F1 · English", "Macro F1", "English", "English"]


@pytest.mark.parametrize(
    ("arguments", "option"),
    [
        (["login"], "--username and --password-stdin"),
        (["login", "--username", "ada"], "--password-stdin"),
        (["register", "--username", "ada"], "--email"),
        (["register", "--username", "ada", "--email", "ada@example.org"], "--password-stdin"),
    ],
)
def test_where_nobody_can_be_asked_the_option_is_named(
    arguments: list[str], option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == Code.USAGE
    assert f"Not running in a terminal: pass {option}." in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "code"), [(["--yes"], Code.NETWORK), (["--undo"], Code.NETWORK), ([], Code.INTERRUPTED)]
)
def test_only_who_withdraws_without_saying_yes_is_asked(
    more: list[str], code: Code, capsys: pytest.CaptureFixture[str]
) -> None:
    """Check that where no confirmation is needed, the server is contacted, which is away."""
    assert run(["withdraw", "5a", *more]) == code
    assert ("Withdraw it?" in capsys.readouterr().err) == (code is Code.INTERRUPTED)


def test_help_has_every_command_with_its_words_in_one_column(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--help"]) == Code.OK
    lines = capsys.readouterr().out.splitlines()
    columns = set()
    for entry in entries():
        [line] = [line for line in lines if line.startswith(f"  {entry.name} ")]
        columns.add(line.index(entry.help.split()[0], 2 + len(entry.name)))
    assert len(columns) == 1


SCORED: dict[str, Any] = {
    "status": "scored",
    "message": "Scored.",
    "queue_position": None,
    "scores": [
        {"metric": "macro_f1", "split": "en", "value": 0.1234567891, "reason": None},
        {"metric": "macro_f1", "split": "pt", "value": None, "reason": "no positive item"},
    ],
    "problems": [],
}


@pytest.mark.parametrize(("precision", "value"), [(2, "0.12"), (4, "0.1235"), (None, "0.123457"), (12, "0.123457")])
def test_scores_have_the_digits_of_the_phase_and_six_at_most(
    precision: int | None, value: str, capsys: pytest.CaptureFixture[str]
) -> None:
    show_submission({**SCORED, "visibility": {"precision": precision}}, as_json=False)
    assert capsys.readouterr().out.splitlines() == [
        "Scored.",
        "Metric\tSplit\tValue",
        f"macro_f1\tEnglish\t{value}",
        "macro_f1\tPortuguese\t– (no positive item)",
    ]


def test_a_submission_says_its_place_in_line_and_warnings_are_told_from_errors(
    capsys: pytest.CaptureFixture[str],
) -> None:
    problem = {"sentence": "line 3: id 2 appears twice"}
    waiting = {**SCORED, "status": "queued", "message": "In line.", "queue_position": 4, "scores": []}
    show_submission(waiting, as_json=False)
    rejected = {**SCORED, "status": "rejected", "message": "No.", "scores": []}
    show_submission({**rejected, "problems": [problem], "problems_omitted": 2}, as_json=False)
    warned = {**SCORED, "scores": [], "problems": [problem], "problems_omitted": 0}
    show_submission(warned, as_json=False)
    assert capsys.readouterr().out.splitlines() == [
        "In line. Number 4 in line.",
        "No.",
        problem["sentence"],
        "… and 2 more.",
        "Scored.",
        "Warnings:",
        problem["sentence"],
    ]
