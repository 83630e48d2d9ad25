"""Runs that kill the process that scores them, really: they end, and nobody else suffers. On a real prefork worker."""

from __future__ import annotations

import itertools
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import httpx
import pytest
from sqlalchemy import func, select

from app.base.config import get_settings
from app.base.db import reading, writing
from app.base.queue import send_run
from app.models import TERMINAL, RunStatus, ScoreRow, ScoringRun
from app.people import auth
from app.runs.failures import failed_runs
from tests.chaos.dawdling import BUSY, DEADLY, DEADLY_AFTERWARDS, DEADLY_QUIETLY, ENDLESS, HEAVY
from tests.chaos.place import ITEMS, Place, a_place, background_of, children_of
from tests.chaos.verdict import SCORES_PER_RUN
from tests.processes import kill, wait_until
from tests.world import add_user

pytestmark = pytest.mark.services

_numbers = itertools.count()

GOOD = b"ID,Language,Setting,Label\n" + b"".join(b"%d,EN,zero_shot,0\n" % n for n in range(ITEMS))
TASK = "/api/v1/competitions/storm/phases/calm/tasks/detection"


@pytest.fixture(scope="module")
def _place() -> Iterator[Place]:
    with a_place(attempts=3, lease_seconds=1, sweep_seconds=0.5) as found:
        yield found


@pytest.fixture
def place(_place: Place) -> Iterator[Place]:
    """Yield the place; each test starts a worker, which has one process."""
    yield _place
    while _place.workers:
        kill(_place.workers.pop())


@pytest.fixture
def ada(place: Place) -> Iterator[httpx.Client]:
    with somebody(place, "ada") as client:
        yield client


@contextmanager
def somebody(place: Place, name: str) -> Iterator[httpx.Client]:
    """Yield the client of somebody new, with a token."""
    user = add_user(place.engine, f"{name}{next(_numbers)}")
    with writing(place.engine) as session:
        _, secret = auth.create_token(session, user, "test", datetime.now(UTC))
    with httpx.Client(base_url=place.address, headers={"Authorization": f"Bearer {secret}"}, timeout=180) as client:
        yield client


def upload(client: httpx.Client, content: bytes, task: str = TASK) -> UUID:
    answer = client.post(f"{task}/submissions", files={"file": ("mine.csv", content)})
    assert answer.status_code == 202, answer.text
    return UUID(answer.json()["id"])


def run_of(place: Place, submission_id: UUID) -> ScoringRun:
    with reading(place.engine) as session:
        return session.scalars(select(ScoringRun).where(ScoringRun.submission_id == submission_id)).one()


def wait_for_the_end(place: Place, *submissions: UUID) -> None:
    wait_until(
        lambda: all(run_of(place, submission).status in TERMINAL for submission in submissions),
        "all have ended",
        place.workers[0],
    )


def score_rows(place: Place, run: ScoringRun) -> int:
    with reading(place.engine) as session:
        return session.scalars(select(func.count()).where(ScoreRow.run_id == run.id)).one()


def quota(client: httpx.Client) -> dict[str, Any]:
    found: dict[str, Any] = client.get(TASK).raise_for_status().json()["quota"]
    return found


@pytest.mark.parametrize(
    "marker", [pytest.param(DEADLY, id="killed"), pytest.param(DEADLY_QUIETLY, id="exit", marks=pytest.mark.soak)]
)
def test_a_run_that_kills_its_worker_three_times_fails_alone(place: Place, ada: httpx.Client, marker: bytes) -> None:
    worker = place.start_worker().process.pid
    before = [upload(ada, GOOD + b"\n" * n) for n in range(2)]
    deadly = upload(ada, GOOD + marker)
    after = [upload(ada, GOOD + b"\n" * n) for n in range(2, 5)]
    wait_for_the_end(place, deadly, *before, *after)
    run = run_of(place, deadly)
    assert (run.status, run.attempts, run.failure) == (RunStatus.FAILED, 3, "its worker was lost 3 times")
    assert score_rows(place, run) == 0
    others = [run_of(place, submission) for submission in (*before, *after)]
    assert [(other.status, other.attempts) for other in others] == 5 * [(RunStatus.SCORED, 1)]
    assert (place.workers[0].is_running(), place.workers[0].process.pid) == (True, worker), "the parent goes on"
    assert (quota(ada)["used_today"], quota(ada)["used_total"]) == (5, 5), "a failure of ours costs nothing"
    with reading(place.engine) as session:
        assert run.id in [failed.run_id for failed in failed_runs(session)], "organisers can see it"


@pytest.mark.parametrize(
    ("marker", "limits", "words"),
    [
        pytest.param(ENDLESS, {"run_limit_seconds": 2}, "2 s", id="asleep", marks=pytest.mark.soak),
        pytest.param(BUSY, {"run_cpu_seconds": 2}, "2 s of processor time", id="busy", marks=pytest.mark.soak),
    ],
)
def test_a_run_that_takes_too_long_is_rejected_at_its_first_try(
    place: Place, ada: httpx.Client, marker: bytes, limits: dict[str, float], words: str
) -> None:
    """Check that it is rejected because the same bound applied to others."""
    place.start_worker(1, is_ready=True, **limits)
    before, endless, after = upload(ada, GOOD), upload(ada, GOOD + marker), upload(ada, GOOD + b"\n")
    wait_for_the_end(place, before, endless, after)
    run = run_of(place, endless)
    assert (run.status, run.attempts, run.failure) == (RunStatus.REJECTED, 1, None)
    [problem] = run.problems
    assert problem["code"] == "too-slow"
    assert problem["sentence"] == f"this file takes more than {words} to score, the limit for every file"
    assert [(run_of(place, one).status, run_of(place, one).attempts) for one in (before, after)] == 2 * [
        (RunStatus.SCORED, 1)
    ]
    assert place.workers[0].is_running()
    assert (quota(ada)["used_total"], quota(ada)["rejected_last_hour"]) == (2, 1)


def test_where_nothing_was_ever_scored_in_time_it_is_our_fault_at_the_first_try(
    place: Place, ada: httpx.Client
) -> None:
    place.start_worker(run_limit_seconds=2)
    endless = upload(ada, GOOD + ENDLESS, task=TASK.replace("calm", "chaos"))
    wait_for_the_end(place, endless)
    run = run_of(place, endless)
    assert (run.status, run.attempts, run.problems) == (RunStatus.FAILED, 1, [])
    assert str(run.failure).startswith("this file takes more than 2 s to score")
    with reading(place.engine) as session:
        assert run.id in [failed.run_id for failed in failed_runs(session)], "organisers can raise the bound"


@pytest.mark.soak
def test_a_file_that_fills_the_memory_is_rejected_and_costs_nobody_else_anything(
    place: Place, ada: httpx.Client
) -> None:
    place.start_worker(run_memory_mebibytes=1536)
    before = [upload(ada, GOOD + b"\n" * n) for n in range(2)]
    heavy = [upload(ada, GOOD + HEAVY + b"\n" * n) for n in range(2)]
    after = [upload(ada, GOOD + b"\n" * n) for n in range(2, 6)]
    wait_for_the_end(place, *before, *heavy, *after)
    runs = [run_of(place, submission) for submission in heavy]
    for run in runs:
        assert (run.status, run.attempts <= 2) == (RunStatus.REJECTED, True), run.failure
        [problem] = run.problems
        assert problem["code"] == "too-much-memory"
        assert problem["sentence"] == "this file takes more than 1.5 GiB of memory to score, the limit for every file"
    others = [run_of(place, submission) for submission in (*before, *after)]
    assert [(other.status, other.attempts) for other in others] == 6 * [(RunStatus.SCORED, 1)]
    for run in runs:
        ended = run.finished_at
        later = {other.worker for other in others if ended and other.started_at and other.started_at > ended}
        assert run.worker not in later, "a fresh process goes on"
    assert place.workers[0].is_running()
    assert (quota(ada)["used_total"], quota(ada)["rejected_last_hour"]) == (6, 2)


@pytest.mark.parametrize(
    ("marker", "limits", "code"),
    [
        pytest.param(ENDLESS, {"check_limit_seconds": 2}, "too-slow", id="endless"),
        pytest.param(HEAVY, {"run_memory_mebibytes": 1536}, "too-much-memory", id="heavy", marks=pytest.mark.soak),
    ],
)
def test_a_check_has_bounds_of_its_own(
    place: Place, ada: httpx.Client, marker: bytes, limits: dict[str, float], code: str
) -> None:
    place.start_worker(1, is_ready=True, **limits)
    wait_for_the_end(place, upload(ada, GOOD))
    asked = ada.post(f"{TASK}/validations", files={"file": ("mine.csv", GOOD + marker)})
    assert asked.status_code == 202, asked.text
    address = asked.json()["links"]["self"]
    after = upload(ada, GOOD + b"\n")
    wait_until(lambda: ada.get(address).json()["status"] == "invalid", "the check has ended", place.workers[0])
    assert [problem["code"] for problem in ada.get(address).json()["problems"]] == [code]
    wait_for_the_end(place, after)
    assert (run_of(place, after).status, run_of(place, after).attempts) == (RunStatus.SCORED, 1)


@pytest.mark.soak
def test_a_team_with_many_files_in_line_delays_another_by_one(place: Place, ada: httpx.Client) -> None:
    """Check one worker, with all files in the queue before it starts."""
    many = [upload(ada, GOOD + b"\n" * n) for n in range(12)]
    with somebody(place, "bob") as bob:
        one = upload(bob, GOOD)
    place.start_worker()
    wait_for_the_end(place, one, *many)
    began = sorted((run_of(place, submission).started_at, submission == one) for submission in (one, *many))
    assert [place for place, (_, is_bobs) in enumerate(began) if is_bobs] in ([0], [1])


@pytest.mark.soak
def test_an_account_that_does_its_worst_costs_another_one_file_at_a_time(place: Place, ada: httpx.Client) -> None:
    """Files that hang, files that fill the memory and checks that do either, all in line before an honest team's."""
    place.start_worker(run_limit_seconds=2, check_limit_seconds=2, run_memory_mebibytes=1536)
    wait_for_the_end(place, upload(ada, GOOD))
    worst = [upload(ada, GOOD + marker + b"\n" * n) for n in range(5) for marker in (ENDLESS, HEAVY, DEADLY)]
    for marker in (ENDLESS, HEAVY, BUSY):
        ada.post(f"{TASK}/validations", files={"file": ("mine.csv", GOOD + marker)}).raise_for_status()
    with somebody(place, "bob") as bob:
        for number in range(5):
            one = upload(bob, GOOD + b"\n" * number)
            wait_for_the_end(place, one)
            run = run_of(place, one)
            assert (run.status, run.attempts) == (RunStatus.SCORED, 1)
            assert run.started_at is not None
            begun = [other.started_at for other in (run_of(place, each) for each in worst) if other.started_at]
            between = [moment for moment in begun if run.queued_at < moment < run.started_at]
            assert len(between) <= 1, "no more than one file of theirs went first"
    wait_until(
        lambda: all(run_of(place, each).status in TERMINAL for each in worst), "theirs end", place.workers[0], 600
    )
    assert quota(ada)["rejected_last_hour"] == 15


def test_a_worker_that_dies_after_it_recorded_scores_has_scored_once(
    place: Place, ada: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check a death between recording and acknowledging; the message comes again, and again."""
    place.start_worker()
    last = upload(ada, GOOD + DEADLY_AFTERWARDS)
    wait_for_the_end(place, last)
    run = run_of(place, last)
    assert (run.status, run.attempts) == (RunStatus.SCORED, 1)
    wait_until(lambda: "signal 9 (SIGKILL)" in place.workers[0].said(), "the worker noticed", place.workers[0])
    monkeypatch.setenv("EVERGOLD_BROKER_URL", place.broker.address)
    get_settings.cache_clear()
    assert send_run(run.id)
    assert send_run(run.id)
    wait_for_the_end(place, upload(ada, GOOD))  # behind them in the queue
    again = run_of(place, last)
    assert (again.status, again.attempts, again.finished_at) == (run.status, 1, run.finished_at)
    assert score_rows(place, run) == SCORES_PER_RUN


def test_a_worker_whose_parent_alone_is_killed_leaves_nothing_behind(place: Place, ada: httpx.Client) -> None:
    place.start_worker()
    submissions = [upload(ada, GOOD + b"\n" * n) for n in range(5)]
    worker = place.workers[0].process.pid
    wait_until(lambda: background_of(worker), "its background process is there", place.workers[0])
    children = children_of(worker)
    assert len(children) == 2
    place.workers[0].process.send_signal(signal.SIGKILL)
    place.workers[0].process.wait()
    orphaned = place.workers.pop()
    place.start_worker()
    wait_for_the_end(place, *submissions)
    for submission in submissions:
        run = run_of(place, submission)
        assert run.status == RunStatus.SCORED
        assert score_rows(place, run) == SCORES_PER_RUN
    wait_until(lambda: not any(is_alive(child) for child in children), "its children end by themselves")
    kill(orphaned)


def is_alive(pid: int) -> bool:
    with suppress(ProcessLookupError):
        os.kill(pid, 0)
        return True
    return False
