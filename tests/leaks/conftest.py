"""The application of tests/web, here too: over HTTP, or, for those who ask thousands of times, in process."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi import FastAPI
from sqlalchemy import Engine

from app.base.config import Settings, get_settings
from app.web.main import create_app
from tests.leaks import place
from tests.leaks.place import Place
from tests.web.conftest import empty_site, server  # noqa: F401 (fixtures)
from tests.web.in_process import InProcess
from tests.web.routes import application
from tests.web.site import Site, a_site

ADDRESS = "http://evergold.test"


@pytest.fixture(scope="session")
def answering(_sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[FastAPI, InProcess]]:
    """The application, and a way to ask it that is no socket."""
    folder = tmp_path_factory.mktemp("in-process")
    shutil.copyfile(_sqlite_template, folder / "evergold.db")
    app = create_app(Settings(data_dir=folder, database_url=f"sqlite:///{folder / 'evergold.db'}"))
    app.openapi = application().openapi  # type: ignore[method-assign]  # the same, and made once
    app.state.server.engine.dispose()
    app.state.in_flight = set()
    transport = InProcess(app)
    yield app, transport
    transport.end()


@pytest.fixture
def quick_site(answering: tuple[FastAPI, InProcess], sqlite_engine: Engine) -> Iterator[Site]:
    """A server without competitions, asked in process."""
    app, transport = answering
    settings = get_settings().model_copy(
        update={"database_url": sqlite_engine.url.render_as_string(hide_password=False)}
    )
    with a_site(app, ADDRESS, sqlite_engine, settings) as site:
        site.transport = transport
        yield site


@pytest.fixture
def guarded(quick_site: Site, cheap_passwords: None) -> Iterator[Place]:
    """The hidden evaluation over, its results frozen, rounds of judging begun."""
    found = place.build(quick_site)
    place.reveal(found)
    place.judge(found, place.TEAMS)
    found.save()
    yield found
    found.saved.close()
