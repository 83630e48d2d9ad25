"""A board of 200 rows and 40 columns in a real Chromium: what stays put, what works, and how little each cell costs.
`bench/wide_board.py` measures how long its frames take; here is what makes them short.
"""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests import lanes
from tests.web.reading import BOARD_PAGE
from tests.web.site import BROWSER, Site
from tests.web.test_browser import chromium, look, site  # noqa: F401 - fixtures
from tests.wide_board import fill_wide

pytestmark = pytest.mark.browser
ROWS, COLUMNS = 200, 40
#: A page may weigh as much, compressed.
WEIGHT_LIMIT_BYTES = 150 * 1024

#: Where the head and the teams in sight lie, from the edges of what is scrolled, and what can be pointed at there.
SEEN = """() => {
  const region = document.querySelector(".board-scroll"), edge = region.getBoundingClientRect();
  const copy = document.querySelector(".floating.top.on");
  const head = (copy?.querySelector("thead") ?? region.querySelector("thead")).getBoundingClientRect();
  const inside = (box) => box.top > head.bottom && box.bottom < Math.min(edge.bottom, innerHeight);
  const teams = [...region.querySelectorAll("tbody th.team")].filter((one) => inside(one.getBoundingClientRect()));
  const covered = teams.filter((one) => {
    const box = one.getBoundingClientRect();
    return !one.contains(document.elementFromPoint(box.left + 4, box.top + box.height / 2));
  });
  const heads = (whole) => [...whole.querySelectorAll("thead th")].map((one) => one.getBoundingClientRect().left);
  const apart = copy ? heads(copy).map((left, place) => Math.abs(left - heads(region)[place])) : [0];
  return {
    head: Math.round(head.top),
    headsApart: Math.max(...apart) > 1,
    teams: [...new Set(teams.map((one) => Math.round(one.getBoundingClientRect().left - edge.left)))],
    inSight: teams.length,
    covered: covered.length,
    overflows: document.documentElement.scrollWidth > innerWidth,
    at: [region.scrollLeft, scrollY].map(Math.round),
  };
}"""
ALONG = "(region, to) => { region.scrollLeft = to; scrollTo(0, 600 + 2 * to); }"
#: What each cell of the body is made of.
CELLS = """() => {
  const cells = [...document.querySelectorAll(".board tbody td.num")];
  const costly = (style) => style.position !== "static" || style.boxShadow !== "none" || style.filter !== "none" ||
    style.willChange !== "auto" || style.animationName !== "none" || style.transitionProperty.includes("background");
  const all = [...document.querySelectorAll(".board-scroll *")];
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
    page.locator(".board-scroll").evaluate("(region, to) => { region.scrollLeft = to[0]; scrollTo(0, to[1]); }", [x, y])
    page.evaluate("() => new Promise((painted) => requestAnimationFrame(() => setTimeout(painted, 100)))")
    return page.evaluate(SEEN)


@pytest.mark.parametrize("device", [lanes.in_soak("desktop"), "phone"])
def test_head_and_teams_stay_put_wherever_one_scrolls(look: Any, wide: Site, device: str) -> None:  # noqa: F811
    looking = look(device)
    looking.go(BOARD_PAGE)
    for x, y in ((700, 900), (100, 4000), (2500, 4000), (2500, 700), (90, 700)):
        seen = scroll(looking.page, x, y)
        assert seen["at"] == [x, y]
        assert seen["head"] == 0, "at the edge of the window"
        assert not seen["headsApart"], "above its columns"
        assert len(seen["teams"]) == 1, "in one line, wherever one scrolls"
        assert 0 < seen["teams"][0] < 60, "at the border of what is scrolled"
        assert seen["inSight"] > 3
        assert seen["covered"] == 0
        assert not seen["overflows"], "the page itself never scrolls sideways"


@pytest.mark.parametrize("device", [lanes.in_soak("desktop"), "phone"])
def test_scrolling_computes_no_layout_anew(look: Any, wide: Site, device: str) -> None:  # noqa: F811
    looking = look(device)
    looking.go(BOARD_PAGE)
    scroll(looking.page, 10, 610)
    devtools = looking.page.context.new_cdp_session(looking.page)
    devtools.send("Performance.enable")

    def layouts() -> float:
        found = {one["name"]: one["value"] for one in devtools.send("Performance.getMetrics")["metrics"]}
        return float(found["LayoutCount"])

    before = layouts()
    for step in range(1, 20):
        looking.page.locator(".board-scroll").evaluate(ALONG, 100 * step)
        looking.page.evaluate("() => new Promise(requestAnimationFrame)")
    assert layouts() == before


def test_every_cell_is_one_element_and_nothing_of_it_is_drawn_apart(look: Any, wide: Site) -> None:  # noqa: F811
    looking = look()
    looking.go(BOARD_PAGE)
    found = looking.page.evaluate(CELLS)
    assert found["cells"] == ROWS * (COLUMNS + 1), "with the number of entries"
    assert found["inside"] == 0
    assert found["costly"] == 0
    assert found["sticky"] == ROWS + 2, "the team of each row, their heading, and the head as a whole"
    assert found["apart"] == 0, "neither cut off nor turned"
    assert found["scripted"] == 0


def test_it_is_sorted_searched_and_opened_like_any_other(look: Any, wide: Site) -> None:  # noqa: F811
    looking = look()
    page = looking.page
    looking.go(BOARD_PAGE)
    expect(page.locator("#board-count")).to_have_text(f"{ROWS} rows")
    page.locator("#sort-40").click()
    expect(page.locator("th[aria-sort]")).to_contain_text("Part 38")
    column = page.locator(".board-scroll tbody tr > :nth-child(43)").all_inner_texts()
    assert len(column) == ROWS
    assert column == sorted(column, reverse=True)
    page.get_by_label("Search team or method").fill("team 17")
    expect(page.locator("#board-count")).to_have_text(f"12 of {ROWS} rows")
    page.wait_for_url("**q=team+17**")
    page.wait_for_load_state("networkidle")
    page.locator("a[data-row]").first.click()
    opened = page.locator("tr.opened")
    expect(opened).to_contain_text("idiom-detection:1|accuracy|part-38")


def test_fifty_rows_of_forty_columns_are_no_heavier_than_a_page_may_be(site: Site) -> None:  # noqa: F811
    fill_wide(site.engine, 50, COLUMNS, site.now)
    with httpx.Client(headers={**BROWSER, "Accept-Encoding": "gzip"}, timeout=120) as client:
        answer = client.get(site.url + BOARD_PAGE)
    assert answer.headers["content-encoding"] == "gzip"
    assert answer.num_bytes_downloaded < WEIGHT_LIMIT_BYTES
