"""Organisers list everything that was sent, mark and rescore some of it at once, and take it home: page and API."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator

import httpx
import pytest
from sqlalchemy import select

from app.base.api_links import API
from app.base.config import get_settings
from app.base.db import writing
from app.boards.marks import mark_row
from app.competitions.find import find_competition
from app.models import Role, RowStatus, RunStatus, ScoringRun, Submission
from app.people.act import Act
from app.people.rights import find_user, grant_role
from tests import world
from tests.beside import add_other_task, enter_other
from tests.rich_world import OTHER_TASK
from tests.web.site import CONTENT, Person, Site, csrf_of, log_in, run_of
from tests.world import COMPETITION, DAY, EARLIER_PHASE, HOUR, NOW, PHASE

PAGE = f"/competitions/{COMPETITION}/submissions"
LIST = f"{API}{PAGE}"

pytestmark = pytest.mark.usefixtures("cheap_passwords")


@pytest.fixture
def olga(site: Site) -> Iterator[httpx.Client]:
    with log_in(site, "olga") as browser:
        with writing(site.engine) as session:
            grant_role(session, find_competition(session, COMPETITION), find_user(session, "olga"), Role.ORGANISER, NOW)
        yield browser


@pytest.fixture
def sent(site: Site, ada: Person, eve: Person) -> list[str]:
    made = [ada.submitted(CONTENT), eve.submitted(CONTENT)]
    for one, value in zip(made, (0.5, 0.75), strict=True):
        world.score(site.engine, run_of(site, one), value)
    return [str(one["id"]) for one in made]


def test_the_page_narrows_and_leads_to_each(olga: httpx.Client, sent: list[str]) -> None:
    text = olga.get(PAGE).text
    assert all(f"/submissions/{one}" in text for one in sent)
    narrowed = olga.get(PAGE, params={"team": "Ada", "since": "2020-01-01", "until": "never"}).text
    assert [f"/submissions/{one}" in narrowed for one in sent] == [True, False]
    assert "No matches" in olga.get(PAGE, params={"late": "yes"}).text


def test_the_list_stays_as_it_was_narrowed_when_an_action_is_refused(olga: httpx.Client, sent: list[str]) -> None:
    narrowed = {"team": "Ada", "withdrawn": "no"}
    page = olga.get(PAGE, params=narrowed).text
    assert f'action="{PAGE}?team=Ada&amp;withdrawn=no"' in page
    form = {"csrf_token": csrf_of(page), "submission": sent[:1], "deed": "unranked"}
    refused = olga.post(PAGE, params=narrowed, data=form)
    assert refused.status_code == 422
    assert [f"/submissions/{one}" in refused.text for one in sent] == [True, False]
    assert "<option selected>Ada</option>" in refused.text


def test_those_ticked_are_marked_downloaded_and_scored_anew(olga: httpx.Client, sent: list[str]) -> None:
    form = {"csrf_token": csrf_of(olga.get(PAGE).text), "submission": sent}
    assert olga.post(PAGE, data={**form, "deed": "unranked"}).status_code == 422, "why is missing"
    marked = olga.post(PAGE, data={**form, "deed": "unranked", "note": "tuned on the test"})
    assert marked.url.params["marked"] == "yes"
    assert marked.text.count(">unranked</a>") == 2
    answer = olga.post(PAGE, data={**form, "submission": sent[:1], "deed": "download"})
    with zipfile.ZipFile(io.BytesIO(answer.content)) as found:
        assert [name for name in found.namelist() if sent[0] in name and name.endswith(".csv")]
        assert not [name for name in found.namelist() if sent[1] in name]
    rescored = olga.post(PAGE, data={**form, "deed": "rescore", "note": "A label was wrong."})
    assert rescored.url.path.startswith(f"/competitions/{COMPETITION}/rescoring/")
    again = olga.post(PAGE, data={**form, "deed": "rescore", "note": "Once more."})
    assert again.status_code == 409
    assert olga.post(PAGE, data={"csrf_token": form["csrf_token"], "deed": "hidden"}).status_code == 422


def test_the_api_does_the_same(olga: httpx.Client, sent: list[str], ada: Person) -> None:
    token = {"X-CSRF-Token": csrf_of(olga.get(PAGE).text)}
    first = olga.get(LIST, params={"limit": 1, "marked": "no", "phase": PHASE})
    assert first.headers["Link"] == f'<{first.json()["next"]}>; rel="next"'
    second = olga.get(first.json()["next"]).json()
    assert [one["id"] for one in (*first.json()["submissions"], *second["submissions"])] in (sent[::-1], sent)
    assert second["next"] is None
    body = {"submissions": sent, "status": "hidden"}
    assert olga.put(f"{LIST}/marks", json=body, headers=token).status_code == 204
    assert {one["mark"] for one in olga.get(LIST, params={"phase": PHASE}).json()["submissions"]} == {"hidden"}
    started = olga.post(f"{LIST}/rescoring", json={"submissions": sent, "note": "A label was wrong."}, headers=token)
    assert (started.status_code, started.json()["queued_again"]) == (202, 0)
    zipped = olga.get(f"{API}/competitions/{COMPETITION}/predictions.zip", params={"submission": sent[:1]})
    with zipfile.ZipFile(io.BytesIO(zipped.content)) as found:
        assert len([name for name in found.namelist() if name.startswith("Ada/")]) == 2
    for method, path in (("GET", LIST), ("PUT", f"{LIST}/marks"), ("POST", f"{LIST}/rescoring")):
        refused = ada.client.request(
            method, path, json={**body, "note": "x"} if "marks" in path else {"submissions": sent}
        )
        assert refused.status_code == 403


def test_one_of_another_competition_spoils_it_all(site: Site, olga: httpx.Client, sent: list[str]) -> None:
    token = {"X-CSRF-Token": csrf_of(olga.get(PAGE).text)}
    strange = "00000000-0000-4000-8000-000000000000"
    body = {"submissions": [sent[0], strange], "status": "hidden"}
    assert olga.put(f"{LIST}/marks", json=body, headers=token).status_code == 404
    assert {one["mark"] for one in olga.get(LIST).json()["submissions"]} == {None}
    zipped = olga.get(f"{API}/competitions/{COMPETITION}/predictions.zip", params={"submission": [strange]})
    assert zipped.status_code == 404


def test_each_filter_narrows_by_itself_on_the_page_and_by_programs(quick_site: Site) -> None:
    """Check seven, each with one property of its own; one was sent to the other task of the phase."""
    engine = quick_site.engine
    add_other_task(engine)
    ada, bob, root = (
        quick_site.person("ada"),
        quick_site.person("bob"),
        quick_site.person("root", is_administrator=True),
    )
    first = {
        "old": world.submit(engine, ada.user, NOW - 23 * HOUR, content="old").submission.id,
        "other": enter_other(engine, ada.user, 0.5),
    }
    for name in ("failed", "marked", "withdrawn", "late"):
        first[name] = world.submit(engine, ada.user, content=name).submission.id
    first["bob's"] = world.submit(engine, bob.user).submission.id
    with writing(engine) as session:
        found = {name: session.get_one(Submission, one) for name, one in first.items()}
        found["withdrawn"].withdrawn_at, found["late"].is_late = NOW, True
        run = session.scalars(select(ScoringRun).where(ScoringRun.submission_id == first["failed"])).one()
        run.status = RunStatus.FAILED
        asked = world.the_phase_task(session)
        mark_row(Act(session, None, NOW, get_settings()), asked, submission_id=first["marked"], status=RowStatus.HIDDEN)
    everything = set(first)
    queries = {
        "team=Bob": {"bob's"},
        f"task={OTHER_TASK}": {"other"},
        f"phase={PHASE}": everything,
        f"phase={EARLIER_PHASE}": set(),
        "status=failed": {"failed"},
        "marked=yes": {"marked"},
        "marked=no": everything - {"marked"},
        "withdrawn=yes": {"withdrawn"},
        "withdrawn=no": everything - {"withdrawn"},
        "late=yes": {"late"},
        "late=no": everything - {"late"},
        f"since={NOW.date()}": everything - {"old"},
        f"until={(NOW - DAY).date()}": {"old"},
    }
    names = {str(one): name for name, one in first.items()}
    with quick_site.browser(root.user) as browser:
        for query, expected in queries.items():
            page = browser.get(f"{PAGE}?{query}").text
            listed = root.client.get(f"{LIST}?{query}").json()["submissions"]
            assert {name for one, name in names.items() if one in page} == expected, query
            assert {names[one["id"]] for one in listed if one["id"] in names} == expected, query
