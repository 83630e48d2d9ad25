"""An organiser's week in a real Chromium: opens a phase, looks as others do, reveals the board, takes it home."""

from __future__ import annotations

import csv
import re
import zipfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from sqlalchemy import select

from app.base.db import writing
from app.base.storage import FolderStorage
from app.competitions.find import find_competition
from app.declarations.apply.apply import apply_phases
from app.declarations.check import load_competitions
from app.models import Role, RunStatus, ScoringRun, User
from app.people.rights import grant_role
from tests import world
from tests.declarations.competition_folder import make_competition
from tests.web.pictures import keep
from tests.web.site import CONTENT, PASSWORD, Site
from tests.web.test_browser import Viewer, chromium, look  # noqa: F401 - fixtures

pytestmark = pytest.mark.browser

DEMO = "/competitions/demo"
BOARD = f"{DEMO}/phases/evaluation/boards/zero-shot"
START, SHOWN = "phases.evaluation.start", "phases.evaluation.visibility.board"


@pytest.fixture
def site(empty_site: Site, tmp_path: Path) -> Site:
    """A competition whose evaluation begins next week, by the browser's clock and the server's."""
    now = datetime.now(UTC).replace(microsecond=0)
    empty_site.set_clock(now)
    folder = make_competition(tmp_path / "demo")
    folder.change('title: "Demo"', 'title: "Demo"\n    registration: {mode: open}')  # in the browser nobody reads mail
    for moment, days in (("2026-01-01 00:00 UTC", -30), ("2026-05-01 00:00 UTC", 7), ("2026-07-01 00:00 AoE", 30)):
        folder.change(f'"{moment}"', f'"{written(now + timedelta(days=days))}"')
    with writing(empty_site.engine) as session:
        loaded = load_competitions(folder.phases)
        apply_phases(session, loaded, storage=FolderStorage(empty_site.settings.storage_dir), now=now)
    return empty_site


def written(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%d %H:%M UTC")


def edit(looking: Viewer, name: str, value: str, note: str, *, said: str) -> None:
    """Change one value in the form, read what that does, and do it."""
    page = looking.page
    looking.go(f"{DEMO}/edit")
    part = page.locator("details.part").filter(has=page.locator(f'[name="{name}"]'))
    if not part.evaluate("element => element.open"):
        part.locator("summary").click()
    control = page.locator(f'[name="{name}"]')
    if control.evaluate("element => element.tagName") == "SELECT":
        control.select_option(value)
    else:
        control.fill(value)
    page.get_by_label("Why").fill(note)
    page.get_by_role("button", name="Preview the changes").click()
    expect(page.locator("#preview")).to_contain_text(said)
    page.get_by_role("button", name="Apply this").click()
    expect(page).to_have_url(re.compile("history"))


def score_all(site: Site, value: float) -> None:
    with writing(site.engine) as session:
        waiting = list(session.scalars(select(ScoringRun.id).where(ScoringRun.status == RunStatus.QUEUED)))
    for run_id in waiting:
        world.score(site.engine, run_id, value)


def take_part(open_page: Any, site: Site, folder: Path) -> None:
    """Ada uploads to the evaluation, and is scored."""
    looking = open_page("phone", "dark")
    looking.register("ada")
    looking.go(DEMO)
    looking.page.get_by_role("link", name="Submit to Detection, Evaluation").first.click()
    file = folder / "predictions.csv"
    file.write_bytes(CONTENT)
    looking.page.set_input_files("#file", file)
    looking.page.get_by_role("button", name="Submit", exact=True).click()
    looking.page.wait_for_url("**/submissions/*")
    expect(looking.page.locator(".chip")).to_have_text("Queued")
    score_all(site, 0.7037)
    expect(looking.page.locator(".chip")).to_have_text("Scored")


def seen_by_everybody(open_page: Any) -> Page:
    looking = open_page()
    looking.go(BOARD)
    page: Page = looking.page
    return page


def test_an_organiser_opens_a_phase_previews_reveals_and_exports(
    look: Any,  # noqa: F811
    site: Site,
    tmp_path: Path,
) -> None:
    looking = look()
    page = looking.page
    looking.register("olga")
    with writing(site.engine) as session:
        olga = session.scalars(select(User).where(User.username == "olga")).one()
        grant_role(session, find_competition(session, "demo"), olga, Role.ORGANISER, site.now)
    looking.go(DEMO)
    page.get_by_role("link", name="Desk").click()
    expect(page.get_by_role("heading", name="Desk", exact=True)).to_be_visible()
    expect(page.locator("#main")).to_contain_text("Evaluation opens")

    edit(looking, SHOWN, "hidden", "As announced", said="visibility")
    edit(looking, START, written(site.now - timedelta(hours=1)), "We are ready", said="changed start of phase")
    take_part(look, site, tmp_path)

    looking.go(f"{DEMO}/desk")
    keep(page, "organiser-desk")
    row = page.get_by_role("row").filter(has_text="Evaluation").filter(has_text="The board is hidden from participants")
    row.get_by_role("link", name="public").first.click()
    expect(page.get_by_role("heading", name="This board is hidden")).to_be_visible()
    expect(page.locator("#main")).to_contain_text("Preview.")
    expect(page.locator("#main")).not_to_contain_text("0.7037")
    expect(seen_by_everybody(look).get_by_role("heading", name="This board is hidden")).to_be_visible()

    edit(looking, SHOWN, "public", "The results are out", said="visibility")
    revealed = seen_by_everybody(look)
    expect(revealed.locator("tr.team")).to_contain_text("0.7037")
    keep(revealed, "organiser-revealed")

    looking.go(f"{DEMO}/desk")
    page.get_by_role("link", name="Exports").click()
    with page.expect_download() as predictions:
        page.get_by_role("button", name="Download the zip").click()
    with zipfile.ZipFile(predictions.value.path()) as archive:
        assert CONTENT in [archive.read(name) for name in archive.namelist()]
    with page.expect_download() as people:
        page.get_by_role("link", name="As CSV", exact=True).click()
    with Path(people.value.path()).open(encoding="utf-8", newline="") as file:
        assert any("ada@example.org" in row for row in csv.reader(file))

    page.get_by_role("link", name="History").click()
    for note in ("As announced", "We are ready", "The results are out"):
        expect(page.locator("#main")).to_contain_text(note)
    assert PASSWORD not in page.content()
