"""A competition's pages in a real Chromium: what is in view at once on a desktop and on a phone, and what stays."""

from __future__ import annotations

import re
from itertools import product
from typing import Any

import pytest
from playwright.sync_api import expect
from sqlalchemy import select

from app.base.db import writing
from app.models import TeamKind, User
from tests import world
from tests.competitions.embargo import enter
from tests.web.reading import BOARD_PAGE
from tests.web.site import Site
from tests.web.test_browser import chromium, look, site  # noqa: F401 - fixtures

pytestmark = pytest.mark.browser
#: The size of a window, and how far down the first row of a board may end.
SIZES = {"desktop": ((1440, 900), 330), "laptop": ((1280, 720), 330), "phone": ((390, 844), 420)}
TEAMS = 40

IN_VIEW = """() => {
  const box = (one) => one && one.getBoundingClientRect();
  const rows = [...document.querySelectorAll(".board-scroll tbody tr")];
  const decimals = (cell) => cell.textContent.trim().split(".")[1]?.length;
  const rights = (cell) => { const range = document.createRange(); range.selectNodeContents(cell);
    return Math.round(range.getBoundingClientRect().right); };
  const ranked = rows.map((row) => row.querySelector("td.ranked"));
  return {
    title: parseFloat(getComputedStyle(document.querySelector("h1")).fontSize),
    firstRowEnds: box(rows[0]).bottom,
    heights: [...new Set(rows.map((row) => row.offsetHeight))],
    decimals: [...new Set(ranked.map(decimals))],
    rights: [...new Set(ranked.map(rights))],
    wider: document.documentElement.scrollWidth - innerWidth,
    order: [...document.querySelectorAll(".board-scroll thead tr:last-child th")].slice(0, 3)
      .map((one) => one.classList[0]),
    inner: [...document.querySelectorAll("main *")].filter((one) => one.scrollHeight > one.clientHeight + 1 &&
      ["auto", "scroll"].includes(getComputedStyle(one).overflowY) && one.checkVisibility()).length,
  };
}"""


@pytest.fixture
def filled(site: Site) -> Site:  # noqa: F811
    """Forty teams, one of them with a long name, and a baseline."""
    for place in range(TEAMS):
        name = "A team with quite a long name, from a university far away" if place == 3 else f"Team {place}"
        user = world.add_user(site.engine, f"user{place}", name)
        enter(site.engine, user, 0.9 - place / 100, at=site.now, minute=place, method="m" * place)
    bot = world.add_user(site.engine, "bot")
    world.add_team(site.engine, bot, name="Majority", kind=TeamKind.BASELINE)
    enter(site.engine, bot, 0.4, at=site.now)
    return site


def test_a_board_is_read_at_a_glance(look: Any, filled: Site) -> None:  # noqa: F811
    looking = look()
    page = looking.page
    looking.register()
    with writing(filled.engine) as session:
        ada = session.scalars(select(User).where(User.username == "ada")).one()
        ada.email_confirmed_at = filled.now
    enter(filled.engine, ada, 0.1, at=filled.now)
    for (name, ((width, height), lowest)), scheme in product(SIZES.items(), ("light", "dark")):
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": height})
        looking.go(BOARD_PAGE)
        seen = page.evaluate(IN_VIEW)
        assert seen["title"] <= 28, name
        assert seen["firstRowEnds"] <= lowest, name
        assert seen["heights"] == [34], f"{name}: a row is one line"
        assert seen["decimals"] == [4], name
        assert len(seen["rights"]) == 1, f"{name}: numbers end where the others do"
        assert seen["order"] == ["rank", "team", "num"], name
        assert (seen["wider"], seen["inner"]) == (0, 0), f"{name}: the page alone scrolls, and only down"
        expect(page.locator("tr.mine td.rank").last).to_be_in_viewport(
            ratio=0.9
        )  # the row, or its copy below the table
        page.evaluate("scrollTo(0, 700)")
        expect(page.locator("thead .team").first).to_be_in_viewport(ratio=0.9)


def test_tabs_and_choices_are_links_and_the_tab_one_is_on_is_in_view(look: Any, filled: Site) -> None:  # noqa: F811
    looking = look("phone", "dark")
    page = looking.page
    looking.go(BOARD_PAGE)
    names = page.locator(".tabs a").all_inner_texts()
    assert names == ["Overview", "Data", "Submit", "Leaderboard", "Pictures", "Q&A", "Cite"]
    page.locator(".tabs").get_by_role("link", name="Cite").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".tabs [aria-current=page]")).to_have_text("Cite")
    expect(page.locator(".tabs [aria-current=page]")).to_be_in_viewport()
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") == 0
    expect(page.locator("#bibtex")).to_contain_text("@misc{idioms")
    page.locator(".tabs").get_by_role("link", name="Leaderboard").click()
    page.get_by_role("navigation", name="Board").get_by_role("link", name="one-shot").click()
    expect(page).to_have_url(re.compile("/boards/one-shot$"))


def test_columns_languages_and_density_are_kept_in_the_address(look: Any, filled: Site) -> None:  # noqa: F811
    looking = look()
    page = looking.page
    looking.go(BOARD_PAGE)
    page.locator("summary", has_text="Columns").click()
    page.get_by_label("Date").uncheck()
    expect(page.locator(".board-scroll th", has_text="Date")).to_have_count(0)
    page.get_by_label("Compact").check()
    expect(page.locator("table.compact")).to_have_count(1)
    expect(page).to_have_url(re.compile("compact=yes"))
    page.reload()
    expect(page.locator(".board-scroll th", has_text="Date")).to_have_count(0)
    assert page.evaluate("document.querySelector('.board tbody tr').offsetHeight") == 26
    expect(page.locator(".board-scroll tbody circle")).to_have_count(TEAMS)
    expect(page.locator(".board-scroll tbody tr.baseline .beyond")).to_have_count(1)
    expect(page.locator(".board-scroll tbody .rule")).to_have_count(0)


def test_a_reader_on_a_phone_goes_from_the_list_to_a_team_and_back_to_the_board(look: Any, filled: Site) -> None:  # noqa: F811
    looking = look("phone")
    page = looking.page
    looking.go("/")
    page.locator("main").get_by_role("link", name="Idioms").first.click()
    page.locator(".tabs").get_by_role("link", name="Leaderboard").click()
    first = page.locator(".board-scroll tbody tr").first
    expect(first).to_contain_text("Team 0")
    expect(first.locator("td.ranked")).to_be_in_viewport(ratio=1)
    hint = page.evaluate("getComputedStyle(document.querySelector('.board-frame'), '::after').content")
    assert "›" in hint, "more to the right"
    page.locator(".board-scroll").evaluate("region => { region.scrollLeft = region.scrollWidth; }")
    expect(first.locator("td").last).to_be_in_viewport()
    expect(first.locator("th.team")).to_be_in_viewport()
    first.get_by_role("link", name="Team 0", exact=True).click()
    expect(page.get_by_role("heading", level=2, name="Team 0")).to_be_visible()
    page.get_by_role("link", name="zero-shot").first.click()
    expect(page).to_have_url(re.compile(f"{BOARD_PAGE}$"))
    page.wait_for_load_state()
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") == 0
    _heading_stays_without_scripts(look)


def _heading_stays_without_scripts(look: Any) -> None:  # noqa: F811
    """Check a box of its own with an end that can be reached."""
    looking = look("phone", java_script_enabled=False)
    looking.go(BOARD_PAGE)
    board = looking.page.locator(".board-scroll")
    board.evaluate("region => { region.scrollIntoView(); region.scrollTop = region.scrollHeight; }")
    expect(board.locator("tbody tr").nth(TEAMS - 1)).to_be_in_viewport()
    expect(board.locator("thead th.team")).to_be_in_viewport(ratio=0.9)
