"""Pictures in a real Chromium: drawn when asked for, in the dark and on paper, to take away, and never needed."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Page, expect

from tests.competitions.embargo import hide
from tests.web import pictures_world
from tests.web.reading import BOARD_PAGE
from tests.web.site import Site
from tests.web.test_browser import PATIENCE_MS, chromium, look  # noqa: F401 - fixtures

pytestmark = pytest.mark.browser

PAGE = f"{BOARD_PAGE}/pictures"
PICTURES = 6
SVG = "{http://www.w3.org/2000/svg}"
#: How many colours the layers of a picture have: an empty one has a single one.
COLOURS = """(drawing) => Math.max(...[...drawing.querySelectorAll("canvas")].map((canvas) => {
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  return new Set(new Uint32Array(data.buffer)).size;
}))"""
#: Which of these colours something is drawn in, exactly; read once, as browsers ask for.
HAS = """(canvas, colours) => {
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  const found = new Set(new Uint32Array(data.buffer));
  return colours.map(([red, green, blue]) => found.has((255 << 24 | blue << 16 | green << 8 | red) >>> 0));
}"""
#: Of the line of records, in the light and in the dark.
ON_LIGHT, ON_DARK = [0x0B, 0x6B, 0x4F], [0x63, 0xC7, 0x9F]
LIBRARIES = """() => performance.getEntriesByType("resource").filter((one) => one.name.includes("echarts")).length"""
HEAVIEST_BYTES = 150_000
WEIGHT = """() => [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
  .map((part) => part.encodedBodySize).reduce((sum, bytes) => sum + bytes, 0)"""

Looks = Callable[..., Any]


@pytest.fixture
def parseme(site: Site) -> Site:
    pictures_world.fill(site.engine)
    return site


def drawn(looking: Any, address: str = f"{PAGE}#pictures") -> Page:
    """The page with all of its pictures drawn."""
    looking.go(address)
    page: Page = looking.page
    wait(page)
    return page


def wait(page: Page) -> None:
    expect(page.locator("figure[data-drawn] .canvas")).to_have_count(PICTURES, timeout=PATIENCE_MS)


def test_pictures_are_drawn_when_somebody_asks_and_not_before(look: Looks, parseme: Site) -> None:  # noqa: F811
    looking = look()
    looking.go(PAGE)
    page = looking.page
    button = page.get_by_role("button", name="Draw the pictures")
    expect(button).to_be_visible()
    assert page.evaluate(LIBRARIES) == 0
    assert page.evaluate(WEIGHT) < HEAVIEST_BYTES
    expect(page.locator("#progress-numbers")).to_be_visible()
    button.click()
    wait(page)
    expect(button).to_be_hidden()
    assert page.evaluate(LIBRARIES) == 1
    for drawing in page.locator(".canvas").all():
        assert drawing.evaluate(COLOURS) > 20, "something is drawn"
    expect(page.locator("#progress-numbers")).to_be_hidden()
    page.locator("figure", has=page.locator("#progress-numbers")).locator("summary").click()
    expect(page.locator("#progress-numbers")).to_be_visible()


def test_the_boards_link_asks_for_them(look: Looks, parseme: Site) -> None:  # noqa: F811
    looking = look()
    looking.go(BOARD_PAGE)
    looking.page.get_by_role("link", name="Pictures", exact=True).click()
    wait(looking.page)


def test_a_picture_can_be_reached_and_says_what_it_shows(look: Looks, parseme: Site) -> None:  # noqa: F811
    page = drawn(look())
    picture = page.get_by_role("img", name="Progress over time")
    picture.focus()
    expect(picture).to_be_focused()
    assert "The record is 59.25 %, by Magpie" in (picture.get_attribute("aria-label") or "")
    assert picture.evaluate("(one) => one.querySelectorAll('[tabindex]').length") == 0, "one stop, not many"


def test_they_follow_the_dark_and_go_to_paper_in_the_light(look: Looks, parseme: Site) -> None:  # noqa: F811
    page = drawn(look(scheme="dark"))
    figure = page.locator("figure[data-picture]").first
    expect(figure).to_have_attribute("data-drawn", "dark")
    canvas = figure.locator("canvas").first
    assert canvas.evaluate(HAS, [ON_LIGHT, ON_DARK]) == [False, True]
    page.emulate_media(color_scheme="light")
    expect(figure).to_have_attribute("data-drawn", "light")
    assert canvas.evaluate(HAS, [ON_LIGHT, ON_DARK]) == [True, False]
    page.emulate_media(color_scheme="dark")
    page.emulate_media(media="print")
    expect(figure).to_have_attribute("data-drawn", "paper")
    assert canvas.evaluate(HAS, [ON_LIGHT, ON_DARK]) == [True, False]
    expect(page.get_by_role("button", name="Download SVG: Progress over time")).to_be_hidden()
    page.emulate_media(media="screen")
    expect(figure).to_have_attribute("data-drawn", "dark")


def test_they_fit_a_phone_and_follow_its_width(look: Looks, parseme: Site) -> None:  # noqa: F811
    page = drawn(look("phone"))
    too_wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert page.evaluate(too_wide) == 0
    canvas = page.locator("canvas").first
    narrow = canvas.bounding_box()
    assert narrow is not None
    page.set_viewport_size({"width": 900, "height": 700})
    page.wait_for_function("(width) => document.querySelector('canvas').clientWidth > width", arg=narrow["width"] + 200)
    assert page.evaluate(too_wide) == 0


def test_files_to_take_away_are_whole(look: Looks, parseme: Site, tmp_path: Path) -> None:  # noqa: F811
    page = drawn(look(scheme="dark"))
    titles = [title.strip() for title in page.locator("section.picture h2").all_inner_texts()]
    assert len(titles) == PICTURES
    for title in titles:
        svg = downloaded(page, f"Download SVG: {title}", tmp_path)
        root = ElementTree.fromstring(svg.read_text())  # noqa: S314 - our own file
        assert root.tag == f"{SVG}svg"
        assert root.findtext(f"{SVG}title") == title
        assert {"Idioms · zero-shot · Evaluation", title} <= {text.text for text in root.iter(f"{SVG}text")}
        assert not list(root.iter(f"{SVG}script"))
        png = downloaded(page, f"Download PNG: {title}", tmp_path).read_bytes()
        assert png.startswith(b"\x89PNG\r\n\x1a\n")
        assert struct.unpack(">I", png[16:20])[0] == 1800, "twice as sharp as a page"
    names = {name.name for name in tmp_path.iterdir()}
    assert "idioms-evaluation-zero-shot-seen-unseen.svg" in names


def downloaded(page: Page, button: str, folder: Path) -> Path:
    page.wait_for_timeout(120)  # the browser drops, without a word, the eleventh download within a second
    with page.expect_download() as started:
        page.get_by_role("button", name=button, exact=True).click()
    path = folder / started.value.suggested_filename
    started.value.save_as(path)
    return path


def test_without_scripts_the_tables_are_there(look: Looks, parseme: Site) -> None:  # noqa: F811
    looking = look(java_script_enabled=False)
    looking.go(f"{PAGE}?teams=Saudade+Lab#languages")
    page = looking.page
    assert page.locator("section.picture table:visible").count() == PICTURES
    expect(page.get_by_role("button", name="Draw the pictures")).to_have_count(0)
    page.get_by_text("Choose systems").click()
    page.get_by_label("Loureiro").check()
    page.get_by_role("button", name="Show these").click()
    expect(page.locator("section", has=page.locator("#languages")).locator("tbody tr")).to_have_count(2)


def test_choosing_draws_what_was_chosen(look: Looks, parseme: Site) -> None:  # noqa: F811
    page = drawn(look())
    page.get_by_label("System", exact=True).select_option("Saudade Lab")
    page.get_by_role("button", name="Show this one").click()
    wait(page)
    assert "teams=Saudade+Lab#categories" in page.url
    expect(page.get_by_role("img", name="Languages by category")).to_have_attribute(
        "aria-label", re.compile("Saudade Lab")
    )


def test_numbers_that_do_not_come_are_told(look: Looks, parseme: Site) -> None:  # noqa: F811
    """The board is hidden between the page and the numbers."""
    looking = look()
    looking.go(PAGE)
    hide(parseme.engine, board="hidden")
    looking.page.get_by_role("button", name="Draw the pictures").click()
    expect(looking.page.locator(".ask [role=status]")).to_contain_text("The tables say the same")
    looking.complaints.clear()  # the browser itself tells of each 404
