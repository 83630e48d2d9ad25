"""`evergold account reset-link` and `evergold audit`: for who runs the server."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import select

from app.base.config import get_settings
from app.base.db import get_engine, reading, writing
from app.models import Authenticator, LoginSession, OutgoingMail, User
from app.people import audit
from app.people.act import UserAct
from app.people.auth import NewAccount, authenticate, start_session
from app.people.organising_requests import ask_to_organise
from app.people.password_resets import use
from app.people.rights import find_user
from app.people.second_factor import has_second_factor
from app.server.folder import init_server
from evergold.cli import run
from evergold.cli.output import Code
from tests.server.processes import ITEMS, PHASES
from tests.world import NOW

PASSWORD, NEW = "correct horse battery", "staple of another kind"

pytestmark = pytest.mark.usefixtures("cheap_passwords")


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A fresh server's data folder."""
    init_server(tmp_path, NewAccount("ada", "ada@example.org", PASSWORD), NOW)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EVERGOLD_BASE_URL", "https://scores.example.org")
    get_settings.cache_clear()
    yield tmp_path / "var"
    get_engine(get_settings().database_address).dispose()


def test_a_link_for_somebody_without_mail(server: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["account", "reset-link", "ada", "--data-dir", str(server), "--json"]) == Code.OK
    document = json.loads(capsys.readouterr().out)
    assert document["username"] == "ada"
    assert document["link"].startswith("https://scores.example.org/password/new?link=")
    with writing(get_engine(get_settings().database_address)) as session:
        use(session, document["link"].partition("link=")[2], NEW, get_settings(), datetime.now(UTC))


def test_the_link_alone_goes_to_stdout(server: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["account", "reset-link", "ada@example.org", "--data-dir", str(server)]) == Code.OK
    said = capsys.readouterr()
    assert said.out.startswith("https://scores.example.org/password/new?link=")
    assert said.out.count("\n") == 1
    assert "within 60 minutes" in said.err


def test_nobody_gets_no_link(server: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["account", "reset-link", "nobody", "--data-dir", str(server)]) == Code.ERROR
    assert "no account 'nobody'" in capsys.readouterr().err


def make_bob(server: Path, monkeypatch: pytest.MonkeyPatch, *more: str, password: str = PASSWORD) -> int:
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{password}\n"))
    arguments = ["bob", "--email", "Bob@example.org", "--password-stdin", "--data-dir", str(server), *more]
    return run(["account", "create", *arguments])


@pytest.mark.parametrize("is_administrator", [False, True])
def test_an_account_is_made_that_can_log_in(
    server: Path, monkeypatch: pytest.MonkeyPatch, is_administrator: bool
) -> None:
    assert make_bob(server, monkeypatch, *(["--admin"] if is_administrator else [])) == Code.OK
    with reading(get_engine(get_settings().database_address)) as session:
        bob = authenticate(session, "bob@example.org", PASSWORD)
        assert bob.is_administrator == is_administrator
        [entry] = audit.list_entries(session, limit=1)
    assert entry.action == ("administrator.create" if is_administrator else "account.create")


def test_an_account_that_cannot_be_is_refused_in_words(
    server: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert make_bob(server, monkeypatch, password="short") == Code.ERROR
    assert "password: A password must have 10 to 200 characters." in capsys.readouterr().err
    assert [make_bob(server, monkeypatch) for _ in range(2)] == [Code.OK, Code.ERROR]
    assert "This user name is taken." in capsys.readouterr().err


def test_somebody_becomes_an_administrator_once(
    server: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    make_bob(server, monkeypatch)
    capsys.readouterr()
    for changed in (True, False):
        assert run(["account", "promote", "bob", "--json", "--data-dir", str(server)]) == Code.OK
        assert json.loads(capsys.readouterr().out) == {"username": "bob", "changed": changed}
    with reading(get_engine(get_settings().database_address)) as session:
        assert authenticate(session, "bob", PASSWORD).is_administrator
        assert len(audit.list_entries(session, audit.AuditFilter(action="administrator.promote"), limit=9)) == 1
    assert run(["account", "promote", "nobody", "--data-dir", str(server)]) == Code.ERROR


def test_an_administrator_is_demoted_unless_it_is_the_last(
    server: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    make_bob(server, monkeypatch)
    here = ["--data-dir", str(server)]
    capsys.readouterr()
    assert run(["account", "demote", "bob", *here]) == Code.OK
    assert run(["account", "demote", "ada", *here]) == Code.ERROR
    assert run(["account", "promote", "bob", *here]) == Code.OK
    assert run(["account", "demote", "ada", "--json", *here]) == Code.OK
    said = capsys.readouterr()
    assert said.out.splitlines()[0] == "bob was not an administrator."
    assert "ada is the only administrator" in said.err
    assert json.loads(said.out.partition("{")[1] + said.out.partition("{")[2]) == {"username": "ada", "changed": True}
    with reading(get_engine(get_settings().database_address)) as session:
        assert not authenticate(session, "ada", PASSWORD).is_administrator
        [entry] = audit.list_entries(session, audit.AuditFilter(action="administrator.demote"), limit=9)
        assert entry.subject == "user ada"


def test_a_database_without_tables_is_said_in_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "empty").mkdir()
    assert run(["account", "promote", "ada", "--data-dir", str(tmp_path / "empty")]) == Code.ERROR
    assert "create them with `evergold migrate`" in capsys.readouterr().err


def test_a_wrong_setting_ends_every_command_in_words(
    server: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with monkeypatch.context() as here:
        here.setenv("EVERGOLD_MAIL_FROM", "Idioms")
        get_settings.cache_clear()
        assert run(["web", "--data-dir", str(server)]) == Code.USAGE
    assert capsys.readouterr().err.startswith("Error: Invalid settings: mail_from must be an address, or a name")


def test_audit_lists_the_newest_first_as_text_and_as_json(server: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(["account", "reset-link", "ada", "--data-dir", str(server)])
    capsys.readouterr()
    assert run(["audit", "--data-dir", str(server)]) == Code.OK
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split("\t") == ["When", "Who", "Did", "To", "Details"]
    assert [line.split("\t")[2] for line in lines[1:]] == ["reset_link.create", "administrator.create"]
    assert run(["audit", "--json", "--action", "administrator", "--data-dir", str(server)]) == Code.OK
    [entry] = json.loads(capsys.readouterr().out)["entries"]
    assert (entry["action"], entry["subject"], entry["at"]) == (
        "administrator.create",
        "user ada",
        "2026-01-10T12:00:00Z",
    )


def test_applying_phases_leaves_what_was_changed_and_nothing_when_nothing_was(server: Path) -> None:
    (server.parent / "phases.yaml").write_text(PHASES)
    (server.parent / "items.csv").write_text(ITEMS)
    assert [run(["apply", "--data-dir", str(server)]) for _ in range(2)] == [Code.OK, Code.OK]
    with reading(get_engine(get_settings().database_address)) as session:
        [entry] = audit.list_entries(session, audit.AuditFilter(action="phases.apply"), limit=10)
    assert (entry.subject, entry.actor_id) == ("phases.yaml", None)
    assert entry.details["count"] == len(entry.details["changes"]) >= 3
    assert "swans" in str(entry.details["changes"])


def test_requests_to_organise_are_shown_and_answered_once(
    server: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    here = ["--data-dir", str(server)]
    assert run(["account", "requests", *here]) == Code.OK
    assert capsys.readouterr().out == "No request is waiting for an answer.\n"
    monkeypatch.setattr("sys.stdin", io.StringIO(PASSWORD))
    run(["account", "create", "eve", "--email", "eve@example.org", "--password-stdin", *here])
    with writing(get_engine(get_settings().database_address)) as session:
        ask_to_organise(UserAct(session, find_user(session, "eve"), datetime.now(UTC), get_settings()), "Riddles.")
    capsys.readouterr()
    run(["account", "requests", *here])
    row = capsys.readouterr().out.splitlines()[1].split("\t")
    assert (row[0], row[2:]) == ("1", ["eve <eve@example.org>", "none yet", "Riddles."])
    assert run(["account", "answer", "1", *here]) == Code.USAGE
    assert run(["account", "answer", "1", "--approve", "--text", "Welcome.", *here]) == Code.OK
    assert run(["account", "answer", "1", "--refuse", *here]) == Code.ERROR
    said = capsys.readouterr()
    assert said.out == "eve may create competitions.\n"
    assert "has answered this request already" in said.err
    run(["account", "requests", "--all", "--json", *here])
    (found,) = json.loads(capsys.readouterr().out)["requests"]
    assert (found["is_approved"], found["answer"]) == (True, "Welcome.")


def test_who_lost_the_second_factor_gets_in_and_it_is_on_record(
    server: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    engine = get_engine(get_settings().database_address)
    with writing(engine) as session:
        ada = session.scalars(select(User).where(User.username == "ada")).one()
        session.add(Authenticator(user_id=ada.id, secret="A" * 32, created_at=NOW, confirmed_at=NOW, last_step=None))
        start_session(session, ada, datetime.now(UTC), 24)
    command = ["account", "clear-second-factor", "ada", "--data-dir", str(server), "--json"]
    assert run(command) == Code.OK
    assert json.loads(capsys.readouterr().out) == {"username": "ada", "changed": True}
    with reading(engine) as session:
        assert not has_second_factor(session, ada)
        assert session.scalars(select(LoginSession)).all() == []
        [entry, *_] = audit.list_entries(session, audit.AuditFilter(action="second_factor"), limit=9)
        assert (entry.subject, entry.actor.startswith("command line")) == ("user ada", True)
        assert "second factor" in session.scalars(select(OutgoingMail.body)).one()
    assert run(command) == Code.OK
    assert json.loads(capsys.readouterr().out)["changed"] is False
