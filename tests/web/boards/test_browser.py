"""A board in a real Chromium: it sorts and opens in place, and needs no scripts."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from tests import world
from tests.competitions.embargo import enter
from tests.web.reading import BOARD_PAGE
from tests.web.site import Site
from tests.web.test_browser import chromium, look, site  # noqa: F401 - fixtures
from tests.world import ZERO_SHOT

pytestmark = pytest.mark.browser


@pytest.fixture
def filled(site: Site) -> Site:  # noqa: F811
    """Three teams."""
    for place, (name, value) in enumerate((("Ünal", 0.5), ("Bob", 0.7), ("Cat", 0.6))):
        enter(site.engine, world.add_user(site.engine, f"user{place}", name), value, at=site.now)
    return site


def expect_names(page: Any, *names: str) -> None:
    expect(page.locator("tbody th.team bdi")).to_have_text(names)


def test_sorting_and_searching_change_the_table_alone(look: Any, filled: Site) -> None:  # noqa: F811
    looking = look()
    page = looking.page
    looking.go(BOARD_PAGE)
    page.evaluate("window.stays = true")
    page.locator("#sort-team").click()
    expect(page.locator("th[aria-sort]")).to_contain_text("Team")
    expect_names(page, "Bob", "Cat", "Ünal")
    expect(page).to_have_url(re.compile(r"\?sort=team$"))
    expect(page.locator("#sort-team")).to_be_focused()
    page.get_by_label("Search team or method").fill("unal")
    expect(page.get_by_role("status").first).to_have_text("1 of 3 rows")
    expect_names(page, "Ünal")
    expect(page).to_have_url(re.compile(r"\?q=unal&sort=team$"))  # nothing that is empty
    page.go_back()
    expect(page.locator("#board-count")).to_have_text("3 rows")
    assert page.evaluate("window.stays")


def test_a_row_and_a_heading_open_by_keyboard(look: Any, filled: Site) -> None:  # noqa: F811
    looking = look("phone", "dark")
    page = looking.page
    looking.go(BOARD_PAGE)
    link = page.locator("a[data-row]").first
    link.focus()
    page.keyboard.press("Enter")
    expect(page.locator("tr.opened")).to_contain_text(f"idiom-detection:1|macro_f1|{ZERO_SHOT}")
    assert link.get_attribute("aria-expanded") == "true"
    page.keyboard.press("Enter")
    expect(page.locator("tr.opened")).to_have_count(0)
    about = page.get_by_role("button", name="About F1")
    about.focus()
    page.keyboard.press("Enter")
    card = page.locator("#about-1")
    expect(card).to_be_visible()
    expect(card).to_contain_text("Higher is better, from 0 to 1.")
    page.keyboard.press("Escape")
    expect(card).to_be_hidden()


def test_without_scripts_forms_and_links_do_the_same(look: Any, filled: Site) -> None:  # noqa: F811
    looking = look(java_script_enabled=False)
    page = looking.page
    looking.go(BOARD_PAGE)
    page.get_by_label("Search team or method").fill("bob")
    page.get_by_role("button", name="Show", exact=True).click()
    expect_names(page, "Bob")
    page.get_by_role("link", name="Show the whole board").click()
    page.locator("#sort-team").click()
    expect_names(page, "Bob", "Cat", "Ünal")
    page.get_by_role("link", name="Details of Bob").click()
    expect(page.get_by_role("heading", level=2)).to_contain_text("Bob")
    page.get_by_role("link", name="Back to the board").click()
    expect(page).to_have_url(re.compile(f"{BOARD_PAGE}$"))
