"""Confirmation of a file that the team sent here before, and of no other."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import Engine

from app.base.db import reading, writing
from app.competitions.find import find_phase_task
from app.models import User
from app.submissions.accept import Accepted, SameFile, Sender, SubmissionForm, accept_submission
from tests import world
from tests.beside import add_old_run
from tests.competitions.embargo import add_phase
from tests.rich_world import LATER_PHASE
from tests.world import COMPETITION, NOW, TASK, add_competition, add_user, submit, upload_of

MINUTE = timedelta(minutes=1)


@pytest.fixture
def ada(sqlite_engine: Engine) -> User:
    add_competition(sqlite_engine)
    return add_user(sqlite_engine, "ada")


def ask(engine: Engine, user: User, content: str, phase: str = world.PHASE, key: str | None = None) -> Accepted:
    """Send it as the page does, which requires a confirmation before it uses quota for the same file again."""
    with writing(engine) as session:
        return accept_submission(
            session,
            find_phase_task(session, COMPETITION, phase, TASK),
            upload_of(content),
            Sender(user, NOW + 5 * MINUTE, key),
            SubmissionForm(refuse_duplicate=True),
        )


def test_the_latest_of_the_same_is_named(sqlite_engine: Engine, ada: User) -> None:
    submit(sqlite_engine, ada, NOW, content="same")
    latest = submit(sqlite_engine, ada, NOW + MINUTE, content="same")
    submit(sqlite_engine, ada, NOW + 2 * MINUTE, content="another")
    with pytest.raises(SameFile, match="already submitted this exact file on 10 Jan 2026, 12:01 UTC") as refused:
        ask(sqlite_engine, ada, "same")
    assert refused.value.details == {"submission": str(latest.submission.id)}


def test_another_file_is_not_asked_about_nor_the_same_of_another_team(sqlite_engine: Engine, ada: User) -> None:
    submit(sqlite_engine, ada, content="same")
    assert ask(sqlite_engine, ada, "another").created
    assert ask(sqlite_engine, add_user(sqlite_engine, "bob"), "same").created


def test_the_same_file_in_another_phase_is_not_asked_about(sqlite_engine: Engine, ada: User) -> None:
    add_phase(sqlite_engine, LATER_PHASE, starts_at=NOW)
    submit(sqlite_engine, ada, content="same")
    assert ask(sqlite_engine, ada, "same", LATER_PHASE).created


def test_a_file_that_was_rejected_is_not_asked_about(sqlite_engine: Engine, ada: User) -> None:
    """Check that the result of an earlier run, against other gold, does not matter."""
    sent = submit(sqlite_engine, ada, content="same")
    world.reject(sqlite_engine, sent.run_id)
    add_old_run(sqlite_engine, sent.submission.id, 0.5)
    assert ask(sqlite_engine, ada, "same").created


def test_a_retry_with_its_key_is_the_same_submission_and_not_asked_about(sqlite_engine: Engine, ada: User) -> None:
    sent = submit(sqlite_engine, ada, content="same", key="k")
    again = ask(sqlite_engine, ada, "same", key="k")
    assert (again.submission.id, again.run_id, again.created) == (sent.submission.id, sent.run_id, False)
    with reading(sqlite_engine) as session:
        assert len(session.scalars(world.submissions_here()).all()) == 1
