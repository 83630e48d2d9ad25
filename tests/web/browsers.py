"""The Chromium of this process, which is shared by several files, and browsers of people who wait until a page is
complete.

A click that leads to another page returns when that page begins to arrive; its scripts may then still be loading.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Playwright, sync_playwright

from tests.chromium import ABSENT, FLAGS, find_chromium

#: Longest time that anything on a page may take.
PATIENCE_MS = 30_000
#: Nothing can be pointed at before a page's scripts have run, and Playwright waits until it can.
_WHOLE_FIRST = """
if (document.readyState === "loading") {
  const veil = new CSSStyleSheet();
  veil.replaceSync("* { pointer-events: none !important }");
  document.adoptedStyleSheets.push(veil);
  const unveil = () => { document.adoptedStyleSheets = document.adoptedStyleSheets.filter((one) => one !== veil); };
  document.addEventListener("DOMContentLoaded", unveil);
}
"""


@dataclass(frozen=True, slots=True)
class _Running:
    playwright: Playwright
    browser: Browser


_running: list[_Running] = []


def running_browser() -> Browser:
    """Return the browser, started for the first caller; without one the test is skipped, and in CI it fails."""
    if not _running:
        found = find_chromium()
        if found is None:
            pytest.fail(ABSENT) if os.environ.get("CI") == "true" else pytest.skip(ABSENT)
        playwright = sync_playwright().start()
        _running.append(_Running(playwright, playwright.chromium.launch(executable_path=found, args=FLAGS)))
    return _running[0].browser


def end_browser() -> None:
    """End the browser, if there is one: later tests may need an event loop, and Playwright leaves no room
    for another.
    """
    while _running:
        ended = _running.pop()
        ended.browser.close()
        ended.playwright.stop()


def open_context(chromium: Browser, **options: Any) -> BrowserContext:
    """Return a context for somebody patient.

    Files can be chosen and keys pressed at any time: pages must work for the hasty.
    """
    context = chromium.new_context(**options)
    context.set_default_timeout(PATIENCE_MS)
    if options.get("java_script_enabled", True):  # without scripts the veil would stay
        context.add_init_script(_WHOLE_FIRST)
    return context
