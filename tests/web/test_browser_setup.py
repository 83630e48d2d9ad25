"""A linguist sets up a task of two languages in a real Chromium: gold alone, read and mended there, then published."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect
from sqlalchemy import select

from app.base.db import reading, writing
from app.base.storage import local_file, storage_of
from app.competitions.find import find_competition
from app.declarations.revisions.kept import present_revision
from app.models import Stage, User
from tests.web.late_parts import holding
from tests.web.site import Site
from tests.web.test_browser import Viewer, chromium, look  # noqa: F401 - fixtures
from tests.whole import open_to_organisers, work

pytestmark = pytest.mark.browser
PLACE = "/competitions/praise-or-insult/setup"
#: One label has a space at its end, as cells of a spreadsheet do.
ROWS = [
    (
        f"{language}-{number}",
        language,
        "insult " if number == 3 else "praise" if number % 3 else "insult",
        f"ça, {number}",
    )
    for number in range(12)
    for language in ("pt", "en")
]


@pytest.fixture
def site(empty_site: Site, monkeypatch: pytest.MonkeyPatch) -> Site:
    open_to_organisers(empty_site, monkeypatch)
    return empty_site


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    """A CSV as a spreadsheet saves it on a European Windows: semicolons, no UTF-8, and headings of the author's own."""
    path = tmp_path / "gold.csv"
    lines = [f"{id_};{language};{label};{text}\r\n" for id_, language, label, text in ROWS]
    path.write_bytes("".join(["Item no.;Language;Tone;Sentence\r\n", *lines]).encode("cp1252"))
    return path


def test_from_a_title_to_a_published_task_with_gold_alone(
    site: Site,
    look: Any,  # noqa: F811
    gold: Path,
) -> None:
    linguist: Viewer = look()
    page = linguist.page
    linguist.register("lin")
    with writing(site.engine) as session:
        session.scalars(select(User).where(User.username == "lin")).one().email_confirmed_at = site.now
    linguist.go("/organise")
    page.fill("#title", "Praise or insult")
    page.get_by_text("A label for each item").click()
    with holding(page, frozenset({"script"})) as release:
        page.get_by_role("button", name="Begin").first.click()
        expect(page).to_have_url(re.compile(f"{PLACE}/files"))
        page.set_input_files("#gold-file", {"name": "gold.xlsx", "mimeType": "", "buffer": b"PK\x03\x04"})
        release()
    expect(page.get_by_role("alert")).to_contain_text("Save it as CSV in the spreadsheet program")
    page.set_input_files("#gold-file", gold)
    expect(page.get_by_role("alert")).to_be_hidden()
    columns = page.locator("[data-columns-table] tbody tr")
    expect(columns.nth(2)).to_contain_text("insult 2")
    roles = [columns.nth(place).locator("select").input_value() for place in range(4)]
    assert roles == ["id", "group", "answer", "shown"]
    page.get_by_role("button", name="Correct it").click()
    expect(columns.nth(2)).to_contain_text("praise 16 · insult 8")
    page.get_by_role("button", name="Show them").click()
    expect(page.locator("[data-items-preview]")).to_contain_text("en-0")
    page.get_by_role("button", name="Save and continue").click()
    expect(page).to_have_url(re.compile("metrics"))
    with reading(site.engine) as session:
        present = present_revision(session, find_competition(session, "praise-or-insult"))
        files = {file.path: file.sha256 for file in present.files}
    items = local_file(storage_of(site.settings), files["items.csv"]).read_text(encoding="utf-8")
    assert items.splitlines()[:2] == ["Item no.,Language,Sentence", 'en-0,en,"ça, 0"'], "by id, and without the answer"
    assert "praise" not in items
    assert present.document["tasks"][0]["options"]["labels"] == ["insult", "praise"]

    work(site)
    expect(page.get_by_role("row", name="Accuracy on the board")).to_contain_text(re.compile(r"\d\.\d{3}"))
    expect(page.locator("main")).to_contain_text("on the half of the items that the live board shows")
    page.get_by_role("button", name="Save and continue").click()
    preview = page.locator("[data-board-preview] thead")
    expect(preview).to_contain_text("Macro F1, Language mean")
    page.get_by_label("Show Macro F1, Language en").uncheck()
    expect(preview.get_by_text("Macro F1, Language en")).to_be_hidden()
    page.get_by_role("button", name="Save and continue").click()
    drawing, end = page.locator("[data-drawn-phases]"), page.locator("input[name='phase.0.end']")
    end.scroll_into_view_if_needed()
    place = end.bounding_box()
    end.fill("2041-06-01T12:00")
    expect(drawing).to_contain_text("2041")
    assert end.bounding_box() == place, "nothing moves under the fingers of who types"
    page.reload()
    expect(drawing).not_to_contain_text("2041")
    page.get_by_label("Time zone").select_option(label="Mine, Asia/Calcutta")
    page.get_by_role("button", name="Save and continue").click()
    for step in ("visibility", "texts", "rules"):
        expect(page).to_have_url(re.compile(step))
        page.get_by_role("button", name="Save and continue").click()
    expect(page.locator("main")).to_contain_text("The file passes the check: 24 items.")
    page.get_by_role("link", name="Continue").click()
    page.get_by_role("button", name="Publish").click()
    expect(page).to_have_url(re.compile("/competitions/praise-or-insult$"))
    with reading(site.engine) as session:
        found = find_competition(session, "praise-or-insult")
        start = present_revision(session, found).document["phases"][0]["start"]
    assert found.stage == Stage.PUBLISHED
    assert start.endswith("+05:30")
    assert linguist.complaints == []
