"""Runs that are easily taken for others: of the other task of a phase, of an older gold, of a rescoring set."""

from __future__ import annotations

from uuid import UUID

import pytest
from sqlalchemy import Engine

from app.base.db import reading, writing
from app.models import RunStatus, User, Validation, ValidationStatus
from app.runs.failures import queue_again
from app.runs.overruns import record_check_overrun, record_overrun
from app.runs.validations import CheckClaim, claim_validation
from app.submissions.validations import accept_validation
from evergold.scoring.errors import Problem
from tests.beside import add_other_task, enter_other, other_task_id, submit_other
from tests.rescoring.rescored import name_gold, publish, runs_of, score_set, start
from tests.world import NOW, PHASE, claim, fail, score, submit, sure, the_phase_task, the_run, upload_of

LONG = Problem("too-long", "it took longer than 600 seconds to score")


@pytest.fixture
def ada(people: list[User]) -> User:
    return people[0]


def checked(engine: Engine, user: User, phase_task_id: int | None = None) -> None:
    """A file of this user's that was found in order; of the test's own task unless of another."""
    with writing(engine) as session:
        session.add(
            Validation(
                user_id=user.id,
                phase_task_id=phase_task_id or the_phase_task(session).id,
                sha256="2" * 64,
                size_bytes=1,
                status=ValidationStatus.VALID,
                asked_at=NOW,
            )
        )


def overrun(engine: Engine, run_id: int) -> RunStatus:
    held = sure(claim(engine, run_id))
    with writing(engine) as session:
        assert record_overrun(session, held, LONG, NOW)
    return the_run(engine, run_id).status


def overrun_check(engine: Engine, user: User) -> ValidationStatus:
    with writing(engine) as session:
        task = the_phase_task(session)
        asked: UUID = accept_validation(
            session, user=user, phase_task=task, upload=upload_of("x"), now=NOW
        ).validation.id
        held: CheckClaim | None = claim_validation(session, asked, worker="w", lease_seconds=60, now=NOW)
        assert held is not None
        assert record_check_overrun(session, held, LONG, NOW)
    with reading(engine) as session:
        return session.get_one(Validation, asked).status


def test_a_bound_that_held_in_this_task_was_met_by_the_file(sqlite_engine: Engine, ada: User) -> None:
    checked(sqlite_engine, ada)
    assert overrun(sqlite_engine, submit(sqlite_engine, ada).run_id) == RunStatus.REJECTED


def test_a_check_of_the_other_task_says_nothing_about_this_ones_bound(sqlite_engine: Engine, ada: User) -> None:
    add_other_task(sqlite_engine)
    checked(sqlite_engine, ada, other_task_id(sqlite_engine))
    assert overrun(sqlite_engine, submit(sqlite_engine, ada).run_id) == RunStatus.FAILED
    assert overrun_check(sqlite_engine, ada) == ValidationStatus.FAILED


def test_a_score_of_the_other_task_says_nothing_about_this_ones_bound(sqlite_engine: Engine, ada: User) -> None:
    add_other_task(sqlite_engine)
    enter_other(sqlite_engine, ada, 0.5)
    assert overrun(sqlite_engine, submit(sqlite_engine, ada).run_id) == RunStatus.FAILED


def test_the_same_file_is_no_other_file_that_kept_the_bound(sqlite_engine: Engine, ada: User) -> None:
    first = submit(sqlite_engine, ada)
    score(sqlite_engine, first.run_id, 0.5)
    assert overrun(sqlite_engine, submit(sqlite_engine, ada).run_id) == RunStatus.FAILED
    other = submit(sqlite_engine, ada, content="another file")
    assert overrun(sqlite_engine, other.run_id) == RunStatus.REJECTED


def again(engine: Engine, run_id: int) -> None:
    with writing(engine) as session:
        assert queue_again(session, run_id, actor=None, now=NOW)


def test_a_failed_run_that_is_queued_again_is_scored_against_the_gold_in_use(sqlite_engine: Engine, ada: User) -> None:
    run_id = submit(sqlite_engine, ada).run_id
    fail(sqlite_engine, run_id)
    assert the_run(sqlite_engine, run_id).gold == "gold.csv"
    name_gold(sqlite_engine, "corrected.csv")
    again(sqlite_engine, run_id)
    run = the_run(sqlite_engine, run_id)
    assert (run.gold, run.gold_version_id, run.status) == ("corrected.csv", None, RunStatus.QUEUED)
    assert sure(claim(sqlite_engine, run_id)).gold == "corrected.csv"


def test_a_failed_run_takes_the_gold_of_its_own_task(sqlite_engine: Engine, ada: User) -> None:
    add_other_task(sqlite_engine)
    run_id = submit_other(sqlite_engine, ada).run_id
    fail(sqlite_engine, run_id)
    again(sqlite_engine, run_id)
    assert the_run(sqlite_engine, run_id).gold == "similar.csv"


def test_a_failed_run_of_a_set_keeps_the_gold_of_the_set(sqlite_engine: Engine, ada: User) -> None:
    sent = submit(sqlite_engine, ada)
    score(sqlite_engine, sent.run_id, 0.5)
    of_set = runs_of(sqlite_engine, start(sqlite_engine, PHASE))[sent.submission.id]
    fail(sqlite_engine, of_set)
    name_gold(sqlite_engine, "corrected.csv")
    again(sqlite_engine, of_set)
    assert the_run(sqlite_engine, of_set).gold == "gold.csv"


def test_a_run_that_was_replaced_is_not_queued_again(sqlite_engine: Engine, ada: User) -> None:
    sent = submit(sqlite_engine, ada)
    score(sqlite_engine, sent.run_id, 0.5)
    number = start(sqlite_engine, PHASE)
    score_set(sqlite_engine, number, {sent.submission.id: 0.6})
    publish(sqlite_engine, number)
    assert not the_run(sqlite_engine, sent.run_id).is_current
    with writing(sqlite_engine) as session:
        assert not queue_again(session, sent.run_id, actor=None, now=NOW)
