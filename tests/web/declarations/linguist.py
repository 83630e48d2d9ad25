"""Somebody with a browser and no shell, who writes a competition by filling in forms."""

from __future__ import annotations

import html
import re
from pathlib import Path

import httpx

from tests.web.markup import read
from tests.web.reading import text_of
from tests.web.site import csrf_of

EXAMPLE = Path("docs/examples/table")
BEGIN = {"title": "Do they mean it?", "name": "irony", "type": "table"}
OPTIONS = {"metrics": "macro_f1\nmcc", "labels": "ironic\nsincere", "groups": "language: [en, pt]"}


class Linguist:
    """Somebody with a browser and no shell, who fills in forms."""

    def __init__(self, browser: httpx.Client, name: str = "ada") -> None:
        self.browser = browser
        self.name = name
        self.token = csrf_of(browser.get("/organise").text)

    def send(self, path: str, **fields: str) -> httpx.Response:
        return self.browser.post(path, data={"csrf_token": self.token, **fields})

    def begin(self, **fields: str) -> str:
        """Begin a competition and return its address; its few items are not divided."""
        place = self.send("/organise", **{**BEGIN, **fields}).url.path
        if "copy" not in fields:
            self.say(place, "phases/0/visibility", story="open")
        return place

    def upload(self, place: str, name: str, content: bytes) -> httpx.Response:
        """Upload a file as a form does: the token comes before the file."""
        files: list[tuple[str, tuple[str | None, bytes]]] = [
            ("csrf_token", (None, self.token.encode())),
            ("file", (name, content)),
        ]
        return self.browser.post(place, files=files)

    def say(self, place: str, at: str, **fields: str) -> str:
        """Save a form, with the values that it already shows, as a browser does; return the text of the next page."""
        address = {"url": f"{place}/part", "params": {"at": at}}
        page = self.browser.get(**address).text  # type: ignore[arg-type]
        sent = {**_shown(page), "version": version_of(page), "csrf_token": self.token, **fields}
        return text_of(self.browser.post(**address, data=sent).text)  # type: ignore[arg-type]


def version_of(page: str) -> str:
    return page.split('name="version" value="', 1)[1].split('"', 1)[0]


def _shown(page: str) -> dict[str, str]:
    """Return the values in the form to be saved, the last one of the page."""
    sent = [one for one in read(page).all("input") if one.get("type") not in ("radio", "checkbox") or "checked" in one]
    values = {one["name"]: one.get("value", "") for one in sent if one.get("name")}
    for name, options in re.findall(r'<select id="[^"]*" name="([^"]+)"[^>]*>(.*?)</select>', page, re.DOTALL):
        if chosen := re.search(r"<option selected>([^<]*)", options):
            values[name] = html.unescape(chosen[1])
    return {name: value for name, value in values.items() if name not in ("q", "csrf_token", "version")}


def written(ada: Linguist, **fields: str) -> str:
    """Write both languages of the example, completely; return the address."""
    place = ada.begin(**fields)
    for name in ("items.csv", "prediction.csv"):
        assert ada.upload(f"{place}/files", name, (EXAMPLE / name).read_bytes()).status_code == 200
    ada.say(place, "tasks/0/options", **OPTIONS)
    ada.say(place, "phases/0/tasks/main", items="items.csv")
    scores = [("macro_f1", "language/mean"), ("mcc", "all")]
    columns = {
        f"columns.{place}.{key}": value
        for place, score in enumerate(scores)
        for key, value in zip(("metric", "split"), score, strict=True)
    }
    ada.say(place, "boards/0", **columns)
    page = ada.browser.get(place).text
    token = {"csrf_token": ada.token, "version": version_of(page), "name": ""}
    added = ada.browser.post(f"{place}/add", params={"at": "phases/0/tasks/main/baselines"}, data=token)
    assert added.url.path == f"{place}/part"
    ada.say(place, "phases/0/tasks/main/baselines/0", name="Always ironic", file="prediction.csv")
    return place
