"""A small upload on either database: a refused one leaves nothing behind, and an accepted one needs few statements."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import Engine, event

from app.base.db import reading
from app.models import Team
from app.web.http.rate_limits import RateLimits
from tests import world
from tests.rich_world import own
from tests.web.site import Person, Site
from tests.whole import site_of
from tests.world import DAY, NOW

pytestmark = pytest.mark.both


@pytest.fixture
def site(engine: Engine) -> Iterator[Site]:
    world.add_competition(engine, per_day=2, ends_at=None)
    with site_of(engine) as found:
        found.set_clock(NOW)
        yield found


@pytest.fixture
def ada(site: Site) -> Iterator[Person]:
    person = site.person("ada")
    with person.client:
        yield person


def test_what_is_refused_is_stored_nowhere(site: Site, ada: Person) -> None:
    ada.submitted(b"one")
    ada.submitted(b"two")
    stored = site.stored()
    assert len(stored) == 2
    response = ada.submit(b"three")
    assert (response.status_code, response.json()["error"]["code"]) == (429, "limit_reached")
    assert site.stored() == stored
    site.set_clock(NOW + DAY)
    ada.submitted(b"three")
    assert len(site.stored()) == 3


def test_who_is_refused_at_the_first_try_has_no_team_and_may_not_try_for_ever(site: Site, ada: Person) -> None:
    site.app.state.rate_limits = RateLimits(site.settings.model_copy(update={"uploads_per_minute": 2}))
    site.set_clock(NOW - 100 * DAY)
    assert [ada.submit().json()["error"]["code"] for _ in range(3)] == 2 * ["phase_not_open"] + ["limit_reached"]
    with reading(site.engine) as session:
        assert session.scalars(own(Team)).all() == []
    assert site.stored() == []


def statements_of_an_upload(site: Site, person: Person, content: bytes) -> list[str]:
    """Return the statements of an upload, without the beginnings of transactions."""
    asked: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        asked.append(statement)

    event.listen(site.engine, "before_cursor_execute", note)
    person.submitted(content)
    event.remove(site.engine, "before_cursor_execute", note)
    return [one for one in asked if not one.startswith("BEGIN")]


def test_what_it_rests_on_is_asked_before_the_file_is_stored_and_under_the_lock(site: Site, ada: Person) -> None:
    ada.submitted(b"one")
    asked = statements_of_an_upload(site, ada, b"two")
    times = sum("FROM former_members" in statement for statement in asked)
    assert (times, len(asked)) == (2, 9 + locks_of(site)), asked  # the last: whether scoring is paused


def locks_of(site: Site) -> int:
    """Return how many statements lock the team; on SQLite all wait for one turn to write, which needs no lock of its
    own.
    """
    return 0 if site.engine.dialect.name == "sqlite" else 1


def test_a_first_upload_asks_beside_that_for_names_and_writes_three_rows_more(site: Site, ada: Person) -> None:
    """Count the statements: names of teams, under a lock; whether the account is deleted, also under one; a team, its
    member, their registration.
    """
    asked = statements_of_an_upload(site, ada, b"one")
    assert len(asked) == 9 + locks_of(site) + 2 + 2 + 3 + 1, asked  # and when the token was used
