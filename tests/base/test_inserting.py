"""Rows inserted by one statement are as the unit of work would have left them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from sqlalchemy import Engine, select

from app.base.db import insert_now, reading, writing
from app.models import RunStatus, ScoringRun, Submission, User
from tests.world import NOW, add_competition, add_user, submit

pytestmark = pytest.mark.both
#: Columns that nothing loads but who asks for them.
ASKED_FOR = {"item_results", "program_log", "private_scores"}


@pytest.fixture
def ada(engine: Engine) -> User:
    add_competition(engine)
    return add_user(engine, "ada")


def another(first: Submission, key: str | None) -> Submission:
    """Return another submission by the same team to the same task."""
    return Submission(
        team_id=first.team_id,
        user_id=first.user_id,
        phase_task_id=first.phase_task_id,
        sha256="0" * 64,
        size_bytes=7,
        idempotency_key=key,
        submitted_at=NOW,
    )


def test_an_inserted_row_is_whole_belongs_to_the_session_and_can_be_changed(engine: Engine, ada: User) -> None:
    row = another(submit(engine, ada).submission, None)
    with writing(engine) as session:
        assert insert_now(session, row)
        run = ScoringRun(submission_id=row.id, gold="gold.csv", queued_at=NOW)
        assert insert_now(session, run)
        assert (run.status, run.attempts, run.problems, run.is_current) == (RunStatus.QUEUED, 0, [], True)
        assert session.get(Submission, row.id) is row
        row.withdrawn_at = datetime(2026, 1, 1, tzinfo=UTC)
    with reading(engine) as session:
        kept, kept_run = session.get_one(Submission, row.id), session.get_one(ScoringRun, run.id)
        for one, found in ((row, kept), (run, kept_run)):
            loaded = [name for name in type(one).__table__.columns.keys() if name not in ASKED_FOR]  # noqa: SIM118
            assert {name: getattr(one, name) for name in loaded} == {name: getattr(found, name) for name in loaded}
    assert kept.withdrawn_at is not None


def test_what_collides_is_not_inserted_and_the_transaction_goes_on(engine: Engine, ada: User) -> None:
    there = submit(engine, ada).submission
    first, second = another(there, "k"), another(there, "k")
    with writing(engine) as session:
        assert insert_now(session, first)
        assert not insert_now(session, second)
        assert not insert_now(session, ScoringRun(submission_id=there.id, gold="", queued_at=NOW))
    with reading(engine) as session:
        assert session.scalars(select(Submission.id).where(Submission.idempotency_key == "k")).all() == [first.id]
