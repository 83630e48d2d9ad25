"""An account that is deleted: what goes, what stays under a neutral name, and that it is all or nothing."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import Engine, String, Text, cast, func, or_, select, text
from sqlalchemy.exc import DBAPIError

from app.base.config import Settings, get_settings
from app.base.db import Base, reading, writing
from app.boards.freezing import AFTER_CLOSE, freeze_due
from app.boards.leaderboard import Leaderboard
from app.competitions.find import find_competition
from app.models import (
    AccountDeletion,
    FileDownload,
    OutgoingMail,
    Question,
    Snapshot,
    Submission,
    Team,
    TeamMember,
    User,
)
from app.people import audit, auth
from app.people.act import Act, UserAct
from app.people.mail import send_mail
from app.privacy import erasing
from app.privacy.deletions import carry_out, due_deletions, plan_account_deletion
from app.privacy.erasing import GOES, NEUTRAL_NAME, STAYS, neutral_username
from app.teams.membership import create_team, invite, join_team, rename_team
from tests.competitions.embargo import declare, enter, look
from tests.world import (
    COMPETITION,
    DAY,
    HOUR,
    NOW,
    add_competition,
    add_user,
    reject,
    score,
    submit,
)

OTHER = "other"
#: Recognised wherever it is left.
NAME = "zelda.quux"
LATER = NOW + 20 * DAY


@pytest.fixture
def settings() -> Settings:
    return Settings()


@pytest.fixture
def zelda(engine: Engine) -> User:
    """Return somebody who takes part alone in a competition that is open."""
    add_competition(engine, per_day=None)
    return add_user(engine, NAME, "Zelda Quux")


def delete(engine: Engine, user: User, settings: Settings, now: Any = LATER) -> None:
    """Ask for it, and let the sweep come by when its day is over."""
    with writing(engine) as session:
        plan_account_deletion(Act(session, user, NOW, settings), session.get_one(User, user.id))
    with writing(engine) as session:
        assert user.id in due_deletions(session, now)
        assert carry_out(session, user.id, settings, now)


def places_that_name(engine: Engine, words: tuple[str, ...]) -> set[str]:
    """Return the text columns of any table that still contain one of these words."""
    found = set()
    with reading(engine) as session:
        for table in Base.metadata.sorted_tables:
            for column in table.columns:
                if not isinstance(column.type, String | Text) and "JSON" not in str(column.type):
                    continue
                holds = or_(*(func.lower(cast(column, Text)).contains(word.lower()) for word in words))
                if session.scalar(select(func.count()).select_from(table).where(holds)):
                    found.add(f"{table.name}.{column.name}")
    return found


def test_every_reference_to_an_account_is_decided() -> None:
    """Check every table that refers to accounts: its rows are deleted with one (GOES), or STAYS gives the reason why
    not.
    """
    references = {
        f"{table.name}.{key.parent.name}"
        for table in Base.metadata.sorted_tables
        for key in table.foreign_keys
        if key.column.table.name == User.__tablename__
    }
    goes = {f"{column.class_.__tablename__}.{column.key}" for column in GOES}
    assert references == goes | set(STAYS)
    assert not goes & set(STAYS)


@pytest.mark.both
def test_nothing_names_the_person_any_more(engine: Engine, zelda: User, settings: Settings) -> None:
    bob = add_user(engine, "bob")
    scored, refused = submit(engine, zelda, method="A method"), submit(engine, zelda, NOW + HOUR, content="ID")
    score(engine, scored.run_id, 0.8)
    reject(engine, refused.run_id)
    with writing(engine) as session:
        competition = find_competition(session, COMPETITION)
        sent = session.get_one(Submission, scored.submission.id)
        sent.description, sent.filename = "by Zelda Quux", "zelda.quux.csv"
        auth.create_token(session, zelda, "zelda.quux at home", NOW)
        rename_team(UserAct(session, zelda, NOW, get_settings()), competition, "Team of Zelda Quux")
        session.add(
            Question(
                competition_id=competition.id,
                asker_id=zelda.id,
                title="Zelda Quux asks",
                text="I am zelda.quux",
                asked_at=NOW,
                answer="Yes.",
                answered_at=NOW,
                is_public=True,
            )
        )
        session.add(
            FileDownload(
                competition_id=competition.id,
                user_id=zelda.id,
                phase="p",
                task="t",
                file="f",
                sha256="0" * 64,
                downloaded_at=NOW,
            )
        )
        audit.record(
            session, bob, "role.grant", f"competition {COMPETITION}", {"user": NAME, "role": "tester"}, now=NOW
        )
        audit.record(session, bob, "role.invite", f"competition {COMPETITION}", {"address": zelda.email}, now=NOW)
        audit.record(session, None, "administrator.promote", f"user {NAME}", now=NOW)
        audit.record(session, "the sweep", "blueprint.cleared", f"blueprint 3 of {NAME}", now=NOW)
        send_mail(session, zelda, "Hello Zelda Quux", "…", now=NOW)
    assert len(places_that_name(engine, (NAME, "zelda quux"))) > 8
    delete(engine, zelda, settings)
    with writing(engine) as session:  # the last mail has gone
        [mail] = session.scalars(select(OutgoingMail).where(OutgoingMail.recipient == zelda.email)).all()
        assert (mail.subject, mail.user_id) == ("Your account was deleted", None)
        session.delete(mail)
    assert places_that_name(engine, (NAME, "zelda quux", zelda.email)) == set()


@pytest.mark.both
def test_the_audit_log_keeps_what_was_done_without_the_name(engine: Engine, zelda: User, settings: Settings) -> None:
    with writing(engine) as session:
        auth.create_token(session, zelda, "laptop", NOW)
    with reading(engine) as session:
        before = [(one.id, one.at, one.actor_id, one.action) for one in audit.list_entries(session, limit=100)]
    delete(engine, zelda, settings)
    with reading(engine) as session:
        entries = audit.list_entries(session, limit=100)
    kept = [one for one in entries if one.id in {number for number, *_ in before}]
    assert [(one.id, one.at, one.actor_id, one.action) for one in kept] == before
    made = next(one for one in kept if one.action == "token.create" and one.actor_id == zelda.id)
    nobody = neutral_username(zelda.id)
    assert (made.actor, made.subject, made.details["name"]) == (nobody, f"user {nobody}", "")
    assert (entries[0].action, entries[0].actor) == ("account.deleted", "deletion of accounts")


@pytest.mark.both
def test_outside_of_a_deletion_the_audit_log_refuses_changes_as_before(
    engine: Engine, zelda: User, settings: Settings
) -> None:
    delete(engine, zelda, settings)
    for statement in ("UPDATE audit_log SET actor = 'eve'", "DELETE FROM audit_log"):
        with pytest.raises(DBAPIError, match="append-only"), writing(engine) as session:
            session.execute(text(statement))


@pytest.mark.both
@pytest.mark.parametrize("column", ["action = 'x.y'", "request_id = 'x'", "actor_id = NULL"])
def test_even_in_a_deletion_only_names_of_the_audit_log_change(engine: Engine, zelda: User, column: str) -> None:
    with writing(engine) as session:
        auth.create_token(session, zelda, "laptop", NOW)

    def change() -> None:
        with writing(engine) as session:
            session.add(AccountDeletion(user_id=zelda.id, asked_at=NOW, due_at=NOW, is_erasing=True))
            session.flush()
            session.execute(text(f"UPDATE audit_log SET {column}"))

    with pytest.raises(DBAPIError, match="append-only"):
        change()


def board(engine: Engine) -> Leaderboard:
    return look(engine, None, LATER)


@pytest.mark.both
def test_a_board_stays_as_it_was_but_for_the_name(engine: Engine, zelda: User, settings: Settings) -> None:
    bob = add_user(engine, "bob")
    declare(engine, entry_rule="best", ends_at=NOW + HOUR)
    enter(engine, zelda, 0.9, method="A method")
    enter(engine, zelda, 0.7, minute=1)
    enter(engine, bob, 0.8)
    with writing(engine) as session:
        freeze_due(session, NOW + HOUR + AFTER_CLOSE)
    before, frozen = board(engine), documents(engine)
    assert [row.team for row in before.rows] == ["Zelda Quux", "Bob"]
    delete(engine, zelda, settings)
    after = board(engine)
    assert after.version != before.version, "caches look again"
    renamed = [row._replace(team=NEUTRAL_NAME) if row.team == "Zelda Quux" else row for row in before.rows]
    assert list(after.rows) == renamed
    assert replace(after, version=before.version, rows=before.rows) == before
    as_text = json.dumps(frozen)
    assert "Zelda Quux" in as_text
    expected = json.loads(as_text.replace("Zelda Quux", NEUTRAL_NAME))
    assert [_without_mark(document) for document in documents(engine)] == expected


def _without_mark(document: dict[str, Any]) -> dict[str, Any]:
    return {name: one for name, one in document.items() if name != "names_erased"}


def documents(engine: Engine) -> list[dict[str, Any]]:
    with reading(engine) as session:
        return [one.document for one in session.scalars(select(Snapshot).order_by(Snapshot.id))]


@pytest.mark.both
def test_a_team_with_others_keeps_its_name_and_gets_another_captain(
    engine: Engine, zelda: User, settings: Settings
) -> None:
    bob = add_user(engine, "bob")
    with writing(engine) as session:
        competition = find_competition(session, COMPETITION)
        create_team(UserAct(session, zelda, NOW, get_settings()), competition, "Both of us")
        invitation, _ = invite(UserAct(session, zelda, NOW, get_settings()), competition)
        join_team(UserAct(session, bob, NOW, get_settings()), competition, invitation)
    score(engine, submit(engine, zelda, NOW + HOUR).run_id, 0.5)
    delete(engine, zelda, settings)
    with reading(engine) as session:
        team = session.scalars(select(Team).where(Team.name == "Both of us")).one()
        assert team.captain_id == bob.id
        assert session.scalars(select(TeamMember.user_id).where(TeamMember.team_id == team.id)).all() == [bob.id]
        assert session.scalars(select(Submission.user_id).where(Submission.team_id == team.id)).all() == [zelda.id]


def test_what_no_board_depends_on_goes_whole(engine: Engine, zelda: User, settings: Settings) -> None:
    reject(engine, submit(engine, zelda).run_id)
    delete(engine, zelda, settings)
    with reading(engine) as session:
        assert session.scalar(select(func.count()).where(Submission.user_id == zelda.id)) == 0
        assert session.scalars(select(Team).where(Team.name.in_(["Zelda Quux", NEUTRAL_NAME]))).all() == []


def test_files_of_rejected_submissions_are_released(engine: Engine, zelda: User, settings: Settings) -> None:
    scored, refused = submit(engine, zelda), submit(engine, zelda, NOW + HOUR, content="ID")
    score(engine, scored.run_id, 0.5)
    reject(engine, refused.run_id)
    delete(engine, zelda, settings)
    with reading(engine) as session:
        cleared = {
            one.id: one.file_cleared_at
            for one in session.scalars(select(Submission).where(Submission.user_id == zelda.id))
        }
    assert cleared == {scored.submission.id: None, refused.submission.id: LATER}


def test_two_who_leave_get_two_names(engine: Engine, zelda: User, settings: Settings) -> None:
    bob = add_user(engine, "bob")
    for user in (zelda, bob):
        score(engine, submit(engine, user).run_id, 0.5)
        delete(engine, user, settings)
    with reading(engine) as session:
        names = session.scalars(
            select(Team.name)
            .join(Submission, Submission.team_id == Team.id)
            .where(Submission.user_id.in_([zelda.id, bob.id]))
        )
        assert sorted(names) == [NEUTRAL_NAME, f"{NEUTRAL_NAME} 2"]


def test_questions_go_except_for_public_answers(engine: Engine, zelda: User, settings: Settings) -> None:
    with writing(engine) as session:
        competition = find_competition(session, COMPETITION)
        for title, is_public, answered_at in (("private", False, NOW), ("open", True, None), ("public", True, NOW)):
            session.add(
                Question(
                    competition_id=competition.id,
                    asker_id=zelda.id,
                    title=title,
                    text=title,
                    asked_at=NOW,
                    answer="Yes." if answered_at else "",
                    answered_at=answered_at,
                    is_public=is_public,
                )
            )
    delete(engine, zelda, settings)
    with reading(engine) as session:
        left = session.scalars(select(Question).where(Question.asker_id == zelda.id)).all()
        assert [(one.title, one.text, one.answer) for one in left] == [
            (erasing.QUESTION_TITLE, erasing.QUESTION_TEXT, "Yes.")
        ]


@pytest.mark.both
@pytest.mark.parametrize(
    "step", ["_leave_teams", "_erase_questions", "_delete_rows", "_make_nobody", "_settle_teams", "erase_names"]
)
def test_killed_between_two_steps_nothing_has_happened(
    engine: Engine, zelda: User, settings: Settings, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    score(engine, submit(engine, zelda).run_id, 0.5)
    with writing(engine) as session:
        plan_account_deletion(Act(session, zelda, NOW, settings), zelda)
    before = everything(engine)
    done = getattr(erasing, step)

    def killed(*args: Any, **kwargs: Any) -> Any:
        done(*args, **kwargs)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(erasing, step, killed)
        with pytest.raises(KeyboardInterrupt), writing(engine) as session:
            carry_out(session, zelda.id, settings, LATER)
    assert everything(engine) == before
    with writing(engine) as session:
        assert carry_out(session, zelda.id, settings, LATER), "the next sweep does it"
    with writing(engine) as session:
        assert not carry_out(session, zelda.id, settings, LATER), "and once"


def everything(engine: Engine) -> dict[str, list[str]]:
    """Return all rows of all tables."""
    with reading(engine) as session:
        return {
            table.name: sorted(str(row) for row in session.execute(select(table)))
            for table in Base.metadata.sorted_tables
        }


def test_the_account_cannot_be_used_any_more(engine: Engine, zelda: User, settings: Settings) -> None:
    with writing(engine) as session:
        _, secret = auth.create_token(session, zelda, "laptop", NOW)
        login, cookie = auth.start_session(session, zelda, NOW, 24 * 100)
    delete(engine, zelda, settings)
    with reading(engine) as session:
        assert auth.find_token(session, secret, LATER) is None
        assert auth.find_session(session, cookie, LATER) is None
        assert auth.find_user(session, NAME) is None
        user = session.get_one(User, zelda.id)
        assert (user.password_hash, user.has_address, user.is_administrator) == (None, False, False)
    again = add_user(engine, NAME)
    assert again.id != zelda.id, "the name is free"
