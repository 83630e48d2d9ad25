"""With a million submissions in the database, pages that everybody reads use indexes, not walks."""

from __future__ import annotations

import pytest
from sqlalchemy import Engine

from bench._seeded import fill
from tests.plans import statements, walks
from tests.web.reading import BOARD_PAGE, COMPETITION_PAGE, HOME
from tests.web.site import BOARD
from tests.whole import site_of
from tests.world import COMPETITION, TASK

pytestmark = pytest.mark.soak

SUBMISSIONS, TEAMS = 1_000_000, 500
PATHS = (
    HOME,
    COMPETITION_PAGE,
    BOARD_PAGE,
    f"{BOARD_PAGE}?limit=50",
    f"{BOARD_PAGE}/pictures",
    f"{COMPETITION_PAGE}/tasks/{TASK}/results",
    BOARD,
    f"/api/v1/competitions/{COMPETITION}",
)


def test_no_public_page_walks_through_a_million_submissions(sqlite_engine: Engine) -> None:
    """Planned with the statistics of tables of this size, which the same test on every commit has not. Three minutes,
    nearly all of it for filling the database."""
    fill(sqlite_engine, TEAMS, SUBMISSIONS)
    with site_of(sqlite_engine) as site, site.client() as client:
        for path in PATHS:
            with statements(sqlite_engine) as asked:
                assert client.get(path).status_code == 200, path
            assert asked, path
            assert walks(sqlite_engine, asked) == [], path
