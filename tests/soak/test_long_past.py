"""With two hundred thousand submissions in the database nothing costs more than with twenty thousand: neither what
anybody can look at, nor what the server does by itself. EVERGOLD_TEST_SUBMISSIONS=1000000 adds as many.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from sqlalchemy import Engine, text

from app.base.db import make_engine
from app.operations.migrate import upgrade
from app.standings.check import TRIES_AT_MOST
from bench._seeded import settle
from tests import postgres
from tests.history import add_past, add_senders
from tests.leaks.conftest import bucket, guarded, templates  # noqa: F401 (fixtures)
from tests.leaks.place import Place, serve
from tests.leaks.walking import EXPORTS, GROWS, OwnWork, look, more_costly, pages_that_grew
from tests.web.conftest import answering, quick_empty_site  # noqa: F401 (fixtures)

pytestmark = [pytest.mark.soak, pytest.mark.timeout(3600)]

#: Until the first look every list is longer than a page, and than the tries that are looked at one by one.
FEW, MANY, TEAMS = 20_000, int(os.environ.get("EVERGOLD_TEST_SUBMISSIONS", "200000")), 300
#: What looks at tries, and what looking at one may take.
TRIES = "SELECT runs.id, teams.id AS id_1, teams.kind, submissions.id AS id_2, submissions.track"
STEPS_FOR_A_TRY = 600


@pytest.fixture
def kept_in() -> str:
    """Files matter little here: they are in a folder."""
    return "folder"


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.services)])
def place(request: pytest.FixtureRequest, guarded: Place) -> Iterator[Place]:  # noqa: F811
    if request.param == "sqlite":
        yield guarded
        return
    with _moved(guarded, request.getfixturevalue("postgres_server")):
        yield guarded


@contextmanager
def _moved(place: Place, server: str) -> Iterator[None]:
    """Move all rows to PostgreSQL, configured for a disk that reads equally fast anywhere.

    With its defaults, it is right to read tables that are no larger than these from start to end.
    """
    with postgres.database(server) as address:
        engine = make_engine(address)
        with engine.begin() as connection:
            connection.execute(text(f"ALTER DATABASE {engine.url.database} SET random_page_cost = 1.1"))
        engine.dispose()
        upgrade(engine)
        postgres.copy(place.site.engine, engine)
        settle(engine)
        place.site.engine = engine
        serve(place.site, place.site.settings.model_copy(update={"database_url": address}))
        yield
        engine.dispose()


def test_nothing_costs_more_with_a_long_past(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    engine, work = place.site.engine, OwnWork(place, monkeypatch)
    senders = add_senders(engine, TEAMS)
    _add_past(engine, FEW, senders)
    roles = ("anonymous", "participant", "organiser", "administrator")
    before, done_before = {role: look(place, role, without=EXPORTS)[0] for role in roles}, work.costs()
    _add_past(engine, MANY - FEW, senders)
    for role in roles:
        after, walked = look(place, role, without=EXPORTS)
        assert walked == [], role
        grown = pages_that_grew(before[role], after)
        assert {one: told for one, told in grown.items() if not _may_grow(engine, *one, *told)} == {}, role
    assert more_costly(done_before, work.costs()) == {}


def _add_past(engine: Engine, submissions: int, senders: list[dict[str, object]]) -> None:
    add_past(engine, submissions, senders)
    if engine.dialect.name == "postgresql":
        settle(engine)


def _may_grow(engine: Engine, path: str, statement: str, before: int, after: int) -> bool:
    """Return whether costs may grow: ranks of long ago depend on the runs of those who were active since, as long as
    these are not too many.

    PostgreSQL joins the same rows in another way as its tables grow.
    """
    is_joined_otherwise = engine.dialect.name == "postgresql" and after < 2 * before
    are_tries = statement.startswith(TRIES) and after < STEPS_FOR_A_TRY * TRIES_AT_MOST
    return path in GROWS or is_joined_otherwise or are_tries
