"""Filters of the list of competitions: by task type, language and "open now", on the first page and in the API."""

from __future__ import annotations

import re
from collections.abc import Iterator

import httpx
import pytest
from sqlalchemy import update

from app.base.db import writing
from app.models import Competition, CompetitionTask, Halt, Stage
from tests import world
from tests.web import markup
from tests.web.site import BROWSER, Site
from tests.world import DAY, NOW

API = "/api/v1/competitions"


@pytest.fixture
def alone(empty_site: Site) -> Site:
    """Return a server on which nothing is listed: neighbours are drafts."""
    with writing(empty_site.engine) as session:
        session.execute(update(Competition).values(stage=Stage.DRAFT))
    return empty_site


@pytest.fixture
def listed(alone: Site) -> Site:
    """Open in English and Galician; closed in Portuguese; open, another type without languages; endless, paused."""
    engine = alone.engine
    world.add_competition(engine, name="both", options={"languages": ["EN", "gl"]})
    world.add_competition(engine, name="over", options={"languages": ["PT"]}, ends_at=NOW - DAY / 2)
    world.add_competition(engine, name="other")
    world.add_competition(engine, name="paused", options={"languages": ["EN"]}, ends_at=None)
    with writing(engine) as session:
        found = {one.name: one.id for one in session.query(Competition)}
        session.execute(
            update(CompetitionTask).where(CompetitionTask.competition_id == found["other"]).values(task_type="ranking")
        )
        session.execute(update(Competition).where(Competition.name == "paused").values(halt=Halt.PAUSED))
    return alone


@pytest.fixture
def nobody(listed: Site) -> Iterator[httpx.Client]:
    with listed.client(**BROWSER) as client:
        yield client


def shown(page: str) -> list[str]:
    return sorted(re.findall(r'<h3><a href="/competitions/([a-z-]+)">', page))


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("", ["both", "other", "over", "paused"]),
        ("?task_type=&language=", ["both", "other", "over", "paused"]),
        ("?task_type=ranking", ["other"]),
        ("?task_type=idiom-detection", ["both", "over", "paused"]),
        ("?language=gl", ["both"]),
        ("?language=GL", ["both"]),
        ("?language=en", ["both", "paused"]),
        ("?open=1", ["both", "other"]),
        ("?open=true&language=pt", []),
        ("?task_type=ranking&language=en", []),
        ("?task_type=nothing", []),
        ("?task_type=%00&language=%F0%9F%98%80", []),
    ],
)
def test_the_page_and_the_api_filter_alike(nobody: httpx.Client, query: str, names: list[str]) -> None:
    page = nobody.get(f"/{query}")
    assert (page.status_code, page.headers["Cache-Control"]) == (200, "public, no-cache")
    markup.check(page.text)
    assert shown(page.text) == names
    assert ("No competition matches" in page.text) == (not names)
    asked = query.replace("open=1", "open=true")
    assert sorted(one["name"] for one in nobody.get(f"{API}{asked}").json()["competitions"]) == names


def test_the_form_offers_what_is_there_and_keeps_what_was_chosen(nobody: httpx.Client) -> None:
    page = nobody.get("/?language=en&open=1").text
    form = page.partition('<form class="list-filters"')[2].partition("</form>")[0]
    languages = re.findall(r'<option value="([a-z]*)"( selected)?>([^<]+)<', form.split('name="language"')[1])
    assert languages == [
        *[("", "", "All"), ("en", " selected", "English"), ("gl", "", "Galician"), ("pt", "", "Portuguese")]
    ]
    assert re.findall(r'<option value="([a-z-]+)"', form.split('name="language"')[0]) == ["idiom-detection", "ranking"]
    assert 'name="open" value="1" checked' in form


def test_equivalent_addresses_are_one_answer(nobody: httpx.Client) -> None:
    one, other = nobody.get("/?open=1&language=en&task_type="), nobody.get("/?language=en&open=1")
    assert one.headers["ETag"] == other.headers["ETag"]
    again = nobody.get("/?language=en&open=1", headers={"If-None-Match": one.headers["ETag"]})
    assert again.status_code == 304


@pytest.mark.parametrize("query", ["?open=1&open=1", "?as=ada", f"?language={'x' * 300}"])
def test_other_addresses_are_answered_and_not_kept(nobody: httpx.Client, query: str) -> None:
    answer = nobody.get(f"/{query}")
    assert (answer.status_code, answer.headers["Cache-Control"]) == (200, "private, no-cache")


def test_a_hidden_competition_makes_no_difference(listed: Site, nobody: httpx.Client) -> None:
    queries = ("", "?language=pt", "?language=de", "?open=1")
    before = [nobody.get(f"{path}{query}").text for path in ("/", API) for query in queries]
    world.add_competition(listed.engine, name="secret", options={"languages": ["DE"]})
    with writing(listed.engine) as session:
        session.execute(update(Competition).where(Competition.name == "secret").values(stage=Stage.DRAFT))
    assert [nobody.get(f"{path}{query}").text for path in ("/", API) for query in queries] == before


def test_there_is_no_form_where_nothing_can_be_left_out(alone: Site) -> None:
    world.add_competition(alone.engine, name="alone", options={"languages": ["EN", "PT"]})
    with alone.client(**BROWSER) as client:
        assert "list-filters" not in client.get("/").text


@pytest.mark.parametrize("query", ["?open=maybe", f"?language={'x' * 30}"])
def test_the_api_refuses_what_is_no_filter(nobody: httpx.Client, query: str) -> None:
    assert nobody.get(f"{API}{query}").json()["error"]["code"] == "invalid_request"
