"""The pages in a real Chromium: desktop and phone, light and dark, by keyboard, and without scripts.

`tests.chromium` finds the browser. Where there is none, the tests skip and say so, except with CI=true.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect
from sqlalchemy import select

from app.base.db import reading
from app.models import RunStatus, ScoringRun
from evergold.moments import deadline_words
from tests import lanes, world
from tests.web.browsers import PATIENCE_MS, open_context, running_browser
from tests.web.pictures import keep
from tests.web.reading import BOARD_PAGE, COMPETITION_PAGE, HOME, SUBMIT_PAGE
from tests.web.site import CONTENT, PASSWORD, Site
from tests.world import DAY

pytestmark = pytest.mark.browser

DEVICES = {"desktop": {"width": 1280, "height": 900}, "phone": {"width": 375, "height": 800}}
#: Every device and every scheme with each commit; in soak each with each.
LOOKS = [("desktop", "light"), ("phone", "dark"), lanes.in_soak("desktop", "dark"), lanes.in_soak("phone", "light")]
expect.set_options(timeout=PATIENCE_MS)  # for every test in a browser: the machine may be busy


@dataclass
class Viewer:
    """A page, and its complaints and its requests to others."""

    page: Page
    url: str
    complaints: list[str] = field(default_factory=list)

    def go(self, path: str) -> None:
        self.page.goto(self.url + path)

    def register(self, username: str = "ada") -> None:
        self.go("/register")
        for name, value in (("username", username), ("email", f"{username}@example.org"), ("password", PASSWORD)):
            self.page.fill(f"#{name}", value)
        self.page.get_by_role("button", name="Create account").click()
        expect(self.page.locator(".person > summary")).to_be_visible()


@pytest.fixture(scope="module")
def chromium() -> Browser:
    """The browser for all tests of this file."""
    return running_browser()


@pytest.fixture
def site(empty_site: Site) -> Site:
    """The browser's clock is the real one, so here the server's is, too."""
    now = datetime.now(UTC)
    world.add_competition(empty_site.engine, starts_at=now - DAY, ends_at=now + 5 * DAY)
    empty_site.set_clock(now)
    return empty_site


@pytest.fixture
def look(chromium: Browser, site: Site) -> Iterator[Any]:
    """Opens pages; at the end nothing may have been complained about."""
    opened: list[tuple[BrowserContext, Viewer]] = []

    def open_page(device: str = "desktop", scheme: Any = "light", **more: Any) -> Viewer:
        size: Any = DEVICES[device]
        context = open_context(chromium, viewport=size, color_scheme=scheme, timezone_id="Asia/Kolkata", **more)
        looking = Viewer(context.new_page(), site.url)
        note = looking.complaints.append
        looking.page.on("console", lambda said: note(said.text) if said.type in ("error", "warning") else None)
        looking.page.on("pageerror", lambda error: note(str(error)))
        looking.page.on("request", lambda asked: None if asked.url.startswith((site.url, "data:")) else note(asked.url))
        opened.append((context, looking))
        return looking

    yield open_page
    complaints = [complaint for _, looking in opened for complaint in looking.complaints]
    for context, _ in opened:
        context.close()
    assert complaints == []


def waiting_run(site: Site) -> int:
    """The run that a worker would take next."""
    with reading(site.engine) as session:
        return session.scalars(select(ScoringRun.id).where(ScoringRun.status == RunStatus.QUEUED)).one()


def upload(looking: Viewer, folder: Path, content: bytes, method: str) -> None:
    file = folder / "predictions.csv"
    file.write_bytes(content)
    looking.page.locator("summary", has_text="System, method, notes").click()
    looking.page.fill("#method", method)
    looking.page.set_input_files("#file", file)
    looking.page.get_by_role("button", name="Submit", exact=True).click()
    looking.page.wait_for_url("**/submissions/*")
    expect(looking.page.locator(".chip")).to_have_text("Queued")


# ------------------------------------------------------------------------------------------------------- the whole way


@pytest.mark.parametrize(("device", "scheme"), [lanes.in_soak("desktop", "light"), ("phone", "dark")])
def test_a_newcomer_registers_errs_understands_and_stands_on_the_board(
    look: Any, site: Site, tmp_path: Path, device: str, scheme: str
) -> None:
    looking = look(device, scheme)
    page = looking.page
    looking.register()
    page.get_by_role("link", name="Idioms").click()
    page.get_by_role("link", name="Submit to Detection, Evaluation").first.click()
    expect(page.locator("#main")).to_contain_text("10 left today")
    page.get_by_role("link", name="The format and the exact metrics").click()
    expect(page.locator("#idiom-detection")).to_be_in_viewport()
    page.go_back()

    upload(looking, tmp_path, b"not what was asked for", "first try")
    address = page.url
    world.reject(site.engine, waiting_run(site))
    expect(page.locator(".chip")).to_have_text("Rejected")  # by itself: nothing was clicked
    expect(page.get_by_role("status")).to_contain_text("Rejected.")  # and it was announced
    expect(page.get_by_role("row").nth(1)).to_contain_text("id 203 appears twice, first on line 9")
    keep(page, f"newcomer-rejected-{device}-{scheme}")
    assert page.url == address

    page.get_by_role("link", name="Upload a corrected file").click()
    upload(looking, tmp_path, CONTENT, "second try")
    run_id = waiting_run(site)
    held = world.sure(world.claim(site.engine, run_id))
    expect(page.locator(".chip")).to_have_text("Scoring")
    world.finish(site.engine, held, [*world.scores_of(world.ZERO_SHOT, 0.7037)])
    expect(page.locator(".chip")).to_have_text("Scored")
    expect(page.locator(".standings")).to_contain_text("0.7037")

    page.locator(".standings").get_by_role("link", name="zero-shot").click()
    row = page.get_by_role("row").filter(has_text="ada")
    expect(row).to_contain_text("you")
    expect(row).to_contain_text("0.7037")
    keep(page, f"newcomer-board-{device}-{scheme}")
    row.get_by_role("link", name="ada", exact=True).click()
    expect(page.get_by_role("heading", name="ada")).to_be_visible()
    assert page.url.endswith("/teams/ada")


def test_without_scripts_everything_still_works(look: Any, site: Site, tmp_path: Path) -> None:
    looking = look(java_script_enabled=False)
    looking.register()
    looking.go(SUBMIT_PAGE)
    upload(looking, tmp_path, CONTENT, "no scripts")
    world.score(site.engine, waiting_run(site), 0.5)
    expect(looking.page.locator(".chip")).to_have_text("Scored")  # the page asks again by itself
    looking.go(BOARD_PAGE)
    expect(looking.page.locator(".board tbody tr").first).to_contain_text("0.5000")
    looking.page.locator(".person > summary").click()
    looking.page.get_by_role("button", name="Log out").click()
    expect(looking.page.get_by_role("link", name="Log in")).to_be_visible()


def test_by_keyboard_alone(look: Any, site: Site) -> None:
    looking = look()
    looking.register()
    page = looking.page
    looking.go(HOME)
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    expect(page.get_by_role("link", name="Skip to the content")).to_be_in_viewport()
    page.keyboard.press("Enter")
    tab_to(page, page.get_by_role("link", name="Idioms").first)
    page.keyboard.press("Enter")
    page.wait_for_url(f"**{COMPETITION_PAGE}")
    expect(page.get_by_role("heading", level=1)).to_have_text("Idioms")
    submit = page.get_by_role("link", name="Submit to Detection, Evaluation").first
    tab_to(page, submit)
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.keyboard.press("Enter")
    page.wait_for_url("**/submit")
    tab_to(page, page.get_by_role("button", name="Submit", exact=True))
    page.keyboard.press("Enter")  # without a file the browser itself says what is missing
    assert page.evaluate("document.querySelector('#file').validity.valueMissing")
    assert page.url.endswith("/submit")
    tab_to(page, page.locator("summary", has_text="System, method, notes"))
    page.keyboard.press("Enter")
    tab_to(page, page.get_by_label("Method"))
    page.keyboard.type("typed")


def tab_to(page: Page, wanted: Any) -> None:
    """Press Tab until it has the focus: everything can be reached, and in some order."""
    for _ in range(60):
        page.keyboard.press("Tab")
        if wanted.evaluate("element => element === document.activeElement"):
            return
    pytest.fail("this cannot be reached by keyboard")


# ------------------------------------------------------------------------------------------------------- small comforts


def test_times_are_shown_in_the_readers_zone_and_count_down(look: Any) -> None:
    looking = look()
    looking.go(COMPETITION_PAGE)
    deadline = looking.page.locator("time.deadline").first
    moment = datetime.fromisoformat(deadline.get_attribute("datetime") or "")
    expect(deadline).to_have_text(deadline_words(moment, ZoneInfo("Asia/Kolkata")))
    expect(looking.page.locator("[data-until] .left").first).to_have_text("4 days left")


def test_a_file_that_is_too_large_is_not_even_sent(look: Any, site: Site, tmp_path: Path) -> None:
    looking = look()
    looking.register()
    looking.go(SUBMIT_PAGE)
    file = tmp_path / "large.csv"
    file.write_bytes(bytes(1_000_001))
    looking.page.set_input_files("#file", file)
    expect(looking.page.get_by_text("larger than the 977 KiB allowed here")).to_be_visible()
    looking.page.get_by_role("button", name="Submit", exact=True).click()
    assert looking.page.url.endswith("/submit")
    assert site.submissions() == 0


def test_a_double_click_uploads_once(look: Any, site: Site, tmp_path: Path) -> None:
    looking = look()
    looking.register()
    looking.go(SUBMIT_PAGE)
    file = tmp_path / "predictions.csv"
    file.write_bytes(CONTENT)
    looking.page.set_input_files("#file", file)
    looking.page.get_by_role("button", name="Submit", exact=True).dblclick()
    looking.page.wait_for_url("**/submissions/*")
    expect(looking.page.locator(".chip")).to_have_text("Queued")
    assert site.submissions() == 1


def test_a_new_token_is_shown_once_and_can_be_revoked(look: Any) -> None:
    looking = look()
    looking.register()
    looking.go("/account")
    looking.page.get_by_label("Name of a new token").fill("laptop")
    looking.page.get_by_role("button", name="Create token").click()
    expect(looking.page.locator("#secret")).to_contain_text("evg_")
    looking.page.reload()
    expect(looking.page.locator("#secret")).to_have_count(0)
    looking.page.get_by_role("button", name="Revoke laptop").click()
    expect(looking.page.get_by_text("You have none yet")).to_be_visible()


def test_the_apis_page_works_offline(look: Any) -> None:
    looking = look()
    looking.register()
    looking.go("/docs#/accounts")  # operations are drawn as they come into view
    operation = looking.page.locator("#operations-accounts-read_account")
    operation.click()
    operation.get_by_role("button", name="Try it out").click()
    operation.get_by_role("button", name="Execute").click()
    expect(operation.locator(".live-responses-table")).to_contain_text('"username": "ada"')


# ---------------------------------------------------------------------------------------------------------- every page


CONTRAST = """() => {
  const channel = (value) => { const x = value / 255; return x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4; };
  const luminance = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  const colour = (text) => text.match(/[\\d.]+/g).map(Number);
  const behind = (element) => {
    for (let e = element; e; e = e.parentElement) {
      const found = colour(getComputedStyle(e).backgroundColor);
      if (found.length < 4 || found[3] > 0) return found;
    }
    return [255, 255, 255];
  };
  const faint = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !element.checkVisibility()) continue;
    if (element.closest(".visually-hidden, .skip")) continue;
    const style = getComputedStyle(element);
    const [a, b] = [luminance(colour(style.color)), luminance(behind(element))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const size = parseFloat(style.fontSize);
    const isLarge = size >= 24 || (size >= 18.66 && style.fontWeight >= 700);
    if (ratio < (isLarge ? 3 : 4.5)) faint.push(`${ratio.toFixed(2)} ${walker.currentNode.data.trim().slice(0, 40)}`);
  }
  return faint;
}"""


@pytest.mark.parametrize(("device", "scheme"), LOOKS)
def test_every_page_fits_and_can_be_read(look: Any, site: Site, device: str, scheme: str) -> None:
    site.add_file("template.csv", b"ID,Language,Setting,Label\n" + b"1,EN,zero_shot," + b"x" * 200, "Template")
    long_name = "A team with quite a long name, from a university far away"
    rival = world.add_user(site.engine, "rival", display_name=long_name)
    world.score(site.engine, world.submit(site.engine, rival, site.now, method="m" * 200).run_id, 0.5)
    looking = look(device, scheme)
    looking.register()
    more = ("/submissions", "/account", "/password/forgot", "/status")
    for path in (HOME, COMPETITION_PAGE, BOARD_PAGE, SUBMIT_PAGE, *more):
        looking.go(path)
        page = looking.page
        wider = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wider == 0, f"{path} is {wider} px too wide"
        assert page.evaluate(CONTRAST) == [], path
