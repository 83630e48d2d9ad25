"""A task type from outside, that of docs/examples/quiz, built and installed: everything knows it then.

Validation, the worker, boards, pages, the API, the command line: nothing else is touched.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine

from app.declarations.check import check_phases
from evergold import scoring
from evergold.cli import run
from evergold.scoring.plugins import load_plugins
from evergold.scoring.tasks import OWN, TASKS, unusable_plugins
from tests.distributions import build_wheel, install_into
from tests.processes import REPOSITORY
from tests.services import environment_of
from tests.web import markup
from tests.web.reading import text_of
from tests.web.site import Site, run_of
from tests.whole import API, NOW, board, open_competition, page, sent, show_whole, site_of, taking_part, values
from workers.score import score_submission

NAME = "exact-answer"
EXAMPLE = REPOSITORY / "docs" / "examples" / "quiz"
GOLD, PREDICTION = EXAMPLE / "gold" / "gold.csv", EXAMPLE / "prediction.csv"
#: What the scores of the example are signed with.
FROM = "|from:evergold-quiz 1.0.0"
BROKEN = "id,answer\nq1,Santiago\nq1,Lugo\nq9,x\nq2,\n"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example, built and installed into a folder."""
    folder = tmp_path_factory.mktemp("quiz")
    install_into(folder / "site", build_wheel(EXAMPLE, folder))
    return folder / "site"


@pytest.fixture(autouse=True)
def _registered(installed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Register the plug-in, as in a process that starts with it installed."""
    unusable_plugins()  # all that are really there are known before
    monkeypatch.syspath_prepend(str(installed))
    tasks, unusable = load_plugins(own=OWN)
    assert unusable == ()
    monkeypatch.setitem(TASKS, "exact-answer", tasks["exact-answer"])


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    path = tmp_path / "broken.csv"
    path.write_text(BROKEN, encoding="utf-8")
    return path


@pytest.fixture
def quiz(sqlite_engine: Engine, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """The competition, open."""
    with site_of(sqlite_engine) as site:
        open_competition(site, EXAMPLE / "competition.yaml", EXAMPLE / "gold", monkeypatch)
        show_whole(site)
        yield site


def evergold(installed: Path, *arguments: object) -> str:
    """Return the output of `evergold …` in a process of its own, with the plug-in installed."""
    command = [sys.executable, "-m", "evergold.cli", *(str(argument) for argument in arguments)]
    environment = environment_of() | {"PYTHONPATH": str(installed)}
    done = subprocess.run(command, env=environment, cwd=REPOSITORY, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


# ------------------------------------------------------------------------------------------------------------- at home


def test_the_command_line_lists_it_with_its_distribution_and_scores_with_it(installed: Path) -> None:
    """q1 in the wrong case, q2 right, q3 wrong: 1 of 3, or without looking at the case 2 of 3."""
    [listed] = [task for task in json.loads(evergold(installed, "tasks", "--json"))["tasks"] if task["name"] == NAME]
    assert (listed["distribution"], listed["version"]) == ("evergold-quiz 1.0.0", 1)
    files = ["--gold", GOLD, "--prediction", PREDICTION, "--format", "json"]
    [right, share] = json.loads(evergold(installed, "score", NAME, *files))["scores"]
    assert (right["value"], share["value"]) == (1, pytest.approx(1 / 3))
    [right, share] = json.loads(evergold(installed, "score", NAME, *files, "--option", "ignore_case=true"))["scores"]
    assert (right["value"], share["value"]) == (2, pytest.approx(2 / 3))
    assert right["signature"] == f"exact-answer:1|right|all|ignore_case:yes{FROM}"
    assert share["signature"] == f"exact-answer:1|share|all|ignore_case:yes{FROM}"


def test_the_server_s_check_knows_it(installed: Path) -> None:
    checked = evergold(installed, "check", "--phases", EXAMPLE / "competition.yaml", "--gold", EXAMPLE / "gold")
    assert checked.splitlines()[-1].endswith("0 errors, 0 warnings.")


def test_checking_at_home_finds_every_problem(broken: Path) -> None:
    with pytest.raises(scoring.InvalidPrediction) as refused:
        scoring.validate(NAME, EXAMPLE / "items.csv", broken)
    assert [str(problem) for problem in refused.value.problems] == [
        "1 of 3 ids are missing: q3",
        "line 3, column id: id q1 appears twice, first on line 2",
        "line 4, column id: id 'q9' is not an item",
        "line 5, column answer: the answer is empty",
    ]
    assert run(["validate", str(broken), "--task", NAME, "--items", str(EXAMPLE / "items.csv")]) == 2


def test_organisers_are_told_what_it_can_and_cannot_do(tmp_path: Path) -> None:
    assert check_phases(EXAMPLE / "competition.yaml", now=NOW) == []
    declared = (EXAMPLE / "competition.yaml").read_text(encoding="utf-8")
    (tmp_path / "phases.yaml").write_text(declared.replace("metric: right", "metric: wrong"), encoding="utf-8")
    (tmp_path / "items.csv").write_bytes((EXAMPLE / "items.csv").read_bytes())
    [found] = check_phases(tmp_path / "phases.yaml", now=NOW)
    assert "exact-answer has no metric 'wrong'" in found.message


# ---------------------------------------------------------------------------------------------------------- on a server


def test_a_good_file_is_scored_and_stands_on_the_board(quiz: Site) -> None:
    with taking_part(quiz) as (ada, browser):
        submission = sent(ada, "quiz/open/answers", PREDICTION)
        assert (submission["status"], submission["problems"]) == ("scored", [])
        assert all(score["signature"].endswith(FROM) for score in submission["scores"])
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


def test_a_server_that_lost_it_says_so_and_loses_nothing(quiz: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Check a server that was updated before its plug-in."""
    path = f"{API}/competitions/quiz/phases/open/tasks/answers/submissions"
    with taking_part(quiz) as (ada, browser):
        sent(ada, "quiz/open/answers", PREDICTION)
        with monkeypatch.context() as without:
            without.delitem(TASKS, NAME)
            refused = ada.client.get(f"{API}/competitions/quiz/phases/open/boards/all")
            assert (refused.status_code, refused.json()["error"]["code"]) == (503, "task_type_missing")
            assert browser.get("/competitions/quiz/phases/open/boards/all").status_code == 503
            assert browser.get("/").status_code == 200
            late = ada.submitted(PREDICTION.read_bytes(), path=path)
            score_submission(run_of(quiz, late))
            assert ada.client.get(f"{API}/submissions/{late['id']}").json()["status"] == "queued"
        score_submission(run_of(quiz, late))
        assert ada.client.get(f"{API}/submissions/{late['id']}").json()["status"] == "scored"


# ----------------------------------------------------------------------------------------------- the door, from outside


def test_every_task_type_that_there_is_has_its_golden_folder_and_its_section_in_the_docs() -> None:
    described = (REPOSITORY / "docs" / "tasks.md").read_text(encoding="utf-8").splitlines()
    for name in set(TASKS) - {NAME}:
        assert list((REPOSITORY / "tests" / "golden" / name).iterdir()), name
        assert f"## {name}" in described
        assert (REPOSITORY / "evergold" / "scoring" / "tasks" / f"{name.replace('-', '_')}.py").is_file()
