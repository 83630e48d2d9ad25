"""A server of each test's own: a fresh database, a folder of its own, a clock that stands still."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from sqlalchemy import Engine

from app.config import get_settings
from app.db import get_engine
from tests import world
from tests.web.site import Person, Site, a_site


@pytest.fixture
def site(sqlite_engine: Engine) -> Iterator[Site]:
    """The server; one competition, one phase that is open, one task, two boards."""
    world.add_competition(sqlite_engine)
    address = sqlite_engine.url.render_as_string(hide_password=False)
    settings = get_settings().model_copy(update={"database_url": address})
    with a_site(sqlite_engine, settings) as found:
        yield found
    get_engine(address).dispose()


@pytest.fixture
def ada(site: Site) -> Iterator[Person]:
    """Somebody who takes part."""
    person = site.person("ada")
    with person.client:
        yield person


@pytest.fixture
def eve(site: Site) -> Iterator[Person]:
    """Somebody else."""
    person = site.person("eve")
    with person.client:
        yield person
