"""`evergold role`: roles with rights, invitations and the owner, by the person who runs the server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from app.base.config import get_settings
from app.base.db import get_engine, reading, writing
from app.models import OutgoingMail
from app.people.auth import NewAccount, make_account
from app.server.folder import init_server
from evergold.cli import run
from evergold.cli.output import Code
from tests.world import COMPETITION, NOW, add_competition

pytestmark = pytest.mark.usefixtures("cheap_passwords")


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A fresh server's data folder, with a competition and grace."""
    init_server(tmp_path, NewAccount("ada", "ada@example.org", "correct horse battery"), NOW)
    monkeypatch.chdir(tmp_path)
    get_settings.cache_clear()
    engine = get_engine(get_settings().database_address)
    add_competition(engine)
    with writing(engine) as session:
        make_account(session, NewAccount("grace", "grace@example.org", "correct horse battery", "Grace"), NOW)
    yield tmp_path
    engine.dispose()


def json_of(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    capsys.readouterr()
    assert run(["role", *words, "--json"]) == Code.OK
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return document


def test_roles_have_rights(server: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        json_of(capsys, "grant", COMPETITION, "grace", "organiser", "--right", "edit", "--right", "gold")["changed"]
        is True
    )
    (one,) = json_of(capsys, "list", COMPETITION)["roles"]
    assert one["rights"] == ["edit", "gold"]
    changed = json_of(capsys, "rights", COMPETITION, "grace", "messages")
    assert changed == {"username": "grace", "rights": ["messages"], "changed": True}
    assert json_of(capsys, "rights", COMPETITION, "grace", "messages")["changed"] is False
    assert json_of(capsys, "rights", COMPETITION, "grace", "all")["rights"] == [
        "edit",
        "submissions",
        "gold",
        "messages",
    ]
    assert run(["role", "rights", COMPETITION, "ada", "edit"]) == Code.ERROR
    assert "ada is not an organiser of this competition." in capsys.readouterr().err
    for words in (
        ["rights", COMPETITION, "grace", "scores"],
        ["grant", COMPETITION, "ada", "guest", "--right", "edit"],
    ):
        assert run(["role", *words]) == Code.USAGE
    assert "there are edit, submissions, gold, messages" in capsys.readouterr().err


def test_whoever_runs_the_server_invites_and_takes_back(server: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = json_of(capsys, "invite", COMPETITION, "new@example.org", "organiser", "--right", "submissions")
    assert (made["address"], made["rights"], made["invited_by"]) == ("new@example.org", ["submissions"], None)
    with reading(get_engine(get_settings().database_address)) as session:
        assert "The administrator of this server invites you" in session.scalars(select(OutgoingMail.body)).one()
    assert json_of(capsys, "invitations", COMPETITION)["invitations"] == [made]
    assert run(["role", "invitations", COMPETITION]) == Code.OK
    assert "new@example.org" in capsys.readouterr().out
    assert json_of(capsys, "take-back", COMPETITION, str(made["id"])) == {"id": made["id"]}
    assert json_of(capsys, "invitations", COMPETITION)["invitations"] == []
    assert run(["role", "take-back", COMPETITION, str(made["id"])]) == Code.ERROR
    assert run(["role", "invite", COMPETITION, "nobody", "guest"]) == Code.ERROR


def test_a_competition_gets_an_owner(server: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["role", "owner", COMPETITION, "grace"]) == Code.ERROR
    assert "grace is not an organiser of this competition yet" in capsys.readouterr().err
    json_of(capsys, "grant", COMPETITION, "grace", "organiser", "--right", "messages")
    assert json_of(capsys, "owner", COMPETITION, "grace") == {"owner": "grace"}
    (one,) = json_of(capsys, "list", COMPETITION)["roles"]
    assert len(one["rights"]) == 4, "an owner holds every right"
    assert run(["role", "revoke", COMPETITION, "grace", "organiser"]) == Code.ERROR
