"""A board of 200 rows and 40 columns beside one of 10 and 5, in a real Chromium: what a frame costs while one scrolls.

Both boards are scrolled in turn, both ways, a step in every frame. Figures are milliseconds between frames, the share
of frames that were late, how long the page's own thread and all threads of the browser computed for a frame (from its
trace; waiting for a processor does not count), the time until something is painted, what the server takes to make the
page, and its compressed weight. What counts is their ratios in one run: the rest is the machine, and a browser without
a graphics card. Needs Chromium (EVERGOLD_CHROMIUM, or one on the PATH).
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
from playwright.sync_api import Browser, Page, sync_playwright

from app.base.db import make_engine
from app.operations.migrate import upgrade
from bench._command import BenchParser, run, skip
from bench.boards import PAGE, Place, running
from tests.chromium import ABSENT, FLAGS, find_chromium
from tests.processes import short_folder
from tests.wide_board import fill_wide
from tests.world import add_competition

DEVICES = {"desktop": {"width": 1280, "height": 900}, "phone": {"width": 375, "height": 800}}
#: Rows and columns.
Size = tuple[int, int]
WIDE, SMALL = (200, 40), (10, 5)
WEIGHED = (50, 40)
#: One board, which saves the start of a server.
SMOKE = {"wide": SMALL, "weighed": [], "devices": ["phone"], "frames": 5, "turns": 1}
#: A frame later than this is late: sixty of them make a second.
LATE_MS = 1.5 * 1000 / 60
#: What Chromium calls the page's part of a frame, and all that any thread does.
OF_PAGE, OF_ALL = "ProxyMain::BeginMainFrame", "RunTask"
CATEGORIES = ["-*", "devtools.timeline", "disabled-by-default-devtools.timeline", "cc"]

#: Back and forth, down and up, a step in every frame; the times between frames.
SCROLL = """([frames, step]) => new Promise((finished) => {
  const region = document.querySelector(".board-scroll"), times = [];
  let last = 0, done = 0, x = step, y = step;
  const next = (now) => {
    if (last) times.push(now - last);
    last = now;
    const [left, top] = [region.scrollLeft, region.scrollTop];
    region.scrollBy(x, y);
    if (region.scrollLeft === left) x = -x;
    if (region.scrollTop === top) y = -y;
    if (done++ < frames) requestAnimationFrame(next); else finished(times);
  };
  requestAnimationFrame(next);
})"""
#: From the last byte of the page until something is to be seen.
PAINTED = """performance.getEntriesByName("first-contentful-paint")[0].startTime -
  performance.getEntriesByType("navigation")[0].responseEnd"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run, print a table (or JSON)."""
    parser = BenchParser(__doc__, smoke=SMOKE)
    parser.add_argument("--frames", type=int, default=120, help="of one turn")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--wide", type=size_of, default=WIDE, metavar="ROWSxCOLUMNS", help="default: 200x40")
    parser.add_argument(
        "--weighed", type=size_of, nargs="*", default=[WEIGHED], help="boards whose weight is measured, too"
    )
    parser.add_argument("--devices", nargs="+", choices=DEVICES, default=list(DEVICES))
    parser.add_argument("--step", type=int, default=40, help="pixels in a frame")
    arguments = parser.parse(argv)
    chromium = find_chromium()
    if chromium is None:
        skip(ABSENT, as_json=arguments.json)
        return 0
    boards = dict.fromkeys((arguments.wide, SMALL))
    with ExitStack() as stack:
        urls = {size: stack.enter_context(served(*size)) for size in dict.fromkeys((*boards, *arguments.weighed))}
        figures: dict[str, Any] = {"server": pages(urls, arguments.turns)}
        playwright = stack.enter_context(sync_playwright())
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        for device in arguments.devices:
            both = {size: urls[size] for size in boards}
            figures[device] = scrolled(browser, device, both, arguments.frames, arguments.turns, arguments.step)
        browser.close()
    print(json.dumps(figures, indent=1) if arguments.json else table(figures))
    return 0


@contextmanager
def served(rows: int, columns: int) -> Iterator[str]:
    """Yield the address of a board of this size, on a server without a cache."""
    with short_folder() as folder:
        address = f"sqlite:///{folder / 'evergold.db'}"
        engine = make_engine(address)
        upgrade(engine)
        now = datetime.now(UTC)
        add_competition(engine, starts_at=now - timedelta(days=30), ends_at=None)
        fill_wide(engine, rows, columns, now)
        engine.dispose()
        with running(Place(folder, address, None), answers_mebibytes=0) as server:
            yield server.url + PAGE


# ---------------------------------------------------------------------------------------------------------- the server


def pages(urls: Mapping[Size, str], turns: int) -> dict[str, dict[str, float]]:
    """Return the milliseconds to render each board, in turn, and its size."""
    took: dict[Size, list[float]] = {size: [] for size in urls}
    weight: dict[Size, int] = {}
    with httpx.Client(timeout=120, headers={"Accept": "text/html", "Accept-Encoding": "gzip"}) as client:
        for turn in range(turns + 1):
            for size, url in urls.items():
                began = time.perf_counter()
                weight[size] = client.get(url).num_bytes_downloaded
                if turn:  # the first answer has everything to load
                    took[size].append(1000 * (time.perf_counter() - began))
    return {
        name_of(size): {"made ms": statistics.median(took[size]), "compressed KiB": weight[size] / 1024}
        for size in urls
    }


# --------------------------------------------------------------------------------------------------------- the browser


def scrolled(
    browser: Browser, device: str, urls: Mapping[Size, str], frames: int, turns: int, step: int
) -> dict[str, dict[str, float]]:
    """Return the cost of frames on each board, the boards in turn."""
    found: dict[Size, list[dict[str, float]]] = {size: [] for size in urls}
    times: dict[Size, list[float]] = {size: [] for size in urls}
    viewport: Any = DEVICES[device]
    for turn in range(turns + 1):
        for size in urls:
            with browser.new_context(viewport=viewport) as context:
                page = context.new_page()
                page.goto(urls[size], wait_until="networkidle")
                between = page.evaluate(SCROLL, [frames, step])
                painted = float(page.evaluate(PAINTED))
                cost = traced(browser, page, frames, step)
            if turn:  # the first turn warms up
                times[size] += between
                found[size].append({"painted ms": painted, **cost})
    return {name_of(size): {**frame_times(times[size]), **medians(found[size])} for size in urls}


def traced(browser: Browser, page: Page, frames: int, step: int) -> dict[str, float]:
    """Return the milliseconds per frame, of the main thread and of all threads, and the number of layouts."""
    browser.start_tracing(page=page, categories=CATEGORIES)
    page.evaluate(SCROLL, [frames, step])
    events = json.loads(browser.stop_tracing())["traceEvents"]
    spent = {
        what: sum(event.get("tdur", 0) for event in events if event["name"] == name) / 1000 / frames
        for what, name in (("page ms", OF_PAGE), ("all threads ms", OF_ALL))
    }
    return {**spent, "layouts": sum(event["name"] == "Layout" for event in events) / frames}


def frame_times(times: Sequence[float]) -> dict[str, float]:
    """Return the milliseconds between frames, and how many were late."""
    ordered = sorted(times)
    return {
        "frame ms": statistics.median(ordered),
        "p95 ms": ordered[int(0.95 * len(ordered))],
        "late %": 100 * sum(one > LATE_MS for one in ordered) / len(ordered),
    }


def medians(found: Sequence[dict[str, float]]) -> dict[str, float]:
    """Return the median of each figure over the turns."""
    return {name: statistics.median(one[name] for one in found) for name in found[0]}


def name_of(size: Size) -> str:
    """Format as `200 x 40`."""
    return f"{size[0]} x {size[1]}"


def size_of(text: str) -> Size:
    """Parse `200x40`."""
    rows, columns = map(int, text.split("x"))
    return rows, columns


def table(figures: dict[str, Any]) -> str:
    """Return a line for each board, then the ratios of the wide one to the small one."""
    lines = []
    for place, boards in figures.items():
        for name, found in boards.items():
            lines.append(f"{place:8} {name:9} " + "  ".join(f"{what} {value:.2f}" for what, value in found.items()))
        wide, small = next(iter(boards.values())), boards[name_of(SMALL)]
        ratios = [f"{what} {wide[what] / small[what]:.2f}" for what in wide if small[what]]
        lines.append(f"{place:8} {'ratio':9} " + "  ".join(ratios))
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(run(main))
