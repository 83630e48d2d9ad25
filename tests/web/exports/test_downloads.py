"""Files for participants: nobody has them before the terms are accepted, and organisers read who has them since."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator

import pytest
from sqlalchemy import select, update

from app.base.api_links import API
from app.base.db import reading, writing
from app.competitions.find import find_competition
from app.models import AuditEntry, FileDownload, PhaseTask, Role
from app.people.rights import find_user, grant_role
from evergold.cli import run
from tests.rich_world import fresh
from tests.web.site import BROWSER, Person, Site, csv_text, log_in, without_log
from tests.world import COMPETITION, NOW, PHASE, TASK

FILE = f"{API}/competitions/{COMPETITION}/phases/{PHASE}/tasks/{TASK}/files/items.csv"
CONTENT = b"ID,Sentence\n1,the-blind-sentence\n"
LOG = f"{API}/competitions/{COMPETITION}/downloads"
REGISTRATION = f"{API}/competitions/{COMPETITION}/registration"


@pytest.fixture
def behind_terms(site: Site) -> Site:
    site.add_file("items.csv", CONTENT, "Blind input")
    with writing(site.engine) as session:
        find_competition(session, COMPETITION).registration = {"terms": "Be kind."}
        session.execute(update(PhaseTask).values(files_for={"items.csv": "participants"}))
    return site


@pytest.fixture
def olga(site: Site) -> Iterator[Person]:
    person = site.person("olga")
    with writing(site.engine) as session:
        grant_role(session, find_competition(session, COMPETITION), person.user, Role.ORGANISER, NOW)
    with person.client:
        yield person


def accept(person: Person) -> None:
    terms = person.client.get(REGISTRATION).json()["terms_sha256"]
    assert person.client.put(REGISTRATION, json={"accepted_terms_sha256": terms}).status_code == 200


def logged(site: Site) -> list[tuple[str, str]]:
    with reading(site.engine) as session:
        query = fresh(FileDownload).order_by(FileDownload.id)
        return [(str(one.user_id), one.file) for one in session.scalars(query)]


def test_nobody_has_the_file_before_accepting_and_the_log_has_no_refusal(behind_terms: Site, ada: Person) -> None:
    with behind_terms.client() as anonymous:
        assert anonymous.get(FILE).status_code == 401
    refused = ada.client.get(FILE)
    assert (refused.status_code, refused.json()["error"]["details"]["missing"]) == (403, "registration")
    assert logged(behind_terms) == []
    accept(ada)
    assert ada.client.get(FILE).content == CONTENT
    assert logged(behind_terms) == [(str(ada.user.id), "items.csv")]


def test_each_download_is_recorded_and_what_one_has_already_is_none(behind_terms: Site, ada: Person) -> None:
    accept(ada)
    tag = ada.client.get(FILE).headers["ETag"]
    assert ada.client.get(FILE, headers={"If-None-Match": tag}).status_code == 304
    assert ada.client.get(FILE, headers={"Range": "bytes=900-"}).status_code == 416
    assert len(logged(behind_terms)) == 1
    assert ada.client.get(FILE, headers={"Range": "bytes=4-"}).status_code == 206
    assert len(logged(behind_terms)) == 2, "a part may be the part that counts"


def test_new_terms_close_the_file_until_they_are_accepted(behind_terms: Site, ada: Person) -> None:
    accept(ada)
    with writing(behind_terms.engine) as session:
        find_competition(session, COMPETITION).registration = {"terms": "Be kinder."}
    assert ada.client.get(FILE).json()["error"]["details"]["missing"] == "terms"
    accept(ada)
    assert ada.client.get(FILE).status_code == 200


def test_files_for_everyone_leave_no_trace(behind_terms: Site, ada: Person) -> None:
    with writing(behind_terms.engine) as session:
        session.execute(update(PhaseTask).values(files_for={"items.csv": "everyone"}))
    assert ada.client.get(FILE).status_code == 200
    assert logged(behind_terms) == []


def test_organisers_read_the_log_page_by_page_and_take_it_home(
    behind_terms: Site, ada: Person, eve: Person, olga: Person
) -> None:
    for person in (ada, eve):
        accept(person)
        person.client.get(FILE)
    olga.client.get(FILE)
    first = olga.client.get(LOG, params={"limit": 2}).json()
    assert [one["username"] for one in first["downloads"]] == ["olga", "eve"]
    assert first["downloads"][1] == {
        "downloaded_at": first["downloads"][1]["downloaded_at"],
        "username": "eve",
        "email": "eve@example.org",
        "phase": PHASE,
        "task": TASK,
        "file": "items.csv",
        "sha256": ada.client.get(FILE).headers["ETag"].strip('"'),
    }
    second = olga.client.get(first["next"]).json()
    assert ([one["username"] for one in second["downloads"]], second["next"]) == (["ada"], None)
    assert [one["username"] for one in olga.client.get(LOG, params={"username": "eve"}).json()["downloads"]] == ["eve"]
    assert olga.client.get(LOG, params={"file": "gold.csv"}).json()["downloads"] == []
    assert ada.client.get(LOG).status_code == 403
    assert ada.client.get(f"{LOG}.csv").status_code == 403
    table = list(csv.DictReader(io.StringIO(csv_text(olga.client.get(f"{LOG}.csv")))))
    assert [row["username"] for row in table] == ["ada", "eve", "olga", "ada"]
    with reading(behind_terms.engine) as session:
        assert session.scalar(select(AuditEntry.action).where(AuditEntry.action == "export.downloads"))


@pytest.mark.usefixtures("cheap_passwords")
def test_the_page_says_that_it_is_recorded_and_organisers_read_it(behind_terms: Site, ada: Person) -> None:
    page = f"/competitions/{COMPETITION}/downloads"
    accept(ada)
    ada.client.get(FILE)
    with behind_terms.client(**BROWSER) as anybody:
        assert "organisers see who downloads" in anybody.get(f"/competitions/{COMPETITION}/data").text
    with log_in(behind_terms, "olga") as olga:
        assert olga.get(page).status_code == 403
        with writing(behind_terms.engine) as session:
            grant_role(session, find_competition(session, COMPETITION), find_user(session, "olga"), Role.ORGANISER, NOW)
        text = olga.get(page).text
        assert "<code>items.csv</code>" in text
        assert 'data-label="Who">ada' in text
        assert "No matches" in olga.get(f"{page}?username=nobody").text


def test_the_command_line_lists_it(
    behind_terms: Site,
    ada: Person,
    olga: Person,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    accept(ada)
    ada.client.get(FILE)
    monkeypatch.setenv("EVERGOLD_SERVER", behind_terms.url)
    monkeypatch.setenv("EVERGOLD_TOKEN", olga.client.headers["Authorization"].removeprefix("Bearer "))
    assert run(["export", "downloads", COMPETITION, "--json"]) == 0
    assert [one["username"] for one in json.loads(without_log(capsys.readouterr().out))["downloads"]] == ["ada"]
    assert run(["export", "downloads", COMPETITION, "--csv"]) == 0
    assert ",ada,ada@example.org," in capsys.readouterr().out
    assert run(["export", "downloads", COMPETITION, "--user", "eve"]) == 0
    assert "items.csv" not in without_log(capsys.readouterr().out)
