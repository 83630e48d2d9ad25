"""Boards with a query, on their page and in the API: the same words, nothing hidden, within bounds."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import httpx
import pytest

from app.base.db import reading, writing
from app.competitions.find import find_competition
from app.models import Role, TeamKind, User
from app.people.rights import grant_role
from app.standings import check
from app.web.boards import page as board_page
from app.web.html.rendering import render_page
from app.web.http.context import Server
from app.web.http.visit import Visit
from tests import world
from tests.competitions.embargo import enter, freeze, hide
from tests.web.reading import BOARD_PAGE, rows_of, text_of
from tests.web.site import BOARD, BROWSER, Person, Site
from tests.world import COMPETITION, DAY, HOUR, NOW, ZERO_SHOT

F1 = f"macro_f1 {ZERO_SHOT}"


@pytest.fixture
def ids(site: Site, ada: Person, eve: Person) -> dict[str, str]:
    """Ada and Eve have scored, and so has a baseline; their submissions by name."""
    world.add_team(site.engine, world.add_user(site.engine, "bot"), name="Majority", kind=TeamKind.BASELINE)
    with reading(site.engine) as session:
        bot = session.query(User).filter_by(username="bot").one()
    return {
        "Ada": str(enter(site.engine, ada.user, 0.70371, 0.2, method="XLM-R")),
        "Eve": str(enter(site.engine, eve.user, 0.80419, None, minute=30, method="mBERT")),
        "Majority": str(enter(site.engine, bot, 0.4, 0.1)),
    }


@pytest.fixture
def nobody(site: Site, ids: dict[str, str]) -> Iterator[httpx.Client]:
    with site.client(**BROWSER) as client:
        yield client


def names(answer: httpx.Response) -> list[str]:
    return [row["team"] for row in answer.json()["rows"]]


def page_names(page: str) -> list[str]:
    """The names on the board's page, from the top."""
    return [next(name for name in ("Ada", "Eve", "Majority") if name in row) for row in rows_of(page)]


# ------------------------------------------------------------------------------------------------------- the same words


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", ["Eve", "Ada", "Majority"]),
        ("sort=team", ["Ada", "Eve", "Majority"]),
        (f"sort={F1}&order=asc", ["Majority", "Ada", "Eve"]),
        ("sort=date&order=asc", ["Ada", "Majority", "Eve"]),
        ("q=mbert", ["Eve"]),
        ("kind=baseline", ["Majority"]),
        ("team=ada", ["Ada"]),
    ],
)
def test_pages_and_the_api_understand_the_same(nobody: httpx.Client, query: str, expected: list[str]) -> None:
    assert names(nobody.get(f"{BOARD}?{query}")) == expected
    assert page_names(nobody.get(f"{BOARD_PAGE}?{query}").text) == expected
    table = nobody.get(f"{BOARD}.csv?{query}").text.splitlines()[1:]
    assert [line.split(",")[1] for line in table] == expected


def test_headings_sort_and_say_how(nobody: httpx.Client) -> None:
    page = nobody.get(BOARD_PAGE).text
    (sorted_now,) = re.findall(r"<th [^>]*aria-sort=\"(\w+)\"", page)
    assert sorted_now == "descending"
    (address,) = re.findall(r'id="sort-1" href="([^"]+)"', page)
    turned = nobody.get(BOARD_PAGE + address.replace("&amp;", "&")).text
    assert page_names(turned) == ["Majority", "Ada", "Eve"]
    assert re.findall(r"aria-sort=\"(\w+)\"", turned) == ["ascending"]
    assert re.findall(r'<td class="rank">(\d*)', turned) == ["", "2", "1"]  # ranks stay
    (back,) = re.findall(r'id="sort-1" href="([^"]+)"', turned)
    assert back == "?"


def test_how_many_there_are_is_said(nobody: httpx.Client) -> None:
    assert "1 of 3 rows" in text_of(nobody.get(f"{BOARD_PAGE}?q=xlm").text)
    none = text_of(nobody.get(f"{BOARD_PAGE}?q=nothing").text)
    assert "0 of 3 rows" in none
    assert "No rows match" in none


def test_what_is_not_there_is_said_plainly(nobody: httpx.Client) -> None:
    page = nobody.get(f"{BOARD_PAGE}?sort=zzz&team=Grace&order=up&since=soon")
    assert page.status_code == 200
    assert page_names(page.text) == ["Eve", "Ada", "Majority"]
    for sentence in (
        "no column 'zzz'.",
        "no row of 'Grace'.",
        "no order 'up'.",
        "'soon' is not a date such as 2026-01-31.",
    ):
        assert sentence in text_of(page.text)
    refused = nobody.get(f"{BOARD}?sort=zzz&team=Grace")
    assert refused.status_code == 422
    assert refused.json()["error"]["details"]["fields"].keys() == {"sort", "team"}


@pytest.mark.parametrize("query", ["order=up", "kind=robot", "mine=perhaps", f"q={'x' * 121}", "sort=%00", "q=%ff%00"])
def test_nothing_that_is_sent_breaks_anything(nobody: httpx.Client, query: str) -> None:
    assert nobody.get(f"{BOARD_PAGE}?{query}").status_code == 200
    assert nobody.get(f"{BOARD}?{query}").status_code in (200, 422)
    assert nobody.get(f"{BOARD}/official?{query}").status_code in (404, 422)


def test_differences_and_changes_of_rank(nobody: httpx.Client, site: Site) -> None:
    site.set_clock(NOW + 2 * DAY)
    page = nobody.get(f"{BOARD_PAGE}?delta=majority&since={(NOW + DAY).date()}").text
    eve, ada, majority = rows_of(page)
    assert "0.8042 +0.4042" in eve
    assert "as before" in eve
    assert "±0" in majority
    assert "difference to Majority" in text_of(page)
    earlier = nobody.get(f"{BOARD_PAGE}?since={NOW.date()}").text
    assert "new" in rows_of(earlier)[1]


def test_a_day_since_which_too_much_came_is_said_to_be_too_far_back(
    nobody: httpx.Client, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check, "TRIES_AT_MOST", 1)
    site.set_clock(NOW + 2 * DAY)
    page = nobody.get(f"{BOARD_PAGE}?since={NOW.date()}").text
    assert "Too many submissions have arrived since that day" in text_of(page)
    assert "change of rank since" not in page
    assert "as before" in nobody.get(f"{BOARD_PAGE}?since={(NOW + DAY).date()}").text, "since then nobody did anything"


def test_mine_are_mine(ids: dict[str, str], ada: Person) -> None:
    assert names(ada.client.get(f"{BOARD}?mine=true")) == ["Ada"]


def test_organisers_keep_borrowed_eyes(site: Site, ids: dict[str, str], eve: Person) -> None:
    with writing(site.engine) as session:
        user = session.get_one(User, eve.user.id)
        grant_role(session, find_competition(session, COMPETITION), user, Role.ORGANISER, NOW)
    page = eve.client.get(f"{BOARD_PAGE}?as=participant&sort=team", headers=BROWSER).text
    links = re.findall(r'id="sort-\w+" href="([^"]+)"', page)
    assert links
    assert all("as=participant" in link for link in links)
    assert '<input type="hidden" name="as" value="participant">' in page


# ------------------------------------------------------------------------------------------------------- what is hidden


@pytest.mark.parametrize(
    "query", ["q=ada", f"sort={F1}", "kind=baseline", "since=2026-01-10", "mine=yes", "delta=Majority"]
)
def test_a_hidden_board_answers_every_question_alike(site: Site, nobody: httpx.Client, eve: Person, query: str) -> None:
    hide(site.engine, board="hidden")

    def answers() -> list[str]:
        found = [nobody.get(f"{path}?{query}") for path in (BOARD_PAGE, BOARD)]
        return [re.sub(r"took_ms=\S+", "", one.text) for one in found] + [one.headers.get("ETag", "") for one in found]

    before = answers()
    enter(site.engine, eve.user, 0.95, minute=50)
    assert answers() == before
    assert "Ada" not in before[0].replace("team=Ada", "")


def test_a_row_of_a_hidden_board_is_no_row(site: Site, nobody: httpx.Client, ids: dict[str, str]) -> None:
    for shown in ("hidden", "ranks_only"):
        hide(site.engine, board=shown)
        page = nobody.get(f"{BOARD_PAGE}/rows/{ids['Ada']}")
        never = nobody.get(f"{BOARD_PAGE}/rows/{ids['Ada'][:-4]}0000")
        assert (page.status_code, never.status_code) == (404, 404)
        assert re.sub("[0-9a-f]{16,}", "", page.text) == re.sub("[0-9a-f]{16,}", "", never.text)
    assert f"rows/{ids['Ada']}" not in nobody.get(BOARD_PAGE).text


def test_ranks_alone_tell_no_score_by_any_order(site: Site, nobody: httpx.Client) -> None:
    hide(site.engine, board="ranks_only")
    for order in ("asc", "desc"):
        assert names(nobody.get(f"{BOARD}?sort={F1}&order={order}")) == ["Ada", "Eve", "Majority"]
    page = nobody.get(f"{BOARD_PAGE}?since=2026-01-10&delta=Majority").text
    assert 'class="move' not in page
    assert 'class="delta' not in page


def test_neutral_names_cannot_be_searched_behind(site: Site, nobody: httpx.Client, ids: dict[str, str]) -> None:
    hide(site.engine, names_from=NOW + 9 * DAY)
    for query in ("q=ada", "q=xlm", "q=mbert"):
        assert names(nobody.get(f"{BOARD}?{query}")) == []
    by_name = names(nobody.get(f"{BOARD}?sort=team&kind=team"))
    assert by_name == sorted(by_name, key=str.casefold)
    row = nobody.get(f"{BOARD_PAGE}/rows/{ids['Ada']}").text
    assert "Ada" not in row
    assert "XLM-R" not in row


def test_digits_that_are_hidden_stay_so(site: Site, nobody: httpx.Client, ids: dict[str, str]) -> None:
    hide(site.engine, precision=2)
    row = nobody.get(f"{BOARD_PAGE}/rows/{ids['Ada']}").text
    assert "0.70" in row
    assert "0.703" not in row
    assert "0.704" not in row
    assert "+0.404" not in nobody.get(f"{BOARD_PAGE}?delta=Majority").text


# ---------------------------------------------------------------------------------------------------------- rows opened


def test_a_row_opens_to_its_signatures_and_every_slice(nobody: httpx.Client, ids: dict[str, str]) -> None:
    assert f'href="{BOARD_PAGE}/rows/{ids["Eve"]}"' in nobody.get(BOARD_PAGE).text
    page = nobody.get(f"{BOARD_PAGE}/rows/{ids['Ada']}")
    text = text_of(page.text)
    assert "Rank 2" in text
    assert "XLM-R" in text
    assert f"idiom-detection:1|macro_f1|{ZERO_SHOT}" in text
    assert "0.2000" in text  # a score of another board
    assert "The submission" not in text  # that is its team's


def test_a_team_is_led_to_its_submission(ada: Person, ids: dict[str, str]) -> None:
    page = ada.client.get(f"{BOARD_PAGE}/rows/{ids['Ada']}", headers=BROWSER).text
    assert f"/submissions/{ids['Ada']}/report" in page


def test_where_only_columns_are_shown_a_row_has_no_more(site: Site, nobody: httpx.Client, ids: dict[str, str]) -> None:
    for slices in ("none", "columns"):
        hide(site.engine, slices=slices)
        page = nobody.get(f"{BOARD_PAGE}/rows/{ids['Ada']}")
        assert page.status_code == 200
        assert "one_shot" not in page.text
        assert "Every score of this submission" not in page.text


def test_what_does_not_stand_on_a_board_does_not_open(site: Site, nobody: httpx.Client, ada: Person) -> None:
    worse = enter(site.engine, ada.user, 0.1, minute=5)
    assert nobody.get(f"{BOARD_PAGE}/rows/{worse}").status_code == 404
    assert nobody.get(f"{BOARD_PAGE}/rows/none").status_code == 404


def test_a_frozen_row_stays_as_it_was(site: Site, nobody: httpx.Client, ada: Person, ids: dict[str, str]) -> None:
    freeze(site.engine, NOW + 3 * DAY)
    site.set_clock(NOW + 3 * DAY)
    official = nobody.get(f"{BOARD_PAGE}/official?sort=team").text
    assert page_names(official) == ["Ada", "Eve", "Majority"]
    address = f"{BOARD_PAGE}/official/1/rows/{ids['Ada']}"
    assert f'href="{address}"' in official
    assert "Rank 2" in text_of(nobody.get(address).text)
    assert nobody.get(address.replace("/1/", "/2/")).status_code == 404
    assert names(nobody.get(f"{BOARD}/official?q=xlm")) == ["Ada"]


def test_both_boards_are_one_click_apart(site: Site, nobody: httpx.Client) -> None:
    site.set_clock(NOW + 3 * DAY)
    freeze(site.engine, site.now)
    assert f'href="{BOARD_PAGE}/official"' in nobody.get(BOARD_PAGE).text
    assert f'href="{BOARD_PAGE}"><bdi>Everlasting</bdi>' in nobody.get(f"{BOARD_PAGE}/official").text


# ---------------------------------------------------------------------------------------------------------------- kept


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list to which each made page of a board is added."""
    seen: list[str] = []

    def counted(shown: Visit, *arguments: Any, **context: Any) -> Any:
        seen.append(str(shown.request.url.query))
        return render_page(shown, *arguments, **context)

    monkeypatch.setattr(board_page, "render_page", counted)
    return seen


def test_equal_questions_are_answered_once(nobody: httpx.Client, made: list[str]) -> None:
    for query in ("q=ada&sort=team", "sort=team&q=ada", "sort=team&order=&q=+ada++", "track=&q=ada&sort=team"):
        assert nobody.get(f"{BOARD_PAGE}?{query}").headers["Cache-Control"] == "public, no-cache"
    for query in ("", "q=", "kind=team&kind=baseline&kind=historic"):
        nobody.get(f"{BOARD_PAGE}?{query}")
    assert made == ["sort=team&q=ada", ""]


def test_each_view_has_its_own_tag(nobody: httpx.Client) -> None:
    for path in (BOARD_PAGE, BOARD):
        tags = {nobody.get(f"{path}?{query}").headers["ETag"] for query in ("", "sort=team", "q=ada", "kind=team")}
        assert len(tags) == 4
        tag = nobody.get(f"{path}?q=ada").headers["ETag"]
        assert nobody.get(f"{path}?q=ada", headers={"If-None-Match": tag}).status_code == 304
        assert nobody.get(f"{path}?q=eve", headers={"If-None-Match": tag}).status_code == 200


def test_each_view_has_its_own_tag_for_the_logged_in(ada: Person, ids: dict[str, str]) -> None:
    tag = ada.client.get(f"{BOARD}?q=ada").headers["ETag"]
    assert ada.client.get(f"{BOARD}?q=ada", headers={"If-None-Match": tag}).status_code == 304
    assert ada.client.get(f"{BOARD}?q=eve", headers={"If-None-Match": tag}).status_code == 200
    assert ada.client.get(f"{BOARD}?q=eve", headers={"If-None-Match": tag}).json()["rows"][0]["team"] == "Eve"


def test_searching_never_drives_out_a_board(site: Site, nobody: httpx.Client, made: list[str]) -> None:
    nobody.get(BOARD_PAGE)
    serving: Server = site.app.state.server
    whole = serving.answers.size_bytes
    for word in range(5):
        nobody.get(f"{BOARD_PAGE}?q=word-{word}")
    assert (serving.answers.size_bytes, len(made)) == (whole, 6)
    assert serving.many_answers.size_bytes > 0
    nobody.get(BOARD_PAGE)
    assert len(made) == 6


@pytest.mark.parametrize("query", [f"q={'x' * 300}", "sort=team&sort=rank", "q=a&utm=1"])
def test_what_is_too_long_or_odd_is_not_kept(nobody: httpx.Client, made: list[str], query: str) -> None:
    for _ in range(2):
        assert "public" not in nobody.get(f"{BOARD_PAGE}?{query}").headers["Cache-Control"]
    assert len(made) == 2


def test_a_score_changes_every_view_at_once(site: Site, nobody: httpx.Client, ada: Person, ids: dict[str, str]) -> None:
    for path in (f"{BOARD_PAGE}?sort=team", f"{BOARD}?q=ada", f"{BOARD_PAGE}/rows/{ids['Ada']}"):
        nobody.get(path)
    enter(site.engine, ada.user, 0.9, minute=40)
    assert "0.9000" in nobody.get(f"{BOARD_PAGE}?sort=team").text
    assert nobody.get(f"{BOARD}?q=ada").json()["rows"][0]["cells"][0]["value"] == 0.9
    assert nobody.get(f"{BOARD_PAGE}/rows/{ids['Ada']}").status_code == 404


def test_an_embargo_falls_for_every_view_at_its_moment(site: Site, nobody: httpx.Client) -> None:
    hide(site.engine, board="hidden", public_from=NOW + HOUR)
    assert names(nobody.get(f"{BOARD}?sort=team")) == []
    site.set_clock(NOW + HOUR - timedelta(seconds=1))
    assert names(nobody.get(f"{BOARD}?sort=team")) == []
    site.set_clock(NOW + HOUR)
    assert names(nobody.get(f"{BOARD}?sort=team")) == ["Ada", "Eve", "Majority"]
