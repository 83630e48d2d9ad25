"""The audit log: its entries stay for ever, and only deeds are in it."""

from __future__ import annotations

import pytest
from sqlalchemy import Engine, text
from sqlalchemy.exc import DBAPIError

from app.base.db import reading, writing
from app.base.logs import bound
from app.models import AuditEntry, User
from app.people import audit, auth
from tests.world import HOUR, NOW, add_user


@pytest.fixture
def ada(engine: Engine) -> User:
    return add_user(engine, "ada")


def entries(engine: Engine, **filters: str) -> list[AuditEntry]:
    with reading(engine) as session:
        return audit.list_entries(session, audit.AuditFilter(**filters), limit=100)


def record(engine: Engine, actor: User | str | None, action: str, subject: str = "competition idioms") -> None:
    with writing(engine) as session:
        audit.record(session, actor, action, subject, {"to": "2026-02-01"}, now=NOW)


def test_an_entry_says_who_did_what_to_what_and_when(engine: Engine, ada: User) -> None:
    record(engine, ada, "phase.extend")
    [entry] = entries(engine)
    assert (entry.actor, entry.actor_id, entry.action, entry.subject) == (
        "ada",
        ada.id,
        "phase.extend",
        "competition idioms",
    )
    assert (entry.at, entry.details, entry.request_id) == (NOW, {"to": "2026-02-01"}, None)


def test_the_command_line_is_recorded_with_the_machine_s_user(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOGNAME", "grace")
    record(engine, None, "phases.apply")
    record(engine, "the server", "run.fail")
    assert [(entry.actor, entry.actor_id) for entry in entries(engine)] == [
        ("the server", None),
        ("command line (grace)", None),
    ]


def test_a_request_leaves_its_id(engine: Engine, ada: User) -> None:
    with bound(request_id="trace-0123"):
        record(engine, ada, "phase.extend")
    assert entries(engine)[0].request_id == "trace-0123"


def test_a_deed_that_was_undone_leaves_no_entry(engine: Engine, ada: User) -> None:
    def fail() -> None:
        with writing(engine) as session:
            audit.record(session, ada, "phase.extend", "competition idioms", now=NOW)
            raise RuntimeError("the deed failed")

    with pytest.raises(RuntimeError):
        fail()
    assert entries(engine) == []


@pytest.mark.parametrize("change", ["UPDATE audit_log SET actor = 'eve'", "DELETE FROM audit_log"])
def test_the_database_itself_refuses_to_change_or_delete(engine: Engine, ada: User, change: str) -> None:
    record(engine, ada, "phase.extend")
    with pytest.raises(DBAPIError, match="append-only"), writing(engine) as session:
        session.execute(text(change))
    assert [entry.actor for entry in entries(engine)] == ["ada"]


def test_postgresql_refuses_to_empty_the_table(postgresql_engine: Engine) -> None:
    record(postgresql_engine, None, "phases.apply")
    with pytest.raises(DBAPIError, match="append-only"), writing(postgresql_engine) as session:
        session.execute(text("TRUNCATE audit_log"))
    assert len(entries(postgresql_engine)) == 1


def test_entries_are_found_by_actor_thing_deed_and_subject(engine: Engine, ada: User) -> None:
    bob = add_user(engine, "bob")
    record(engine, ada, "token.create", "user ada")
    record(engine, bob, "token.revoke", "user bob")
    record(engine, bob, "tokens.count", "user bob")
    assert [entry.action for entry in entries(engine)] == ["tokens.count", "token.revoke", "token.create"]
    assert [entry.action for entry in entries(engine, actor="bob")] == ["tokens.count", "token.revoke"]
    assert [entry.action for entry in entries(engine, action="token")] == ["token.revoke", "token.create"]
    assert [entry.action for entry in entries(engine, action="token.revoke")] == ["token.revoke"]
    assert [entry.action for entry in entries(engine, subject="user ada")] == ["token.create"]
    with reading(engine) as session:
        newest = audit.list_entries(session, limit=1)
        assert [entry.action for entry in audit.list_entries(session, limit=5, before=newest[0].id)] == [
            "token.revoke",
            "token.create",
        ]


def test_tokens_made_and_revoked_are_recorded_without_their_secrets(engine: Engine, ada: User) -> None:
    with writing(engine) as session:
        token, secret = auth.create_token(session, ada, "laptop", NOW, days=30)
        auth.revoke_token(session, ada, token.id, NOW + HOUR)
    revoked, created = entries(engine)
    assert (created.action, revoked.action) == ("token.create", "token.revoke")
    assert created.details == {
        "token": secret[:8],
        "name": "laptop",
        "scopes": ["read", "submit", "create", "organise"],
        "expires_at": "2026-02-09T12:00:00+00:00",
    }
    assert secret not in str(created.details) + str(revoked.details)


def test_words_that_are_too_long_are_cut_and_not_refused(engine: Engine) -> None:
    record(engine, "x" * 500, "y" * 500, "z" * 500)
    [entry] = entries(engine)
    assert (len(entry.actor), len(entry.action), len(entry.subject)) == (100, 60, 300)
