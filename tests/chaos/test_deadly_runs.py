"""Runs that kill the process that scores them, really: they end, and nobody else suffers. On a real prefork worker."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import httpx
import pytest
from sqlalchemy import func, select

from app.base.config import get_settings
from app.base.db import reading, writing
from app.base.queue import send_run
from app.models import TERMINAL, PhaseTask, RunStatus, ScoreRow, ScoringRun
from app.people import auth
from app.runs.failures import failed_runs
from tests.chaos.dawdling import DEADLY, DEADLY_AFTERWARDS, DEADLY_QUIETLY, ENDLESS
from tests.chaos.place import ITEMS, Place, a_place, children_of
from tests.chaos.verdict import SCORES_PER_RUN
from tests.processes import kill, wait_until
from tests.world import add_user

pytestmark = pytest.mark.services

GOOD = b"ID,Language,Setting,Label\n" + b"".join(b"%d,EN,zero_shot,0\n" % n for n in range(ITEMS))
TASK = "/api/v1/competitions/storm/phases/calm/tasks/detection"


@pytest.fixture(scope="module")
def _place() -> Iterator[Place]:
    with a_place(attempts=3, lease_seconds=1, sweep_seconds=0.2) as found:
        yield found


@pytest.fixture
def place(_place: Place) -> Iterator[Place]:
    """With one worker, which has one process."""
    _place.start_worker()
    yield _place
    kill(_place.workers.pop())


@pytest.fixture
def ada(place: Place, request: pytest.FixtureRequest) -> Iterator[httpx.Client]:
    user = add_user(place.engine, f"ada{abs(hash(request.node.name)) % 10**9}")
    with writing(place.engine) as session:
        _, secret = auth.create_token(session, user, "test", datetime.now(UTC))
    with httpx.Client(base_url=place.address, headers={"Authorization": f"Bearer {secret}"}, timeout=60) as client:
        yield client


def upload(client: httpx.Client, content: bytes) -> UUID:
    answer = client.post(f"{TASK}/submissions", files={"file": ("mine.csv", content)})
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


@pytest.mark.parametrize("marker", [DEADLY, DEADLY_QUIETLY], ids=["killed", "exit"])
def test_a_run_that_kills_its_worker_three_times_fails_alone(place: Place, ada: httpx.Client, marker: bytes) -> None:
    worker = place.workers[0].process.pid
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


def test_a_run_that_does_not_end_is_stopped_three_times_and_fails(place: Place, ada: httpx.Client) -> None:
    kill(place.workers.pop())
    place.start_worker(run_limit_seconds=2)
    endless = upload(ada, GOOD + ENDLESS)
    wait_for_the_end(place, endless)
    run = run_of(place, endless)
    assert (run.status, run.attempts) == (RunStatus.FAILED, 3)
    assert place.workers[0].is_running()
    assert quota(ada)["used_total"] == 0


def test_a_worker_that_dies_after_it_recorded_scores_has_scored_once(
    place: Place, ada: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between recording and acknowledging; and the message comes again, and again."""
    with reading(place.engine) as session:
        before = session.scalars(select(PhaseTask.board_version).order_by(PhaseTask.id)).first()
    assert before is not None
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
    with reading(place.engine) as session:
        after = session.scalars(select(PhaseTask.board_version).order_by(PhaseTask.id)).first()
    assert after == before + 2, "this one, and the one behind"


def test_a_worker_whose_parent_alone_is_killed_leaves_nothing_behind(place: Place, ada: httpx.Client) -> None:
    submissions = [upload(ada, GOOD + b"\n" * n) for n in range(5)]
    children = children_of(place.workers[0].process.pid)
    assert children
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
