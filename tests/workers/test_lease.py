"""The heartbeat: a run's lease is renewed while its process lives, lost runs are given up, and a slow database does no
harm.
"""

from __future__ import annotations

import threading
import time
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import Engine
from sqlalchemy.exc import OperationalError
from structlog.testing import capture_logs

from app.base.db import reading, writing
from app.models import RunStatus, User, Validation
from app.runs.claims import Claim, renew_lease
from app.runs.sweep import requeue_lost_runs
from app.runs.validations import claim_validation
from app.submissions.accept import Sender
from app.submissions.validations import FileToCheck, accept_validation
from tests.processes import wait_until
from tests.world import NOW, ZERO_SHOT, claim, finish, scores_of, submit, sure, the_phase_task, the_run, upload_of
from workers.lease import renewing_lease, retry_while_db_down

pytestmark = pytest.mark.both

LEASE_SECONDS = 0.3


@pytest.fixture
def held(engine: Engine, ada: User) -> Claim:
    """A claim on a short lease that begins now."""
    return sure(claim(engine, submit(engine, ada).run_id, now=datetime.now(UTC), lease_seconds=LEASE_SECONDS))


def expiry(engine: Engine, held: Claim) -> datetime:
    found = the_run(engine, held.run_id).lease_expires_at
    assert found is not None
    return found


def lease_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "lease"]


def test_a_run_is_kept_longer_than_its_first_lease(engine: Engine, held: Claim) -> None:
    first_end = expiry(engine, held)
    with renewing_lease(engine, held, LEASE_SECONDS):
        wait_until(
            lambda: expiry(engine, held) > first_end + timedelta(seconds=LEASE_SECONDS),
            "the lease was renewed after its first end",
        )
        with writing(engine) as session:
            requeue_lost_runs(session, attempts=3, now=first_end)
        assert the_run(engine, held.run_id).status == RunStatus.RUNNING
    assert the_run(engine, held.run_id).attempts == 1
    assert expiry(engine, held) <= datetime.now(UTC) + timedelta(seconds=LEASE_SECONDS), "and by no more than a lease"


def test_a_file_that_is_checked_is_kept_as_long(engine: Engine, ada: User) -> None:
    """Check its own lease: it has no run."""
    with writing(engine) as session:
        asked = accept_validation(session, the_phase_task(session), Sender(ada, NOW), FileToCheck(upload_of("x")))
    check_id = asked.validation.id
    with writing(engine) as session:
        check = claim_validation(
            session, check_id, worker="worker:1", lease_seconds=LEASE_SECONDS, now=datetime.now(UTC)
        )
    assert check is not None

    def lease_end() -> datetime:
        with reading(engine) as session:
            found = session.get_one(Validation, check_id).lease_expires_at
        assert found is not None
        return found

    first_end = lease_end()
    with renewing_lease(engine, check, LEASE_SECONDS):
        wait_until(
            lambda: lease_end() > first_end + timedelta(seconds=LEASE_SECONDS),
            "the lease was renewed after its first end",
        )
    assert lease_end() <= datetime.now(UTC) + timedelta(seconds=LEASE_SECONDS), "and by no more than a lease"


def test_the_heart_stops_with_the_block(engine: Engine, held: Claim) -> None:
    with renewing_lease(engine, held, LEASE_SECONDS):
        assert len(lease_threads()) == 1
    assert lease_threads() == []
    last = expiry(engine, held)
    time.sleep(LEASE_SECONDS)
    assert expiry(engine, held) == last, "nobody renews a run that nobody works on"


def test_the_heart_stops_when_scoring_raises(engine: Engine, held: Claim) -> None:
    with pytest.raises(ZeroDivisionError), renewing_lease(engine, held, LEASE_SECONDS):
        raise ZeroDivisionError
    assert lease_threads() == []


def test_a_lost_lease_is_logged_once_and_left_alone(engine: Engine, held: Claim) -> None:
    with capture_logs() as logged, renewing_lease(engine, held, LEASE_SECONDS):
        with writing(engine) as session:
            requeue_lost_runs(session, attempts=3, now=datetime.now(UTC) + timedelta(days=1))
        wait_until(lambda: not lease_threads(), "the heartbeat has given up")
    assert [(entry["event"], entry["run_id"]) for entry in logged] == [("lease_lost", held.run_id)]
    assert the_run(engine, held.run_id).status == RunStatus.QUEUED
    assert not finish(engine, held, scores_of(ZERO_SHOT, 0.5))


@pytest.mark.parametrize(
    "error",
    [OperationalError("UPDATE runs", {}, Exception("the server is restarting")), MemoryError(), RuntimeError("?")],
    ids=["away", "no memory", "whatever"],
)
def test_a_beat_that_fails_loses_nothing(
    engine: Engine, held: Claim, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    """Check the run that fills the memory, too: its process is alive, and ends by itself."""
    broken = iter([error])

    def renew_after_an_error(*arguments: object, **named: object) -> bool:
        for error in broken:
            raise error
        return renew_lease(*arguments, **named)  # type: ignore[arg-type]  # passed on as they came

    monkeypatch.setattr("workers.lease.renew_lease", renew_after_an_error)
    before = expiry(engine, held)
    with capture_logs() as logged, renewing_lease(engine, held, LEASE_SECONDS):
        wait_until(lambda: expiry(engine, held) > before, "a later beat renewed the lease")
    assert [entry["event"] for entry in logged] == ["lease_not_renewed"]


# ------------------------------------------------------------------------------------------------------------ patience


class Away:
    """A database that is away for the first so many attempts."""

    def __init__(self, tries: int) -> None:
        self.tries = tries

    def __call__(self) -> str:
        self.tries -= 1
        if self.tries >= 0:
            raise OperationalError("UPDATE runs", {}, Exception("the server is restarting"))
        return "recorded"


def test_a_result_is_kept_until_the_database_is_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workers.lease.ASK_AGAIN_SECONDS", 0.01)
    with capture_logs() as logged:
        assert retry_while_db_down(Away(3), lease_seconds=60) == "recorded"
    assert [entry["event"] for entry in logged] == 3 * ["database_away"]


class Clock:
    """Time passes only while somebody sleeps."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def monotonic(self) -> float:
        return self.seconds

    def sleep(self, seconds: float) -> None:
        self.seconds += seconds


def test_patience_ends_with_the_lease(monkeypatch: pytest.MonkeyPatch) -> None:
    """Check that by then the run belongs to another worker."""
    monkeypatch.setattr("workers.lease.time", Clock())
    away = Away(1000)
    with capture_logs(), pytest.raises(OperationalError):
        retry_while_db_down(away, lease_seconds=60)
    assert away.tries == 1000 - 121, "at once, every half second of a minute, and at its end"


def test_other_errors_are_not_waited_out() -> None:
    with pytest.raises(ZeroDivisionError):
        retry_while_db_down(lambda: 1 / 0, lease_seconds=60)


def test_a_transaction_whose_commit_was_not_heard_of_is_recorded_once(engine: Engine, held: Claim) -> None:
    """Check a database that committed, whose connection broke before it could report so."""
    tries = []

    def record() -> bool:
        recorded = finish(engine, held, scores_of(ZERO_SHOT, 0.5))
        tries.append(recorded)
        if len(tries) == 1:
            raise OperationalError("COMMIT", {}, Exception("the connection is lost"))
        return recorded

    with capture_logs():
        assert not retry_while_db_down(record, lease_seconds=60)
    assert tries == [True, False]
    assert the_run(engine, held.run_id).status == RunStatus.SCORED
