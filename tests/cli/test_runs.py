"""`evergold runs`: where submissions are, which failed, and a second chance for those."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import Engine

from app.models import RunStatus
from evergold.cli import run
from evergold.cli.output import Code
from tests.world import add_competition, add_user, fail, score, submit, the_run

Evergold = Callable[..., tuple[int, str, str]]


@pytest.fixture
def evergold(sqlite_engine: Engine, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Evergold:
    """`evergold …` on the test's database; exit code, stdout, stderr."""
    monkeypatch.setenv("EVERGOLD_DATABASE_URL", sqlite_engine.url.render_as_string(hide_password=False))

    def evergold(*arguments: object) -> tuple[int, str, str]:
        capsys.readouterr()  # what other fixtures logged
        code = run([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err
        return code, captured.out, captured.err

    return evergold


@pytest.fixture
def failed(sqlite_engine: Engine) -> int:
    """The id of a failed run; another was scored, and a third waits."""
    add_competition(sqlite_engine)
    ada = add_user(sqlite_engine, "ada")
    runs = [submit(sqlite_engine, ada, content=str(n)).run_id for n in range(3)]
    score(sqlite_engine, runs[0], 0.5)
    fail(sqlite_engine, runs[1])
    return runs[1]


def test_runs_are_counted_by_state(evergold: Evergold, failed: int) -> None:
    code, out, _ = evergold("runs")
    assert code == Code.OK
    assert out.splitlines() == [
        "Task\tQueued\tRunning\tScored\tRejected\tFailed",
        "idioms/evaluation/detection\t1\t0\t1\t0\t1",
    ]
    _, out, _ = evergold("runs", "--json")
    assert json.loads(out)["tasks"][0]["failed"] == 1


def test_failed_runs_are_listed_with_the_reason(evergold: Evergold, failed: int) -> None:
    code, out, _ = evergold("runs", "--failed")
    heading, line = out.splitlines()
    assert (code, heading) == (Code.OK, "Run\tFailed\tTask\tTeam\tSubmission\tWhy")
    assert line.startswith(f"{failed}\t10 Jan 2026, 12:00 UTC\tidioms/evaluation/detection\tAda\t")
    assert line.endswith("\tBroken")
    _, out, _ = evergold("runs", "--failed", "--json")
    (found,) = json.loads(out)["runs"]
    assert (found["run_id"], found["team"], found["failed_at"]) == (failed, "Ada", "2026-01-10T12:00:00+00:00")


def test_failed_runs_get_a_second_chance(evergold: Evergold, failed: int, sqlite_engine: Engine) -> None:
    code, _, err = evergold("runs", "--failed", "--queue-again")
    assert (code, err) == (Code.OK, "1 run will be scored again; the sweep notifies the workers.\n")
    assert the_run(sqlite_engine, failed).status == RunStatus.QUEUED
    assert evergold("runs", "--failed") == (Code.OK, "No run has failed.\n", "")


def test_a_competition_can_be_chosen(evergold: Evergold, failed: int, sqlite_engine: Engine) -> None:
    add_competition(sqlite_engine, name="proverbs")
    assert evergold("runs", "--failed", "--competition", "proverbs")[1] == "No run has failed.\n"
    assert len(evergold("runs", "--failed", "--competition", "idioms")[1].splitlines()) == 2
    code, _, err = evergold("runs", "--competition", "none")
    assert (code, "There is no competition 'none'" in err) == (Code.ERROR, True)


def test_queue_again_alone_is_wrong_usage(evergold: Evergold, tmp_path: Path) -> None:
    assert evergold("runs", "--queue-again")[0] == Code.USAGE


def test_one_run_or_a_part_of_a_competition_can_be_chosen(
    evergold: Evergold, failed: int, sqlite_engine: Engine
) -> None:
    fail(sqlite_engine, other := submit(sqlite_engine, add_user(sqlite_engine, "bob"), content="b").run_id)
    assert len(evergold("runs", "--failed", "--competition", "idioms/evaluation/detection")[1].splitlines()) == 3
    for place in ("idioms/nowhere", "idioms/evaluation/nothing"):
        assert evergold("runs", "--failed", "--competition", place)[0] == Code.ERROR
    assert evergold("runs", "--failed", "--competition", "a/b/c/d")[0] == Code.USAGE
    assert evergold("runs", "--failed", "--queue-again", "--run", str(other))[0] == Code.OK
    assert [the_run(sqlite_engine, run_id).status for run_id in (failed, other)] == [RunStatus.FAILED, RunStatus.QUEUED]
    assert evergold("runs", "--run", "1")[0] == Code.USAGE


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("idioms/evaluation", None),
        ("idioms/evaluation/detection", None),
        ("idioms/detection", "Competition 'idioms' has no phase 'detection'"),
        ("idioms/evaluation/none", "none"),
        ("idioms/detection/evaluation", "detection"),
    ],
)
def test_so_can_a_part_of_one_that_is_there(evergold: Evergold, failed: int, place: str, said: str | None) -> None:
    code, out, err = evergold("runs", "--failed", "--competition", place)
    assert (code, len(out.splitlines())) == ((Code.OK, 2) if said is None else (Code.ERROR, 0))
    assert (said or "") in err
