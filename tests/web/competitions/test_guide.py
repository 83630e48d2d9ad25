"""The guide: the texts of docs/ as pages whose links lead somewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser

import httpx
import pytest

from app.web.competitions.pages import DOCS, GUIDES, guide
from evergold.scoring.tasks import TASKS
from tests.web.site import BROWSER, Site

WRITTEN = [name for name in GUIDES if (DOCS / f"{name}.md").is_file()]


class Ids(HTMLParser):
    """The ids of a page, which fragments may name, and the targets of its links."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        if found.get("id"):
            self.ids.append(str(found["id"]))
        if tag == "a":
            self.links.append(found.get("href") or "")


@pytest.fixture
def reader(site: Site) -> Iterator[httpx.Client]:
    with site.client(**BROWSER) as client:
        yield client


def test_every_text_for_people_is_in_the_guide() -> None:
    assert {path.stem for path in DOCS.glob("*.md")} <= set(GUIDES)


@pytest.mark.parametrize("name", WRITTEN)
def test_links_and_their_fragments_lead_somewhere(reader: httpx.Client, name: str) -> None:
    page = reader.get(f"/guide/{name}")
    assert page.status_code == 200
    here = Ids(page.text)
    assert len(here.ids) == len(set(here.ids))
    for link in here.links:
        assert not re.search(r"\.md\b", link), link
        path, _, fragment = link.partition("#")
        if path.startswith("/guide") or link.startswith("#"):
            there = Ids(reader.get(path).text) if path else here
            assert not fragment or fragment in there.ids, link


def test_a_text_shows_its_title_once_and_its_tables_scroll_by_keyboard() -> None:
    page = guide("phases-yaml")
    assert "<h1" not in page.body
    assert page.body.count("<table>") == page.body.count('class="table-scroll" role="group"') > 0
    assert page.body.count("<table>") + page.body.count("<pre") == page.body.count('tabindex="0"')
    assert 'id="tracks"' in page.body


def test_metrics_of_every_task_type_are_defined(reader: httpx.Client) -> None:
    page = reader.get("/guide/metrics").text
    for task in TASKS.values():
        assert f"{task.name}:{task.version}" in page
        for metric in task.metrics.values():
            assert f"<code>{metric.name}</code>" in page


def test_what_the_guide_lacks_is_not_found(reader: httpx.Client) -> None:
    for name in ("nothing", "..%2Fpyproject", "decisions"):
        assert reader.get(f"/guide/{name}").status_code == 404


def test_the_index_names_every_page(reader: httpx.Client) -> None:
    index = Ids(reader.get("/guide").text).links
    assert {f"/guide/{name}" for name in WRITTEN} | {"/guide/metrics"} <= set(index)


def test_a_search_finds_the_pages_that_have_every_word(reader: httpx.Client) -> None:
    def found(words: str) -> list[str]:
        return re.findall(r'<li><a href="/guide/([^"]+)"', reader.get("/search", params={"q": words}).text)

    assert found("for  TEAMS first file") == ["submitting"]
    assert found("for teams") == ["submitting", "tasks", "webhooks"]
    assert found("teams nowhere") == found("") == []
