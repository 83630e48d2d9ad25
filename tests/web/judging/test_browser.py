"""Judging in a real Chromium, by keyboard: every answer saved at once, undone, resumed, in two tabs, on a phone."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from sqlalchemy import select

from app.base.db import reading
from app.models import Judgement
from tests import lanes, world
from tests.judging import judged as judging
from tests.web.site import Site
from tests.web.test_browser import chromium, look  # noqa: F401 - fixtures
from tests.world import COMPETITION, DAY

pytestmark = pytest.mark.browser

SHEET = f"/competitions/{COMPETITION}/judging/human/items/en"


@pytest.fixture
def site(empty_site: Site, cheap_passwords: None) -> Site:
    now = datetime.now(UTC)
    world.add_competition(empty_site.engine, per_day=None, starts_at=world.NOW - DAY, ends_at=now + 5 * DAY)
    judging.add_task(empty_site.engine)
    judging.enter_three(empty_site.engine)
    empty_site.set_clock(now)
    return empty_site


@pytest.fixture
def annotator(look: Any, site: Site) -> Any:  # noqa: F811
    """Anna, at the first paraphrase."""
    looking = look()
    looking.register("anna")
    olga = world.add_user(site.engine, "olga", is_administrator=True)
    judging.start(site.engine, olga, annotators={"anna": "en"}, seed=1, guidelines="Read **slowly**.")
    looking.go(SHEET)
    return looking


def given(site: Site) -> list[tuple[bool, int | None, int | None, int | None]]:
    with reading(site.engine) as session:
        rows = session.scalars(select(Judgement).order_by(Judgement.id))
        return [(one.is_removed, one.mwe_sense, one.rest_sense, one.naturalness) for one in rows]


def press(page: Page, *keys: str) -> None:
    """Press keys one after another, once the page's script is ready."""
    page.wait_for_load_state()
    for key in keys:
        page.keyboard.press(key)


def test_marks_are_given_by_keys_and_saved_at_once(annotator: Any, site: Site) -> None:
    page = annotator.page
    progress = page.locator("#progress")
    expect(progress).to_contain_text("0 of 6 judged")
    press(page, "3")
    expect(progress).to_contain_text("Saved")
    assert given(site) == [(True, 3, None, None)]  # nothing was sent off: the first answer is there
    press(page, "2", "1")
    expect(progress).to_contain_text("1 of 6 judged")
    assert given(site) == [(True, 3, 2, 1)]

    press(page, "ArrowUp", "0")  # the question before, and another mark
    expect(page.locator('input[name="rest_sense"][value="0"]')).to_be_checked()
    press(page, "Enter")
    expect(page).to_have_url(f"{site.url}{SHEET}/2")
    assert given(site) == [(True, 3, 0, 1)]

    press(page, "x")
    expect(progress).to_contain_text("2 of 6 judged")
    press(page, "Enter")
    expect(page).to_have_url(f"{site.url}{SHEET}/3")
    press(page, "ArrowLeft")
    expect(page).to_have_url(f"{site.url}{SHEET}/2")
    expect(page.locator('input[name="removed"][value="no"]')).to_be_checked()
    press(page, "x", "1", "1", "1", "ArrowLeft")  # gone after all; and quickly back to the first
    expect(page).to_have_url(f"{site.url}{SHEET}/1")
    assert given(site) == [(True, 3, 0, 1), (True, 1, 1, 1)]

    page.get_by_role("button", name="Clear my answers").click()
    expect(progress).to_contain_text("1 of 6 judged")
    page.goto(site.url + SHEET)  # resumed: the first that is open
    expect(page).to_have_url(f"{site.url}{SHEET}/1")


def test_quick_fingers_lose_nothing(annotator: Any, site: Site) -> None:
    page = annotator.page
    for place in range(1, 7):
        expect(page).to_have_url(f"{site.url}{SHEET}/{place}")
        press(page, "1", "2", "3", "Enter", "Enter")
    expect(page.get_by_role("heading", name="All judged")).to_be_visible()
    assert given(site) == [(True, 1, 2, 3)] * 6


def test_two_tabs_do_no_harm(annotator: Any, site: Site) -> None:
    page = annotator.page
    other = page.context.new_page()
    other.goto(page.url)
    press(page, "3", "3", "3")
    expect(page.locator("#progress")).to_contain_text("1 of 6 judged")
    press(other, "0")
    expect(other.locator("#progress")).to_contain_text("1 of 6 judged")
    assert given(site) == [(True, 0, 3, 3)]


def test_an_answer_that_is_not_saved_is_told(annotator: Any, site: Site) -> None:
    page = annotator.page
    page.route("**/items/en/1", lambda route: route.abort())
    press(page, "3")
    expect(page.get_by_role("alert")).to_contain_text("Your last answer was not saved")
    annotator.complaints.clear()  # the browser says so, too
    page.unroute("**/items/en/1")
    press(page, "2")
    expect(page.locator("#unsaved")).to_be_hidden()
    expect(page.locator("#progress")).to_contain_text("Saved")


@pytest.mark.parametrize(("device", "scheme"), [lanes.in_soak("desktop", "dark"), ("phone", "light")])
def test_the_worksheet_fits_and_is_accessible(
    site: Site,
    annotator: Any,
    device: str,
    scheme: str,
) -> None:
    from axe_playwright_python.sync_playwright import Axe

    page = annotator.page
    page.emulate_media(color_scheme=scheme)
    if device == "phone":
        page.set_viewport_size({"width": 375, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    expect(page.locator("strong", has_text="slowly")).to_be_visible()
    found = Axe().run(page, context="main").response["violations"]
    assert [(one["id"], one["nodes"][0]["html"]) for one in found] == []
