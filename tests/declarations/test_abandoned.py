"""Abandoned drafts: deleted in time, and never before their owner was notified."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from sqlalchemy import Engine, select

from app.base.config import Settings
from app.base.db import reading, writing
from app.base.storage import StoredFile
from app.declarations.blueprints.abandoned import Abandoned, clear_abandoned
from app.declarations.blueprints.kept import add_file, begin_blueprint, save_document
from app.models import AuditEntry, Blueprint, BlueprintFile, OutgoingMail, User
from app.people.act import UserAct
from tests.rich_world import fresh
from tests.world import NOW, add_user

DAY = timedelta(days=1)


@pytest.fixture
def settings() -> Settings:
    return Settings(blueprint_days=100)


@pytest.fixture
def written(engine: Engine, settings: Settings) -> int:
    """Begin a draft with a file, whose owner has confirmed her address; return its id."""
    ada = add_user(engine, "ada")
    with writing(engine) as session:
        user = session.get_one(User, ada.id)
        user.email_confirmed_at = NOW
        blueprint = begin_blueprint(UserAct(session, user, NOW, settings), {"title": "Irony"})
        add_file(UserAct(session, user, NOW, settings), blueprint.id, "items.csv", StoredFile("a" * 64, 3))
        return blueprint.id


def sweep(engine: Engine, settings: Settings, now: datetime) -> tuple[int, int]:
    with writing(engine) as session:
        done: Abandoned = clear_abandoned(session, settings, now)
    return done.warned, done.cleared


def mails(engine: Engine) -> list[str]:
    with reading(engine) as session:
        return [mail.body for mail in session.scalars(select(OutgoingMail))]


def test_its_owner_is_told_two_weeks_before_it_is_cleared(engine: Engine, settings: Settings, written: int) -> None:
    assert sweep(engine, settings, NOW + 85 * DAY) == (0, 0)
    assert sweep(engine, settings, NOW + 86 * DAY) == (1, 0)
    assert sweep(engine, settings, NOW + 87 * DAY) == (0, 0), "once"
    (mail,) = mails(engine)
    assert "“Irony”" in mail
    assert f"/organise/{written}" in mail
    assert sweep(engine, settings, NOW + 99 * DAY) == (0, 0)
    assert sweep(engine, settings, NOW + 100 * DAY) == (0, 1)
    with reading(engine) as session:
        assert session.scalars(fresh(Blueprint)).all() == []
        [left] = session.scalars(select(BlueprintFile))
        assert session.get_one(Blueprint, left.blueprint_id).changed_at > NOW + 1_000 * DAY, "its files go along"
        assert "blueprint.cleared" in session.scalars(select(AuditEntry.action)).all()


def test_what_was_left_for_a_year_while_nobody_swept_has_its_two_weeks(
    engine: Engine, settings: Settings, written: int
) -> None:
    assert sweep(engine, settings, NOW + 400 * DAY) == (1, 0)
    assert sweep(engine, settings, NOW + 413 * DAY) == (0, 0)
    assert sweep(engine, settings, NOW + 414 * DAY) == (0, 1)


def test_a_step_that_is_saved_keeps_it_and_begins_the_days_anew(
    engine: Engine, settings: Settings, written: int
) -> None:
    sweep(engine, settings, NOW + 86 * DAY)
    with writing(engine) as session:
        user = session.scalars(fresh(User)).one()
        save_document(UserAct(session, user, NOW + 90 * DAY, settings), written, 1, {"title": "Irony again"})
    assert sweep(engine, settings, NOW + 100 * DAY) == (0, 0)
    assert sweep(engine, settings, NOW + 176 * DAY) == (1, 0), "told anew"
    assert sweep(engine, settings, NOW + 190 * DAY) == (0, 1)


def test_for_ever_is_for_ever(engine: Engine, written: int) -> None:
    assert sweep(engine, Settings(blueprint_days=0), NOW + 10_000 * DAY) == (0, 0)
    assert mails(engine) == []
