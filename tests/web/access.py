"""The requirements of every page, checked in a real browser: axe-core's rules, and others that it does not have.

Complaints are sentences; a page that meets everything has none.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
from axe_playwright_python.base import AXE_FILE_PATH
from playwright.sync_api import Browser, Page, Request

from tests.web.browsers import open_context

#: Of the compressed page, with its styles and scripts.
HEAVIEST_BYTES = 150_000
DESKTOP: Any = {"width": 1280, "height": 900}
PHONE: Any = {"width": 375, "height": 800}
#: axe's rules as they come, and a size for fingers (WCAG 2.2 AA), which axe leaves to choose.
RULES: dict[str, Any] = {"resultTypes": ["violations"], "rules": {"target-size": {"enabled": True}}}
#: Those on which the colours and the width of a screen tell.
RULES_OF_LOOKS: dict[str, Any] = {
    "resultTypes": ["violations"],
    "runOnly": ["color-contrast", "link-in-text-block", "scrollable-region-focusable", "target-size"],
}

OWED = """(without) => {
  const wrong = [];
  const ours = (what) => [...document.querySelectorAll(what)].filter((one) => !without || !one.closest(without));
  const told = (element) => element.outerHTML.slice(0, 120);
  const named = (element) => element.ariaLabel ??
    element.getAttribute("aria-labelledby")?.split(" ").every((id) => document.getElementById(id)?.textContent);
  if (!document.documentElement.lang) wrong.push("the page does not say its language");
  if (!document.title.trim()) wrong.push("the page has no title");
  const headings = document.querySelectorAll("h1").length;
  if (headings !== 1) wrong.push(`there are ${headings} headings of the first level`);
  for (const table of ours("table"))
    if (!table.caption?.textContent.trim() && !named(table)) wrong.push(`no caption: ${told(table)}`);
  for (const heading of ours("th:not([scope])")) wrong.push(`no scope: ${told(heading)}`);
  for (const control of ours("input:not([type=hidden]), select, textarea"))
    if (!control.labels.length && !named(control)) wrong.push(`no label: ${told(control)}`);
  for (const drawing of ours("main svg:not([aria-hidden=true])"))
    if (!named(drawing)) wrong.push(`no name: ${told(drawing)}`);
  return wrong;
}"""
#: What the live page has that the page as sent has not, or hides: it would need scripts.
ONLY_WITH_SCRIPTS = """(sent) => {
  const without = new DOMParser().parseFromString(sent, "text/html");
  const all = (page, what) => [...page.querySelectorAll(`main ${what}`)].filter((one) => !one.closest("[hidden]"));
  const told = (page) => new Set([
    ...all(page, "a[href]").map((one) => `link to ${one.getAttribute("href")}`),
    ...all(page, "[name]").map((one) => `control ${one.name}`),
    ...all(page, ":is(h1, h2, h3, h4, caption, summary, th, td, dt, svg text)").map((one) =>
      [...one.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE).map((node) => node.data).join(" ").trim()),
  ]);
  const found = told(without);
  return [...told(document)].filter((one) => !found.has(one)).map((one) => `only with scripts: ${one}`);
}"""
#: Which kinds of elements there are: what axe's rules can tell pages of one template apart by.
SKELETON = """() => [...new Set([...document.querySelectorAll("body *")].map((element) =>
  ["role", "type", "class", "aria-sort", "aria-current", "disabled", "open"].reduce(
    (kind, name) => element.hasAttribute(name) ? `${kind} ${name}=${element.getAttribute(name)}` : kind,
    element.localName)))]"""
WEIGHT = """() => [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
  .map((part) => part.encodedBodySize).reduce((sum, bytes) => sum + bytes, 0)"""
VIOLATIONS = "async ([where, rules]) => (await axe.run(where, rules)).violations"
TOO_WIDE = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
REFUSED = """() => {
  const form = document.querySelector("main form[method=post]:not(.inline)");  // those stand in rows
  form.noValidate = true;
  if (form.matches("[data-upload]")) form.submit();  // past its script, which would not even send it
  else form.requestSubmit();
}"""


class Reader:
    """A page of a browser, and its complaints and requests to others since the last call."""

    def __init__(self, page: Page, url: str) -> None:
        self.page = page
        self.url = url
        self.noted: list[str] = []
        page.on("console", lambda said: self._note(said.text) if said.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: self._note(str(error)))
        page.on("request", self._check_request)

    def _check_request(self, asked: Request) -> None:
        if not asked.url.startswith((f"{self.url}/", "data:")):
            self._note(f"asks {asked.url}")

    def _note(self, complaint: str) -> None:
        self.noted.append(complaint)

    def go(self, path: str, status: int = 200) -> str:
        """Return the page as the server sent it; the browser may report a status that is expected to be an error."""
        self.page.emulate_media(color_scheme="light", reduced_motion="no-preference")
        self.page.set_viewport_size(DESKTOP)
        response = self.page.goto(self.url + path)
        assert response is not None
        assert response.status == status, (path, response.status)
        self.page.locator("h1").first.wait_for(state="attached")  # some of the API's page is made by its script
        self._forgive(status)
        return response.text()

    def send_empty(self) -> None:
        """Send the first form with nothing more filled in, which must be refused."""
        with self.page.expect_navigation() as sent:
            self.page.evaluate(REFUSED)
        assert 400 <= sent.value.status < 500, sent.value.status
        self._forgive(sent.value.status)

    def _forgive(self, status: int) -> None:
        self.noted = [one for one in self.noted if status == 200 or f"status of {status}" not in one]

    def skeleton(self) -> set[str]:
        """Return the kinds of elements of the current page."""
        return set(self.page.evaluate(SKELETON))

    def complaints(self, sent: str | None, *, without: str = "", axe: bool = True, looks: bool = True) -> list[str]:
        """Return the complaints about the current page, light on a desktop and dark on a phone.

        sent: the page without scripts; without: a part that is not ours; axe: True to check axe's rules, too, which
        takes most of the time; looks: True to check that the dark page is legible, too.
        """
        found = [*self.page.evaluate(OWED, without), *(self._axe(RULES, without) if axe else ())]
        if sent is not None:
            found += self.page.evaluate(ONLY_WITH_SCRIPTS, sent)
            weight = self.page.evaluate(WEIGHT)
            assert weight > 0
            found += [f"weighs {weight} bytes"] if weight > HEAVIEST_BYTES else []
        self.page.emulate_media(color_scheme="dark")
        self.page.set_viewport_size(PHONE)
        if looks:
            found += [f"dark, on a phone: {one}" for one in self._axe(RULES_OF_LOOKS, without)]
        wider = self.page.evaluate(TOO_WIDE)
        found += [f"{wider} px too wide for a phone"] if wider else []
        noted, self.noted = self.noted, []
        return found + noted

    def _axe(self, rules: dict[str, Any], without: str) -> list[str]:
        """Return axe's complaints; its script of half a megabyte is sent to a page only once, and only violations come
        back.
        """
        if not self.page.evaluate("'axe' in window"):
            self.page.evaluate(Path(AXE_FILE_PATH).read_text(encoding="utf-8"))
        where = {"exclude": [without]} if without else {"include": [":root"]}
        violations = self.page.evaluate(VIOLATIONS, [where, rules])
        return [f"{one['id']}: {node['html'][:160]}" for one in violations for node in one["nodes"][:3]]


@contextmanager
def reader_of(chromium: Browser, url: str, person: httpx.Client | None = None) -> Iterator[Reader]:
    """Yield somebody who reads pages of the server, logged in as this person if one is given."""
    context = open_context(chromium, timezone_id="Asia/Kolkata")
    if person is not None:
        cookies: list[Any] = [
            {"name": one.name, "value": one.value or "", "url": url, "httpOnly": True} for one in person.cookies.jar
        ]
        context.add_cookies(cookies)
    yield Reader(context.new_page(), url)
    context.close()
