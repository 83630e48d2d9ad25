"""A linguist who has no shell sets up a two-language task in a Chromium without scripts, a question a page: she uploads
items and gold, has a baseline made, publishes it; a team submits, and the board shows it above the baseline.
"""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from sqlalchemy import select

from app.base.db import writing
from app.models import User
from tests.web.conftest import answering, empty_site, server  # noqa: F401 - fixtures
from tests.web.pictures import keep
from tests.web.site import Site
from tests.web.test_browser import Viewer, chromium, look  # noqa: F401 - fixtures
from tests.whole import open_to_organisers, work

pytestmark = [pytest.mark.browser, pytest.mark.soak]

PLACE = "/competitions/do-they-mean-it"
EXAMPLE = Path(__file__).resolve().parents[2] / "docs/examples/table"
#: The labels of its gold, told by a file of the same form as a prediction.
RIGHT = "prediction.csv"


@pytest.fixture
def site(empty_site: Site, monkeypatch: pytest.MonkeyPatch) -> Site:  # noqa: F811 - the fixture
    """A server where anybody may organise; workers of this process have the key."""
    open_to_organisers(empty_site, monkeypatch)
    return empty_site


def confirmed(site: Site, username: str) -> None:
    """Confirm the address directly, because nobody reads mail in the browser."""
    with writing(site.engine) as session:
        session.scalars(select(User).where(User.username == username)).one().email_confirmed_at = site.now


def go_on(page: Page, picture: str) -> None:
    """Save a step of the setup as it is filled in, and go to the next one."""
    keep(page, f"organise-{picture}")
    page.get_by_role("button", name="Save and continue").click()
    expect(page.locator(".setup-steps [aria-current]")).not_to_contain_text(picture, ignore_case=True)


def test_a_linguist_makes_a_task_and_a_team_submits(look: Any, site: Site, tmp_path: Path) -> None:  # noqa: F811
    linguist: Viewer = look(java_script_enabled=False)
    page = linguist.page
    linguist.register("lena")
    confirmed(site, "lena")

    linguist.go("/organise")
    page.fill("#title", "Do they mean it?")
    page.get_by_label("A label for each item").check()
    keep(page, "organise-start")
    page.get_by_role("button", name="Begin").first.click()
    expect(page).to_have_url(re.compile(f"{PLACE}/setup/files"))

    page.set_input_files("#items-file", EXAMPLE / "items.csv")
    page.get_by_role("button", name="Upload the items").click()
    roles = page.locator("[data-columns-table] select")
    expect(roles).to_have_count(3)
    assert [roles.nth(place).input_value() for place in range(3)] == ["id", "group", "shown"]
    page.fill("#labels", "ironic\nsincere")
    page.fill("#usual", "sincere")
    page.get_by_label("Majority").check()
    go_on(page, "files")
    page.locator('[name="metric.mcc"]').check()
    go_on(page, "metrics")
    expect(page.locator("[data-board-preview]")).to_contain_text("Majority")
    go_on(page, "board")
    page.get_by_label("Opens", exact=True).fill(f"{site.now - timedelta(hours=1):%Y-%m-%dT%H:%M}")
    page.get_by_label("Time zone").select_option("UTC")
    go_on(page, "phases")
    page.get_by_label("The board is always open").check()
    keep(page, "organise-visibility")
    page.get_by_role("button", name="Save and continue").click()
    go_on(page, "text")
    go_on(page, "rules")

    page.get_by_role("link", name="Files").click()
    page.set_input_files("#gold-file", EXAMPLE / "gold/irony/gold.csv")
    page.get_by_role("button", name="Seal it").click()
    expect(page).to_have_url(re.compile("/gold"))
    work(site)  # checks the gold
    work(site)  # scores the baseline
    linguist.go(f"{PLACE}/setup/rehearse")
    expect(page.locator("main")).to_contain_text("The file passes the check: 12 items.")
    expect(page.locator("main")).to_contain_text("A worker scored it against the sealed gold.")
    page.set_viewport_size({"width": 390, "height": 844})
    keep(page, "organise-rehearsal-phone")
    page.set_viewport_size({"width": 1440, "height": 900})
    page.get_by_role("link", name="Continue").click()
    page.get_by_role("button", name="Publish").click()
    expect(page).to_have_url(re.compile(f"{PLACE}$"))
    board = f"{PLACE}/phases/evaluation/boards/main"
    linguist.go(board)
    expect(page.locator("main")).to_contain_text("Majority")

    team: Viewer = look()
    team.register("tom")
    confirmed(site, "tom")
    team.go(f"{PLACE}/phases/evaluation/tasks/main/submit")
    team.page.set_input_files("#file", EXAMPLE / RIGHT)
    team.page.get_by_role("button", name="Submit", exact=True).click()
    expect(team.page).to_have_url(re.compile("/submissions/"))
    work(site)
    team.go(board)
    expect(team.page.locator("tbody tr.mine")).to_contain_text("0.7222")
    keep(team.page, "organise-board")
    linguist.go(board)
    rows = page.locator("tbody tr")
    expect(rows.nth(0)).to_contain_text("tom")
    expect(rows.nth(1)).to_contain_text("Majority")
