"""A board of 200 rows and 40 columns in a real Chromium: what stays put, what works, and how little each cell costs.

How long its frames take stands in `bench/wide_board.py`; here is what makes them short.
"""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.web.reading import BOARD_PAGE
from tests.web.site import BROWSER, Site
from tests.web.test_browser import DEVICES, PATIENCE_MS, chromium, look, site  # noqa: F401 - fixtures
from tests.wide_board import fill_wide

pytestmark = pytest.mark.browser
ROWS, COLUMNS = 200, 40
#: A page may weigh as much, compressed.
WEIGHT_LIMIT_BYTES = 150 * 1024

#: Where the head and the teams in sight lie, from the edge of what is scrolled, and what can be pointed at there.
SEEN = """() => {
  const region = document.querySelector(".board-scroll"), edge = region.getBoundingClientRect();
  const head = document.querySelector(".board > thead").getBoundingClientRect();
  const inside = (box) => box.top > head.bottom && box.bottom < Math.min(edge.bottom, innerHeight);
  const teams = [...document.querySelectorAll("tbody th.team")].filter((one) => inside(one.getBoundingClientRect()));
  const covered = teams.filter((one) => {
    const box = one.getBoundingClientRect();
    return !one.contains(document.elementFromPoint(box.left + 4, box.top + box.height / 2));
  });
  return {
    head: Math.round(head.top - edge.top),
    teams: [...new Set(teams.map((one) => Math.round(one.getBoundingClientRect().left - edge.left)))],
    inSight: teams.length,
    covered: covered.length,
    overflows: document.documentElement.scrollWidth > innerWidth,
    at: [region.scrollLeft, region.scrollTop].map(Math.round),
  };
}"""
#: What each cell of the body is made of.
CELLS = """() => {
  const cells = [...document.querySelectorAll(".board tbody td.num")];
  const costly = (style) => style.position !== "static" || style.boxShadow !== "none" || style.filter !== "none" ||
    style.willChange !== "auto" || style.animationName !== "none" || style.transitionProperty.includes("background");
  const all = [...document.querySelectorAll(".board *")];
  return {
    cells: cells.length,
    inside: cells.reduce((sum, cell) => sum + cell.getElementsByTagName("*").length, 0),
    costly: cells.filter((cell) => costly(getComputedStyle(cell))).length,
    sticky: all.filter((one) => getComputedStyle(one).position === "sticky").length,
    apart: all.filter((one) => one.closest("tbody") && (getComputedStyle(one).overflow !== "visible" ||
      getComputedStyle(one, "::before").transform !== "none")).length,
    scripted: document.querySelectorAll(".board [style], .board tbody [onclick]").length,
  };
}"""


@pytest.fixture
def wide(site: Site) -> Site:  # noqa: F811
    """The board, filled."""
    fill_wide(site.engine, ROWS, COLUMNS, site.now)
    return site


def scroll(page: Page, x: int, y: int) -> Any:
    """Go there, wait until it is painted, and look."""
    page.locator(".board-scroll").evaluate("(region, to) => region.scrollTo(...to)", [x, y])
    page.evaluate("() => new Promise((painted) => requestAnimationFrame(() => requestAnimationFrame(painted)))")
    return page.evaluate(SEEN)


@pytest.mark.parametrize("device", DEVICES)
def test_head_and_teams_stay_put_wherever_one_scrolls(look: Any, wide: Site, device: str) -> None:  # noqa: F811
    looking = look(device)
    looking.go(BOARD_PAGE)
    looking.page.locator(".board-scroll").scroll_into_view_if_needed()
    looking.page.locator(".board-scroll").evaluate("region => region.scrollIntoView()")
    for x, y in ((700, 900), (100, 4000), (2500, 4000), (2500, 160), (90, 160)):
        seen = scroll(looking.page, x, y)
        assert seen["at"] == [x, y]
        assert (seen["head"], seen["teams"]) == (1, [1]), "at the border of what is scrolled"
        assert seen["inSight"] > 3
        assert seen["covered"] == 0
        assert not seen["overflows"], "the page itself never scrolls sideways"


@pytest.mark.parametrize("device", DEVICES)
def test_scrolling_computes_no_layout_anew(look: Any, wide: Site, device: str) -> None:  # noqa: F811
    looking = look(device)
    looking.go(BOARD_PAGE)
    scroll(looking.page, 10, 10)
    devtools = looking.page.context.new_cdp_session(looking.page)
    devtools.send("Performance.enable")

    def layouts() -> float:
        found = {one["name"]: one["value"] for one in devtools.send("Performance.getMetrics")["metrics"]}
        return float(found["LayoutCount"])

    before = layouts()
    for step in range(1, 20):
        looking.page.locator(".board-scroll").evaluate("(region, to) => region.scrollTo(to, 2 * to)", 100 * step)
        looking.page.evaluate("() => new Promise(requestAnimationFrame)")
    assert layouts() == before


def test_every_cell_is_one_element_and_nothing_of_it_is_drawn_apart(look: Any, wide: Site) -> None:  # noqa: F811
    looking = look()
    looking.go(BOARD_PAGE)
    found = looking.page.evaluate(CELLS)
    assert found["cells"] == ROWS * (COLUMNS + 1), "with the number of entries"
    assert found["inside"] == 0
    assert found["costly"] == 0
    assert found["sticky"] == ROWS + 3, "the team of each row, their heading, the head as a whole, and the caption"
    assert found["apart"] == 0, "neither cut off nor turned"
    assert found["scripted"] == 0


def test_it_is_sorted_searched_and_opened_like_any_other(look: Any, wide: Site) -> None:  # noqa: F811
    looking = look()
    page = looking.page
    looking.go(BOARD_PAGE)
    expect(page.locator("#board-count")).to_have_text(f"{ROWS} rows")
    page.locator("#sort-40").click()
    expect(page.locator("th[aria-sort]")).to_contain_text("Part 38")
    column = page.locator("tbody tr > :nth-child(42)").all_inner_texts()
    assert len(column) == ROWS
    assert column == sorted(column, reverse=True)
    page.get_by_label("Search team or method").fill("team 17")
    expect(page.locator("#board-count")).to_have_text(f"12 of {ROWS} rows")
    page.wait_for_url("**q=team+17**")
    page.wait_for_load_state("networkidle")
    page.locator("a[data-row]").first.click()
    opened = page.locator("tr.opened")
    expect(opened).to_contain_text("idiom-detection:1|accuracy|part-38", timeout=PATIENCE_MS)


def test_fifty_rows_of_forty_columns_are_no_heavier_than_a_page_may_be(site: Site) -> None:  # noqa: F811
    fill_wide(site.engine, 50, COLUMNS, site.now)
    with httpx.Client(headers={**BROWSER, "Accept-Encoding": "gzip"}, timeout=120) as client:
        answer = client.get(site.url + BOARD_PAGE)
    assert answer.headers["content-encoding"] == "gzip"
    assert answer.num_bytes_downloaded < WEIGHT_LIMIT_BYTES
