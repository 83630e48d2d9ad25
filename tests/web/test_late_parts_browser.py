"""Pages do not move when scripts rewrite times, nor when fonts and styles come late."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from sqlalchemy import select

from app.base.db import writing
from app.competitions.find import find_competition
from app.models import Role, User
from app.people.rights import grant_role
from tests import world
from tests.competitions.embargo import MINUTE, enter
from tests.web.late_parts import SIZES, WATCH, WAYS, moves
from tests.web.reading import BOARD_PAGE, COMPETITION_PAGE, HOME, SUBMIT_PAGE
from tests.web.site import Site
from tests.web.test_browser import chromium, look, site  # noqa: F401 - fixtures
from tests.world import COMPETITION

pytestmark = pytest.mark.browser
PAGES = {
    "board": BOARD_PAGE,
    "competition": COMPETITION_PAGE,
    "competitions": HOME,
    "submit": SUBMIT_PAGE,
    "desk": f"{COMPETITION_PAGE}/desk",
}


@pytest.fixture
def teams(site: Site) -> Site:  # noqa: F811
    """Forty teams with methods, so that the line under the title is as long as on a lively board."""
    for place in range(40):
        user = world.add_user(site.engine, f"user{place}", f"Team {place}")
        enter(site.engine, user, 0.9 - place / 100, at=site.now - MINUTE, method=f"Method of team {place}")
    return site


@pytest.mark.parametrize("name", PAGES)
def test_nothing_moves_whatever_comes_late(
    teams: Site,
    look: Any,  # noqa: F811
    name: str,
    pytestconfig: pytest.Config,
) -> None:
    """Check each way on each page, on a desktop or on a phone; in soak on both."""
    looking = look()
    looking.register()
    with writing(teams.engine) as session:
        ada = session.scalars(select(User).where(User.username == "ada")).one()
        grant_role(session, find_competition(session, COMPETITION), ada, Role.ORGANISER, teams.now)
    looking.page.add_init_script(WATCH)
    first = list(PAGES).index(name)  # the next page's ways are on the other size
    for place, (size, late) in enumerate(product(SIZES, WAYS), first):
        if place % 2 == 0 or pytestconfig.getoption("--soak"):
            width, height = SIZES[size]
            looking.page.set_viewport_size({"width": width, "height": height})
            assert moves(looking.page, teams.url + PAGES[name], late) == [], (size, sorted(late))
