"""Progress of a run: written while it lasts and is ours, about once a second, and never in the way of the scoring."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import Engine
from sqlalchemy.exc import OperationalError
from structlog.testing import capture_logs

from app.base.db import writing
from app.models import RunStatus, ScoringRun, User
from app.runs.claims import Claim
from app.runs.outcomes import put_back
from app.runs.sweep import requeue_lost_runs
from evergold.scoring.progress import report_progress
from tests.processes import wait_until
from tests.world import ZERO_SHOT, claim, finish, scores_of, submit, sure, the_run
from workers import lease
from workers.lease import ClaimLost, Progress, reporting_progress


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lease, "TELL_SECONDS", 0.02)


@pytest.fixture
def held(engine: Engine, ada: User) -> Claim:
    return sure(claim(engine, submit(engine, ada).run_id, now=datetime.now(UTC)))


def known(engine: Engine, held: Claim) -> tuple[bool, int | None, int | None]:
    """Return whether the file was checked, and how many of how many items are done."""
    run = the_run(engine, held.run_id)
    return run.checked_at is not None, run.items_done, run.items_total


def test_what_is_reported_can_be_seen_while_the_run_goes_on(engine: Engine, held: Claim) -> None:
    with reporting_progress(engine, held) as told:
        told.checked()
        wait_until(lambda: known(engine, held) == (True, None, None), "the file is said to be in order")
        report_progress(0, 40)
        report_progress(10, 40)
        wait_until(lambda: known(engine, held) == (True, 10, 40), "ten items are said to be done")
        assert the_run(engine, held.run_id).seconds_left is not None
        report_progress(40, 40)
        wait_until(lambda: known(engine, held) == (True, 40, 40), "all items are said to be done")
        assert the_run(engine, held.run_id).seconds_left == 0


def test_the_pace_is_taken_from_when_encoding_began(monkeypatch: pytest.MonkeyPatch) -> None:
    """Loading a model comes between two reports of no item."""
    moments = iter((0.0, 60.0, 64.0))
    monkeypatch.setattr(lease, "time", SimpleNamespace(monotonic=lambda: next(moments)))
    begun: list[bool] = []
    one = Progress(begun=lambda: begun.append(True))
    one.report(0, 40)
    one.report(0, 40)
    one.report(20, 40)
    assert one.seconds_left() == 4
    assert begun == [True]


def test_nothing_new_is_not_written_again(engine: Engine, held: Claim, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[int | None] = []
    write = lease._write

    def counted(*arguments: Any) -> Any:
        written.append(arguments[2].done)
        return write(*arguments)

    monkeypatch.setattr(lease, "_write", counted)
    with reporting_progress(engine, held):
        for done in range(200):
            report_progress(done, 200)
        wait_until(lambda: written, "something is written")
        wait_until(lambda: known(engine, held)[1] == 199, "the last is written")
        threading.Event().wait(0.2)
    assert written[-1] == 199
    assert len(written) == len(set(written)), "each once, and those in between are left out"
    assert len(written) < 20


def test_a_short_run_writes_nothing_and_leaves_no_thread(
    engine: Engine, held: Claim, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lease, "TELL_SECONDS", 60)
    with reporting_progress(engine, held) as told:
        told.checked()
        report_progress(3, 4)
    assert known(engine, held) == (False, None, None)
    assert not [thread for thread in threading.enumerate() if thread.name == "progress"]


def test_a_run_that_was_given_to_another_is_ended_at_its_next_report(engine: Engine, held: Claim) -> None:
    with reporting_progress(engine, held) as told:
        with writing(engine) as session:
            requeue_lost_runs(session, attempts=3, now=datetime.now(UTC) + timedelta(days=1))
        report_progress(1, 4)
        wait_until(lambda: told.is_lost, "the loss is noticed")
        with pytest.raises(ClaimLost):
            report_progress(2, 4)
    assert (the_run(engine, held.run_id).status, *known(engine, held)) == (RunStatus.QUEUED, False, None, None)


def test_a_database_that_is_away_does_not_disturb_the_scoring(
    engine: Engine, held: Claim, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = iter([OperationalError("UPDATE runs", {}, Exception("the server is restarting"))])
    write = lease._write

    def write_after_an_error(*of: object) -> bool:
        for error in broken:
            raise error
        return write(*of)  # type: ignore[arg-type]  # passed on as they came

    monkeypatch.setattr(lease, "_write", write_after_an_error)
    with capture_logs() as logged, reporting_progress(engine, held):
        report_progress(1, 4)
        wait_until(lambda: known(engine, held)[1] == 1, "a later second tells it")
    assert [entry["event"] for entry in logged] == ["progress_not_told"]


def test_progress_is_forgotten_when_the_run_goes_back(engine: Engine, held: Claim) -> None:
    with reporting_progress(engine, held):
        report_progress(1, 4)
        wait_until(lambda: known(engine, held)[1] == 1, "it is told")
    with writing(engine) as session:
        assert put_back(session, held, reason="no model", now=datetime.now(UTC))
    run = the_run(engine, held.run_id)
    assert (run.status, run.attempts, run.failure, run.started_at) == (RunStatus.QUEUED, 0, "no model", None)
    assert known(engine, held) == (False, None, None)


def test_putting_back_takes_the_claim_and_leaves_the_next_announcement_for_later(engine: Engine, held: Claim) -> None:
    now = datetime.now(UTC)
    with writing(engine) as session:
        put_back(session, held, reason="no model", now=now)
    assert not finish(engine, held, scores_of(ZERO_SHOT, 0.5))
    with writing(engine) as session:
        assert requeue_lost_runs(session, attempts=3, now=now + timedelta(seconds=5)) == []
        assert [run for run, _ in requeue_lost_runs(session, attempts=3, now=now + timedelta(hours=1))] == [held.run_id]
    with writing(engine) as session:
        assert not put_back(session, held, reason="again", now=now), "the claim is void"
    assert isinstance(the_run(engine, held.run_id), ScoringRun)


def test_the_pace_is_that_since_the_first_report() -> None:
    lease = Progress()
    assert lease.seconds_left() is None
    lease.report(5, 105)
    assert lease.seconds_left() is None, "one report has no pace"
    assert lease.first is not None
    lease.first = lease.first[0] - 10, 5  # ten seconds ago
    lease.report(25, 105)
    assert lease.seconds_left() == 41  # 20 items in a little more than 10 s, 80 to go, rounded up
    lease.report(105, 105)
    assert lease.seconds_left() == 0
