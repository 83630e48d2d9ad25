"""With a million submissions in the database, whatever can be looked at is found by indexes, and not by walks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

import httpx
import pytest
from sqlalchemy import select

from app.base.db import reading, writing
from app.models import Submission, Team, TeamMember, TokenScope
from app.operations import metrics
from app.people import auth
from bench.seeded import fill
from tests import world
from tests.plans import statements, steps, walks
from tests.web.conftest import answering, quick_empty_site  # noqa: F401 - fixtures
from tests.web.routes import NAMES, NOWHERE, addresses
from tests.web.site import Site
from tests.web.test_walks import GROWS
from workers import sweep

pytestmark = [pytest.mark.soak, pytest.mark.timeout(1800)]

SUBMISSIONS, TEAMS = 1_000_000, 500
#: For a page: 500 teams on a board and 5,000 tries in a picture take some hundred each; all submissions, four millions.
MOST_STEPS = 1_500_000
FIRST_TEAM = 1


@pytest.fixture
def crowded(quick_empty_site: Site) -> Site:  # noqa: F811
    fill(quick_empty_site.engine, TEAMS, SUBMISSIONS)
    quick_empty_site.set_clock(datetime.now(UTC))
    return quick_empty_site


def test_nothing_walks_through_a_million_submissions(crowded: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Planned with the statistics of tables of this size, which the tests of every commit have not."""
    dear, engine = {}, crowded.engine
    with reading(engine) as session:
        newest = session.scalars(select(Submission.id).where(Submission.team_id == FIRST_TEAM)).first()
    names = {**NAMES, "team": "Team 1", "picture": "progress"}
    for username, is_administrator in (("member", False), ("root", True)):
        with seen_by(crowded, username, is_administrator=is_administrator) as visitor:
            for address in addresses(crowded.app):
                if address.method == "GET" and address.template not in GROWS:
                    path = address.path(names).replace(NOWHERE, str(newest))
                    with statements(engine) as asked, steps(engine) as counted:
                        assert visitor.get(path).status_code < 500
                    dear |= {(path, username, one): n for one, n in counted.items() if n > MOST_STEPS}
                    assert walks(engine, asked) == [], path
    monkeypatch.setattr(sweep, "_forgotten_task_types", list)
    sweep.sweep(engine, crowded.now)  # counts everything, once
    with steps(engine) as counted:
        sweep.sweep(engine, crowded.now)
        sweep.check_standings(engine, 0)
        with reading(engine) as session:
            metrics.exposition(session, crowded.now)
    dear |= {("sweep", "", one): n for one, n in counted.items() if n > MOST_STEPS}
    assert dear == {}


@contextmanager
def seen_by(site: Site, username: str, *, is_administrator: bool) -> Iterator[httpx.Client]:
    """Somebody in the first team, or who may see everything; by token."""
    user = world.add_user(site.engine, username, is_administrator=is_administrator)
    with writing(site.engine) as session:
        if not is_administrator:
            team = session.get_one(Team, FIRST_TEAM)
            session.add(TeamMember(team_id=team.id, user_id=user.id, competition_id=team.competition_id))
        _, token = auth.create_token(session, user, "test", site.now, scopes=frozenset(TokenScope))
    with site.client(Authorization=f"Bearer {token}") as visitor:
        yield visitor
