"""Pictures in a real Chromium: there at once and without scripts, readable on a phone, and what the script adds."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests import lanes
from tests.web import pictures_world
from tests.web.reading import BOARD_PAGE
from tests.web.site import Site
from tests.web.test_browser import chromium, look  # noqa: F401 - fixtures

pytestmark = pytest.mark.browser

PAGE = f"{BOARD_PAGE}/pictures"
PICTURES = 6
#: With everything that is loaded for it; a page is compressed.
HEAVIEST_BYTES = 60_000
WEIGHT = """() => [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
  .filter((part) => !part.name.includes(".woff"))
  .map((part) => part.encodedBodySize).reduce((sum, bytes) => sum + bytes, 0)"""
#: Names and numbers that lie on a mark or on another name, by what the browser itself measures.
COLLISIONS = """() => {
  const box = (part) => part.getBoundingClientRect();
  const meet = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1;
  const found = [];
  for (const drawing of document.querySelectorAll("svg.figure")) {
    if (getComputedStyle(drawing).display === "none") continue;
    const texts = [...drawing.querySelectorAll("text")];
    const placed = texts.filter((text) => /fig-(name|you|end|value|ideal-text)/.test(text.getAttribute("class")));
    const marks = [...drawing.querySelectorAll(".fig-mark, .fig-entry")];
    for (const text of placed)
      for (const other of [...marks, ...texts])
        if (other !== text && meet(box(text), box(other))) found.push(`${text.textContent} on ${other.textContent}`);
    for (const text of texts)
      if (box(text).left < box(drawing).left - 1 || box(text).right > box(drawing).right + 1)
        found.push(`${text.textContent} outside`);
  }
  return found;
}"""
SMALLEST = """() => Math.min(...[...document.querySelectorAll("svg.figure text")]
  .filter((text) => text.getClientRects().length).map((text) => text.getBoundingClientRect().height))"""
TOO_WIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"

Looks = Callable[..., Any]


@pytest.fixture
def parseme(site: Site) -> Site:
    pictures_world.fill(site.engine)
    return site


@pytest.mark.parametrize("device", [lanes.in_soak("desktop"), "phone"])
def test_without_scripts_pictures_stand_in_the_page_and_can_be_read(
    look: Looks,  # noqa: F811
    parseme: Site,
    device: str,
) -> None:
    looking = look(device, java_script_enabled=False)
    looking.go(PAGE)
    page = looking.page
    shown = page.locator("svg.figure:visible")
    expect(shown).to_have_count(PICTURES)
    assert page.evaluate(COLLISIONS) == []
    assert page.evaluate(SMALLEST) > 10
    assert page.evaluate(TOO_WIDE) == 0
    assert page.evaluate(WEIGHT) < HEAVIEST_BYTES
    column, drawn = page.locator(".chart").first.bounding_box(), shown.first.bounding_box()
    assert column is not None
    assert drawn is not None
    assert drawn["width"] > 0.9 * column["width"]


def test_the_script_says_what_is_pointed_at_hides_systems_and_makes_files(
    look: Looks,  # noqa: F811
    parseme: Site,
    tmp_path: Path,
) -> None:
    looking = look()
    looking.go(PAGE)
    page = looking.page
    languages = page.locator(".chart", has=page.locator("#languages-numbers"))
    drawing, tip = languages.locator("svg.wide"), languages.get_by_role("status")
    mark = drawing.locator('.fig-spot[data-of="Magpie"]').first
    mark.hover()
    expect(tip).to_have_text("Magpie\nFR\n72.00 %")
    expect(page.locator("#seen-unseen").locator("xpath=..").locator("svg.wide .fig-also")).to_have_count(1)
    page.mouse.move(0, 0)
    expect(tip).to_be_hidden()
    drawing.focus()
    drawing.press("ArrowRight")
    expect(tip).to_be_visible()
    key = drawing.get_by_role("button", name="Magpie")
    key.focus()
    key.press("Enter")
    expect(key).to_have_attribute("aria-pressed", "false")
    expect(mark).to_be_hidden()
    with page.expect_download() as started:
        languages.get_by_role("button", name="PNG").click()
    assert started.value.suggested_filename == "languages.png"
    started.value.save_as(tmp_path / "languages.png")
    assert (tmp_path / "languages.png").read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    assert (tmp_path / "languages.png").stat().st_size > 10_000
