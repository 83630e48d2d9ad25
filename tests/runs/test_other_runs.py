"""Runs that are easily taken for others: of the other task of a phase, of an older gold, of a rescoring set."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

import pytest
from sqlalchemy import Engine

from app.base.config import get_settings
from app.base.db import reading, writing
from app.gold.binding import options_digest, program_digest
from app.models import GoldVersion, OutgoingMail, RunStatus, ScoringRun, Team, User, Validation, ValidationStatus
from app.people.act import Act
from app.runs.claims import claim_next_upload, next_turn
from app.runs.failures import failed_runs, queue_again
from app.runs.outcomes import put_back, record_check_overrun, record_overrun
from app.runs.validations import CheckClaim, claim_validation, requeue_lost_checks
from app.submissions.accept import Sender
from app.submissions.validations import FileToCheck, accept_validation
from evergold.scoring.errors import Problem
from evergold.scoring.tasks import TASKS
from tests import rich_rows
from tests.beside import add_other_task, enter_other, other_task_id, submit_other
from tests.boards.places import shown
from tests.rescoring.rescored import drop, name_gold, publish, runs_of, score_set, set_options, start
from tests.rich_world import fresh, own
from tests.runs.queued import sweep
from tests.world import (
    COMPETITION,
    HOUR,
    NOW,
    PHASE,
    SECOND,
    TASK,
    ZERO_SHOT,
    add_user,
    board_version_number,
    claim,
    fail,
    finish,
    score,
    scores_of,
    submit,
    sure,
    the_phase_task,
    the_run,
    upload_of,
)

LONG = Problem("too-long", "it took longer than 600 seconds to score")


@pytest.fixture
def ada(people: list[User]) -> User:
    return people[0]


def checked(
    engine: Engine,
    user: User,
    phase_task_id: int | None = None,
    *,
    status: ValidationStatus = ValidationStatus.VALID,
) -> None:
    """A file of this user's that was found in order; of the test's own task unless of another."""
    with writing(engine) as session:
        session.add(
            Validation(
                user_id=user.id,
                phase_task_id=phase_task_id or the_phase_task(session).id,
                sha256="2" * 64,
                size_bytes=1,
                status=status,
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
        asked: UUID = accept_validation(session, task, Sender(user, NOW), FileToCheck(upload_of("x"))).validation.id
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


def test_a_file_that_only_waits_says_nothing_about_a_bound(sqlite_engine: Engine, people: list[User]) -> None:
    """Check it as a submission, as a check, and after both have failed."""
    ada, bob = people[:2]
    waiting = submit(sqlite_engine, bob, content="waits").run_id
    checked(sqlite_engine, bob, status=ValidationStatus.QUEUED)
    assert overrun(sqlite_engine, submit(sqlite_engine, ada).run_id) == RunStatus.FAILED
    fail(sqlite_engine, waiting)
    checked(sqlite_engine, bob, status=ValidationStatus.INVALID)
    assert overrun(sqlite_engine, submit(sqlite_engine, ada).run_id) == RunStatus.FAILED


def queue_run(engine: Engine, run_id: int) -> None:
    """Queue a failed run again, by the command line."""
    with writing(engine) as session:
        assert queue_again(Act(session, None, NOW, get_settings()), run_id)


def test_a_failed_run_that_is_queued_again_is_scored_against_the_gold_in_use(sqlite_engine: Engine, ada: User) -> None:
    run_id = submit(sqlite_engine, ada).run_id
    fail(sqlite_engine, run_id)
    assert the_run(sqlite_engine, run_id).gold == "gold.csv"
    name_gold(sqlite_engine, "corrected.csv")
    queue_run(sqlite_engine, run_id)
    run = the_run(sqlite_engine, run_id)
    assert (run.gold, run.gold_version_id, run.status) == ("corrected.csv", None, RunStatus.QUEUED)
    assert sure(claim(sqlite_engine, run_id)).gold == "corrected.csv"


def test_a_failed_run_takes_the_gold_of_its_own_task(sqlite_engine: Engine, ada: User) -> None:
    add_other_task(sqlite_engine)
    run_id = submit_other(sqlite_engine, ada).run_id
    fail(sqlite_engine, run_id)
    queue_run(sqlite_engine, run_id)
    assert the_run(sqlite_engine, run_id).gold == "similar.csv"


def test_a_failed_run_of_a_set_keeps_the_gold_of_the_set(sqlite_engine: Engine, ada: User) -> None:
    sent = submit(sqlite_engine, ada)
    score(sqlite_engine, sent.run_id, 0.5)
    of_set = runs_of(sqlite_engine, start(sqlite_engine, PHASE))[sent.submission.id]
    fail(sqlite_engine, of_set)
    name_gold(sqlite_engine, "corrected.csv")
    queue_run(sqlite_engine, of_set)
    assert the_run(sqlite_engine, of_set).gold == "gold.csv"


def test_a_failed_run_of_a_set_that_was_dropped_waits_for_nobody(sqlite_engine: Engine, ada: User) -> None:
    add_user(sqlite_engine, "root", is_administrator=True)
    sent = submit(sqlite_engine, ada)
    score(sqlite_engine, sent.run_id, 0.5)
    number = start(sqlite_engine, PHASE)
    of_set = runs_of(sqlite_engine, number)[sent.submission.id]
    fail(sqlite_engine, of_set)
    fail(sqlite_engine, submit(sqlite_engine, ada, content="mine").run_id, now=NOW - SECOND)
    with reading(sqlite_engine) as session:
        found = failed_runs(session)
        assert [run.rescoring for run in found] == [number, None]
        assert found[0].run_id == of_set
        mail = session.scalars(fresh(OutgoingMail).order_by(OutgoingMail.id).limit(1)).one()
    assert f"set         {number}\n" in mail.body
    drop(sqlite_engine, number)
    with writing(sqlite_engine) as session:
        assert [run.rescoring for run in failed_runs(session)] == [None]
        assert not queue_again(Act(session, None, NOW, get_settings()), of_set)


def test_a_run_of_a_set_changes_no_board_and_is_announced_by_its_set_alone(sqlite_engine: Engine, ada: User) -> None:
    sent = submit(sqlite_engine, ada)
    score(sqlite_engine, sent.run_id, 0.5)
    version = board_version_number(sqlite_engine)
    of_set = runs_of(sqlite_engine, start(sqlite_engine, PHASE))[sent.submission.id]
    assert sweep(sqlite_engine, NOW + HOUR) == []
    score(sqlite_engine, of_set, 0.6)
    assert board_version_number(sqlite_engine) == version
    assert shown(sqlite_engine) == [(1, "Ada", 0.5)]


def test_a_run_that_was_replaced_is_not_queued_again(sqlite_engine: Engine, ada: User) -> None:
    sent = submit(sqlite_engine, ada)
    score(sqlite_engine, sent.run_id, 0.5)
    number = start(sqlite_engine, PHASE)
    score_set(sqlite_engine, number, {sent.submission.id: 0.6})
    publish(sqlite_engine, number)
    assert not the_run(sqlite_engine, sent.run_id).is_current
    with writing(sqlite_engine) as session:
        assert not queue_again(Act(session, None, NOW, get_settings()), sent.run_id)


def test_an_upload_goes_before_what_a_set_wants_scored_whoever_waited_longer(
    sqlite_engine: Engine, people: list[User]
) -> None:
    """Bob's team had its last turn before Ada's, and his run of the set waits longer than her new file."""
    ada, bob = people[:2]
    for user, now in ((bob, NOW), (ada, NOW + HOUR)):
        held = sure(claim(sqlite_engine, submit(sqlite_engine, user, now).run_id, now))
        assert finish(sqlite_engine, held, scores_of(ZERO_SHOT, 0.5), now)
    number = start(sqlite_engine, PHASE, now=NOW + HOUR)
    waiting = submit(sqlite_engine, ada, NOW + 2 * HOUR, content="new").run_id
    with writing(sqlite_engine) as session:
        for team, at in (("Bob", NOW), ("Ada", NOW + HOUR)):
            session.scalars(own(Team).where(Team.name == team)).one().last_turn_at = at
        found = claim_next_upload(session, needs_gpu=False, worker="w", lease_seconds=60, now=NOW + 3 * HOUR)
        assert found is not None
        assert found.run_id == waiting
        assert claim_next_upload(session, needs_gpu=False, worker="w", lease_seconds=60, now=NOW + 3 * HOUR) is None
        assert next_turn(session, needs_gpu=False, now=NOW + 3 * HOUR) in runs_of(sqlite_engine, number).values()


def test_gold_that_nobody_published_yet_scores_no_file(sqlite_engine: Engine, ada: User) -> None:
    """Check it as the only version, and as the newest."""
    rich_rows.add_gold(sqlite_engine, COMPETITION, PHASE, TASK, NOW, in_use=False)
    plain = sure(claim(sqlite_engine, submit(sqlite_engine, ada).run_id))
    assert (plain.sealed_gold, plain.gold) == (None, "gold.csv")
    for in_use in (True, False):
        rich_rows.add_gold(sqlite_engine, COMPETITION, PHASE, TASK, NOW, in_use=in_use)
    held = sure(claim(sqlite_engine, submit(sqlite_engine, ada, content="later").run_id))
    assert held.sealed_gold is not None
    assert held.sealed_gold.place.version == 2


def test_a_claim_names_the_gold_by_its_number_and_place(sqlite_engine: Engine, ada: User) -> None:
    """Check that the id of a version is not taken for its number."""
    rich_rows.add_gold(sqlite_engine, COMPETITION, PHASE, TASK, NOW)
    add_other_task(sqlite_engine)
    held = sure(claim(sqlite_engine, submit(sqlite_engine, ada).run_id))
    assert held.sealed_gold is not None
    place = held.sealed_gold.place
    assert (place.competition, place.phase, place.task, place.version) == (COMPETITION, PHASE, TASK, 1)
    other = sure(claim(sqlite_engine, submit_other(sqlite_engine, ada).run_id))
    assert (other.sealed_gold, other.gold) == (None, "similar.csv")


@pytest.mark.parametrize(("attempts", "status"), [(1, ValidationStatus.FAILED), (2, ValidationStatus.QUEUED)])
def test_a_check_whose_worker_was_lost_waits_again_until_it_was_lost_too_often(
    sqlite_engine: Engine, ada: User, attempts: int, status: ValidationStatus
) -> None:
    with writing(sqlite_engine) as session:
        task = the_phase_task(session)
        asked = accept_validation(session, task, Sender(ada, NOW), FileToCheck(upload_of("x"))).validation.id
        assert claim_validation(session, asked, worker="w", lease_seconds=60, now=NOW)
    with writing(sqlite_engine) as session:
        told = requeue_lost_checks(session, attempts=attempts, now=NOW + HOUR)
    with reading(sqlite_engine) as session:
        found = session.get_one(Validation, asked)
    assert (found.status, found.claim_token) == (status, None)
    assert [one for one, _ in told] == ([asked] if status is ValidationStatus.QUEUED else [])
    assert (found.finished_at is not None) == (status is ValidationStatus.FAILED)


def test_a_check_is_its_workers_until_its_lease_ends(sqlite_engine: Engine, ada: User) -> None:
    with writing(sqlite_engine) as session:
        task = the_phase_task(session)
        asked = accept_validation(session, task, Sender(ada, NOW), FileToCheck(upload_of("x"))).validation.id
        assert claim_validation(session, asked, worker="w", lease_seconds=60, now=NOW)
        assert requeue_lost_checks(session, attempts=3, now=NOW + 59 * SECOND) == []
        assert session.get_one(Validation, asked).status == ValidationStatus.RUNNING
        assert [one for one, _ in requeue_lost_checks(session, attempts=3, now=NOW + 60 * SECOND)] == [asked]


# -------------------------------------------------------------------------------------------------------------- gold


def golds(engine: Engine, run_id: int) -> int | None:
    """The number of the gold version that a run names."""
    with reading(engine) as session:
        named = session.get_one(ScoringRun, run_id).gold_version_id
        return None if named is None else session.get_one(GoldVersion, named).number


def add_golds(engine: Engine, *in_use: bool) -> None:
    for is_in_use in in_use:
        rich_rows.add_gold(engine, COMPETITION, PHASE, TASK, NOW, in_use=is_in_use)


def test_a_file_is_checked_against_the_newest_gold_in_use(sqlite_engine: Engine, ada: User) -> None:
    add_golds(sqlite_engine, True, True, False)
    with writing(sqlite_engine) as session:
        task = the_phase_task(session)
        asked = accept_validation(session, task, Sender(ada, NOW), FileToCheck(upload_of("x"))).validation.id
        held = claim_validation(session, asked, worker="w", lease_seconds=60, now=NOW)
        assert held is not None
        assert held.sealed_gold is not None
        assert held.sealed_gold.place.version == 2


def test_a_run_of_a_set_opens_its_gold_for_the_options_of_its_set(
    sqlite_engine: Engine, ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check that the options of the set apply where a program opens gold; for gold itself, those declared now."""
    monkeypatch.setitem(TASKS, "idiom-detection", replace(TASKS["idiom-detection"], bound_to=repr))
    add_golds(sqlite_engine, True)
    sent = submit(sqlite_engine, ada)
    score(sqlite_engine, sent.run_id, 0.5)
    of_set, since = ({"languages": [language]} for language in ("PT", "EN"))
    set_options(sqlite_engine, of_set)
    number = start(sqlite_engine, PHASE)
    set_options(sqlite_engine, since)
    held = sure(claim(sqlite_engine, runs_of(sqlite_engine, number)[sent.submission.id]))
    upload = sure(claim(sqlite_engine, submit(sqlite_engine, ada, content="x").run_id))
    for run, options, has_own_gold in ((held, of_set, True), (upload, since, False)):
        assert (run.options, run.has_own_gold) == (options, has_own_gold)
        assert run.sealed_gold is not None
        assert run.sealed_gold.place.program == program_digest("idiom-detection", options)
        assert run.sealed_gold.place.options == options_digest(since)
    assert program_digest("idiom-detection", of_set) != program_digest("idiom-detection", since)


def test_a_run_that_waits_for_newer_gold_lets_go_of_its_own_unless_its_set_names_it(
    sqlite_engine: Engine, ada: User
) -> None:
    add_golds(sqlite_engine, True)
    first = submit(sqlite_engine, ada)
    score(sqlite_engine, first.run_id, 0.5)
    number = start(sqlite_engine, PHASE)
    of_set, upload = runs_of(sqlite_engine, number)[first.submission.id], submit(sqlite_engine, ada, content="x").run_id
    for run_id, kept in ((upload, None), (of_set, 1)):
        held = sure(claim(sqlite_engine, run_id))
        assert golds(sqlite_engine, run_id) == 1
        with writing(sqlite_engine) as session:
            assert put_back(session, held, reason="newer", now=NOW, with_newer_gold=True)
        assert golds(sqlite_engine, run_id) == kept
