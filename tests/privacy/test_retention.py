"""Retention: each rule is applied by the sweep, and is on the privacy page with the days of the settings."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from sqlalchemy import Engine, func, select

from app.base.config import Settings
from app.base.db import Base, reading, writing
from app.competitions.find import find_competition
from app.competitions.life import keep_competition
from app.models import (
    ApiToken,
    EmailConfirmation,
    FileDownload,
    KnownDevice,
    LoginSession,
    OutgoingMail,
    PasswordReset,
    Stage,
    User,
)
from app.people import auth
from app.people.mail import forget_ended, send_farewell
from app.privacy.drafts import plan_abandoned
from app.privacy.retention import forget_expired, retention_rules
from tests.world import COMPETITION, DAY, NOW, add_competition, add_user, submit

KEPT, LATER = 5, NOW + 100 * DAY


@pytest.fixture
def settings() -> Settings:
    return Settings(login_days=KEPT, download_days=KEPT, draft_days=KEPT, mail_days=KEPT)


@pytest.fixture
def ada(engine: Engine) -> User:
    add_competition(engine)
    return add_user(engine, "ada")


def count(engine: Engine, table: type[Base], user: User) -> int:
    with reading(engine) as session:
        return session.scalar(select(func.count()).select_from(table).filter_by(user_id=user.id)) or 0


def secret(number: int) -> str:
    return f"{number:064d}"


@pytest.mark.both
def test_what_has_ended_stays_for_the_days_of_the_settings(engine: Engine, ada: User, settings: Settings) -> None:
    tables = (ApiToken, LoginSession, PasswordReset, EmailConfirmation, KnownDevice, FileDownload)
    recent, old = LATER - KEPT * DAY + timedelta(hours=1), LATER - KEPT * DAY
    with writing(engine) as session:
        competition = find_competition(session, COMPETITION)
        for number, end in enumerate((recent, old)):
            token, _ = auth.create_token(session, ada, f"laptop {number}", NOW, days=200)
            token.revoked_at = end
            session.add(_login(ada, number, end))
            session.add(
                PasswordReset(user_id=ada.id, email=None, secret_hash=secret(number), created_at=NOW, expires_at=end)
            )
            session.add(
                EmailConfirmation(
                    user_id=ada.id, email=ada.email, secret_hash=secret(number), created_at=NOW, expires_at=end
                )
            )
            seen = end - timedelta(days=400 - KEPT)
            session.add(KnownDevice(user_id=ada.id, secret_hash=secret(number), seen_at=seen))
            session.add(
                FileDownload(
                    competition_id=competition.id,
                    user_id=ada.id,
                    phase="p",
                    task="t",
                    file="f",
                    sha256=secret(0),
                    downloaded_at=end,
                )
            )
    with writing(engine) as session:
        forgotten = forget_expired(session, settings, LATER)
    assert {table.__tablename__ for table in tables} <= set(forgotten)
    assert {table: count(engine, table, ada) for table in tables} == dict.fromkeys(tables, 1)


def _login(user: User, number: int, end: datetime) -> LoginSession:
    return LoginSession(
        user_id=user.id, secret_hash=secret(number), csrf_token=secret(number), created_at=NOW, expires_at=end
    )


def test_zero_days_keep_downloads_for_ever(engine: Engine, ada: User) -> None:
    with writing(engine) as session:
        session.add(
            FileDownload(
                competition_id=find_competition(session, COMPETITION).id,
                user_id=ada.id,
                phase="p",
                task="t",
                file="f",
                sha256=secret(0),
                downloaded_at=NOW - 9999 * DAY,
            )
        )
    with writing(engine) as session:
        assert "file_downloads" not in forget_expired(session, Settings(download_days=0), LATER)


def test_live_tokens_and_log_ins_stay(engine: Engine, ada: User, settings: Settings) -> None:
    with writing(engine) as session:
        _, made = auth.create_token(session, ada, "laptop", NOW, days=365)
        auth.start_session(session, ada, NOW, hours=24 * 200)
    with writing(engine) as session:
        forget_expired(session, settings, LATER)
    with reading(engine) as session:
        assert auth.find_token(session, made, LATER) is not None
        assert session.scalar(select(func.count()).where(LoginSession.user_id == ada.id)) == 1


def test_the_last_mail_of_an_account_is_forgotten_once_it_is_sent(engine: Engine) -> None:
    with writing(engine) as session:
        send_farewell(session, "ada@example.org", "Your account was deleted", "…", NOW)
        forget_ended(session, 30, NOW)
        mail = session.scalars(select(OutgoingMail).where(OutgoingMail.recipient == "ada@example.org")).one()
        mail.ended_at = NOW
        session.flush()
        forget_ended(session, 30, NOW)
    with reading(engine) as session:
        assert session.scalar(select(OutgoingMail).where(OutgoingMail.recipient == "ada@example.org")) is None


# -------------------------------------------------------------------------------------------------------------- drafts


@pytest.fixture
def empty(engine: Engine) -> str:
    """The name of a competition without any submission."""
    add_competition(engine, name="empty")
    return "empty"


def plan(engine: Engine, settings: Settings, now: datetime) -> list[str]:
    with writing(engine) as session:
        return plan_abandoned(session, settings, now)


@pytest.mark.both
def test_an_abandoned_draft_is_deleted_after_a_mail_and_a_week(
    engine: Engine, ada: User, empty: str, settings: Settings
) -> None:
    with writing(engine) as session:
        competition = find_competition(session, empty)
        competition.stage, competition.owner_id = Stage.DRAFT, ada.id
    assert plan(engine, settings, NOW + (KEPT - 1) * DAY) == []
    assert plan(engine, settings, NOW + KEPT * DAY) == [empty]
    with reading(engine) as session:
        assert find_competition(session, empty).delete_at == NOW + (KEPT + 7) * DAY
        mails = session.scalars(select(OutgoingMail.subject).where(OutgoingMail.user_id == ada.id)).all()
        assert mails == ["The draft “Empty” is going to be deleted"]
    with writing(engine) as session:
        keep_competition(session, find_competition(session, empty), actor=ada, now=NOW + (KEPT + 1) * DAY)
    assert plan(engine, settings, NOW + (KEPT + 2) * DAY) == [], "somebody did something for it: its days begin again"
    assert plan(engine, settings, NOW + (2 * KEPT + 1) * DAY) == [empty]


def test_published_and_used_competitions_are_no_drafts(
    engine: Engine, ada: User, empty: str, settings: Settings
) -> None:
    with writing(engine) as session:
        find_competition(session, empty).owner_id = ada.id
    submit(engine, ada)
    with writing(engine) as session:
        used = find_competition(session, COMPETITION)
        used.stage, used.owner_id = Stage.DRAFT, ada.id
    assert plan(engine, settings, LATER) == []
    assert plan(engine, Settings(draft_days=0), LATER) == []


# ------------------------------------------------------------------------------------------------------------ the page


def test_every_rule_takes_its_days_from_its_own_setting() -> None:
    by_setting = {
        "rejected_days": "rejected_files",
        "blueprint_days": "blueprints",
        "draft_days": "drafts",
        "mail_days": "mails",
        "download_days": "downloads",
        "login_days": "logins",
        "webhook_log_days": "webhooks",
        "archive_days": "archives",
        "deletion_days": "deletion",
    }
    chosen = {name: 1000 + number for number, name in enumerate(by_setting)}
    shown = {rule.name: rule.days for rule in retention_rules(Settings.model_validate(chosen))}
    assert {name: shown[rule] for name, rule in by_setting.items()} == chosen
    assert (shown["held_uploads"], shown["devices"], shown["audit"]) == (1, 400, None)
    by_code = ("submissions", "checked_files", "held_uploads", "refusals", "reports", "devices", "audit")
    assert shown.keys() == {*by_setting.values(), *by_code}, "no rule is left out of the page"


def test_zero_is_for_ever_and_said_so() -> None:
    by_name = {rule.name: rule.days for rule in retention_rules(Settings(rejected_days=0, download_days=0))}
    assert by_name["rejected_files"] is None
    assert by_name["downloads"] is None
