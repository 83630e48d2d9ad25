"""An organiser with the right to edit alone, who declares a baseline for each label of sealed or plain gold."""

from __future__ import annotations

from collections.abc import Sequence
from html import unescape

import httpx

from tests.attacks.server import API
from tests.web.reading import text_of
from tests.web.site import csrf_of

PROBES = 63


def attack(browser: httpx.Client, competition: str, ids: Sequence[str]) -> tuple[int, str]:
    """Return how many baselines were scored, and what the server said. browser: logged in, with a session."""
    page = browser.get(f"/competitions/{competition}/edit")
    token = csrf_of(page.text)
    place = browser.post(f"/competitions/{competition}/rewrite", data={"csrf_token": token}).url.path
    for probe in range(PROBES):
        rows = "".join(f"{one},{int(number == probe)}\n" for number, one in enumerate(ids))
        files: list[tuple[str, tuple[str | None, str]]] = [
            ("csrf_token", (None, token)),
            ("file", (f"probe-{probe}.csv", f"id,label\n{rows}")),
        ]
        browser.post(f"{place}/files", files=files)
    whole = browser.get(place).text
    version = whole.split('name="version" value="', 1)[1].split('"', 1)[0]
    document = text_of_area(whole)
    probes = "".join(f"              - {{name: P{probe}, file: probe-{probe}.csv}}\n" for probe in range(PROBES))
    asked = f"{{gold: {competition}/gold.csv, items: items.csv}}"
    block = (
        f"\n            gold: {competition}/gold.csv\n            items: items.csv\n            baselines:\n{probes}"
    )
    changed = document.replace(f" {asked}\n", block)
    assert changed != document, document
    browser.post(f"{place}/yaml", data={"csrf_token": token, "version": version, "yaml": changed})
    answer = browser.post(f"{place}/build", data={"csrf_token": token})
    board = browser.get(f"{API}/competitions/{competition}/phases/evaluation/boards/main").json()
    scored = sum(row.get("kind") == "baseline" for row in board["rows"])
    return scored, f"{answer.status_code}: {text_of(answer.text)}"


def text_of_area(page: str) -> str:
    """What stands in the field of the declaration."""
    return unescape(page.split('name="yaml"', 1)[1].split(">", 1)[1].split("</textarea>", 1)[0]).lstrip("\n")
