"""Editing a competition on the server: the API, the pages, two organisers at once, the history, and taking it home."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import select
from sqlalchemy.orm import joinedload

from app.base.db import reading, writing
from app.base.storage import FolderStorage
from app.boards.snapshots import freeze
from app.competitions.find import find_competition
from app.declarations.apply.apply import apply_phases
from app.declarations.check import check_phases, load_competitions
from app.declarations.edits.effects import plan_phases
from app.models import AuditEntry, Board, Phase, Role, User
from app.people.rights import grant_role
from tests.declarations.applying import without_neighbours
from tests.declarations.competition_folder import NOW, Competition as Folder, make_competition
from tests.declarations.place import END, EVEN_LATER, LATER
from tests.rich_world import fresh
from tests.web.site import Person, Site, csrf_of, log_in

API = "/api/v1/competitions/demo"
EDIT, HISTORY = "/competitions/demo/edit", "/competitions/demo/history"
STARTED = "2026-07-01 00:00 AoE"
MOVED = "the deadline is Wed 8 Jul 2026, 00:00 AoE, before Wed 1 Jul 2026, 00:00 AoE"


@pytest.fixture
def folder(empty_site: Site, tmp_path: Path) -> Folder:
    """Return the folder from which the server's competition `demo` was applied."""
    empty_site.set_clock(NOW)
    made = make_competition(tmp_path / "demo")
    with writing(empty_site.engine) as session:
        loaded = load_competitions(made.phases)
        apply_phases(session, loaded, storage=FolderStorage(empty_site.settings.storage_dir), now=NOW)
    return made


@pytest.fixture
def olga(empty_site: Site, folder: Folder) -> Iterator[Person]:
    """An organiser with a token."""
    person = empty_site.person("olga")
    organise(empty_site, "olga")
    with person.client:
        yield person


def organise(site: Site, username: str) -> None:
    with writing(site.engine) as session:
        user = session.scalars(select(User).where(User.username == username)).one()
        grant_role(session, find_competition(session, "demo"), user, Role.ORGANISER, NOW)


def ends_at(site: Site) -> datetime | None:
    with reading(site.engine) as session:
        return session.scalars(fresh(Phase).where(Phase.name == "evaluation")).one().ends_at


def patch(person: Person, values: dict[str, Any], base: int = 1, **more: Any) -> httpx.Response:
    preview = {"preview": "true"} if more.pop("preview", False) else {}
    return person.client.patch(f"{API}/declaration", json={"base": base, "values": values, **more}, params=preview)


# ------------------------------------------------------------------------------------------------------------ the API


def test_declaration_says_what_holds_and_what_can_be_edited(olga: Person) -> None:
    found = olga.client.get(f"{API}/declaration").json()
    assert (found["revision"]["number"], found["revision"]["source"]) == (1, "file")
    assert found["document"]["phases"][1]["end"] == STARTED
    assert {END, "title", "phases.evaluation.tasks.detection.visibility.board"} <= set(found["editable"])
    assert not any(name.endswith((".gold", ".gold_version")) or "options" in name for name in found["editable"])
    assert [file["path"] for file in found["files"]] == sorted(file["path"] for file in found["files"])


def test_whether_gold_is_public_is_said_as_a_truth_value(olga: Person) -> None:
    name = "phases.practice.tasks.detection.gold_is_public"
    assert patch(olga, {name: True}).status_code == 200
    found = olga.client.get(f"{API}/declaration").json()
    assert found["document"]["phases"][0]["tasks"]["detection"]["gold_is_public"] is True
    assert patch(olga, {name: 1}, base=2).status_code == 422


def test_edit_is_made_recorded_and_answered_with_what_it_did(empty_site: Site, olga: Person) -> None:
    answer = patch(olga, {END: LATER}, note="One more week").json()
    assert (answer["base"], answer["revision"]) == (1, 2)
    assert answer["changes"] == [
        "changed end of phase 'evaluation' of 'demo' from 2026-07-01 12:00 UTC to 2026-07-08 12:00 UTC"
    ]
    assert answer["effects"][0]["what"][0] == MOVED
    assert ends_at(empty_site) == datetime(2026, 7, 8, 12, tzinfo=UTC)
    with reading(empty_site.engine) as session:
        entry = session.scalars(select(AuditEntry).where(AuditEntry.action == "competition.edit")).one()
    assert (entry.actor, entry.details["note"]) == ("olga", "One more week")


def test_preview_changes_nothing(empty_site: Site, olga: Person) -> None:
    answer = patch(olga, {END: LATER}, preview=True).json()
    assert (answer["revision"], len(answer["changes"])) == (None, 1)
    assert ends_at(empty_site) == datetime(2026, 7, 1, 12, tzinfo=UTC)


def test_all_faults_are_told_at_once(olga: Person) -> None:
    response = patch(
        olga, {END: "2026", "phases.practice.limits.total": 1, "title": None, "phases.evaluation.gold": "x", "nay": 1}
    )
    assert response.status_code == 422
    fields = response.json()["error"]["details"]["fields"]
    assert fields.keys() == {END, "phases.practice.limits.per_day", "title", "phases.evaluation.gold", "nay"}


def test_a_sentence_begins_with_the_name_of_a_value_as_it_is_written(olga: Person) -> None:
    limits = {"phases.practice.limits.per_day": 9, "phases.practice.limits.per_week": 5}
    fields = patch(olga, limits).json()["error"]["details"]["fields"]
    assert fields == {"phases.practice.limits.per_day": "per_day (9) is more than per_week (5)."}


def test_second_organiser_is_told_who_changed_what(empty_site: Site, olga: Person) -> None:
    other = empty_site.person("pavel")
    organise(empty_site, "pavel")
    with other.client:
        assert patch(other, {END: LATER, "title": "A demo"}).status_code == 200
    response = patch(olga, {END: EVEN_LATER})
    error = response.json()["error"]
    assert (response.status_code, error["code"]) == (409, "edit_conflict")
    assert "changed by pavel" in error["message"]
    assert (error["details"]["base"], error["details"]["revision"]) == (1, 2)
    assert {"path": END, "before": STARTED, "after": LATER} in error["details"]["differences"]
    assert patch(olga, {END: EVEN_LATER}, base=2).json()["revision"] == 3


def test_revisions_are_listed_page_by_page_and_one_by_one(olga: Person) -> None:
    patch(olga, {"title": "Two"})
    patch(olga, {"title": "Three"}, base=2)
    first = olga.client.get(f"{API}/revisions?limit=2").json()
    assert [one["number"] for one in first["revisions"]] == [3, 2]
    assert [one["number"] for one in olga.client.get(first["next"]).json()["revisions"]] == [1]
    second = olga.client.get(f"{API}/revisions/2").json()
    assert second["document"]["title"] == "Two"
    assert second["differences"] == [{"path": "title", "before": "Three", "after": "Two"}]
    assert olga.client.get(f"{API}/revisions/9").status_code == 404


def test_going_back_is_a_new_revision(olga: Person) -> None:
    patch(olga, {"title": "Two"})
    back = f"{API}/revisions/1/apply"
    assert olga.client.post(back, json={"base": 1}).status_code == 409
    assert olga.client.post(back, json={"base": 2}, params={"preview": "true"}).json()["revision"] is None
    assert olga.client.post(back, json={"base": 2}).json()["revision"] == 3
    assert olga.client.get(f"{API}/declaration").json()["document"]["title"] == "Demo"


def test_what_is_taken_home_is_in_order_and_changes_nothing(empty_site: Site, olga: Person, tmp_path: Path) -> None:
    patch(olga, {END: LATER, "description": "Long\n\ntext: with #signs\n"})
    response = olga.client.get(f"{API}/declaration.zip")
    assert response.headers["content-disposition"] == 'attachment; filename="demo-2.zip"'
    assert response.content == olga.client.get(f"{API}/declaration.zip?revision=2").content
    home = tmp_path / "home"
    zipfile.ZipFile(io.BytesIO(response.content)).extractall(home)
    main = home / "demo" / "competition.yaml"
    assert [finding for finding in check_phases(main, now=NOW) if finding.severity == "error"] == []
    planned = plan_phases(
        empty_site.engine, load_competitions(main), storage=FolderStorage(empty_site.settings.storage_dir), now=NOW
    )
    assert (without_neighbours(planned.changes), planned.effects) == ([], [])


def test_a_file_that_storage_lost_is_said(empty_site: Site, olga: Person) -> None:
    for path in empty_site.settings.storage_dir.glob("??/*"):
        path.unlink()
    response = olga.client.get(f"{API}/declaration.zip")
    assert (response.status_code, response.json()["error"]["code"]) == (409, "export_impossible")


@pytest.mark.parametrize("path", ["declaration", "declaration.zip", "revisions", "revisions/1"])
def test_declarations_are_for_organisers(empty_site: Site, folder: Folder, path: str) -> None:
    other = empty_site.person("eve")
    with other.client:
        assert other.client.get(f"{API}/{path}").status_code == 403
        assert patch(other, {"title": "Mine"}).status_code == 403


def test_values_that_json_has_and_a_declaration_has_not_are_refused(olga: Person) -> None:
    for value in (True, [1], {"a": 1}, 10**30):
        response = patch(olga, {"phases.practice.limits.total": value})
        assert response.status_code == 422, value
    assert olga.client.get(f"{API}/declaration").json()["revision"]["number"] == 1


# ---------------------------------------------------------------------------------------------------------- the pages


@pytest.fixture
def browser(empty_site: Site, folder: Folder, cheap_passwords: None) -> Iterator[httpx.Client]:
    """An organiser at the pages."""
    with log_in(empty_site, "grace") as found:
        organise(empty_site, "grace")
        yield found


def fields_of(page: str) -> dict[str, str]:
    """Return what a browser would send of the page's form, unchanged."""
    from html import unescape

    form = page.split('<form class="editing"')[1].split("</form>")[0]
    found = {
        name: unescape(value) for name, value in re.findall(r'<input[^>]* name="([^"]+)"[^>]* value="([^"]*)"', form)
    }
    found |= {
        name: unescape(text)
        for name, text in re.findall(r'<textarea[^>]* name="([^"]+)"[^>]*>\n(.*?)</textarea>', form, re.S)
    }
    for name, options in re.findall(r'<select[^>]* name="([^"]+)"[^>]*>(.*?)</select>', form, re.S):
        chosen = re.search(r"<option selected>([^<]*)", options)
        found[name] = chosen[1] if chosen else ""
    return found


def send(browser: httpx.Client, address: str, form: dict[str, str], action: str = "preview") -> httpx.Response:
    return browser.post(address, data={**form, "action": action})


def test_form_shows_what_holds_previews_and_applies(empty_site: Site, browser: httpx.Client) -> None:
    form = fields_of(browser.get(EDIT).text)
    assert (form[END], form["phases.practice.limits.per_day"], form["phases.evaluation.entry"]) == (
        STARTED,
        "5",
        "last",
    )
    preview = send(browser, EDIT, {**form, END: LATER})
    assert "What would change" in preview.text
    assert MOVED in preview.text
    assert ends_at(empty_site) == datetime(2026, 7, 1, 12, tzinfo=UTC)
    again = fields_of(preview.text)
    assert again[END] == LATER
    done = send(browser, EDIT, again, "apply")
    assert done.url.path == f"{HISTORY}/2"
    assert ends_at(empty_site) == datetime(2026, 7, 8, 12, tzinfo=UTC)


def test_preview_says_that_a_later_end_supersedes_official_results(empty_site: Site, browser: httpx.Client) -> None:
    with writing(empty_site.engine) as session:
        phase = session.scalars(fresh(Phase).where(Phase.name == "evaluation")).one()
        board = session.scalars(fresh(Board).options(joinedload(Board.task))).first()
        assert board is not None
        freeze(session, phase, board, NOW)
    form = fields_of(browser.get(EDIT).text)
    preview = send(browser, EDIT, {**form, END: LATER}).text
    assert "its official results of 1 Jul 2026, 12:00 UTC are superseded: they keep their address, and" in preview


def test_what_was_not_looked_at_is_not_applied(empty_site: Site, browser: httpx.Client) -> None:
    form = fields_of(browser.get(EDIT).text)
    again = fields_of(send(browser, EDIT, {**form, END: LATER}).text)
    assert "What would change" in send(browser, EDIT, {**again, END: EVEN_LATER}, "apply").text
    assert "What would change" in send(browser, EDIT, {**form, END: LATER}, "apply").text  # never previewed
    assert ends_at(empty_site) == datetime(2026, 7, 1, 12, tzinfo=UTC)


def test_form_sent_as_it_is_changes_nothing(browser: httpx.Client) -> None:
    for address in (EDIT, f"{EDIT}/texts"):
        page = send(browser, address, fields_of(browser.get(address).text)).text
        assert "<p>Nothing.</p>" in page
        assert 'value="apply"' not in page


def test_faults_stand_at_their_fields_and_what_was_typed_stays(browser: httpx.Client) -> None:
    form = fields_of(browser.get(EDIT).text)
    typed = {END: "1 July", "phases.practice.start": "", "phases.practice.limits.total": "3"}
    response = send(browser, EDIT, {**form, **typed})
    assert response.status_code == 422
    for name in (END, "phases.practice.start", "phases.practice.limits.per_day"):
        assert f'id="{name}-error"' in response.text
    assert {name: fields_of(response.text)[name] for name in typed} == typed
    assert browser.get(f"{HISTORY}/2").status_code == 404


def test_texts_are_edited_on_a_page_of_their_own(browser: httpx.Client) -> None:
    address = f"{EDIT}/texts"
    form = fields_of(browser.get(address).text)
    typed = {"description": "One\r\n\r\n<b>two</b>", "boards.zero-shot.title": "Best"}
    done = send(browser, address, fields_of(send(browser, address, {**form, **typed}).text), "apply")
    assert done.url.path == f"{HISTORY}/2"
    assert fields_of(browser.get(address).text)["description"] == "One\n\n<b>two</b>"


def test_how_it_is_cited_is_edited_a_name_a_line(empty_site: Site, browser: httpx.Client, olga: Person) -> None:
    address = f"{EDIT}/texts"
    form = fields_of(browser.get(address).text)
    typed = {"citation.authors": "Silva, Ana\r\n\r\n Li, Bo \r\n", "citation.paper.title": "Idioms"}
    preview = send(browser, address, {**form, **typed})
    assert "<p>Nothing.</p>" not in preview.text
    assert send(browser, address, fields_of(preview.text), "apply").url.path == f"{HISTORY}/2"
    assert fields_of(browser.get(address).text)["citation.authors"] == "Silva, Ana\nLi, Bo"
    names = ["Silva, Ana", "Li, Bo"]
    paper = {"title": "Idioms", "authors": names, "venue": "", "year": None, "url": "", "doi": ""}
    with empty_site.client() as anybody:
        found = anybody.get(API).json()["citation"]
        assert found == {"authors": names, "licence": "", "paper": paper}
        assert "Silva, Ana and Li, Bo" in anybody.get(f"{API}/citation").text
    assert patch(olga, {"citation.authors": ["Li, Bo"], "citation.paper.title": None}, base=2).status_code == 200
    with empty_site.client() as anybody:
        assert anybody.get(API).json()["citation"] == {"authors": ["Li, Bo"], "licence": "", "paper": None}
    wrong = patch(olga, {"title": ["a", "b"], "citation.paper.year": 2027, "citation.authors": ["\0"]}, base=3)
    assert set(wrong.json()["error"]["details"]["fields"]) == {"title", "citation.paper", "citation.authors"}


def test_two_at_once_the_second_sees_both_values_and_goes_on(empty_site: Site, browser: httpx.Client) -> None:
    form = fields_of(browser.get(EDIT).text)
    with log_in(empty_site, "pavel") as other:
        organise(empty_site, "pavel")
        theirs = fields_of(send(other, EDIT, {**form, "csrf_token": csrf_of(other.get(EDIT).text), END: LATER}).text)
        assert send(other, EDIT, theirs, "apply").url.path == f"{HISTORY}/2"
    response = send(browser, EDIT, {**form, END: EVEN_LATER, "phases.practice.limits.total": "20"})
    assert response.status_code == 409
    text = " ".join(re.sub(r"<[^>]*>", " ", response.text).split())
    assert "Someone else saved first" in text
    assert "pavel made revision 2" in text
    assert f"{END} '{STARTED}' '{LATER}' '{EVEN_LATER}'" in text.replace("&#39;", "'")
    again = fields_of(response.text)
    assert (again["base"], again[END], again["phases.practice.limits.total"]) == ("2", EVEN_LATER, "20")
    done = send(browser, EDIT, fields_of(send(browser, EDIT, again).text), "apply")
    assert done.url.path == f"{HISTORY}/3"
    assert ends_at(empty_site) == datetime(2026, 7, 15, 12, tzinfo=UTC)


def test_what_others_changed_elsewhere_is_kept(empty_site: Site, olga: Person, browser: httpx.Client) -> None:
    form = fields_of(browser.get(EDIT).text)
    patch(olga, {"phases.practice.limits.total": 7})
    again = fields_of(send(browser, EDIT, {**form, END: LATER}).text)
    assert again["phases.practice.limits.total"] == "7"
    send(browser, EDIT, fields_of(send(browser, EDIT, again).text), "apply")
    document = olga.client.get(f"{API}/declaration").json()["document"]
    assert (document["phases"][0]["limits"]["total"], document["phases"][1]["end"]) == (7, LATER)


def test_history_leads_to_a_revision_and_back(browser: httpx.Client, olga: Person) -> None:
    patch(olga, {"title": "Two"}, note="A better name")
    assert "A better name" in browser.get(HISTORY).text
    page = browser.get(f"{HISTORY}/1").text
    assert "version: 1" in page
    assert "<td>&#39;Demo&#39;</td><td>&#39;Two&#39;</td>" in page, "then, and now"
    preview = send(browser, f"{HISTORY}/1", fields_of(page))
    assert "What would change" in preview.text
    done = send(browser, f"{HISTORY}/1", fields_of(preview.text), "apply")
    assert done.url.path == f"{HISTORY}/3"
    assert "This is the current declaration" in done.text
    assert olga.client.get(f"{API}/declaration").json()["document"]["title"] == "Demo"


def test_revision_shows_line_by_line_what_changed(browser: httpx.Client, olga: Person) -> None:
    patch(olga, {END: LATER})
    page = browser.get(f"{HISTORY}/2").text
    assert re.search(rf'class="added".*end: {re.escape(LATER)}', page)
    assert re.search(rf'class="removed".*end: {re.escape(STARTED)}', page)


@pytest.mark.parametrize("base", ["", "x", "0", "99", "9" * 5_000, "-1", "1 ", "²", "١"])
def test_form_that_says_nothing_sensible_of_its_revision_is_refused(browser: httpx.Client, base: str) -> None:
    form = fields_of(browser.get(EDIT).text)
    assert send(browser, EDIT, {**form, "base": base}).status_code in (404, 422)


def test_forged_form_changes_nothing(browser: httpx.Client, olga: Person) -> None:
    form = fields_of(browser.get(EDIT).text)
    assert send(browser, EDIT, {**form, "csrf_token": "x", END: LATER}, "apply").status_code == 403
    assert olga.client.get(f"{API}/declaration").json()["revision"]["number"] == 1


def test_the_desk_shows_organisers_the_way(browser: httpx.Client, empty_site: Site) -> None:
    desk = "/competitions/demo/desk"
    assert f'href="{desk}"' in browser.get("/competitions/demo").text
    assert EDIT in browser.get(desk).text
    with empty_site.client(Accept="text/html") as nobody:
        assert desk not in nobody.get("/competitions/demo").text


def test_edited_deadline_is_on_the_public_page_at_once(empty_site: Site, olga: Person) -> None:
    with empty_site.client(Accept="text/html") as nobody:
        assert "8 Jul 2026" not in nobody.get("/competitions/demo").text
        patch(olga, {END: LATER})
        assert "8 Jul 2026" in nobody.get("/competitions/demo").text


def test_embargo_that_is_edited_in_holds_at_once(empty_site: Site, olga: Person) -> None:
    board = "/api/v1/competitions/demo/phases/evaluation/boards/zero-shot"
    with empty_site.client() as nobody:
        assert len(nobody.get(board).json()["rows"]) == 2
        patch(olga, {"phases.evaluation.visibility.public_from": "close"})
        assert "rows" not in nobody.get(board).text or nobody.get(board).json()["rows"] == []
        patch(olga, {"phases.evaluation.visibility.public_from": None}, base=2)
        assert len(nobody.get(board).json()["rows"]) == 2
    empty_site.set_clock(NOW + timedelta(days=1))
