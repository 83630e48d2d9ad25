"""Runs of rescoring sets and checks of files: held, lost, late and told of as uploads are, and never taken for them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from uuid import UUID

import pytest
from sqlalchemy import Engine, select, update

from app.base.config import get_settings
from app.base.db import reading, writing
from app.models import (
    NewsKind,
    OutgoingMail,
    RunStatus,
    ScoringRun,
    User,
    Validation,
    ValidationStatus,
    WebhookDelivery,
)
from app.people.act import Act
from app.people.mail import MailKind, choose
from app.runs.claims import claim_next_upload, next_turn, sealed_gold
from app.runs.failures import failed_runs, queue_again
from app.runs.holds import Target, hold, lift
from app.runs.outcomes import record_overrun
from app.runs.sweep import requeue_lost_runs
from app.runs.validations import CheckClaim, claim_validation, mark_check_sent, requeue_lost_checks
from app.runs.workers import queue_position
from app.submissions.accept import Sender
from app.submissions.validations import FileToCheck, accept_validation
from evergold.scoring.errors import Problem
from evergold.scoring.tasks import TASKS
from tests import rich_rows
from tests.news.hooked import hook
from tests.receiver import Receiver
from tests.rescoring.rescored import runs_of, start
from tests.rich_world import fresh
from tests.sealed import make_key, seal_gold
from tests.world import (
    COMPETITION,
    HOUR,
    NOW,
    PHASE,
    SECOND,
    TASK,
    add_user,
    claim,
    fail,
    score,
    submit,
    sure,
    the_phase_task,
    the_run,
    upload_of,
)

TYPE = "idiom-detection"


@pytest.fixture
def engine(sqlite_engine: Engine) -> Engine:
    return sqlite_engine


def of_set(engine: Engine, user: User) -> int:
    """The run of an open set for a file of this user, which is scored."""
    sent = submit(engine, user)
    score(engine, sent.run_id, 0.5)
    return runs_of(engine, start(engine, PHASE))[sent.submission.id]


def check_of(engine: Engine, user: User, content: str = "x", now: datetime = NOW) -> UUID:
    with writing(engine) as session:
        asked = accept_validation(session, the_phase_task(session), Sender(user, now), FileToCheck(upload_of(content)))
        return asked.validation.id


def turn(engine: Engine, *, needs_gpu: bool = False, host: str = "") -> int | UUID | None:
    with reading(engine) as session:
        return next_turn(session, needs_gpu=needs_gpu, now=NOW + HOUR, host=host)


def swept(engine: Engine, now: datetime, attempts: int = 3) -> list[int]:
    with writing(engine) as session:
        return [run_id for run_id, _ in requeue_lost_runs(session, attempts=attempts, now=now)]


# ------------------------------------------------------------------------------------------------- what is held


def test_sets_and_checks_rest_where_scoring_is_held_and_on_drained_machines(engine: Engine, people: list[User]) -> None:
    ada, bob = people[:2]
    makes: list[Callable[[], int | UUID]] = [lambda: of_set(engine, ada), lambda: check_of(engine, bob)]
    for make in makes:  # the check goes before the set
        waiting = make()
        assert turn(engine, host="here") == waiting
        for target in (Target(), Target(host="here")):
            with writing(engine) as session:
                hold(session, target, "Wrong gold.", actor=None, now=NOW)
            assert turn(engine, host="here") is None
            assert turn(engine, host="there") == (None if target.host is None else waiting)
            with writing(engine) as session:
                lift(session, target, actor=None, now=NOW)
        assert turn(engine, host="here") == waiting


def test_a_check_is_announced_again_when_its_hold_ends(engine: Engine, people: list[User]) -> None:
    asked = check_of(engine, people[0])
    with writing(engine) as session:
        mark_check_sent(session, [asked], NOW)
        hold(session, Target(), "Wrong gold.", actor=None, now=NOW)
        mark_check_sent(session, [asked], NOW)
        assert requeue_lost_checks(session, attempts=3, now=NOW + HOUR) == []
        lift(session, Target(), actor=None, now=NOW)
        assert session.get_one(Validation, asked, populate_existing=True).sent_at is None
        assert requeue_lost_checks(session, attempts=3, now=NOW + HOUR) == [(asked, TYPE)]


@pytest.mark.parametrize("needs_gpu", [False, True])
def test_a_run_of_a_set_is_of_its_own_queue(
    engine: Engine, people: list[User], monkeypatch: pytest.MonkeyPatch, needs_gpu: bool
) -> None:
    run_id = of_set(engine, people[0])
    monkeypatch.setitem(TASKS, TYPE, replace(TASKS[TYPE], needs_gpu=needs_gpu))
    assert (turn(engine, needs_gpu=needs_gpu), turn(engine, needs_gpu=not needs_gpu)) == (run_id, None)


# ------------------------------------------------------------------------------------------------- what is late


def test_of_one_teams_files_the_one_that_waits_longest_is_next(engine: Engine, people: list[User]) -> None:
    """The first one failed, and is queued again behind the second."""
    first, second = (submit(engine, people[0], content=content).run_id for content in ("1", "2"))
    fail(engine, first)
    with writing(engine) as session:
        assert queue_again(Act(session, None, NOW + SECOND, get_settings()), first)
    with reading(engine) as session:
        assert [queue_position(session, session.get_one(ScoringRun, one), TYPE) for one in (first, second)] == [2, 1]
    with writing(engine) as session:
        found = claim_next_upload(session, needs_gpu=False, worker="w", lease_seconds=60, now=NOW + HOUR)
        assert found is not None
        assert found.run_id == second


def test_runs_of_sets_are_before_nobody_in_the_line(engine: Engine, people: list[User]) -> None:
    ada, bob = people[:2]
    of_set(engine, ada)
    late = submit(engine, bob, NOW + HOUR).run_id
    with reading(engine) as session:
        assert queue_position(session, session.get_one(ScoringRun, late), TYPE) == 1


def test_a_run_of_a_set_whose_worker_was_lost_waits_again(engine: Engine, people: list[User]) -> None:
    run_id = of_set(engine, people[0])
    assert claim(engine, run_id)
    assert swept(engine, NOW + HOUR) == [], "its set announces it"
    run = the_run(engine, run_id)
    assert (run.status, run.claim_token, run.lease_expires_at) == (RunStatus.QUEUED, None, None)


def test_a_file_of_a_set_that_takes_too_long_is_not_rejected(engine: Engine, people: list[User]) -> None:
    """It was scored before, whatever others needed."""
    ada, bob = people[:2]
    score(engine, submit(engine, bob, content="another file").run_id, 0.9)
    held = sure(claim(engine, of_set(engine, ada)))
    with writing(engine) as session:
        assert record_overrun(session, held, Problem("too-long", "it took long"), NOW)
    assert the_run(engine, held.run_id).status == RunStatus.FAILED


def test_who_wants_no_mails_gets_none_of_a_lost_run_and_webhooks_hear_of_it(engine: Engine, people: list[User]) -> None:
    ada, bob = people[:2]
    root = add_user(engine, "root", is_administrator=True)
    hook(engine, root, Receiver(), NewsKind.RUN_FAILED)
    with writing(engine) as session:
        for user, wants in ((ada, False), (bob, True)):
            choose(session, user, {MailKind.RESULTS: wants})
    runs = [submit(engine, user).run_id for user in (ada, bob)]
    for run_id in runs:
        assert claim(engine, run_id)
    swept(engine, NOW + HOUR, attempts=1)
    with reading(engine) as session:
        mails = session.scalars(fresh(OutgoingMail).where(OutgoingMail.subject.startswith("[Idioms] Your"))).all()
        news = session.scalars(fresh(WebhookDelivery).order_by(WebhookDelivery.id)).all()
        listed = failed_runs(session)
    assert [mail.recipient for mail in mails] == [bob.email]
    assert [one.about["run"] for one in news] == runs
    assert {one.failed_at for one in listed} == {NOW + HOUR}


# ------------------------------------------------------------------------------------------------- gold and items


def test_a_failed_run_of_a_set_keeps_the_sealed_gold_of_its_set(engine: Engine, people: list[User]) -> None:
    rich_rows.add_gold(engine, COMPETITION, PHASE, TASK, NOW)
    run_id = of_set(engine, people[0])
    upload = submit(engine, people[1], content="y").run_id
    named = the_run(engine, run_id).gold_version_id
    assert named is not None
    for one, kept in ((run_id, named), (upload, None)):
        fail(engine, one)
        with writing(engine) as session:
            assert queue_again(Act(session, None, NOW, get_settings()), one)
        assert the_run(engine, one).gold_version_id == kept


def test_gold_names_its_key_for_each_of_the_workers_keys(engine: Engine, people: list[User]) -> None:
    ids = {make_key(engine), make_key(engine)}
    version = seal_gold(engine, b"gold")
    with reading(engine) as session:
        assert sealed_gold(session, version.id).keys.keys() == ids


def test_a_file_is_checked_without_gold_where_there_is_a_blind_file(engine: Engine, people: list[User]) -> None:
    rich_rows.add_gold(engine, COMPETITION, PHASE, TASK, NOW)

    def claimed(asked: UUID) -> CheckClaim:
        with writing(engine) as session:
            found = claim_validation(session, asked, worker="w", lease_seconds=60, now=NOW)
            assert found is not None
            return found

    assert claimed(check_of(engine, people[0])).sealed_gold is not None
    with writing(engine) as session:
        the_phase_task(session).items_sha256 = "2" * 64
    found = claimed(check_of(engine, people[1], "y"))
    assert (found.sealed_gold, found.items_sha256) == (None, "2" * 64)


# ------------------------------------------------------------------------------------------------------------- checks


def announced(engine: Engine, now: datetime, unserved: tuple[str, ...] = ()) -> list[UUID]:
    with writing(engine) as session:
        return [one for one, _ in requeue_lost_checks(session, attempts=3, now=now, unserved=unserved)]


def test_checks_are_announced_the_longest_waiting_first_and_not_to_nobody(engine: Engine, people: list[User]) -> None:
    asked = [check_of(engine, user, user.username, NOW + n * SECOND) for n, user in enumerate(reversed(people[:3]))]
    assert announced(engine, NOW + HOUR) == asked
    assert announced(engine, NOW + HOUR, (TYPE,)) == []
    with writing(engine) as session:
        mark_check_sent(session, asked[:2], NOW + HOUR)
    assert announced(engine, NOW + HOUR + 119 * SECOND) == asked[2:]
    assert announced(engine, NOW + HOUR + 120 * SECOND) == asked


def test_a_check_that_was_begun_before_is_announced_at_once(engine: Engine, people: list[User]) -> None:
    fresh_one, begun = check_of(engine, people[0], now=NOW), check_of(engine, people[1], "y", now=NOW)
    with writing(engine) as session:
        session.execute(update(Validation).where(Validation.id == begun).values(attempts=1))
    assert announced(engine, NOW + 9 * SECOND) == [begun]
    assert sorted(announced(engine, NOW + 10 * SECOND)) == sorted([fresh_one, begun])
    with reading(engine) as session:
        states = set(session.scalars(select(Validation.status).where(Validation.id.in_([fresh_one, begun]))))
    assert states == {ValidationStatus.QUEUED}
