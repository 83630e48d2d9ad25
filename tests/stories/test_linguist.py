"""A linguist who has no shell makes a two-language task in a real Chromium: she uploads items, a baseline and the gold,
publishes it; a team submits, and the board shows it above the baseline.
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

EXAMPLE = Path(__file__).resolve().parents[2] / "docs/examples/table"
#: The labels of its gold, told by a file of the same form as a prediction.
RIGHT = "prediction.csv"


@pytest.fixture
def site(empty_site: Site, monkeypatch: pytest.MonkeyPatch) -> Site:  # noqa: F811 - the fixture
    """A server where anybody may organise; workers of this process have the key."""
    open_to_organisers(empty_site, monkeypatch)
    return empty_site


def confirmed(site: Site, username: str) -> None:
    """In the browser nobody reads mail."""
    with writing(site.engine) as session:
        session.scalars(select(User).where(User.username == username)).one().email_confirmed_at = site.now


def say(page: Page, picture: str, /, **fields: str) -> None:
    """Fill in what can be said of a part, and save it."""
    for field, value in fields.items():
        page.locator(f'[name="{field.replace("__", ".")}"]').last.fill(value)
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page).to_have_url(re.compile("#saved$"))
    keep(page, f"organise-{picture}")


def step(page: Page, name: str, of: str = "") -> None:
    """From the list of all steps to one of them."""
    steps = page.locator(".writing > li").filter(has_text=of)
    steps.get_by_role("link", name=re.compile(f"^{re.escape(name)}")).first.click()
    expect(page.get_by_role("link", name="All steps")).to_be_visible()


def upload(page: Page, file: Path) -> None:
    page.set_input_files("#file", file)
    page.get_by_role("button", name="Upload").click()
    expect(page.locator("#files ~ .table-scroll")).to_contain_text(file.name)


def wrong_baseline(tmp_path: Path) -> Path:
    """Always the same label."""
    lines = (EXAMPLE / "prediction.csv").read_text().splitlines()
    rows = [f"{line.split(',')[0]},ironic" for line in lines[1:]]
    file = tmp_path / "always-ironic.csv"
    file.write_text("\n".join([lines[0], *rows]) + "\n")
    return file


def test_a_linguist_makes_a_task_and_a_team_submits(look: Any, site: Site, tmp_path: Path) -> None:  # noqa: F811
    linguist: Viewer = look()
    page = linguist.page
    linguist.register("lena")
    confirmed(site, "lena")

    linguist.go("/organise")
    page.get_by_label("Title").fill("Do they mean it?")
    page.get_by_label("Name in addresses").fill("irony")
    page.get_by_label("What is asked").select_option("table")
    keep(page, "organise-start")
    page.get_by_role("button", name="Begin").click()
    expect(page.get_by_role("heading", name="Do they mean it?")).to_be_visible()
    place = page.url

    upload(page, EXAMPLE / "items.csv")
    upload(page, wrong_baseline(tmp_path))
    step(page, "options", of="What is asked")
    say(page, "options", metrics="macro_f1", labels="ironic\nsincere", groups="language: [en, pt]")
    page.get_by_role("link", name="All steps").click()
    step(page, "Do they mean it?", of="Boards and columns")
    scores = [("macro_f1", "language/mean"), ("macro_f1", "language/en"), ("macro_f1", "language/pt")]
    columns = {
        f"columns__{number}__{key}": value
        for number, score in enumerate(scores)
        for key, value in zip(("metric", "split"), score, strict=True)
    }
    say(page, "board", **columns)
    opens = site.now - timedelta(hours=1)
    page.get_by_role("link", name="All steps").click()
    step(page, "Evaluation", of="Phases and dates")
    say(page, "phase", start=f"{opens:%Y-%m-%d %H:%M} UTC")
    page.get_by_role("link", name="All steps").click()
    step(page, "items and baselines of main", of="Phases and dates")
    say(page, "phase-task", items="items.csv")
    page.get_by_role("button", name="Add (Baselines)").click()
    say(page, "baseline", name="Always ironic", file="always-ironic.csv")

    page.goto(place)
    keep(page, "organise-ready")
    page.set_viewport_size({"width": 390, "height": 844})
    keep(page, "organise-ready-phone")
    page.set_viewport_size({"width": 1440, "height": 900})
    page.get_by_role("button", name="Make the draft").click()
    expect(page.get_by_text("nothing can be scored yet")).to_be_visible()
    keep(page, "organise-life")

    page.get_by_role("link", name=re.compile("^Gold of")).click()
    page.set_input_files("#file", EXAMPLE / "gold/irony/gold.csv")
    page.get_by_role("button", name="Seal and keep").click()
    work(site)
    page.reload()
    expect(page.get_by_text("since")).to_be_visible()
    work(site)
    board = "/competitions/irony/phases/evaluation/boards/main"
    linguist.go(board)
    expect(page.locator("main")).to_contain_text("Always ironic")
    linguist.go("/competitions/irony/life")
    page.get_by_label("Published").check()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("radio", name=re.compile("^Published"))).to_be_checked()

    team: Viewer = look()
    team.register("tom")
    confirmed(site, "tom")
    team.go("/competitions/irony/phases/evaluation/tasks/main/submit")
    team.page.set_input_files("#file", EXAMPLE / RIGHT)
    team.page.get_by_role("button", name="Submit", exact=True).click()
    expect(team.page).to_have_url(re.compile("/submissions/"))
    work(site)
    team.go(board)
    rows = team.page.locator("tbody tr")
    expect(rows.filter(has_text="Tom")).to_be_visible()
    expect(rows.filter(has_text="Always ironic")).to_be_visible()
    keep(team.page, "organise-board")
