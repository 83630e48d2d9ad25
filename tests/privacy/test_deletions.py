"""Deletions of accounts: what prevents them, the days in which they can be undone, and the mails about them."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from sqlalchemy import Engine, func, select

from app.base.config import Settings
from app.base.db import reading, writing
from app.competitions.find import find_competition
from app.models import AccountDeletion, AuditEntry, OutgoingMail, Role, ScoringRun, Submission, User
from app.people.act import Act
from app.people.rights import grant_role
from app.privacy.deletions import (
    NotDeletable,
    carry_out,
    due_deletions,
    obstacles_of,
    plan_account_deletion,
    undo_account_deletion,
)
from app.teams.find import new_team_for
from tests.world import COMPETITION, DAY, HOUR, NOW, add_competition, add_user, score, submit
from workers.sweep import sweep_accounts

pytestmark = pytest.mark.both


@pytest.fixture
def settings() -> Settings:
    return Settings()


@pytest.fixture
def ada(engine: Engine) -> User:
    add_competition(engine, per_day=None)
    return add_user(engine, "ada")


def plan(engine: Engine, user: User, settings: Settings, now: datetime = NOW, *, at_once: bool = False) -> datetime:
    with writing(engine) as session:
        current = session.get_one(User, user.id)
        return plan_account_deletion(Act(session, user, now, settings), current, at_once=at_once).due_at


def sweep(engine: Engine, user: User, settings: Settings, now: datetime) -> bool:
    """Let the sweep look at this account; return whether it was deleted."""
    with writing(engine) as session:
        return carry_out(session, user.id, settings, now)


def subjects(engine: Engine, user: User) -> list[str]:
    with reading(engine) as session:
        mine = select(OutgoingMail.subject).where(OutgoingMail.recipient == user.email)
        return list(session.scalars(mine.order_by(OutgoingMail.id)))


def kinds(engine: Engine, user: User) -> list[str]:
    with reading(engine) as session:
        return [one.kind for one in obstacles_of(session, session.get_one(User, user.id))]


def test_it_takes_days_and_mails_say_so(engine: Engine, ada: User, settings: Settings) -> None:
    due = plan(engine, ada, settings)
    assert due == NOW + timedelta(days=settings.deletion_days)
    assert plan(engine, ada, settings, NOW + DAY) == due, "asked again, nothing changes"
    with reading(engine) as session:
        assert ada.id not in due_deletions(session, NOW + DAY)
    assert not sweep(engine, ada, settings, due - 2 * DAY)
    assert not sweep(engine, ada, settings, due - DAY), "reminded once"
    assert sweep(engine, ada, settings, due)
    assert subjects(engine, ada) == ["Your account was deleted"], "mails about the account went with it"


def test_a_reminder_comes_before(engine: Engine, ada: User, settings: Settings) -> None:
    due = plan(engine, ada, settings)
    for days in (3, 2, 1):
        sweep(engine, ada, settings, due - days * DAY)
    assert subjects(engine, ada) == ["Your account is going to be deleted", "Your account is going to be deleted soon"]


def test_it_can_be_undone_until_the_day(engine: Engine, ada: User, settings: Settings) -> None:
    due = plan(engine, ada, settings)
    with writing(engine) as session:
        assert undo_account_deletion(Act(session, ada, due - HOUR, settings), ada)
    with writing(engine) as session:
        assert not undo_account_deletion(Act(session, ada, due - HOUR, settings), ada)
    assert not sweep(engine, ada, settings, due + DAY)
    with reading(engine) as session:
        assert session.get_one(User, ada.id).username == "ada"
        actions = select(AuditEntry.action).where(AuditEntry.subject == "user ada").order_by(AuditEntry.id)
        assert list(session.scalars(actions)) == ["account.delete", "account.keep"]
    assert subjects(engine, ada)[-1] == "Your account stays"


def test_what_is_deleted_stays_deleted(engine: Engine, ada: User, settings: Settings) -> None:
    due = plan(engine, ada, settings)
    assert sweep(engine, ada, settings, due)
    with writing(engine) as session:
        assert not undo_account_deletion(Act(session, None, due, settings), session.get_one(User, ada.id))


def test_owners_hand_over_first(engine: Engine, ada: User, settings: Settings) -> None:
    with writing(engine) as session:
        find_competition(session, COMPETITION).owner_id = ada.id
    assert kinds(engine, ada) == ["owner"]
    with pytest.raises(NotDeletable, match="You own “Idioms”: hand it over") as refused:
        plan(engine, ada, settings)
    assert refused.value.details["obstacles"][0]["competition"] == COMPETITION
    with writing(engine) as session:
        find_competition(session, COMPETITION).delete_at = NOW + 7 * DAY
    with pytest.raises(NotDeletable, match="is deleted on 17 Jan 2026"):
        plan(engine, ada, settings)


def test_the_only_organiser_names_another(engine: Engine, ada: User, settings: Settings) -> None:
    bob = add_user(engine, "bob")
    with writing(engine) as session:
        grant_role(session, find_competition(session, COMPETITION), ada, Role.ORGANISER, NOW)
    assert kinds(engine, ada) == ["last_organiser"]
    with writing(engine) as session:
        grant_role(session, find_competition(session, COMPETITION), bob, Role.ORGANISER, NOW)
    assert kinds(engine, ada) == []


def test_the_only_administrator_stays(engine: Engine, ada: User, settings: Settings) -> None:
    with writing(engine) as session:
        session.get_one(User, ada.id).is_administrator = True
    other = add_user(engine, "root", is_administrator=True)
    assert kinds(engine, ada) == ["last_administrator"], "root cannot log in"
    with writing(engine) as session:
        session.get_one(User, other.id).password_hash = "a hash"
    assert kinds(engine, ada) == []


def test_what_came_in_the_way_meanwhile_is_told_once(engine: Engine, ada: User, settings: Settings) -> None:
    due = plan(engine, ada, settings)
    with writing(engine) as session:
        find_competition(session, COMPETITION).owner_id = ada.id
    assert not sweep(engine, ada, settings, due)
    assert not sweep(engine, ada, settings, due + DAY)
    assert subjects(engine, ada)[1:] == ["Your account was not deleted yet"]
    with writing(engine) as session:
        find_competition(session, COMPETITION).owner_id = None
    assert sweep(engine, ada, settings, due + 2 * DAY)


def test_files_in_the_queue_are_scored_first(engine: Engine, ada: User, settings: Settings) -> None:
    accepted = submit(engine, ada)
    assert not sweep_at_once(engine, ada, settings)
    score(engine, accepted.run_id, 0.5)
    assert sweep_at_once(engine, ada, settings)
    with reading(engine) as session:
        kept = select(func.count()).select_from(ScoringRun).join(Submission).where(Submission.user_id == ada.id)
        assert session.scalar(kept) == 1


def sweep_at_once(engine: Engine, user: User, settings: Settings) -> bool:
    plan(engine, user, settings, at_once=True)
    return sweep(engine, user, settings, NOW)


def test_an_error_with_one_account_keeps_no_other(
    engine: Engine, ada: User, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    bob = add_user(engine, "bob")
    for user in (ada, bob):
        plan(engine, user, settings)
    erase = carry_out

    def fails_for_ada(session: object, user_id: int, *rest: object) -> bool:
        if user_id == ada.id:
            raise RuntimeError("a bug")
        return erase(session, user_id, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr("workers.sweep.carry_out", fails_for_ada)
    sweep_accounts(engine, settings, NOW + 30 * DAY)
    with reading(engine) as session:
        done = {one.user_id: one.done_at is not None for one in session.scalars(select(AccountDeletion))}
    assert done == {ada.id: False, bob.id: True}


def test_an_upload_that_is_under_way_makes_no_team_with_the_name(engine: Engine, ada: User, settings: Settings) -> None:
    """Check an upload by somebody who was logged in when sending it; its transaction comes after the deletion."""
    plan(engine, ada, settings)
    sweep(engine, ada, settings, NOW + 30 * DAY)
    with pytest.raises(Exception, match="was deleted"), writing(engine) as session:
        new_team_for(session, ada, find_competition(session, COMPETITION).id, NOW)
