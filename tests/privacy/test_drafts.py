"""Drafts are abandoned when nobody works on them, and those who could save them are notified."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

import pytest
from sqlalchemy import Engine, delete, select

from app.base.config import Settings
from app.base.db import reading, writing
from app.competitions.find import find_competition, find_phase_task
from app.models import AuditEntry, GoldVersion, OutgoingMail, Revision, RevisionSource, Right, Role, Stage, User
from app.people.rights import grant_role
from app.privacy.drafts import last_change, plan_abandoned
from tests.rich_rows import add_gold
from tests.rich_world import NEIGHBOURS
from tests.world import DAY, NOW, PHASE, TASK, add_competition, add_user

EMPTY, KEPT = "empty", 5
SETTINGS = Settings(draft_days=KEPT)
LATER = NOW + 2 * DAY


@pytest.fixture
def draft(sqlite_engine: Engine) -> dict[str, User]:
    """A draft of Olga's, made NOW; Edda may edit it, Mel answers its questions, Nora has nothing to do with it."""
    add_competition(sqlite_engine, name=EMPTY)
    found = {name: add_user(sqlite_engine, name) for name in ("olga", "edda", "mel", "nora")}
    with writing(sqlite_engine) as session:
        here = find_competition(session, EMPTY)
        here.stage, here.owner_id = Stage.DRAFT, found["olga"].id
        for name, right in (("edda", Right.EDIT), ("mel", Right.MESSAGES)):
            grant_role(session, here, found[name], Role.ORGANISER, NOW, rights=[right])
    return found


def plan(engine: Engine, now: datetime) -> list[str]:
    with writing(engine) as session:
        return plan_abandoned(session, SETTINGS, now)


def test_whoever_could_keep_a_draft_is_told_since_when_and_until_when(
    sqlite_engine: Engine, draft: dict[str, User]
) -> None:
    with writing(sqlite_engine) as session:
        session.execute(delete(OutgoingMail))
    assert plan(sqlite_engine, NOW + KEPT * DAY) == [EMPTY]
    with reading(sqlite_engine) as session:
        mails = {one.recipient: one.body for one in session.scalars(select(OutgoingMail))}
    assert mails.keys() == {"olga@example.org", "edda@example.org"}
    assert "since 10 Jan 2026, 12:00 UTC. It will be deleted on 22 Jan 2026, 12:00 UTC" in mails["olga@example.org"]
    assert plan(sqlite_engine, NOW + KEPT * DAY) == [], "once"


def _revise(engine: Engine, competition: str, at: datetime) -> None:
    with writing(engine) as session:
        here = find_competition(session, competition).id
        made = Revision(competition_id=here, number=99, source=RevisionSource.EDIT, made_at=at, author="", document={})
        made.fingerprint, made.changes = "0" * 64, []
        session.add(made)


def _upload_gold(engine: Engine, competition: str, at: datetime) -> None:
    add_gold(engine, competition, PHASE, TASK, at, in_use=False)


def _do_something(engine: Engine, competition: str, at: datetime) -> None:
    with writing(engine) as session:
        session.add(AuditEntry(at=at, actor="olga", action="task.look", subject=f"competition {competition}"))


@pytest.mark.parametrize("change", [_revise, _upload_gold, _do_something])
def test_what_somebody_did_for_the_draft_counts_and_what_was_done_next_door_does_not(
    sqlite_engine: Engine, draft: dict[str, User], change: Callable[[Engine, str, datetime], None]
) -> None:
    change(sqlite_engine, NEIGHBOURS, NOW + 3 * DAY)
    with reading(sqlite_engine) as session:
        assert last_change(session, find_competition(session, EMPTY)) == NOW
    change(sqlite_engine, EMPTY, LATER)
    with reading(sqlite_engine) as session:
        assert last_change(session, find_competition(session, EMPTY)) == LATER
    assert plan(sqlite_engine, LATER + (KEPT - 1) * DAY) == []
    assert plan(sqlite_engine, LATER + KEPT * DAY) == [EMPTY]


def test_the_last_of_several_changes_counts(sqlite_engine: Engine, draft: dict[str, User]) -> None:
    for change in (_revise, _upload_gold, _do_something):
        change(sqlite_engine, EMPTY, LATER)
    _upload_gold(sqlite_engine, EMPTY, LATER - DAY)
    with reading(sqlite_engine) as session:
        numbers = session.scalars(
            select(GoldVersion.number).where(
                GoldVersion.phase_task_id == find_phase_task(session, EMPTY, PHASE, TASK).id
            )
        )
        assert sorted(numbers) == [1, 2]
        assert last_change(session, find_competition(session, EMPTY)) == LATER


def test_a_draft_that_has_no_owner_is_left_to_administrators(sqlite_engine: Engine, draft: dict[str, User]) -> None:
    with writing(sqlite_engine) as session:
        find_competition(session, EMPTY).owner_id = None
    assert plan(sqlite_engine, NOW + 99 * DAY) == []


def test_what_was_done_for_an_earlier_competition_of_the_name_says_nothing(
    sqlite_engine: Engine, draft: dict[str, User]
) -> None:
    _do_something(sqlite_engine, EMPTY, NOW - DAY)
    with reading(sqlite_engine) as session:
        assert last_change(session, find_competition(session, EMPTY)) == NOW
