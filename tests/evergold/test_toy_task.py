"""A task type comes in through one door: a file (`toy_task.py` beside this) and one line; everything knows it then.

Validation, the worker, boards, pages, the API, both command lines: nothing else is touched.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine
from typer.testing import CliRunner

from app.declarations.check import check_phases
from evergold import scoring
from evergold.cli.validate import commands
from evergold.scoring.__main__ import main
from evergold.scoring.tasks import TASKS
from tests.evergold import toy_task
from tests.processes import REPOSITORY
from tests.web import markup
from tests.web.reading import text_of
from tests.web.site import Site
from tests.whole import NOW, board, open_competition, page, sent, site_of, taking_part, values

ITEMS = "id,question\nq1,The capital of Galicia?\nq2,How many vowels has Galician?\nq3,Who wrote Follas novas?\n"
GOLD = "id,answer\nq1,Santiago\nq2,seven\nq3,Rosalía de Castro\n"
#: q1 in the wrong case, q2 right, q3 wrong: 1 of 3, or without looking at the case 2 of 3.
PREDICTION = "id,answer\nq1,santiago\nq2,seven\nq3,Rosalía\n"
BROKEN = "id,answer\nq1,Santiago\nq1,Lugo\nq9,x\nq2,\n"
PHASES = """\
version: 1
competitions:
  - name: quiz
    title: "Quiz"
    tasks: [{name: answers, type: exact-answer, title: "Answers"}]
    boards:
      - name: all
        title: "All answers"
        task: answers
        columns: [{metric: share, split: all, percent: true, decimals: 1}, {metric: right, split: all, decimals: 0}]
    phases:
      - name: open
        title: "Open"
        start: "2026-01-01 00:00 UTC"
        tasks: {answers: {gold: gold.csv, items: items.csv}}
"""


@pytest.fixture(autouse=True)
def _registered(monkeypatch: pytest.MonkeyPatch) -> None:
    """The one line."""
    monkeypatch.setitem(TASKS, toy_task.NAME, toy_task.TASK)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in (("phases.yaml", PHASES), ("items.csv", ITEMS), ("gold/gold.csv", GOLD)):
        path = tmp_path / "quiz" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (tmp_path / "quiz" / "prediction.csv").write_text(PREDICTION, encoding="utf-8")
    (tmp_path / "quiz" / "broken.csv").write_text(BROKEN, encoding="utf-8")
    return tmp_path / "quiz"


@pytest.fixture
def quiz(sqlite_engine: Engine, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """The competition, open."""
    with site_of(sqlite_engine) as site:
        open_competition(site, folder / "phases.yaml", folder / "gold", monkeypatch)
        yield site


# ------------------------------------------------------------------------------------------------------------- at home


def test_scoring_by_hand(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = ["--gold", str(folder / "gold" / "gold.csv"), "--prediction", str(folder / "prediction.csv")]
    assert main(["exact-answer", *files]) == 0
    assert capsys.readouterr().out.split() == ["right", "all", "1.000000", "share", "all", "0.333333"]
    assert main(["exact-answer", *files, "--option", "ignore_case=true", "--format", "json"]) == 0
    [right, share] = json.loads(capsys.readouterr().out)["scores"]
    assert (right["value"], share["value"]) == (2, pytest.approx(2 / 3))
    assert right["signature"] == "exact-answer:1|right|all|ignore_case:yes"
    assert main(["--list"]) == 0
    assert "exact-answer (version 1): One short answer per question" in capsys.readouterr().out


def test_checking_at_home_finds_every_problem(folder: Path) -> None:
    with pytest.raises(scoring.InvalidPrediction) as refused:
        scoring.validate("exact-answer", folder / "items.csv", folder / "broken.csv")
    assert [str(problem) for problem in refused.value.problems] == [
        "1 of 3 ids are missing: q3",
        "line 3, column id: id q1 appears twice, first on line 2",
        "line 4, column id: id 'q9' is not an item",
        "line 5, column answer: the answer is empty",
    ]
    asked = [str(folder / "broken.csv"), "--task", "exact-answer", "--items", str(folder / "items.csv")]
    ran = CliRunner().invoke(commands, asked)
    assert (ran.exit_code, ran.stdout.count("\n")) == (2, 4), ran.output


def test_organisers_are_told_what_it_can_and_cannot_do(folder: Path) -> None:
    assert check_phases(folder / "phases.yaml", now=NOW) == []
    (folder / "phases.yaml").write_text(PHASES.replace("metric: right", "metric: wrong"))
    [found] = check_phases(folder / "phases.yaml", now=NOW)
    assert "exact-answer has no metric 'wrong'" in found.message


# ---------------------------------------------------------------------------------------------------------- on a server


def test_a_good_file_is_scored_and_stands_on_the_board(quiz: Site) -> None:
    with taking_part(quiz) as (ada, browser):
        submission = sent(ada, "quiz/open/answers", PREDICTION.encode())
        assert (submission["status"], submission["problems"]) == ("scored", [])
        shown = page(quiz, f"/submissions/{submission['id']}/report", browser)
        assert "all 1 33.33" in text_of(shown)
    found = board(quiz, "quiz/open/all")
    assert values(found, "ada") == {"share all": pytest.approx(1 / 3), "right all": 1}
    shown = page(quiz, "/competitions/quiz/phases/open/boards/all")
    markup.check(shown)
    assert "ada 33.3 1" in text_of(shown)
    assert "The share of the answers that equal gold." in text_of(shown)


def test_a_broken_file_is_rejected_by_line(quiz: Site) -> None:
    with taking_part(quiz) as (ada, browser):
        submission = sent(ada, "quiz/open/answers", BROKEN.encode())
        assert submission["status"] == "rejected"
        assert [problem["line"] for problem in submission["problems"]] == [None, 3, 4, 5]
        shown = text_of(page(quiz, f"/submissions/{submission['id']}", browser))
    assert "4 problems" in shown
    assert "id q1 appears twice, first on line 2" in shown
    assert board(quiz, "quiz/open/all")["rows"] == []


# ----------------------------------------------------------------------------------------------- the door, from outside


def test_every_task_type_that_there_is_has_its_golden_folder_and_its_section_in_the_docs() -> None:
    described = (REPOSITORY / "docs" / "tasks.md").read_text(encoding="utf-8").splitlines()
    for name in set(TASKS) - {toy_task.NAME}:
        assert list((REPOSITORY / "tests" / "golden" / name).glob("*.json")), name
        assert f"## {name}" in described
        assert (REPOSITORY / "evergold" / "scoring" / "tasks" / f"{name.replace('-', '_')}.py").is_file()
