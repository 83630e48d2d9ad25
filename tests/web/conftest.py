"""One running server; for each test a fresh database, a folder of its own, and a clock that stands still."""

from __future__ import annotations

import shutil
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from fastapi import FastAPI
from sqlalchemy import Engine

from app.base.config import Settings, get_settings
from app.web.main import create_app
from tests import world
from tests.web.in_process import InProcess
from tests.web.one_right import Organisers, organisers_of
from tests.web.routes import application
from tests.web.site import Person, Site, a_site, serving, wait_for_requests

Server = tuple[FastAPI, str]
#: Where nobody listens: requests are answered in process.
IN_PROCESS = "http://evergold.test"
CAPTURES = frozenset({"capfd", "capsys"})


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtest_call(item: pytest.Function) -> Generator[None, object, object]:
    """Wait until the requests of a test are logged, which happens after the answer, in another thread.

    When the test ends, so does its capture of stdout: Python up to 3.13 crashes if something is printed there
    meanwhile.
    """
    try:
        return (yield)
    finally:
        site = item.funcargs.get("empty_site")
        if isinstance(site, Site) and not CAPTURES.isdisjoint(item.funcargs):
            wait_for_requests(site.app)


@pytest.fixture(scope="session")
def server(_sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Yield the application and its address; its settings and database change with every test."""
    folder = tmp_path_factory.mktemp("server")
    shutil.copyfile(_sqlite_template, folder / "evergold.db")
    app = create_app(Settings(data_dir=folder, database_url=f"sqlite:///{folder / 'evergold.db'}"))
    app.openapi = application().openapi  # type: ignore[method-assign]  # the same, and made once
    app.state.server.engine.dispose()
    with serving(app) as url:
        yield app, url


@pytest.fixture(autouse=True)
def _quick_accounts(cheap_passwords: None) -> None:
    """Make passwords cheap: most tests register somebody, and few are about how long that must take."""


@pytest.fixture
def empty_site(server: Server, sqlite_engine: Engine) -> Iterator[Site]:
    """Yield a server without competitions."""
    address = sqlite_engine.url.render_as_string(hide_password=False)
    settings = get_settings().model_copy(update={"database_url": address})
    with a_site(*server, sqlite_engine, settings) as found:
        yield found


@pytest.fixture(scope="session")
def answering(_sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[FastAPI, InProcess]]:
    """Yield the application, and a transport that calls it without a socket."""
    folder = tmp_path_factory.mktemp("in-process")
    shutil.copyfile(_sqlite_template, folder / "evergold.db")
    app = create_app(Settings(data_dir=folder, database_url=f"sqlite:///{folder / 'evergold.db'}"))
    app.openapi = application().openapi  # type: ignore[method-assign]  # the same, and made once
    app.state.server.engine.dispose()
    app.state.in_flight, app.state.connections = set(), set()
    transport = InProcess(app)
    yield app, transport
    transport.end()


@pytest.fixture
def quick_empty_site(answering: tuple[FastAPI, InProcess], sqlite_engine: Engine) -> Iterator[Site]:
    """Yield a server without competitions, called in process."""
    app, transport = answering
    settings = get_settings().model_copy(
        update={"database_url": sqlite_engine.url.render_as_string(hide_password=False)}
    )
    with a_site(app, IN_PROCESS, sqlite_engine, settings) as site:
        site.transport = transport
        yield site


@pytest.fixture
def quick_site(quick_empty_site: Site) -> Site:
    """Return the same as `site`, called in process."""
    world.add_competition(quick_empty_site.engine)
    return quick_empty_site


@pytest.fixture
def site(empty_site: Site) -> Site:
    """Return a server with one competition, one phase that is open, one task and two boards."""
    world.add_competition(empty_site.engine)
    return empty_site


@pytest.fixture
def ada(site: Site) -> Iterator[Person]:
    """Yield somebody who takes part."""
    person = site.person("ada")
    with person.client:
        yield person


@pytest.fixture
def eve(site: Site) -> Iterator[Person]:
    """Yield somebody else."""
    person = site.person("eve")
    with person.client:
        yield person


@pytest.fixture
def organisers(site: Site) -> Organisers:
    """Return organisers with one right each."""
    return organisers_of(site)
