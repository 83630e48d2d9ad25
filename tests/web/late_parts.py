"""A page whose fonts, styles or scripts come late, as over a slow line: how far visible parts move then."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import Page, Route

#: Ways to load a page, by what is held back in each.
WAYS: tuple[frozenset[str], ...] = (
    frozenset(),
    frozenset({"script"}),
    frozenset({"font"}),
    frozenset({"stylesheet"}),
    frozenset({"script", "font"}),
)
#: In soak every page is loaded ten times: each way at each size.
SIZES = {"desktop": (1440, 900), "phone": (390, 844)}

#: Notes each element that moved, and by how much, and when something is to be seen.
WATCH = """
window.painted = new Promise((done) => {
  new PerformanceObserver((list) => {
    if (list.getEntriesByName("first-contentful-paint").length) done();
  }).observe({ type: "paint", buffered: true });
});
window.moves = [];
const named = (source) => source.node
  ? `${source.node.nodeName}.${source.node.className ?? ""} by ${source.currentRect.y - source.previousRect.y}`
  : "something";
new PerformanceObserver((list) => {
  for (const one of list.getEntries()) moves.push(`${one.value.toFixed(4)}: ${one.sources.map(named).join(", ")}`);
}).observe({ type: "layout-shift", buffered: true });
"""
#: Two frames after which nothing is left to be laid out or reported.
SETTLED = """() => new Promise((done) => {
  requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 0)));
})"""


def moves(page: Page, address: str, late: frozenset[str]) -> list[str]:
    """Load the page with some parts held back until the rest is painted; return what moved after that."""
    with holding(page, late) as release:
        page.goto(address, wait_until="commit")
        if "stylesheet" in late:  # without it nothing is painted
            page.locator(".site-footer").wait_for(state="attached")
        else:
            page.evaluate("painted")
            page.evaluate(SETTLED)
        release()
        page.wait_for_load_state("networkidle")
        page.evaluate("painted")
        page.evaluate("document.fonts.ready.then(() => null)")
        page.evaluate(SETTLED)
    found: list[str] = page.evaluate("moves")
    return found


@contextmanager
def holding(page: Page, late: frozenset[str]) -> Iterator[Any]:
    """Hold back requests of these kinds; yield the function that releases them."""
    held: list[Route] = []
    is_open = False

    def decide(route: Route) -> None:
        if not is_open and route.request.resource_type in late:
            held.append(route)
        else:
            route.continue_()

    def release() -> None:
        nonlocal is_open
        is_open = True
        while held:
            held.pop(0).continue_()

    page.route("**/static/**", decide)
    yield release
    page.unroute("**/static/**", decide)
