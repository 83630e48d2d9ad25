"""Ways out of every state: lost messages, lost workers, runs that kill every worker; and the queue's order."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from sqlalchemy import Engine, update

from app.base.db import reading, writing
from app.models import TERMINAL, RunStatus, ScoringRun
from app.runs.claims import RESEND_SECONDS, RETRY_SECONDS
from app.runs.sweep import UNCLAIMED_SECONDS, mark_sent, requeue_lost_runs
from app.runs.workers import queue_position
from app.submissions.accept import Accepted
from tests.runs.queued import sweep
from tests.threads import in_threads
from tests.world import (
    NOW,
    SECOND,
    ZERO_SHOT,
    add_competition,
    add_user,
    claim,
    fail,
    finish,
    reject,
    score,
    scores_of,
    submit,
    sure,
    the_run,
)

pytestmark = pytest.mark.both

LEASE = timedelta(seconds=60)


def test_sweep_leaves_a_fresh_queued_run_to_its_message(engine: Engine, accepted: Accepted) -> None:
    assert sweep(engine, NOW + timedelta(seconds=UNCLAIMED_SECONDS) - SECOND) == []


def test_sweep_announces_a_queued_run_whose_message_was_lost(engine: Engine, accepted: Accepted) -> None:
    overdue = NOW + timedelta(seconds=UNCLAIMED_SECONDS)
    assert sweep(engine, overdue) == [accepted.run_id]
    assert sweep(engine, overdue) == [accepted.run_id], "until somebody says that it was sent"
    with writing(engine) as session:
        mark_sent(session, [accepted.run_id], overdue)
    assert sweep(engine, overdue + timedelta(seconds=RESEND_SECONDS) - SECOND) == []
    assert sweep(engine, overdue + timedelta(seconds=RESEND_SECONDS)) == [accepted.run_id]


def test_sweep_announces_a_run_at_once_that_came_back_to_the_queue(engine: Engine, accepted: Accepted) -> None:
    """Check that its message is used up, however young it is."""
    with writing(engine) as session:
        mark_sent(session, [accepted.run_id], NOW)
    claim(engine, accepted.run_id, NOW, lease_seconds=1)
    assert sweep(engine, NOW + SECOND) == [accepted.run_id]


def test_sweep_announces_a_failed_attempt_when_it_has_rested(engine: Engine, accepted: Accepted) -> None:
    fail(engine, accepted.run_id, attempts=3)
    assert sweep(engine, NOW + SECOND) == []
    assert sweep(engine, NOW + timedelta(seconds=RETRY_SECONDS)) == [accepted.run_id]


def test_sweep_names_the_task_type_so_that_the_right_workers_are_told(engine: Engine, accepted: Accepted) -> None:
    with writing(engine) as session:
        told = requeue_lost_runs(session, attempts=3, now=NOW + LEASE)
    assert told == [(accepted.run_id, "idiom-detection")]


def test_sweep_is_silent_of_what_no_worker_can_take(engine: Engine, accepted: Accepted) -> None:
    def told(*unserved: str) -> list[int]:
        with writing(engine) as session:
            found = requeue_lost_runs(session, attempts=3, now=NOW + LEASE, unserved=unserved)
        return [run_id for run_id, _ in found]

    assert [told("idiom-detection"), told("table")] == [[], [accepted.run_id]]


def test_sweep_announces_the_longest_waiting_first(engine: Engine) -> None:
    add_competition(engine)
    ada = add_user(engine, "ada")
    runs = [submit(engine, ada, NOW + seconds * SECOND, content=str(seconds)).run_id for seconds in (5, 0, 5, 3)]
    assert sweep(engine, NOW + LEASE) == [runs[1], runs[3], runs[0], runs[2]]


def test_sweep_does_not_announce_everything_at_once(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.runs.sweep.ANNOUNCED_AT_ONCE", 2)
    add_competition(engine)
    ada = add_user(engine, "ada")
    runs = [submit(engine, ada, NOW + n * SECOND, content=str(n)).run_id for n in range(3)]
    assert sweep(engine, NOW + LEASE) == runs[:2]
    with writing(engine) as session:
        mark_sent(session, runs[:2], NOW + LEASE)
    assert sweep(engine, NOW + LEASE) == runs[2:]


def test_a_run_that_lost_three_workers_fails_and_costs_nothing(engine: Engine) -> None:
    add_competition(engine, per_day=1)
    ada = add_user(engine, "ada")
    run_id = submit(engine, ada).run_id
    now = NOW
    for attempt in (1, 2, 3):
        assert sure(claim(engine, run_id, now)).attempt == attempt
        now += LEASE
        told = sweep(engine, now)
        assert told == ([run_id] if attempt < 3 else [])
    run = the_run(engine, run_id)
    assert (run.status, run.finished_at, run.attempts) == (RunStatus.FAILED, now, 3)
    assert run.failure == "its worker was lost 3 times"
    assert (run.claim_token, run.lease_expires_at) == (None, None)
    assert submit(engine, ada, content="next").created, "the quota of one is untouched"


def test_a_run_that_kills_its_workers_takes_no_other_with_it(engine: Engine) -> None:
    add_competition(engine)
    ada = add_user(engine, "ada")
    deadly, harmless = submit(engine, ada, content="deadly").run_id, submit(engine, ada, content="harmless").run_id
    now = NOW
    for _ in range(3):
        claim(engine, deadly, now)
        now += LEASE
        sweep(engine, now)
    assert (the_run(engine, deadly).status, the_run(engine, harmless).status) == (RunStatus.FAILED, RunStatus.QUEUED)
    assert the_run(engine, harmless).attempts == 0


# What brings a run into each state, the state in which a sweep leaves it, and whether workers are told about it.
WAYS_OUT: dict[RunStatus, tuple[Callable[[Engine, int], object], RunStatus, bool]] = {
    RunStatus.QUEUED: (lambda engine, run_id: None, RunStatus.QUEUED, True),
    RunStatus.RUNNING: (claim, RunStatus.QUEUED, True),
    RunStatus.SCORED: (lambda engine, run_id: score(engine, run_id, 0.5), RunStatus.SCORED, False),
    RunStatus.REJECTED: (reject, RunStatus.REJECTED, False),
    RunStatus.FAILED: (fail, RunStatus.FAILED, False),
}


@pytest.mark.parametrize("status", RunStatus)
def test_every_state_has_a_way_out(engine: Engine, accepted: Accepted, status: RunStatus) -> None:
    """Check every state: a new one needs a line above on what the sweep does with it."""
    enter, left_in, is_told = WAYS_OUT[status]
    enter(engine, accepted.run_id)
    assert the_run(engine, accepted.run_id).status == status
    told = sweep(engine, NOW + timedelta(days=365))
    assert told == ([accepted.run_id] if is_told else [])
    assert the_run(engine, accepted.run_id).status == left_in
    assert is_told or left_in in TERMINAL
    assert (claim(engine, accepted.run_id) is not None) == is_told


def test_a_run_in_its_last_attempt_has_a_way_out_too(engine: Engine, accepted: Accepted) -> None:
    with writing(engine) as session:
        session.execute(update(ScoringRun).values(attempts=2))
    claim(engine, accepted.run_id)
    assert sweep(engine, NOW + LEASE) == []
    assert the_run(engine, accepted.run_id).status == RunStatus.FAILED


def test_what_a_broker_forgot_is_announced_again_soon(engine: Engine, accepted: Accepted) -> None:
    """Check that this takes less than two minutes: the broker itself reports that it holds no message."""

    def told(seconds: float, *forgotten: str) -> list[int]:
        with writing(engine) as session:
            now = NOW + timedelta(seconds=seconds)
            return [run for run, _ in requeue_lost_runs(session, attempts=3, now=now, forgotten=forgotten)]

    with writing(engine) as session:
        mark_sent(session, [accepted.run_id], NOW)
    assert told(UNCLAIMED_SECONDS) == []
    assert told(UNCLAIMED_SECONDS, "idiom-similarity") == [], "another queue's messages"
    assert told(UNCLAIMED_SECONDS - 1, "idiom-detection") == [], "a worker may just be taking it"
    assert told(UNCLAIMED_SECONDS, "idiom-detection") == [accepted.run_id]


def test_two_sweeps_at_once_do_the_work_of_one(engine: Engine) -> None:
    add_competition(engine)
    ada = add_user(engine, "ada")
    runs = [submit(engine, ada, content=str(n)).run_id for n in range(4)]
    for run_id in runs:
        claim(engine, run_id)
    told = in_threads(4, lambda _: sweep(engine, NOW + LEASE))
    assert told == 4 * [runs]
    assert [the_run(engine, run_id).attempts for run_id in runs] == [1, 1, 1, 1]


# ------------------------------------------------------------------------------------------------------------ position


def test_the_position_in_the_queue_counts_who_came_before(engine: Engine) -> None:
    add_competition(engine)
    ada = add_user(engine, "ada")
    runs = [submit(engine, ada, NOW + seconds * SECOND, content=str(n)).run_id for n, seconds in enumerate((0, 1, 1))]

    def positions() -> list[int | None]:
        with reading(engine) as session:
            return [queue_position(session, session.get_one(ScoringRun, run_id), "idiom-detection") for run_id in runs]

    assert positions() == [1, 2, 3]
    held = sure(claim(engine, runs[0]))
    assert positions() == [None, 1, 2]
    finish(engine, held, scores_of(ZERO_SHOT, 0.5))
    reject(engine, runs[1])
    assert positions() == [None, None, 1]
