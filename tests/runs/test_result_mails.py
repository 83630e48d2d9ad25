"""Mails about results: for those who wanted them, once, and without a score."""

from __future__ import annotations

import re

import pytest
from sqlalchemy import Engine, select

from app.base.db import reading, writing
from app.models import OutgoingMail, RunStatus, User
from app.people.mail import MailKind, choose, find_link
from app.runs.sweep import requeue_lost_runs
from tests.beside import add_other_task, submit_other
from tests.rescoring.rescored import runs_of, start
from tests.world import (
    HOUR,
    NOW,
    PHASE,
    TASK,
    add_competition,
    add_team,
    add_user,
    claim,
    fail,
    reject,
    score,
    submit,
    the_run,
)


@pytest.fixture
def ada(engine: Engine) -> User:
    """Return a user who wants mails about her results; Abe, of the same team, chose nothing."""
    add_competition(engine, per_day=None)
    user = add_user(engine, "ada")
    add_team(engine, user, add_user(engine, "abe"), name="Both")
    with writing(engine) as session:
        choose(session, user, {MailKind.RESULTS: True})
    return user


def told(engine: Engine) -> list[OutgoingMail]:
    with reading(engine) as session:
        wanted = select(OutgoingMail).where(OutgoingMail.subject.startswith("["))
        return list(session.scalars(wanted.order_by(OutgoingMail.id)))


def test_each_end_is_told_once_with_a_link_and_no_score(engine: Engine, ada: User) -> None:
    score(engine, submit(engine, ada).run_id, 0.4321)
    reject(engine, submit(engine, ada).run_id)
    fail(engine, submit(engine, ada).run_id)
    mails = told(engine)
    assert [mail.subject for mail in mails] == [
        "[Idioms] Your submission was scored",
        "[Idioms] Your submission was rejected",
        "[Idioms] Your submission could not be scored",
    ]
    assert {mail.recipient for mail in mails} == {"ada@example.org"}
    for mail in mails:
        assert "4321" not in mail.body
        assert re.search(r"/submissions/[0-9a-f-]{36}\n", mail.body)
        assert "predictions.csv to Detection, Evaluation of Idioms" in mail.body
        with reading(engine) as session:
            user, kind = find_link(session, str(mail.unsubscribe).partition("link=")[2])
            assert (user.username, kind) == ("ada", MailKind.RESULTS)


def test_who_said_nothing_or_no_hears_nothing(engine: Engine, ada: User) -> None:
    bob = add_user(engine, "bob")
    score(engine, submit(engine, bob).run_id, 0.5)
    with writing(engine) as session:
        choose(session, ada, {MailKind.RESULTS: False})
    score(engine, submit(engine, ada).run_id, 0.5)
    assert told(engine) == []


def test_a_try_that_is_not_the_last_is_no_news(engine: Engine, ada: User) -> None:
    run_id = submit(engine, ada).run_id
    fail(engine, run_id, attempts=2)
    assert told(engine) == []
    fail(engine, run_id, attempts=2)
    assert len(told(engine)) == 1


def test_a_run_whose_worker_was_lost_for_the_last_time_is_told(engine: Engine, ada: User) -> None:
    claim(engine, submit(engine, ada).run_id)
    for _ in range(2):
        with writing(engine) as session:
            requeue_lost_runs(session, now=NOW + HOUR, attempts=1)
    assert [mail.subject for mail in told(engine)] == ["[Idioms] Your submission could not be scored"]


def test_of_a_set_whose_worker_was_lost_no_team_hears(engine: Engine, ada: User) -> None:
    """Check that its submission keeps its score; another mail would claim that it had none."""
    sent = submit(engine, ada)
    score(engine, sent.run_id, 0.5)
    of_set = runs_of(engine, start(engine, f"{PHASE}/{TASK}"))[sent.submission.id]
    claim(engine, of_set)
    with writing(engine) as session:
        requeue_lost_runs(session, now=NOW + HOUR, attempts=1)
    assert the_run(engine, of_set).status == RunStatus.FAILED
    assert [mail.subject for mail in told(engine)] == ["[Idioms] Your submission was scored"]


def test_news_name_the_file_and_the_task_of_their_own_run(engine: Engine, ada: User) -> None:
    add_other_task(engine)
    other, mine = submit_other(engine, ada), submit(engine, ada)
    for run_id in (mine.run_id, other.run_id):
        score(engine, run_id, 0.5)
    first, second = told(engine)
    assert f"/submissions/{mine.submission.id}\n" in first.body
    assert "to Detection, Evaluation of Idioms" in first.body
    assert f"/submissions/{other.submission.id}\n" in second.body
    assert "to Similarity, Evaluation of Idioms" in second.body
