"""The comparison of a run with the one before: on My runs, side by side, on its own page, and over the API."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import UUID

import httpx
import pytest

from app.base.db import reading, writing
from app.boards.rows import Interval
from app.boards.run_statistics import StatisticsOfRun, record_run_statistics
from app.models import User
from evergold.scoring.resampling.pairs import Difference
from tests.competitions.embargo import hide
from tests.rich_world import fresh
from tests.web import markup
from tests.web.reading import text_of
from tests.web.site import BROWSER, Site, log_in
from tests.world import HOUR, NOW, ZERO_SHOT, claim, finish, scores_of, submit, sure

SCORE = ("macro_f1", ZERO_SHOT)
RUNS = "/competitions/idioms/runs"


@pytest.fixture
def browser(quick_site: Site) -> Iterator[httpx.Client]:
    with log_in(quick_site) as found:
        yield found


@pytest.fixture
def two(quick_site: Site, browser: httpx.Client) -> tuple[UUID, UUID]:
    """Return Ada's 0.5 and, an hour later, 0.62, with a worker's statistics of them."""
    with reading(quick_site.engine) as session:
        ada = session.scalars(fresh(User)).one()
    found = []
    for hours, value in ((2, 0.5), (1, 0.62)):
        accepted = submit(quick_site.engine, ada, NOW - hours * HOUR, content=str(value))
        finish(quick_site.engine, sure(claim(quick_site.engine, accepted.run_id)), scores_of(ZERO_SHOT, value))
        found.append((accepted.submission.id, accepted.run_id))
    (first, run), (second, newer) = found
    difference = Difference(0.5, 0.62, 0.12, 0.0312, 0.2088, 0.0071, 0, 10_000, 0.95, "paired:1|seed:0")
    with writing(quick_site.engine) as session:
        record_run_statistics(
            session,
            {
                run: StatisticsOfRun("key", (), {SCORE: Interval(0.41, 0.59, 0.95, "t")}),
                newer: StatisticsOfRun(
                    "key", (run,), {SCORE: Interval(0.55123, 0.68321, 0.95, "t")}, {(run, SCORE): difference}
                ),
            },
        )
    return first, second


def read(browser: httpx.Client, path: str) -> str:
    page = browser.get(path, headers=BROWSER)
    assert page.status_code == 200
    markup.check(page.text)
    return text_of(page.text)


def compared(two: tuple[UUID, UUID]) -> str:
    return f"/submissions/compare?a={two[0]}&b={two[1]}"


def test_pages_say_it_in_words(browser: httpx.Client, two: tuple[UUID, UUID]) -> None:
    runs = read(browser, RUNS)
    assert "+0.1200 p = .008 +0.0312 to +0.2088" in runs
    assert "with its 95 % interval" in runs
    assert "0.5512 to 0.6833" in read(browser, f"/submissions/{two[1]}")
    side_by_side = read(browser, compared(two))
    assert "Is the difference significant?" in side_by_side
    assert "0.4100 to 0.5900 0.5512 to 0.6833 +0.0312 to +0.2088 .008 .008 better" in side_by_side


def test_programs_are_told_the_same(browser: httpx.Client, two: tuple[UUID, UUID]) -> None:
    standing: dict[str, Any] = browser.get(f"/api/v1/submissions/{two[1]}").json()["standings"][0]
    assert (standing["interval"]["low"], standing["interval"]["high"]) == (0.55123, 0.68321)
    assert (standing["change_test"]["p"], standing["change_test"]["low"]) == (0.0071, 0.0312)
    answer = browser.get(f"/api/v1/submissions/{two[0]}/comparison/{two[1]}").json()
    (score,) = [one for one in answer["scores"] if one["test"]]
    assert (score["interval_a"]["low"], score["interval_b"]["high"]) == (0.41, 0.68321)
    assert score["test"] == standing["change_test"] | {"corrected": 0.0071}, "one test alone is its own family"


def test_nothing_is_said_where_digits_are_hidden(
    quick_site: Site, browser: httpx.Client, two: tuple[UUID, UUID]
) -> None:
    hide(quick_site.engine, precision=2)
    for path in (RUNS, compared(two), f"/submissions/{two[1]}"):
        page = read(browser, path)
        assert "interval" not in page
        assert "p = " not in page
