"""Pages as a reader sees them, and their addresses."""

from __future__ import annotations

import html
import re

from tests.web.site import BROWSER, Site
from tests.world import COMPETITION, PHASE, TASK

HOME = "/"
COMPETITION_PAGE = f"/competitions/{COMPETITION}"
BOARD_PAGE = f"{COMPETITION_PAGE}/phases/{PHASE}/boards/zero-shot"
SUBMIT_PAGE = f"{COMPETITION_PAGE}/phases/{PHASE}/tasks/{TASK}/submit"


def text_of(page: str) -> str:
    """Return what a reader sees: no markup, single blanks."""
    main = page.split("<main", 1)[-1]
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", main)).split())


def visit(site: Site, path: str) -> str:
    with site.client(**BROWSER) as browser:
        return browser.get(path).text


def rows_of(page: str) -> list[str]:
    body = page.split("<tbody>")[1].split("</tbody>")[0]
    return [text_of(row) for row in body.split("<tr")[1:]]
