"""One running server; for each test a fresh database, a folder of its own, and a clock that stands still."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi import FastAPI
from sqlalchemy import Engine

from app.base.config import Settings, get_settings
from app.web.main import create_app
from tests import world
from tests.web.routes import application
from tests.web.site import Person, Site, a_site, serving

Server = tuple[FastAPI, str]


@pytest.fixture(scope="session")
def server(_sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The application and its address; what it serves changes with every test."""
    folder = tmp_path_factory.mktemp("server")
    shutil.copyfile(_sqlite_template, folder / "evergold.db")
    app = create_app(Settings(data_dir=folder, database_url=f"sqlite:///{folder / 'evergold.db'}"))
    app.openapi = application().openapi  # type: ignore[method-assign]  # the same, and made once
    app.state.server.engine.dispose()
    with serving(app) as url:
        yield app, url


@pytest.fixture
def empty_site(server: Server, sqlite_engine: Engine) -> Iterator[Site]:
    """A server without competitions."""
    address = sqlite_engine.url.render_as_string(hide_password=False)
    settings = get_settings().model_copy(update={"database_url": address})
    with a_site(*server, sqlite_engine, settings) as found:
        yield found


@pytest.fixture
def site(empty_site: Site) -> Site:
    """One competition, one phase that is open, one task, two boards."""
    world.add_competition(empty_site.engine)
    return empty_site


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
