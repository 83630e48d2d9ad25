"""Runs that failed for good: organisers learn of each, and can have them scored after all."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import Engine, select

from app.base.config import get_settings
from app.base.db import reading, writing
from app.competitions.find import find_competition
from app.models import AuditEntry, Competition, OutgoingMail, Right, Role, RunStatus, User
from app.people.act import Act
from app.people.rights import grant_role
from app.runs.failures import FailedRun, failed_runs, queue_again, run_counts
from app.submissions.accept import Accepted
from tests.beside import add_other_task, one_right_each, submit_other
from tests.rich_world import NEIGHBOURS, OTHER_TASK
from tests.runs.queued import sweep
from tests.world import (
    COMPETITION,
    EARLIER_PHASE,
    HOUR,
    NOW,
    PHASE,
    TASK,
    add_competition,
    add_user,
    answer_to,
    claim,
    fail,
    reject,
    score,
    submit,
    the_run,
)


def all_failed(engine: Engine, *competition_ids: int) -> list[FailedRun]:
    with reading(engine) as session:
        return failed_runs(session, competition_ids or None)


def queue_run(engine: Engine, run_id: int, actor: User | None = None) -> bool:
    with writing(engine) as session:
        return queue_again(Act(session, actor, NOW + HOUR, get_settings()), run_id)


def mails(engine: Engine) -> list[OutgoingMail]:
    with reading(engine) as session:
        return list(session.scalars(select(OutgoingMail).order_by(OutgoingMail.id)))


def audited(engine: Engine) -> list[AuditEntry]:
    with reading(engine) as session:
        of_runs = select(AuditEntry).where(AuditEntry.action.startswith("run."))
        return list(session.scalars(of_runs.order_by(AuditEntry.id)))


def lose_three_workers(engine: Engine, run_id: int) -> None:
    now = NOW
    for _ in range(3):
        claim(engine, run_id, now)
        now += timedelta(seconds=60)
        sweep(engine, now)


@pytest.fixture
def organiser(engine: Engine, accepted: Accepted) -> User:
    user = add_user(engine, "olga")
    with writing(engine) as session:
        grant_role(session, find_competition(session, COMPETITION), user, Role.ORGANISER, NOW)
    return user


# ---------------------------------------------------------------------------------------------------------------- told


@pytest.mark.parametrize(
    ("end", "attempts", "failure"),
    [(fail, 1, "Broken"), (lose_three_workers, 3, "its worker was lost 3 times")],
    ids=["an error", "lost workers"],
)
def test_a_failed_run_is_listed_with_all_that_organisers_need(
    engine: Engine, accepted: Accepted, end: object, attempts: int, failure: str
) -> None:
    assert callable(end)
    end(engine, accepted.run_id)
    (run,) = all_failed(engine)
    assert (run.run_id, run.submission_id) == (accepted.run_id, accepted.submission.id)
    assert (run.place, run.team, run.filename) == ("idioms/evaluation/detection", "Ada", "predictions.csv")
    assert (run.attempts, run.worker, run.failure) == (attempts, "worker:1", failure)
    assert run.submitted_at == NOW
    assert run.failed_at >= NOW
    (entry,) = audited(engine)
    assert (entry.actor, entry.action, entry.subject) == ("scoring", "run.fail", f"run {accepted.run_id}")
    assert (entry.details["team"], entry.details["failure"]) == ("Ada", failure)


def test_a_run_that_will_be_tried_again_worries_nobody(engine: Engine, accepted: Accepted, organiser: User) -> None:
    fail(engine, accepted.run_id, attempts=3)
    assert (all_failed(engine), audited(engine), mails(engine)) == ([], [], [])


def test_organisers_get_a_mail_without_a_word_of_the_file(engine: Engine, accepted: Accepted, organiser: User) -> None:
    add_user(engine, "root", is_administrator=True)
    fail(engine, accepted.run_id)
    (mail,) = mails(engine)
    assert (mail.recipient, mail.subject) == ("olga@example.org", "Scoring failed in 'idioms'")
    for word in ("idioms/evaluation/detection", "Ada", str(accepted.submission.id), "Broken", "evergold runs --failed"):
        assert word in mail.body


def test_administrators_are_told_where_a_competition_has_no_organiser(engine: Engine, accepted: Accepted) -> None:
    add_user(engine, "root", is_administrator=True)
    fail(engine, accepted.run_id)
    assert [mail.recipient for mail in mails(engine)] == ["root@example.org"]


def test_a_hundred_failures_of_one_cause_are_one_mail(engine: Engine, accepted: Accepted, organiser: User) -> None:
    fail(engine, accepted.run_id)
    bob = add_user(engine, "bob")
    for hours, count in ((1, 1), (5, 1), (6, 2), (7, 2)):
        fail(engine, submit(engine, bob, content=f"{hours}").run_id, now=NOW + hours * HOUR)
        assert len(mails(engine)) == count, f"after {hours} hours"
    assert len(all_failed(engine)) == len(audited(engine)) == 5, "none is missing from list and log"


def test_failures_are_listed_by_competition_and_the_latest_first(engine: Engine) -> None:
    for name in ("idioms", "proverbs"):
        add_competition(engine, name=name)
    ada = add_user(engine, "ada")
    runs = {name: submit(engine, ada, competition=name).run_id for name in ("idioms", "proverbs")}
    later = submit(engine, ada, competition="idioms", content="later").run_id
    for run_id, hours in ((runs["idioms"], 0), (runs["proverbs"], 1), (later, 2)):
        fail(engine, run_id, now=NOW + hours * HOUR)
    with reading(engine) as session:
        of = {name: session.scalars(select(Competition.id).where(Competition.name == name)).one() for name in runs}
    assert [run.run_id for run in all_failed(engine)] == [later, runs["proverbs"], runs["idioms"]]
    assert [run.run_id for run in all_failed(engine, of["idioms"])] == [later, runs["idioms"]]
    with reading(engine) as session:
        assert [run.run_id for run in failed_runs(session, None, limit=1)] == [later]
        assert failed_runs(session, []) == [], "who organises nothing sees nothing"


def test_runs_are_counted_by_task_and_state(engine: Engine) -> None:
    add_competition(engine, per_day=None)
    ada = add_user(engine, "ada")
    runs = [submit(engine, ada, content=str(n)).run_id for n in range(6)]
    claim(engine, runs[0])
    score(engine, runs[1], 0.5)
    reject(engine, runs[2])
    fail(engine, runs[3])
    with reading(engine) as session:
        (counted,) = [one for one in run_counts(session) if one.place.startswith("idioms/evaluation")]
        assert run_counts(session, []) == []
    assert counted.place == "idioms/evaluation/detection"
    assert {status: counted.of(status) for status in RunStatus} == {
        "queued": 2,
        "running": 1,
        "scored": 1,
        "rejected": 1,
        "failed": 1,
    }


def test_of_organisers_those_with_the_right_to_submissions_get_the_mail(engine: Engine, accepted: Accepted) -> None:
    add_user(engine, "root", is_administrator=True)
    organisers = one_right_each(engine)
    fail(engine, accepted.run_id)
    assert [mail.recipient for mail in mails(engine)] == [organisers[Right.SUBMISSIONS].email]


def test_what_failed_in_one_competition_keeps_no_mail_about_another_back(engine: Engine) -> None:
    add_user(engine, "root", is_administrator=True)
    ada = add_user(engine, "ada")
    for name in ("idioms", "proverbs"):
        add_competition(engine, name=name)
        fail(engine, submit(engine, ada, competition=name).run_id)
    assert [mail.subject for mail in mails(engine)] == ["Scoring failed in 'idioms'", "Scoring failed in 'proverbs'"]
    with reading(engine) as session:
        of = {
            name: session.scalars(select(Competition.id).where(Competition.name == name)).one()
            for name in ("idioms", "proverbs")
        }
    assert [mail.competition_id for mail in mails(engine)] == list(of.values())


def test_failures_are_listed_of_one_phase_one_task_or_by_their_numbers(engine: Engine) -> None:
    add_competition(engine)
    add_other_task(engine)
    ada = add_user(engine, "ada")
    runs = [submit(engine, ada).run_id, submit_other(engine, ada).run_id, submit(engine, ada, content="z").run_id]
    for run_id in runs:
        fail(engine, run_id)

    def found(**asked: Any) -> list[int]:
        with reading(engine) as session:
            return [one.run_id for one in failed_runs(session, **asked)]

    assert found() == runs[::-1], "of one moment the last first"
    assert found(phase=PHASE, task=OTHER_TASK) == [runs[1]]
    assert found(task=TASK) == [runs[2], runs[0]]
    assert found(phase=EARLIER_PHASE) == found(phase=OTHER_TASK) == []
    assert found(runs=[runs[0], runs[1]]) == [runs[1], runs[0]]
    assert found(runs=[runs[0], runs[1]], task=TASK) == [runs[0]]


def test_runs_that_others_replaced_are_not_counted(engine: Engine) -> None:
    """Next door each of the two runs was replaced by that of a set, and an open set has two more."""
    add_competition(engine)
    with reading(engine) as session:
        beside = find_competition(session, NEIGHBOURS).id
        counted = {one.place: one.states for one in run_counts(session, [beside])}
    assert counted[f"{NEIGHBOURS}/{PHASE}/{TASK}"] == {"scored": 2}
    assert counted[f"{NEIGHBOURS}/{PHASE}/{OTHER_TASK}"] == {"scored": 1}
    assert list(counted) == sorted(counted)
    assert {place.partition("/")[0] for place in counted} == {NEIGHBOURS}


# --------------------------------------------------------------------------------------------------------- once more


def test_a_failed_run_gets_all_its_attempts_again(engine: Engine, accepted: Accepted) -> None:
    olga = add_user(engine, "olga")
    lose_three_workers(engine, accepted.run_id)
    assert queue_run(engine, accepted.run_id, olga)
    run = the_run(engine, accepted.run_id)
    assert (run.status, run.attempts, run.failure, run.queued_at) == (RunStatus.QUEUED, 0, None, NOW + HOUR)
    assert (run.started_at, run.finished_at, run.sent_at, run.worker) == (None, None, None, None)
    entry = audited(engine)[-1]
    assert (entry.actor, entry.action, entry.subject) == ("olga", "run.queue_again", f"run {accepted.run_id}")
    fail(engine, accepted.run_id, attempts=3)
    score(engine, accepted.run_id, 0.5)
    assert the_run(engine, accepted.run_id).status == RunStatus.SCORED
    assert all_failed(engine) == []


@pytest.mark.parametrize("end", [None, claim, score, reject])
def test_only_a_failed_run_is_queued_again(engine: Engine, accepted: Accepted, end: object) -> None:
    if end is score:
        score(engine, accepted.run_id, 0.5)
    elif callable(end):
        end(engine, accepted.run_id)
    before = the_run(engine, accepted.run_id)
    assert not queue_run(engine, accepted.run_id)
    assert not queue_run(engine, 4711)
    after = the_run(engine, accepted.run_id)
    assert (after.status, after.queued_at) == (before.status, NOW)
    assert audited(engine) == []


def test_a_run_is_queued_again_only_by_its_own_competition(engine: Engine, accepted: Accepted) -> None:
    add_competition(engine, name="proverbs")
    fail(engine, accepted.run_id)
    with writing(engine) as session:
        ids = {c.name: c.id for c in session.scalars(select(Competition))}
        act = Act(session, None, NOW, get_settings())
        assert not queue_again(act, accepted.run_id, competition_id=ids["proverbs"])
        assert queue_again(act, accepted.run_id, competition_id=ids[COMPETITION])


def test_a_run_that_waits_again_counts_again(engine: Engine) -> None:
    add_competition(engine, per_day=1)
    ada = add_user(engine, "ada")
    run_id = submit(engine, ada).run_id
    fail(engine, run_id)
    queue_run(engine, run_id)
    assert answer_to(lambda: submit(engine, ada, content="next")) == "limit_reached"
