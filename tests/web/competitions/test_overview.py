"""The page of a competition: a cell for each task in each phase, and nothing of one in another's."""

from __future__ import annotations

import re

import pytest

from app.base.db import reading, writing
from app.base.storage import FolderStorage, store_upload
from app.competitions.find import find_competition, find_phase_task
from app.models import Competition, EntryRule, Halt
from tests import world
from tests.beside import add_other_task, enter_other
from tests.competitions.embargo import add_phase, declare, enter
from tests.rich_world import NEIGHBOURS, OTHER_TASK
from tests.web.reading import COMPETITION_PAGE, text_of, visit
from tests.web.site import TASK_PATH, Person, Site
from tests.world import COMPETITION, DAY, EARLIER_PHASE, HOUR, NOW, PHASE, TASK


@pytest.fixture
def several(site: Site) -> Site:
    """Return Detection in phases of each state, one of them hidden; Similarity in the open one, without gold."""
    engine = site.engine
    add_other_task(engine, gold=None, visibility={"board": "ranks_only"})
    add_phase(engine, "next", starts_at=NOW + DAY, position=2)
    hidden = {"board": "hidden", "public_from": (NOW + 9 * DAY).isoformat()}
    add_phase(engine, "secret", starts_at=NOW - DAY, ends_at=NOW - HOUR, position=3, visibility=hidden)
    return site


def cells(site: Site) -> dict[str, list[str]]:
    """Return the text of each phase's column, by task, without the words only for screen readers."""
    page = visit(site, COMPETITION_PAGE).partition('class="stacked task-table"')[2]
    page = re.sub(r'<span class="visually-hidden">[^<]*</span>', "", page)
    body = page.partition("<tbody>")[2].partition("</tbody>")[0]
    rows = [re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row, re.DOTALL) for row in body.split("<tr>")[1:]]
    return {text_of(first): [text_of(cell) for cell in others] for first, *others in rows}


def test_each_task_has_a_cell_in_each_phase(several: Site, ada: Person) -> None:
    """Check the order of the phases: evaluation, next, secret, earlier."""
    enter(several.engine, ada.user, 0.5)
    assert cells(several) == {
        "Detection": ["1 team Submit", "not open yet", "board hidden", "1 team"],
        "Similarity": ["Board opens with the gold", "–", "–", "–"],
    }
    with writing(several.engine) as session:
        find_phase_task(session, COMPETITION, PHASE, OTHER_TASK).gold = "gold.csv"
        find_phase_task(session, COMPETITION, "next", TASK).gold = None
    enter_other(several.engine, ada.user, 0.4)
    assert cells(several)["Similarity"] == ["1 team Submit", "–", "–", "–"]
    assert cells(several)["Detection"][1] == "not open yet", "nothing waits for gold before a phase is open"
    several.set_clock(NOW + 2 * DAY)
    assert cells(several)["Detection"][:2] == ["1 team", "Board opens with the gold"]


def test_a_rule_that_all_tasks_of_a_phase_share_is_said_once_of_the_phase(several: Site) -> None:
    def said() -> list[bool]:
        page = visit(several, COMPETITION_PAGE).partition('id="phases-title"')[2].partition("</ol>")[0]
        return ["best" in line for line in page.split("<li ")[1:]]

    assert said() == [True] * 4
    with writing(several.engine) as session:
        find_phase_task(session, COMPETITION, PHASE, OTHER_TASK).entry = {"entry": EntryRule.LAST}
    assert said() == [False, True, True, True]


def test_a_task_that_no_phase_asks_has_no_row(several: Site) -> None:
    with writing(several.engine) as session:
        session.delete(find_phase_task(session, COMPETITION, PHASE, OTHER_TASK))
    assert list(cells(several)) == ["Detection"]


def test_a_phase_that_asks_nothing_yet_is_shown_as_well(site: Site) -> None:
    add_phase(site.engine, "next", starts_at=NOW + DAY, position=2)
    with writing(site.engine) as session:
        session.delete(find_phase_task(session, COMPETITION, "next", TASK))
    with site.client() as anybody:
        page = anybody.get(COMPETITION_PAGE)
    assert (page.status_code, "Next" in text_of(page.text)) == (200, True)


# ----------------------------------------------------------------------------------------------------- tasks, uploads


def test_a_task_is_told_in_the_phase_that_is_asked(several: Site) -> None:
    for phase, state in ((PHASE, "open"), ("next", "upcoming"), ("secret", "closed"), (EARLIER_PHASE, "closed")):
        with several.client() as anybody:
            told = anybody.get(TASK_PATH.replace(PHASE, phase)).json()
        assert (told["phase"], told["state"], told["name"]) == (phase, state, TASK)


def test_the_way_to_upload_leads_to_a_task_of_an_open_phase(several: Site, ada: Person) -> None:
    for client in (several.client(), ada.client):
        sent = client.get(f"{COMPETITION_PAGE}/submit")
        assert (sent.status_code, sent.headers["Location"]) == (
            303,
            f"{COMPETITION_PAGE}/phases/{PHASE}/tasks/{TASK}/submit",
        )
    with several.client() as anybody:
        assert anybody.get(f"{COMPETITION_PAGE}/leaderboard").headers["Location"].endswith("/boards/zero-shot")
        several.set_clock(NOW + 20 * DAY)
        declare(several.engine, phase="next", ends_at=NOW + 3 * DAY)
        assert anybody.get(f"{COMPETITION_PAGE}/submit").status_code == 404


def test_an_image_is_the_one_that_is_asked_for_of_this_competition(site: Site) -> None:
    kept = {name: store_upload([name.encode()], FolderStorage(site.settings.storage_dir), 99).sha256 for name in "ab"}
    types = {"a": "image/png", "b": "image/webp"}
    with writing(site.engine) as session:
        find_competition(session, COMPETITION).images = {
            f"{name}.png": {"sha256": sha256, "type": types[name], "width": 1, "height": 1}
            for name, sha256 in kept.items()
        }
    with site.client() as anybody:
        for name, sha256 in kept.items():
            answer = anybody.get(f"{COMPETITION_PAGE}/images/{sha256}")
            assert (answer.content, answer.headers["Content-Type"]) == (name.encode(), types[name])
            assert anybody.get(f"/competitions/{NEIGHBOURS}/images/{sha256}").status_code == 404


# --------------------------------------------------------------------------------------------------------- first page


def test_the_first_page_groups_what_is_listed_and_leaves_archives_out(site: Site) -> None:
    with writing(site.engine) as session:
        find_competition(session, NEIGHBOURS).halt = Halt.ARCHIVED
    world.add_competition(site.engine, name="over", starts_at=NOW - 9 * DAY, ends_at=NOW - DAY)
    world.add_competition(site.engine, name="ahead", starts_at=NOW + DAY, ends_at=NOW + 2 * DAY)
    with reading(site.engine) as session:
        assert session.query(Competition).count() > 3
    page = visit(site, "/")
    names = re.findall(r'<h3><a href="/competitions/([a-z-]+)">', page)
    assert names == [COMPETITION, "ahead", "over"]
    headings = [one for one in re.findall(r"<h2[^>]*>([^<]+)<", page) if one in ("Open now", "Coming up", "Closed")]
    assert len(headings) == len(set(headings))
