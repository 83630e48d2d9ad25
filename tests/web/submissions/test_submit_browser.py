"""Submitting in a real Chromium: dropped files, progress, stages, lost connections, the check that costs nothing."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from playwright.sync_api import APIResponse, Page, Route, expect
from sqlalchemy import select

from app.base.db import reading, writing
from app.models import Validation, ValidationStatus
from app.runs.validations import claim_validation, record_invalid, record_valid
from evergold.scoring.errors import Problem
from tests import lanes, world
from tests.web.browsers import PATIENCE_MS
from tests.web.late_parts import holding
from tests.web.reading import SUBMIT_PAGE
from tests.web.site import CONTENT, PASSWORD, Site
from tests.web.test_browser import Viewer, chromium, look, site, waiting_run  # noqa: F401 - fixtures
from tests.world import the_phase_task

pytestmark = pytest.mark.browser

PERSIAN, HEBREW = "می‌روم", "שלום"
DROP = """([name, content]) => {
  const data = new DataTransfer();
  for (const one of name.split("|")) data.items.add(new File([content], one, {type: "text/csv"}));
  for (const kind of ["dragover", "drop"]) {
    document.body.dispatchEvent(new DragEvent(kind, {dataTransfer: data, bubbles: true, cancelable: true}));
  }
}"""
#: Tells all that the form says, for however short a time.
NOTING = """() => {
  const told = document.querySelector("[data-told]");
  new MutationObserver(() => note(told.textContent)).observe(told, {childList: true});
}"""
SLOW = {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": 60_000}


@pytest.fixture
def form(look: Callable[..., Viewer]) -> Viewer:  # noqa: F811
    """The upload form, open."""
    looking = look()
    looking.register()
    looking.go(SUBMIT_PAGE)
    return looking


def drop(page: Page, content: str = CONTENT.decode(), name: str = "dropped.csv") -> None:
    page.evaluate(DROP, [name, content])


def press(page: Page, button: str = "Submit") -> None:
    page.get_by_role("button", name=button, exact=True).click()


def submit(page: Page) -> None:
    """Press the button, and wait for the submission's page."""
    press(page)
    page.wait_for_url("**/submissions/*")
    expect(page.locator(".chip")).to_have_text("Queued")


def end(site: Site, *problems: Problem) -> None:  # noqa: F811
    """Let a worker end the check that waits."""
    with writing(site.engine) as session:
        waiting = select(Validation.id).where(Validation.status == ValidationStatus.QUEUED)
        now = datetime.now(UTC)
        claim = claim_validation(session, session.scalars(waiting).one(), worker="w", lease_seconds=60, now=now)
        assert claim is not None
        if problems:
            assert record_invalid(session, claim, problems=problems, omitted=0, now=now)
        else:
            assert record_valid(session, claim, warnings=[], now=now)


def forgive(looking: Viewer, said: str) -> None:
    """Remove the browser's own complaint about a response that was meant to be an error."""
    for _ in range(PATIENCE_MS // 50):
        found = [complaint for complaint in looking.complaints if said in complaint]
        if found:
            looking.complaints.remove(found[0])
            return
        looking.page.wait_for_timeout(50)
    pytest.fail(f"nobody said {said}: {looking.complaints}")


def checks(site: Site) -> list[UUID]:  # noqa: F811
    with reading(site.engine) as session:
        here = Validation.phase_task_id == the_phase_task(session).id
        return list(session.scalars(select(Validation.id).where(here)))


# ---------------------------------------------------------------------------------------------------------- submitting


def test_a_dropped_file_is_sent_and_followed_to_its_score(form: Viewer, site: Site) -> None:  # noqa: F811
    page = form.page
    drop(page)
    expect(page.locator("#checked")).to_contain_text("waits to be checked")
    submit(page)
    expect(page.get_by_text("dropped.csv")).to_be_visible()
    assert "/submissions/" in page.url
    run_id = waiting_run(site)
    held = world.sure(world.claim(site.engine, run_id))
    expect(page.locator("[aria-current=step]")).to_have_text("Checking")
    world.finish(site.engine, held, [*world.scores_of(world.ZERO_SHOT, 0.7037)])
    expect(page.locator(".standings")).to_contain_text("0.7037")
    assert site.submissions() == 1


def test_a_file_that_was_chosen_before_the_script_came_is_checked(form: Viewer, tmp_path: Path) -> None:
    page = form.page
    file = tmp_path / "early.csv"
    file.write_bytes(CONTENT)
    with holding(page, frozenset({"script"})) as release:
        page.goto(page.url, wait_until="commit")
        page.set_input_files("#file", file)
        release()
    expect(page.locator("#checked")).to_contain_text("waits to be checked")


def test_one_file_at_a_time(form: Viewer) -> None:
    drop(form.page, name="a.csv|b.csv")
    expect(form.page.get_by_text("Please choose one file")).to_be_visible()


def test_progress_is_shown_and_an_upload_can_be_cancelled(form: Viewer, site: Site, tmp_path: Path) -> None:  # noqa: F811
    page = form.page
    file = tmp_path / "large.csv"
    file.write_bytes(b"x" * 900_000)
    page.set_input_files("#file", file)
    page.context.new_cdp_session(page).send("Network.emulateNetworkConditions", SLOW)
    press(page)
    expect(page.locator("[data-sent-words]")).to_contain_text("% of 880 KiB sent")
    expect(page.locator("progress")).not_to_have_js_property("value", 0)
    expect(page.get_by_role("button", name="Submit", exact=True)).to_be_disabled()
    press(page, "Cancel")
    expect(page.get_by_text("Cancelled: nothing was submitted.")).to_be_visible()
    expect(page.get_by_role("button", name="Submit", exact=True)).to_be_enabled()
    assert site.submissions() == 0


def test_a_lost_answer_is_asked_for_again_and_counts_once(form: Viewer, site: Site) -> None:  # noqa: F811
    """The file arrived, and its answer got lost on the way."""
    page = form.page
    lost: list[APIResponse] = []

    def lose_the_first(route: Route) -> None:
        if lost:
            route.continue_()
            return
        lost.append(route.fetch(max_redirects=0))
        route.abort("connectionreset")

    page.route("**/submit?key=*", lose_the_first)
    said: list[str] = []
    page.expose_function("note", lambda words: said.append(words))
    page.evaluate(NOTING)
    drop(page)
    submit(page)
    assert any(one.startswith("The connection was lost. Trying again") for one in said), said
    assert [answer.status for answer in lost] == [303]
    assert site.submissions() == 1
    forgive(form, "ERR_CONNECTION_RESET")


def test_a_reload_and_going_back_submit_nothing_more(form: Viewer, site: Site) -> None:  # noqa: F811
    page = form.page
    drop(page)
    submit(page)
    page.reload()
    page.go_back()
    expect(page.get_by_role("button", name="Submit", exact=True)).to_be_enabled()
    page.go_forward()
    expect(page.locator(".chip")).to_have_text("Queued")
    assert site.submissions() == 1


def test_a_double_click_on_a_dropped_file_submits_once(form: Viewer, site: Site) -> None:  # noqa: F811
    drop(form.page)
    form.page.get_by_role("button", name="Submit", exact=True).dblclick()
    form.page.wait_for_url("**/submissions/*")
    expect(form.page.locator(".chip")).to_have_text("Queued")
    assert site.submissions() == 1


def test_a_refusal_is_told_and_the_file_stays_chosen(form: Viewer, site: Site) -> None:  # noqa: F811
    page = form.page
    page.route("**/validations/*/live*", lambda route: route.fulfill(status=204))  # six days later the check is gone
    drop(page)
    expect(page.locator("#checked")).to_contain_text("waits to be checked")
    site.set_clock(site.now + 6 * world.DAY)
    press(page)
    expect(page.locator("[data-refused]")).to_contain_text("closed ")
    assert page.evaluate("document.querySelector('#file').files[0].name") == "dropped.csv"
    assert site.submissions() == 0
    forgive(form, "409 (Conflict)")


def test_an_expired_log_in_is_said_and_the_form_stays_as_it_is(form: Viewer, site: Site) -> None:  # noqa: F811
    page = form.page
    drop(page)
    expect(page.locator("#checked")).to_contain_text("waits to be checked")
    page.locator("summary", has_text="System, method, notes").click()
    page.get_by_label("Method").fill("mBERT, tuned")
    page.context.clear_cookies()
    press(page)
    expect(page.locator("[data-refused]")).to_contain_text("Your log-in has expired, and nothing was uploaded.")
    press(page)
    expect(page.locator("[data-refused]")).to_contain_text("You are still not logged in.")
    assert (site.submissions(), page.get_by_label("Method").input_value()) == (0, "mBERT, tuned")
    other = page.context.new_page()
    other.goto(page.url.split("/competitions")[0] + "/login")
    other.fill("#username", "ada")
    other.fill("#password", PASSWORD)
    other.get_by_role("button", name="Log in").click()
    expect(other.locator(".person > summary")).to_be_visible()
    press(page)
    page.wait_for_url("**/submissions/*")
    expect(page.get_by_text("mBERT, tuned").first).to_be_visible()
    assert site.submissions() == 1


# ---------------------------------------------------------------------------------------------------------- only check


def test_a_dropped_file_is_checked_at_once_and_costs_nothing(form: Viewer, site: Site) -> None:  # noqa: F811
    page = form.page
    drop(page)
    expect(page.locator("#checked")).to_contain_text("waits to be checked")
    button = page.get_by_role("button", name="Submit", exact=True)
    expect(button).to_be_enabled()
    end(
        site,
        Problem(
            "bad-value", f"the label '{HEBREW}' is unknown, first on line 9", line=14, column="Label", text=PERSIAN
        ),
    )
    row = page.get_by_role("row").nth(1)
    expect(row).to_contain_text("first on line 9")
    expect(button).to_be_disabled()
    expect(row.locator("bdi", has_text=HEBREW)).to_be_visible()
    quoted = row.locator("code", has_text="می")
    assert quoted.evaluate("element => getComputedStyle(element).direction") == "rtl"
    assert (quoted.get_attribute("dir"), quoted.get_attribute("lang")) == ("auto", "")
    with page.expect_download() as download:
        page.get_by_role("link", name="Download the problem list").click()
    assert HEBREW in Path(download.value.path()).read_text(encoding="utf-8")
    assert page.url.endswith("/submit"), "the file is still chosen"
    drop(page, name="better.csv")  # another check
    expect(page.locator("#checked")).to_contain_text("waits to be checked")
    expect(button).to_be_enabled()
    end(site)
    expect(page.locator("#checked")).to_contain_text("Your file can be scored.")
    assert (len(checks(site)), site.submissions()) == (2, 0)
    expect(page.locator(".side-column")).to_contain_text("10 left today")
    submit(page)
    assert site.submissions() == 1


def test_a_check_that_is_refused_keeps_nobody_from_submitting(form: Viewer, site: Site) -> None:  # noqa: F811
    page = form.page
    page.route("**/validate?key=*", lambda route: route.abort("connectionreset"))
    drop(page)
    expect(page.locator("#checked")).to_contain_text("This file could not be checked: the server cannot be reached.")
    forgive(form, "ERR_CONNECTION_RESET")
    submit(page)
    assert site.submissions() == 1


@pytest.mark.parametrize("device", ["desktop", "phone"])
def test_file_verdict_and_button_are_in_the_first_view(
    look: Callable[..., Viewer],  # noqa: F811
    site: Site,  # noqa: F811
    device: str,
) -> None:
    looking = look(device)
    looking.register()
    looking.go(SUBMIT_PAGE)
    drop(looking.page)
    expect(looking.page.locator("#checked")).to_contain_text("waits to be checked")
    end(site)
    expect(looking.page.locator("#checked")).to_contain_text("Your file can be scored.")
    box = looking.page.get_by_role("button", name="Submit", exact=True).bounding_box()
    assert box is not None
    assert box["y"] + box["height"] <= (900 if device == "desktop" else 844)


def test_without_scripts_checking_works_as_well(look: Callable[..., Viewer], site: Site, tmp_path: Path) -> None:  # noqa: F811
    looking = look(java_script_enabled=False)
    looking.register()
    looking.go(SUBMIT_PAGE)
    file = tmp_path / "predictions.csv"
    file.write_bytes(CONTENT)
    looking.page.set_input_files("#file", file)
    press(looking.page, "Validate")
    expect(looking.page.locator(".chip")).to_have_text("Queued")
    end(site, Problem("bad-value", "what is this", line=2, text="x"))
    expect(looking.page.locator(".chip")).to_have_text("Has errors")  # the page asks again by itself
    expect(looking.page.get_by_role("row").nth(1)).to_contain_text("what is this")
    assert site.submissions() == 0


@pytest.mark.parametrize("device", [lanes.in_soak("desktop"), "phone"])
def test_what_a_check_found_fits_on_the_page(
    look: Callable[..., Viewer],  # noqa: F811
    site: Site,  # noqa: F811
    device: str,
) -> None:
    looking = look(device, "dark")
    looking.register()
    looking.go(SUBMIT_PAGE)
    page: Any = looking.page
    drop(page, name="a-file-with-quite-a-long-name-that-has-no-end-and-no-spaces-in-it-at-all.csv")
    expect(page.locator("#checked")).to_contain_text("waits to be checked")
    end(site, Problem("bad-value", "the label is unknown " * 8, line=14, column="Label", text="x" * 100))
    expect(page.locator("#checked")).to_contain_text("1 problem")
    assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") == 0
