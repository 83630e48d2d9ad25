"""Official boards after their phase was opened again: every form of them stays, and names its successor."""

from __future__ import annotations

import csv
import io
import re
from datetime import datetime

import httpx
import pytest
from lxml import etree

from app.base.db import writing
from app.boards.freezing import AFTER_CLOSE
from app.boards.snapshots import freeze as freeze_once_more
from app.competitions.find import find_board, find_competition
from tests import world
from tests.competitions.embargo import declare, freeze, hide
from tests.web.reading import text_of
from tests.web.site import BOARD, BROWSER, Person, Site, csv_text
from tests.world import COMPETITION, DAY, HOUR, NOW, PHASE

CLOSE = NOW + HOUR
PAGE = BOARD.removeprefix("/api/v1")
FIRST, SECOND, THIRD = (f"{BOARD}/official/{number}" for number in (1, 2, 3))
ATOM = {"a": "http://www.w3.org/2005/Atom"}


@pytest.fixture
def frozen(site: Site, ada: Person) -> Site:
    """Ada 0.75 on a board that is shown from the close on, which was frozen."""
    declare(site.engine, ends_at=CLOSE)
    hide(site.engine, board="hidden", public_from="close")
    world.score(site.engine, world.submit(site.engine, ada.user).run_id, 0.75)
    closed(site, CLOSE)
    return site


def closed(site: Site, at: datetime) -> None:
    site.set_clock(at + AFTER_CLOSE)
    freeze(site.engine, at + AFTER_CLOSE)


def reopened(site: Site, until: datetime | None) -> None:
    declare(site.engine, ends_at=until)


def test_the_address_of_a_frozen_board_answers_after_the_end_was_moved(frozen: Site) -> None:
    with frozen.client() as public:
        before = public.get(FIRST).json()
        reopened(frozen, CLOSE + DAY)
        after = public.get(FIRST)
        assert after.status_code == 200
        assert after.json()["rows"] == before["rows"] != []
        assert public.get(BOARD).json()["rows"] == [], "the live board is hidden until the new end"
        for path in (f"{FIRST}?format=csv", f"{BOARD}/table?official=true", f"{BOARD}/citation?number=1"):
            assert public.get(path).status_code == 200
    with frozen.client(**BROWSER) as reader:
        for path in (f"{PAGE}/official/1", f"{PAGE}/official", row_page(reader)):
            assert reader.get(path).status_code == 200


def row_page(reader: httpx.Client) -> str:
    """The page of the only row of the first official board."""
    [address] = set(re.findall(r"/\S+/official/1/rows/[0-9a-f-]{36}", reader.get(f"{PAGE}/official/1").text))
    return str(address)


def test_an_answer_changes_with_another_official_board_though_no_row_does(frozen: Site, ada: Person) -> None:
    before = ada.client.get(BOARD)
    assert ada.client.get(BOARD, headers={"If-None-Match": before.headers["ETag"]}).status_code == 304
    with writing(frozen.engine) as session:
        place = find_board(find_competition(session, COMPETITION), PHASE, "zero-shot")
        freeze_once_more(session, *place, frozen.now)
    again = ada.client.get(BOARD, headers={"If-None-Match": before.headers["ETag"]})
    assert before.json()["official"]["number"] == 1
    assert (again.status_code, again.json()["official"]["number"]) == (200, 2)


def test_nothing_supersedes_the_last_word(frozen: Site) -> None:
    with frozen.client() as public:
        answer = public.get(FIRST)
        assert answer.json()["official"]["superseded_by"] is None
        assert "Link" not in answer.headers
        assert "superseded" not in public.get(f"{FIRST}?format=csv").text
        assert "superseded" not in public.get(f"{BOARD}/citation").text
    with frozen.client(**BROWSER) as reader:
        assert "Superseded" not in reader.get(f"{PAGE}/official/1").text


def test_json_and_csv_name_the_live_board_while_the_phase_is_open_again(frozen: Site) -> None:
    with frozen.client() as public:
        tag = public.get(FIRST).headers["ETag"]
        reopened(frozen, CLOSE + DAY)
        answer = public.get(FIRST, headers={"If-None-Match": tag})
        assert answer.status_code == 200, "the mark is new"
        assert answer.json()["official"]["superseded_by"] == {
            "number": None,
            "link": BOARD,
            "page": PAGE,
            "closes_at": "2026-01-11T13:00:00Z",
            "newest": None,
        }
        assert answer.headers["Link"] == f'<{BOARD}>; rel="successor-version"'
        [row] = csv.DictReader(io.StringIO(csv_text(public.get(f"{FIRST}?format=csv"))))
        assert row["superseded_by"] == BOARD
        assert public.get(BOARD).json()["official"]["superseded_by"]["link"] == BOARD


def test_several_versions_chain_in_json_csv_and_links(frozen: Site) -> None:
    for days in (1, 2):
        reopened(frozen, CLOSE + days * DAY)
        closed(frozen, CLOSE + days * DAY)
    with frozen.client() as public:
        said = [public.get(path).json()["official"]["superseded_by"] for path in (FIRST, SECOND, THIRD)]
        assert [one and (one["number"], one["link"], one["newest"]) for one in said] == [
            (2, SECOND, 3),
            (3, THIRD, 3),
            None,
        ]
        assert public.get(f"{FIRST}?format=csv").headers["Link"] == f'<{SECOND}>; rel="successor-version"'
        assert public.get(f"{BOARD}/official").json()["official"]["number"] == 3
        assert (
            'filename="idioms-evaluation-zero-shot-official-2-2026-01-11.csv"'
            in (public.get(f"{SECOND}?format=csv").headers["Content-Disposition"])
        )
    with frozen.client(**BROWSER) as reader:
        for number in (1, 2, 3):
            tabs = reader.get(f"{PAGE}/official/{number}").text.split('aria-label="Official results"')[1]
            here = re.findall(r'official/(\d+)" aria-current="page"', tabs.partition("</nav>")[0])
            assert here == [str(number)], "of its tabs this one is where the reader is"


def test_the_page_and_the_pages_of_its_rows_link_to_the_successor(frozen: Site) -> None:
    with frozen.client(**BROWSER) as reader:
        row = row_page(reader)
        reopened(frozen, CLOSE + DAY)
        told = text_of(reader.get(f"{PAGE}/official/1").text)
        assert "Superseded by the live board : the phase was opened again, until 11 Jan 2026" in told
        assert "New official results follow." in told
        closed(frozen, CLOSE + DAY)
        for path in (f"{PAGE}/official/1", row):
            page = reader.get(path).text
            assert "Superseded by official results no. 2 , closed 11 Jan 2026" in text_of(page)
            assert f'href="{PAGE}/official/2" rel="successor-version"' in page
        page = reader.get(f"{PAGE}/official").text
        assert "Superseded" not in page
        assert "No. 1 · 10 Jan 2026 · superseded" in text_of(page)
        assert "No. 2 · 11 Jan 2026" in text_of(page)


def test_citations_name_the_version_and_the_cite_page_has_every_one(frozen: Site) -> None:
    reopened(frozen, CLOSE + DAY)
    closed(frozen, CLOSE + DAY)
    with frozen.client() as public:
        first = public.get(f"{BOARD}/citation?number=1").text
        assert "idioms-evaluation-zero-shot-1," in first
        assert "Official board no. 1, frozen 10 Jan 2026, superseded by official results no. 2 of 11 Jan 2026" in first
        assert "superseded" not in public.get(f"{BOARD}/citation").text
        assert public.get(f"{BOARD}/citation?number=3").status_code == 404
        assert public.get(f"{BOARD}/citation?number=0").status_code == 422
        assert ", official results no. 2." in public.get(f"{BOARD}/table?official=true&format=latex").text
    with frozen.client(**BROWSER) as reader:
        page = reader.get("/competitions/idioms/cite").text
        assert "no. 1 BibTeX of" in text_of(page)
        assert "superseded by official results no. 2 of 11 Jan 2026" in text_of(page)
        assert f"{BOARD}/citation?number=2" in page


def test_the_feed_of_a_board_has_its_official_versions(frozen: Site) -> None:
    def entries(public: httpx.Client) -> list[tuple[str | None, str]]:
        feed = etree.fromstring(public.get(f"{BOARD}/feed.atom").content)
        titles = [one.text for one in feed.findall("a:entry/a:title", ATOM)]
        pages = [one.get("href", "").partition(PAGE)[2] for one in feed.findall("a:entry/a:link", ATOM)]
        return [(title, page) for title, page in zip(titles, pages, strict=True) if page]

    with frozen.client() as public:
        assert entries(public) == [("Official results no. 1", "/official/1")]
        reopened(frozen, CLOSE + DAY)
        assert entries(public) == [("Official results no. 1, superseded by the live board", "/official/1")]
        closed(frozen, CLOSE + DAY)
        assert entries(public) == [
            ("Official results no. 2", "/official/2"),
            ("Official results no. 1, superseded by official results no. 2 of 11 Jan 2026", "/official/1"),
        ]
        hide(frozen.engine, board="hidden")
        assert entries(public) == []


def test_an_embargo_until_a_date_hides_every_version(frozen: Site) -> None:
    reopened(frozen, CLOSE + DAY)
    closed(frozen, CLOSE + DAY)
    hide(frozen.engine, board="hidden", public_from=CLOSE + 9 * DAY)
    with frozen.client() as public:
        for path in (FIRST, SECOND, f"{FIRST}?format=csv", f"{BOARD}/citation?number=1", f"{BOARD}/official"):
            assert public.get(path).status_code == 404
        assert public.get(BOARD).json()["official"] is None
        frozen.set_clock(CLOSE + 9 * DAY)
        assert public.get(FIRST).status_code == 200
