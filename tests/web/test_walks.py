"""No page, and no sweep, walks through what grows with every upload: SQLite's plans say how rows are found."""

from __future__ import annotations

import pytest

from app.base.db import writing
from app.models import TokenScope
from app.people import auth
from tests import world
from tests.plans import statements, walks
from tests.web.reading import BOARD_PAGE, COMPETITION_PAGE, HOME
from tests.web.site import BOARD, Person, Site
from tests.world import COMPETITION, NOW, PHASE, TASK
from workers import sweep

#: Counts all runs and submissions that ever were; asked for by a machine, now and then.
COUNTS_ALL = "/metrics"
TASK_API = f"/api/v1/competitions/{COMPETITION}/phases/{PHASE}/tasks/{TASK}"


@pytest.fixture
def busy(site: Site, ada: Person) -> Site:
    """Three scored submissions, and one that waits."""
    for number in range(3):
        world.score(site.engine, world.submit(site.engine, ada.user, content=str(number)).run_id, 0.5)
    ada.submitted()
    return site


@pytest.mark.parametrize(
    "path",
    [
        HOME,
        COMPETITION_PAGE,
        BOARD_PAGE,
        f"{BOARD_PAGE}?since=2026-01-09",
        f"{BOARD_PAGE}/pictures",
        f"{COMPETITION_PAGE}/teams/Ada",
        f"{COMPETITION_PAGE}/tasks/{TASK}/results",
        BOARD,
        TASK_API,
        "/api/v1/submissions",
        "/api/v1/submissions?status=scored",
        f"/api/v1/submissions?competition={COMPETITION}",
        f"/api/v1/competitions/{COMPETITION}",
    ],
)
def test_no_page_walks_through_what_was_submitted(busy: Site, ada: Person, path: str) -> None:
    with statements(busy.engine) as asked:
        assert ada.client.get(path).status_code == 200
    assert asked
    assert walks(busy.engine, asked) == []


def test_the_desk_does_not_either(busy: Site) -> None:
    root = world.add_user(busy.engine, "root", is_administrator=True)
    with writing(busy.engine) as session:
        _, secret = auth.create_token(session, root, "desk", NOW, scopes=list(TokenScope))
    with busy.client(Authorization=f"Bearer {secret}") as client, statements(busy.engine) as asked:
        assert client.get(f"/competitions/{COMPETITION}/desk").status_code == 200
    assert walks(busy.engine, asked) == []


def test_sweeping_does_not_either(busy: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweep, "_forgotten_task_types", list)
    with statements(busy.engine) as asked:
        sweep.sweep(busy.engine, NOW)
        sweep.check_standings(busy.engine, 0)
    assert walks(busy.engine, asked) == []


def test_a_walk_would_be_seen(busy: Site) -> None:
    with statements(busy.engine) as asked, busy.client() as client:
        client.get(COUNTS_ALL)
    assert walks(busy.engine, asked)
