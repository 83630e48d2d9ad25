"""Your data: the archive, the deletion of an account, consents and the privacy page, on pages and over the API."""

from __future__ import annotations

import io
import json
import re
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from sqlalchemy import select

from app.base.config import get_settings
from app.base.db import reading, writing
from app.competitions.find import find_competition
from app.models import AuditEntry, DataArchive, TokenScope, User
from app.people import auth
from app.privacy.erasing import NEUTRAL_NAME
from evergold.cli import own_data, run
from evergold.cli.output import Code
from tests.web.site import BOARD, PASSWORD, Person, Site, csrf_of, log_in, run_of, without_log
from tests.world import COMPETITION, DAY, NOW, score
from workers.archives import make
from workers.sweep import sweep_accounts

DATA, ARCHIVE, DELETION = "/account/data", "/api/v1/me/archive", "/api/v1/me/deletion"
CONSENT = f"/api/v1/competitions/{COMPETITION}/publication-consent"
REGISTRATION = f"/competitions/{COMPETITION}/registration"


@pytest.fixture
def browser(site: Site) -> Iterator[httpx.Client]:
    with log_in(site) as browser:
        yield browser


def send(browser: httpx.Client, path: str, **fields: str) -> httpx.Response:
    return browser.post(path, data={**fields, "csrf_token": csrf_of(browser.get(DATA).text)})


def make_archives(site: Site) -> None:
    """Do what a worker does with the messages."""
    with reading(site.engine) as session:
        ids = session.scalars(select(DataArchive.id).where(DataArchive.ready_at.is_(None))).all()
    for archive_id in ids:
        make(site.engine, site.settings, archive_id)


def test_the_archive_is_asked_for_in_the_browser_and_downloaded(site: Site, browser: httpx.Client) -> None:
    assert "Request" in browser.get(DATA).text
    page = send(browser, f"{DATA}/archive").text
    assert "Requested: you get a mail when it is ready." in page
    assert "Download (" not in page
    make_archives(site)
    page = browser.get(DATA).text
    assert "Download (" in page
    answer = browser.get(f"{ARCHIVE}/file")
    assert answer.headers["content-disposition"].startswith('attachment; filename="evergold-ada-')
    assert answer.headers["cache-control"].startswith("private")
    archive = zipfile.ZipFile(io.BytesIO(answer.content))
    assert json.loads(archive.read("account.json"))["account"]["username"] == "ada"
    with reading(site.engine) as session:
        deeds = session.scalars(select(AuditEntry.action).where(AuditEntry.subject == "user ada")).all()
    assert [deed for deed in deeds if deed.startswith("archive.")] == ["archive.request", "archive.download"]


def test_nobody_else_gets_it(site: Site, ada: Person, eve: Person) -> None:
    assert ada.client.get(ARCHIVE).status_code == 404
    asked = ada.client.post(ARCHIVE)
    assert (asked.status_code, asked.json()["state"]) == (202, "pending")
    assert ada.client.get(f"{ARCHIVE}/file").json()["error"]["code"] == "archive_not_ready"
    make_archives(site)
    assert ada.client.get(ARCHIVE).json()["file"] == f"{ARCHIVE}/file"
    assert ada.client.get(f"{ARCHIVE}/file").status_code == 200
    assert eve.client.get(f"{ARCHIVE}/file").status_code == 404
    assert site.client().get(f"{ARCHIVE}/file").status_code == 401


def test_a_token_for_less_neither_reads_nor_asks(site: Site, ada: Person) -> None:
    with writing(site.engine) as session:
        scopes = frozenset({TokenScope.READ, TokenScope.SUBMIT})
        _, secret = auth.create_token(session, ada.user, "less", NOW, scopes=scopes)
    client = site.client(Authorization=f"Bearer {secret}")
    for answer in (client.get(ARCHIVE), client.post(ARCHIVE), client.get(f"{ARCHIVE}/file"), client.get(DELETION)):
        assert answer.json()["error"]["code"] == "scope_missing"


def test_deleting_needs_the_password_and_can_be_undone(site: Site, browser: httpx.Client) -> None:
    wrong = send(browser, f"{DATA}/deletion", proof="not this one")
    assert (wrong.status_code, "This is not your password." in wrong.text) == (422, True)
    assert browser.get(DELETION).json()["due_at"] is None
    page = send(browser, f"{DATA}/deletion", proof=PASSWORD).text
    assert "Your account is going to be deleted." in page
    assert browser.get(DELETION).json()["due_at"] == "2026-01-24T12:00:00Z"
    page = send(browser, f"{DATA}/deletion/undo").text
    assert "Undone: your account stays as it is." in page
    assert browser.get(DELETION).json()["due_at"] is None


def test_when_it_is_done_the_browser_is_logged_out_and_the_name_is_free(site: Site, browser: httpx.Client) -> None:
    send(browser, f"{DATA}/deletion", proof=PASSWORD)
    sweep_accounts(site.engine, site.settings, NOW + 15 * DAY)
    assert "Log in" in browser.get(DATA).text
    form = {"username": "ada", "password": PASSWORD, "csrf_token": csrf_of(browser.get("/login").text)}
    assert "Unknown user name or wrong password." in browser.post("/login", data=form).text
    with log_in(site) as again:
        assert "Request" in again.get(DATA).text


def test_what_stands_in_the_way_is_said_with_what_to_do(site: Site, browser: httpx.Client) -> None:
    with writing(site.engine) as session:
        ada = session.scalars(select(User).where(User.username == "ada")).one()
        find_competition(session, COMPETITION).owner_id = ada.id
    page = browser.get(DATA).text
    assert "hand it over to another organiser" in page
    assert "Delete my account" not in page
    refused = send(browser, f"{DATA}/deletion", proof=PASSWORD)
    assert refused.status_code == 409
    assert browser.get(DELETION).json()["obstacles"][0]["kind"] == "owner"


def test_programs_delete_with_token_and_password(site: Site, browser: httpx.Client) -> None:
    with reading(site.engine) as session:
        ada = session.scalars(select(User).where(User.username == "ada")).one()
    client = site.with_token(ada)
    assert client.post(DELETION, json={"password": "not this one"}).status_code == 401
    assert client.post(DELETION, json={"password": PASSWORD}).json()["due_at"] == "2026-01-24T12:00:00Z"
    assert client.delete(DELETION).json()["due_at"] is None


def test_an_account_without_a_password_is_deleted_on_its_page(site: Site, ada: Person) -> None:
    assert ada.client.post(DELETION, json={}).json()["error"]["code"] == "forbidden"
    browser = site.browser(ada.user)
    assert "Your account is going to be deleted." in send(browser, f"{DATA}/deletion").text


def bodies(site: Site) -> dict[str, bytes]:
    """A board as strangers get it in every form."""
    public = site.client(Accept="text/html")
    page = f"/competitions/{COMPETITION}/phases/evaluation/boards/zero-shot"
    return {path: public.get(path).content for path in (BOARD, f"{BOARD}.csv", f"{BOARD}/table?format=latex", page)}


def test_the_board_of_a_deleted_account_is_the_same_to_the_byte_but_for_the_name(site: Site, eve: Person) -> None:
    zoe = site.person("zoe-quux")
    for person, value in ((zoe, 0.9), (eve, 0.8)):
        sent = person.submitted()
        score(site.engine, run_of(site, sent), value)
    before = bodies(site)
    assert zoe.client.post(DELETION, json={}).status_code == 403, "made without a password"
    send(site.browser(zoe.user), f"{DATA}/deletion")
    sweep_accounts(site.engine, site.settings, NOW + 15 * DAY)
    after = bodies(site)
    for path, body in before.items():
        assert b"Zoe-quux" in body
        assert comparable(after[path], NEUTRAL_NAME) == comparable(body, "Zoe-quux"), path


def comparable(body: bytes, name: str) -> str:
    """Replace the name by one word everywhere, in addresses, too, and the version of the board."""
    text = body.decode()
    for written in (name, name.replace(" ", "%20"), name.replace(" ", "+")):
        text = text.replace(written, "NAME")
    return re.sub(r'"version":\s*"[^"]*"|data-version="[^"]*"', "VERSION", text)


# ------------------------------------------------------------------------------------------------------------- consent


@pytest.fixture
def asked(site: Site) -> None:
    with writing(site.engine) as session:
        competition = find_competition(session, COMPETITION)
        competition.registration = {**competition.registration, "publish_predictions": True}


def test_consent_is_given_and_taken_back_in_the_browser(site: Site, asked: None, ada: Person, eve: Person) -> None:
    ada.submitted()
    browser = site.browser(ada.user)
    assert (
        "Nobody publishes your predictions unless"
        in browser.get(f"/competitions/{COMPETITION}/phases/evaluation/tasks/detection/submit").text
    )
    page = browser.get(REGISTRATION).text
    assert "The organisers may publish my predictions." in page
    assert published(site) == []
    browser.post(f"{REGISTRATION}/consent", data={"consents": "1", "csrf_token": csrf_of(page)})
    assert published(site) == ["Ada"]
    assert ada.client.get(CONSENT).json() == {
        "competition": COMPETITION,
        "is_asked": True,
        "consents": True,
        "team_consents": True,
    }
    browser.post(f"{REGISTRATION}/consent", data={"csrf_token": csrf_of(page)})
    assert published(site) == []


def published(site: Site) -> list[str]:
    """Teams whose predictions an organiser gets in order to publish them."""
    with reading(site.engine) as session:
        known = session.scalar(select(User).where(User.username == "root"))
    client = site.with_token(known) if known else site.person("root", is_administrator=True).client
    answer = client.get(f"/api/v1/competitions/{COMPETITION}/predictions.zip", params={"publishable": "true"})
    archive = zipfile.ZipFile(io.BytesIO(answer.content))
    listed: list[dict[str, Any]] = json.loads(archive.read("manifest.json"))["submissions"]
    assert all(one["may_be_published"] for one in listed)
    return [one["team"] for one in listed]


def test_consent_over_the_api_and_while_registering(site: Site, asked: None, ada: Person) -> None:
    assert ada.client.put(CONSENT, json={"consents": True}).json()["consents"]
    assert not ada.client.put(CONSENT, json={"consents": False}).json()["consents"]
    registered = ada.client.put(f"/api/v1{REGISTRATION}", json={"consents_to_publication": True})
    assert registered.json()["asks_to_publish"]
    assert ada.client.get(CONSENT).json()["consents"]


def test_where_nobody_asks_no_page_speaks_of_it(site: Site, ada: Person) -> None:
    ada.submitted()
    assert "publish my predictions" not in site.browser(ada.user).get(REGISTRATION).text
    assert not ada.client.put(CONSENT, json={"consents": True}).json()["consents"]


# ------------------------------------------------------------------------------------------------------------- privacy


def test_the_privacy_page_is_written_from_the_settings_with_the_operators_text_below(
    site: Site, tmp_path: Path
) -> None:
    text = tmp_path / "privacy.md"
    text.write_text("Our *own* words.")
    changes = {"download_days": 77, "contact": "desk@example.org", "privacy_file": text}
    site.app.state.server = site.app.state.server.__class__(
        site.settings.model_copy(update=changes), site.engine, lambda: site.now
    )
    public = site.client(Accept="text/html")
    page = public.get("/privacy").text
    assert "77 days" in page
    assert 'href="mailto:desk@example.org"' in page
    assert "Our <em>own</em> words." in page
    assert 'href="/privacy"' in public.get("/").text
    assert 'href="/privacy"' in public.get("/register").text
    answer = public.get("/api/v1/privacy").json()
    assert answer["contact"] == "desk@example.org"
    assert {"name": "downloads", "days": 77}.items() <= next(
        one for one in answer["retention"] if one["name"] == "downloads"
    ).items()


# ------------------------------------------------------------------------------------------------------------ commands


@pytest.fixture
def shell(site: Site, browser: httpx.Client, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder in which ada's commands run, logged in."""
    with reading(site.engine) as session:
        user = session.scalars(select(User).where(User.username == "ada")).one()
    with writing(site.engine) as session:
        _, secret = auth.create_token(session, user, "shell", NOW)
    monkeypatch.setenv("EVERGOLD_SERVER", site.url)
    monkeypatch.setenv("EVERGOLD_TOKEN", secret)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_commands_fetch_the_archive_once_it_is_ready(
    site: Site, shell: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["my-data", "--wait", "0"]) == Code.OK
    assert "The archive is not ready yet" in capsys.readouterr().err
    make_archives(site)
    assert run(["my-data"]) == Code.OK
    assert "Wrote evergold-ada.zip" in capsys.readouterr().out
    assert "account.json" in zipfile.ZipFile(shell / "evergold-ada.zip").namelist()


def test_the_command_waits_between_its_questions_and_no_longer_than_it_was_told(
    site: Site, shell: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check the pauses: a worker makes the archive during the first one, and the server is not polled without end."""
    paused: list[float] = []

    def pause(seconds: float) -> None:
        paused.append(seconds)
        make_archives(site)

    monkeypatch.setattr(own_data, "_PAUSE_SECONDS", 100.0)
    monkeypatch.setattr(own_data, "time", SimpleNamespace(monotonic=time.monotonic, sleep=pause))
    assert run(["my-data", "--wait", "60"]) == Code.OK
    assert "Wrote evergold-ada.zip" in capsys.readouterr().out
    (seconds,) = paused
    assert 0 < seconds <= 60


def test_commands_consent(site: Site, asked: None, shell: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = []
    for more in ([], ["--give"], ["--revoke"]):
        assert run(["consent", COMPETITION, *more]) == Code.OK
        said.append(capsys.readouterr().out.splitlines()[-1])
    no = "You do not consent, so nothing of your team is published."
    assert said == [no, "You consent, and so does your whole team.", no]


def test_commands_delete_and_keep_the_account(
    site: Site, shell: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{PASSWORD}\n"))
    assert run(["delete-account", "--password-stdin", "--json"]) == Code.OK
    assert '"due_at": "2026-01-24T12:00:00Z"' in capsys.readouterr().out
    assert run(["delete-account", "--undo"]) == Code.OK
    assert "Your account stays." in capsys.readouterr().out
    with writing(site.engine) as session:
        ada = session.scalars(select(User).where(User.username == "ada")).one()
        find_competition(session, COMPETITION).owner_id = ada.id
    assert run(["delete-account", "--password-stdin", "--json"]) == Code.ERROR
    assert json.loads(without_log(capsys.readouterr().out))["error"]["code"] == "account_needed"


def test_operators_delete_by_the_same_rules(
    site: Site, shell: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVERGOLD_DATABASE_URL", site.settings.database_address)
    get_settings.cache_clear()
    assert run(["account", "delete", "ada"]) == Code.OK
    assert "ada will be deleted on" in capsys.readouterr().out
    assert run(["account", "delete", "ada", "--undo"]) == Code.OK
    with writing(site.engine) as session:
        ada = session.scalars(select(User).where(User.username == "ada")).one()
        find_competition(session, COMPETITION).owner_id = ada.id
    assert run(["account", "delete", "ada", "--at-once", "--yes"]) == Code.ERROR
    assert "hand it over" in capsys.readouterr().err
    with writing(site.engine) as session:
        find_competition(session, COMPETITION).owner_id = None
    assert run(["account", "delete", "ada", "--at-once", "--yes"]) == Code.OK
    assert "ada is deleted." in capsys.readouterr().out
    with reading(site.engine) as session:
        assert session.scalar(select(User).where(User.username == "ada")) is None
