"""An organiser with the right to edit alone, who declares a baseline for each label of sealed or plain gold."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import unescape

import httpx

from tests.attacks.server import API
from tests.web.reading import text_of
from tests.web.site import csrf_of

#: More than a phase may have, and as many as it may.
PROBES = (63, 10)


def attack(browser: httpx.Client, competition: str, ids: Sequence[str], probes: int) -> tuple[int, str, int]:
    """Return the server's answer, status and sentence, and how many baselines were scored. browser: logged in."""
    page = browser.get(f"/competitions/{competition}/edit")
    token = csrf_of(page.text)
    place = browser.post(f"/competitions/{competition}/rewrite", data={"csrf_token": token}).url.path
    for probe in range(probes):
        rows = "".join(f"{one},{int(number == probe)}\n" for number, one in enumerate(ids))
        files: list[tuple[str, tuple[str | None, str]]] = [
            ("csrf_token", (None, token)),
            ("file", (f"probe-{probe}.csv", f"id,label\n{rows}")),
        ]
        browser.post(f"{place}/files", files=files)
    whole = browser.get(place).text
    version = whole.split('name="version" value="', 1)[1].split('"', 1)[0]
    document = text_of_area(whole)
    lines = "".join(f"              - {{name: P{probe}, file: probe-{probe}.csv}}\n" for probe in range(probes))
    keys = ("", f"gold: {competition}/gold.csv", "items: items.csv", f"baselines:\n{lines}")
    asked = f" {{gold: {competition}/gold.csv, items: items.csv}}\n"
    changed = document.replace(asked, "\n            ".join(keys)) if asked in document else document
    browser.post(f"{place}/yaml", data={"csrf_token": token, "version": version, "yaml": changed})
    answer = browser.post(f"{place}/build", data={"csrf_token": token})
    board = browser.get(f"{API}/competitions/{competition}/phases/evaluation/boards/main").json()
    scored = sum(row.get("kind") == "baseline" for row in board["rows"])
    browser.post(f"{place}/discard", data={"csrf_token": token})
    return answer.status_code, _sentence(text_of(answer.text)), scored


def _sentence(text: str) -> str:
    """Return the page's sentence about baselines."""
    found = re.search(r"[^.]*aselines on hidden gold.*?\.", text)
    return found[0].strip() if found else text[:200]


def text_of_area(page: str) -> str:
    """Return the content of the declaration's text field on a page."""
    return unescape(page.split('name="yaml"', 1)[1].split(">", 1)[1].split("</textarea>", 1)[0]).lstrip("\n")
