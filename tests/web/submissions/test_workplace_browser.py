"""A team's workplace in a real Chromium: six runs at a glance, choosing in place, the moment of a score, and how little
a board weighs; one browser for all sizes."""

from __future__ import annotations

import gzip
import re
from typing import Any

import pytest
from playwright.sync_api import expect
from sqlalchemy import select, update

from app.base.db import reading, writing
from app.models import EntryRule, User
from tests import world
from tests.competitions.embargo import MINUTE, declare, enter
from tests.web.reading import BOARD_PAGE, COMPETITION_PAGE, SUBMIT_PAGE
from tests.web.site import Site
from tests.web.test_browser import chromium, look, site  # noqa: F401 - fixtures
from tests.world import HOUR

pytestmark = pytest.mark.browser
RUNS = f"{COMPETITION_PAGE}/runs"
SIZES = {"desktop": (1440, 900), "laptop": (1280, 720), "phone": (390, 844)}
#: How far down the first row may end.
LOWEST = {"desktop": 330, "laptop": 330, "phone": 420}
#: ada's runs, oldest first; bob and cat stand at 0.65 and 0.55 before them.
SCORES = (0.5, 0.7, 0.6, 0.62, 0.75, 0.72)
#: Of a board's page, fonts left out.
MOST_BYTES = 60_000


def user_of(site: Site, username: str) -> User:  # noqa: F811
    with reading(site.engine) as session:
        return session.scalars(select(User).where(User.username == username)).one()


@pytest.fixture
def team(site: Site, look: Any) -> Any:  # noqa: F811
    """Ada, logged in, with six scored runs; she chooses which counts, and until then the newest does."""
    declare(site.engine, entry_rule=EntryRule.CHOSEN, choose_until=None, without_choice=EntryRule.LAST)
    before = site.now - HOUR
    for name, score in (("bob", 0.65), ("cat", 0.55)):
        enter(site.engine, world.add_user(site.engine, name), score, at=before)
    looking = look()
    looking.register()
    with writing(site.engine) as session:
        session.execute(update(User).values(email_confirmed_at=site.now))  # no line about a mail
    ada = user_of(site, "ada")
    for number, score in enumerate(SCORES):
        enter(site.engine, ada, score, at=before + (number + 1) * MINUTE, method=f"System {number}")
    return looking


def numbers(page: Any, column: int) -> list[float | None]:
    """Return the numbers with which the cells of a column begin, from the top."""
    texts = page.locator(f".runs tbody tr td:nth-of-type({column})").all_inner_texts()
    found = [re.match(r"[-+]?[\d.]+", text.strip().replace("\N{MINUS SIGN}", "-")) for text in texts]
    return [float(one[0]) if one else None for one in found]


def test_six_runs_are_read_at_a_glance_and_the_one_that_counts_is_chosen_in_place(team: Any) -> None:
    page = team.page
    for name, (width, height) in SIZES.items():
        page.set_viewport_size({"width": width, "height": height})
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            team.go(RUNS)
            rows = page.locator(".runs tbody tr")
            expect(rows).to_have_count(6)
            boxes = [one.bounding_box() for one in rows.all()]
            assert boxes[0]["y"] + boxes[0]["height"] <= LOWEST[name], (name, scheme)
            assert {box["height"] for box in boxes} == {34}, f"{name}: a run is one line"
            assert page.evaluate("document.documentElement.scrollWidth - innerWidth") == 0, (name, scheme)
            expect(rows.last).to_be_in_viewport()
    page.set_viewport_size({"width": 1440, "height": 900})
    # Newest first; bob has 0.65 and cat 0.55, and until ada chooses, her newest run counts.
    assert numbers(page, 2) == [0.72, 0.75, 0.62, 0.6, 0.7, 0.5]
    assert numbers(page, 3) == [-0.03, 0.13, 0.02, -0.1, 0.2, None]
    assert numbers(page, 4) == [-0.03, 0.03, -0.13, -0.15, -0.05, -0.25]
    assert numbers(page, 5) == [1, 1, 2, 2, 1, 3], "ranks right after each"
    assert numbers(page, 6) == [1, 1, 2, 2, 1, 3], "ranks that each would have today"
    assert page.locator(".runs tr:has(.counts)").count() == 1
    expect(page.locator(".runs tbody tr").first).to_contain_text("counts: latest submission, as you have not chosen")
    second = page.locator(".runs tbody tr").nth(1)
    second.get_by_role("button", name="Choose").click()
    expect(second.locator(".counts")).to_be_attached()
    expect(second).to_contain_text("counts: your choice")
    assert "/runs" in page.url, "in place"
    assert page.locator(".runs tr:has(.counts)").count() == 1


#: Remembers what the browser is asked to show, and says that the reader allows it (one without windows never does) and
#: looks at something else.
WATCHED = """
window.told = [];
const construct = (target, said) => { told.push(said); return Reflect.construct(target, said); };
const get = (target, name) => (name === "permission" ? "granted" : Reflect.get(target, name));
window.Notification = new Proxy(window.Notification, { construct, get });
Object.defineProperty(document, "hidden", { get: () => true });
"""


def test_the_end_of_a_run_is_told_by_the_title_and_to_who_allows_it_by_a_notification(site: Site, look: Any) -> None:  # noqa: F811
    looking = look()
    page = looking.page
    looking.register()
    page.add_init_script(WATCHED)
    enter(site.engine, world.add_user(site.engine, "bob"), 0.65, at=site.now)
    accepted = world.submit(site.engine, user_of(site, "ada"), site.now)
    looking.go(f"/submissions/{accepted.submission.id}")
    expect(page.locator(".chip")).to_have_text("Queued")
    assert page.evaluate("told") == []
    world.score(site.engine, accepted.run_id, 0.743)
    expect(page).to_have_title(re.compile("^Scored 0.743"))
    expect(page.locator(".standings")).to_contain_text("rank 1 of 2")
    page.wait_for_function("told.length")
    ((title, about),) = page.evaluate("told")
    assert title.startswith("Scored 0.743")
    assert about["body"].startswith("Scored.")


# ------------------------------------------------------------------------------------------------------------- a board


@pytest.fixture
def board(site: Site) -> Site:  # noqa: F811
    """Forty teams with methods."""
    for place in range(40):
        user = world.add_user(site.engine, f"user{place}", f"Team {place}")
        enter(site.engine, user, 0.9 - place / 100, at=site.now, minute=place, method=f"Method of team {place}")
    return site


def test_a_board_weighs_little(board: Site) -> None:
    """Check page, styles and scripts as a server compresses them; fonts are cached for ever and left out."""
    with board.client() as reader:
        page = reader.get(BOARD_PAGE, headers={"Accept": "text/html"}).text
        parts = re.findall(r'(?:href|src)="(/static/[^"]+\.(?:css|js)[^"]*)"', page)
        assert len(parts) >= 4
        sizes = {part: len(gzip.compress(reader.get(part).content, 6)) for part in parts}
    sizes["page"] = len(gzip.compress(page.encode(), 6))
    assert sum(sizes.values()) <= MOST_BYTES, sizes


def test_the_first_row_is_in_view_without_scripts(board: Site, look: Any) -> None:  # noqa: F811
    """Check the page without scripts; `test_late_parts_browser` checks that nothing moves when they arrive."""
    looking = look(java_script_enabled=False)
    for name, (width, height) in SIZES.items():
        looking.page.set_viewport_size({"width": width, "height": height})
        looking.go(BOARD_PAGE)
        box = looking.page.locator(".board tbody tr").first.bounding_box()
        assert box["y"] + box["height"] <= LOWEST[name], name


def test_the_place_for_a_file_is_in_view_on_a_phone(site: Site, look: Any) -> None:  # noqa: F811
    looking = look("phone")
    looking.register()
    for name, (width, height) in SIZES.items():
        looking.page.set_viewport_size({"width": width, "height": height})
        looking.go(SUBMIT_PAGE)
        expect(looking.page.locator("[data-drop]")).to_be_in_viewport(ratio=1)
        drop = looking.page.locator("[data-drop]").bounding_box()
        method = looking.page.locator("#method").bounding_box()
        assert drop["y"] < method["y"], name
    expect(looking.page.locator(".effect")).to_contain_text("this is your first")
