"""Wrong gold in a real Chromium: the browser that sent it shows the values, another one lines alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from sqlalchemy import select

from app.base.db import reading, writing
from app.competitions.find import find_competition
from app.models import GoldVersion, Role, User
from app.people.rights import grant_role
from tests.rich_world import fresh
from tests.sealed import make_key
from tests.web.site import Site
from tests.web.test_browser import chromium, look  # noqa: F401 - fixtures
from tests.world import COMPETITION, NOW, PHASE, TASK
from workers.version_check import check_version

pytestmark = pytest.mark.browser

PAGE = f"/competitions/{COMPETITION}/phases/{PHASE}/tasks/{TASK}/gold"
WRONG = "ID,DataID,Language,Label\n1,d1,EN,0\n2,d2,EN,PERHAPS\n"


def organise(site: Site, username: str) -> None:
    with writing(site.engine) as session:
        user = session.scalars(select(User).where(User.username == username)).one()
        grant_role(session, find_competition(session, COMPETITION), user, Role.ORGANISER, NOW)


def test_the_browser_that_sent_gold_shows_the_values_that_are_wrong(
    look: Any,  # noqa: F811
    site: Site,
    tmp_path: Path,
) -> None:
    make_key(site.engine)
    looking = look()
    looking.register("olga")
    organise(site, "olga")
    file = tmp_path / "gold.csv"
    file.write_text(WRONG)
    looking.go(PAGE)
    page: Page = looking.page
    page.set_input_files("#file", file)
    page.get_by_role("button", name="Seal and store").click()
    expect(page.get_by_role("cell", name="gold.csv")).to_be_visible()
    with reading(site.engine) as session:
        version_id = session.scalars(fresh(GoldVersion)).one().id
    check_version(site.engine, version_id)
    looking.go(PAGE)
    expect(page.get_by_text("line 3, column Label:")).to_contain_text("PERHAPS")
    expect(page.get_by_text("only it can show them")).to_be_visible()

    other = look()
    other.register("oscar")
    organise(site, "oscar")
    other.go(PAGE)
    expect(other.page.get_by_text("line 3: bad value")).to_be_visible()
    expect(other.page.get_by_text("PERHAPS")).to_have_count(0)
