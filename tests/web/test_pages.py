"""The pages, as they come from the server: complete without any script."""

from __future__ import annotations

import re

import pytest
from sqlalchemy import select

from app.base.db import writing
from app.models import Board, Competition, HistoricRow, Phase, TeamKind
from tests import world
from tests.web import markup
from tests.web.reading import BOARD_PAGE, COMPETITION_PAGE, HOME, SUBMIT_PAGE, rows_of, text_of, visit
from tests.web.site import BROWSER, Site, log_in
from tests.world import DAY, HOUR, NOW, PHASE, TASK

PUBLIC = [HOME, COMPETITION_PAGE, BOARD_PAGE, SUBMIT_PAGE, "/login", "/register", "/nothing"]


# ------------------------------------------------------------------------------------------------------- every page


@pytest.mark.parametrize("path", PUBLIC)
def test_every_public_page_keeps_the_rules(site: Site, path: str) -> None:
    markup.check(visit(site, path))


@pytest.mark.parametrize("path", [*PUBLIC, "/submissions", "/account"])
def test_every_page_of_the_logged_in_keeps_the_rules(site: Site, path: str) -> None:
    with log_in(site) as browser:
        markup.check(browser.get(path).text)


@pytest.mark.parametrize("path", ["/submissions", "/account", "/submissions/00000000-0000-4000-8000-000000000000"])
def test_private_pages_ask_to_log_in_and_lead_back(site: Site, path: str) -> None:
    with site.client(**BROWSER) as browser:
        response = browser.get(path)
    assert (response.status_code, response.headers["Location"]) == (303, f"/login?next={path}")


@pytest.mark.parametrize("path", [*PUBLIC, "/submissions", "/account"])
def test_pages_of_the_logged_in_are_never_shared(site: Site, path: str) -> None:
    with log_in(site) as browser:
        headers = browser.get(path).headers
    assert headers["Cache-Control"] in ("private, no-cache", "no-store")
    assert "Cookie" in headers["Vary"]


def test_a_board_sets_no_cookie(site: Site) -> None:
    with site.client(**BROWSER) as browser:
        assert "Set-Cookie" not in browser.get(BOARD_PAGE).headers


def test_old_addresses_and_robots(site: Site) -> None:
    with site.client(**BROWSER) as browser:
        assert browser.get("/competitions").headers["Location"] == "/"
        assert browser.get("/favicon.ico").headers["Location"].startswith("/static/favicon.svg")
        assert "Disallow: /submissions" in browser.get("/robots.txt").text


# ------------------------------------------------------------------------------------------------- home, competition


@pytest.mark.parametrize(
    ("now", "group", "said"),
    [
        (NOW, "Open now", "Evaluation closes Sun 11 Jan 2026, 00:00 AoE (11 Jan, 12:00 UTC)"),
        (NOW - 4 * DAY, "Upcoming", "Evaluation opens Fri 9 Jan 2026, 00:00 AoE (9 Jan, 12:00 UTC)"),
        (NOW + 4 * DAY, "Closed", "Evaluation closed Sun 11 Jan 2026, 00:00 AoE (11 Jan, 12:00 UTC)"),
    ],
)
def test_home_groups_competitions_by_what_matters_now(site: Site, now: object, group: str, said: str) -> None:
    site.now = now  # type: ignore[assignment]
    found = text_of(visit(site, HOME))
    assert group in found
    assert said in found


def test_home_knows_everlasting_boards(site: Site) -> None:
    with writing(site.engine) as session:
        session.scalars(select(Phase)).one().ends_at = None
    found = text_of(visit(site, HOME))
    assert "Everlasting" in found
    assert "always open" in found


def test_home_without_competitions_says_so(empty_site: Site) -> None:
    assert "No competitions yet" in text_of(visit(empty_site, HOME))


def test_a_competition_shows_phases_tasks_downloads_and_boards(site: Site) -> None:
    site.add_file("items.csv", b"ID,Language\n1,EN\n", "Blind input")
    page = visit(site, COMPETITION_PAGE)
    found = text_of(page)
    assert "closes Sun 11 Jan 2026, 00:00 AoE (11 Jan, 12:00 UTC)" in found
    assert "10 a day per team and task" in found
    data = visit(site, f"{COMPETITION_PAGE}/data")
    assert "Blind input items.csv , 17 bytes" in text_of(data)
    assert f'href="/api/v1{COMPETITION_PAGE}/phases/{PHASE}/tasks/{TASK}/files/items.csv"' in data
    assert f'href="{SUBMIT_PAGE}"' in page
    assert f'href="{BOARD_PAGE}"' in page
    site.set_clock(NOW + DAY)
    assert f'href="{SUBMIT_PAGE}"' not in visit(site, COMPETITION_PAGE)


def test_an_organisers_markdown_does_no_harm(site: Site) -> None:
    text = (
        "# Title\n\n<script>alert(1)</script> <b onclick=x>b</b> [a](javascript:alert(1)) ![i](http://x.example/i.png)"
        "\n\n[paper](https://example.org) **bold**\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"
    )
    with writing(site.engine) as session:
        session.scalars(select(Competition)).one().description = text
    page = visit(site, COMPETITION_PAGE)
    assert "&lt;script&gt;alert(1)" in page
    assert "<img" not in page
    assert "javascript:" not in re.findall(r'href="([^"]*)"', page)
    assert '<a href="https://example.org" rel="noreferrer">paper</a>' in page
    assert "<h3>Title</h3>" in page
    assert "<strong>bold</strong>" in page


# -------------------------------------------------------------------------------------------------------------- board


@pytest.fixture
def scored(site: Site) -> Site:
    """Ada before Grace; Eve undefined; a baseline; a published result."""
    ada, grace, eve = (world.add_user(site.engine, name) for name in ("ada", "grace", "eve"))
    world.score(site.engine, world.submit(site.engine, ada, method="<b>mBERT</b>").run_id, 0.75)
    world.score(site.engine, world.submit(site.engine, grace, NOW + HOUR).run_id, 0.5)
    run_id = world.submit(site.engine, eve, NOW + HOUR).run_id
    constant = world.scores_of(world.ZERO_SHOT, None, "constant predictions")
    world.finish(site.engine, world.sure(world.claim(site.engine, run_id)), constant)
    baseline = world.add_user(site.engine, "organisers")
    world.add_team(site.engine, baseline, name="Majority class", kind=TeamKind.BASELINE)
    world.score(site.engine, world.submit(site.engine, baseline).run_id, 0.625)
    with writing(site.engine) as session:
        board = session.scalars(select(Board).where(Board.name == "zero-shot")).one()
        phase = session.scalars(select(Phase)).one()
        scores = {"macro_f1 zero_shot/all": 0.7}
        published = HistoricRow(
            phase_id=phase.id, board_id=board.id, team="clay", achieved_at=None, scores=scores, source="Table 5"
        )
        session.add(published)
    return site


def test_a_board_tells_apart_who_is_ranked(scored: Site) -> None:
    page = visit(scored, BOARD_PAGE)
    markup.check(page)
    assert [row.split("> ", 1)[-1] for row in rows_of(page)] == [
        "1 Ada <b>mBERT</b> 0.7500 0.3750 1 10 Jan 2026",
        "not ranked clay published 0.7000 – undefined: not published",
        "not ranked Majority class baseline 0.6250 0.3125 10 Jan 2026",
        "2 Grace 0.5000 0.2500 1 10 Jan 2026",
        "not ranked Eve – undefined: constant predictions – undefined: constant predictions 1 10 Jan 2026",
    ]
    assert 'title="constant predictions"' in page
    assert "Published results: Table 5" in text_of(page)
    assert "idiom-detection:1|macro_f1|zero_shot/all" in page
    assert 'aria-sort="descending"' in page
    assert f'href="/api/v1{BOARD_PAGE}.csv"' in page


def test_a_board_without_rows_invites(site: Site) -> None:
    assert "No entries yet" in text_of(visit(site, BOARD_PAGE))
    site.set_clock(NOW - 2 * DAY)
    assert "has not begun" in text_of(visit(site, BOARD_PAGE))
    site.set_clock(NOW + 2 * DAY)
    assert "without a scored submission" in text_of(visit(site, BOARD_PAGE))
