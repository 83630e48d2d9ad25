"""A whole competition at work: opened from its phases.yaml, sent files over HTTP, scored by the worker's function."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import Engine, select, update

from app.base.config import get_settings
from app.base.db import get_engine, reading, writing
from app.base.storage import FolderStorage
from app.declarations.apply.apply import apply_phases
from app.declarations.check import check_phases, load_competitions
from app.models import GoldVersion, Phase, RunStatus, ScoringRun, User
from app.people import auth
from app.web.main import create_app
from tests.sealed import make_key
from tests.web.site import BROWSER, Person, Site, a_site, log_in, run_of, serving
from tests.world import SHOWN_WHOLE
from workers.score import score_submission
from workers.version_check import check_gold_version

API = "/api/v1"
#: Every competition here is open at this moment.
NOW = datetime(2026, 6, 1, tzinfo=UTC)


@contextmanager
def site_of(engine: Engine) -> Iterator[Site]:
    """Yield a server of the test's own on this database, without competitions."""
    address = engine.url.render_as_string(hide_password=False)
    settings = get_settings().model_copy(update={"database_url": address})
    app = create_app(settings)
    app.state.server.engine.dispose()
    with serving(app) as url, a_site(app, url, engine, settings) as site:
        yield site
    get_engine(address).dispose()


def open_competition(site: Site, phases: Path, gold: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bring a phases.yaml without errors into the database; workers of this process find its gold."""
    assert [str(found) for found in check_phases(phases, now=NOW) if found.severity == "error"] == []
    with writing(site.engine) as session:
        apply_phases(session, load_competitions(phases), storage=FolderStorage(site.settings.storage_dir), now=NOW)
    site.set_clock(NOW)
    monkeypatch.setenv("EVERGOLD_DATABASE_URL", site.engine.url.render_as_string(hide_password=False))
    monkeypatch.setenv("EVERGOLD_GOLD_DIR", str(gold))
    get_settings.cache_clear()


def show_whole(site: Site) -> None:
    """Show everybody all digits and every score, where numbers are compared with those counted by hand."""
    with writing(site.engine) as session:
        session.execute(update(Phase).values(visibility=dict(SHOWN_WHOLE)))


@contextmanager
def taking_part(site: Site, username: str = "ada") -> Iterator[tuple[Person, httpx.Client]]:
    """Yield somebody with a token, and the same person in a browser."""
    with log_in(site, username) as browser:
        with writing(site.engine) as session:
            user = session.scalars(select(User).where(User.username == username)).one()
            _, secret = auth.create_token(session, user, "test", site.now)
        person = Person(site, user, site.client(Authorization=f"Bearer {secret}"))
        with person.client:
            yield person, browser


def sent(person: Person, place: str, content: bytes | Path, **form: str) -> dict[str, Any]:
    """Submit a file; return the submission as the API shows it at the end. place: `competition/phase/task`."""
    competition, phase, task = place.split("/")
    path = f"{API}/competitions/{competition}/phases/{phase}/tasks/{task}/submissions"
    data = content.read_bytes() if isinstance(content, Path) else content
    accepted = person.submitted(data, path=path, **form)
    score_submission(run_of(person.site, accepted))
    document: dict[str, Any] = person.client.get(f"{API}/submissions/{accepted['id']}").json()
    return document


def board(site: Site, place: str) -> dict[str, Any]:
    """Return a board as anybody gets it. place: `competition/phase/board`."""
    competition, phase, name = place.split("/")
    with site.client() as reader:
        found: dict[str, Any] = reader.get(f"{API}/competitions/{competition}/phases/{phase}/boards/{name}").json()
    return found


def values(document: dict[str, Any], team: str) -> dict[str, float | None]:
    """Return a team's values on a board: `metric split` -> value."""
    [row] = [row for row in document["rows"] if row["team"] == team]
    names = [f"{column['metric']} {column['split']}" for column in document["columns"]]
    return {name: cell["value"] for name, cell in zip(names, row["cells"], strict=True)}


def page(site: Site, path: str, browser: httpx.Client | None = None) -> str:
    """Return an existing page, for this browser or for a visitor without a log-in."""
    if browser is None:
        with site.client(**BROWSER) as visitor:
            return page(site, path, visitor)
    response = browser.get(path)
    assert response.status_code == 200, response.text
    return response.text


def failure_of(site: Site, submission: dict[str, Any]) -> str | None:
    """Return what organisers see about a run that failed."""
    from app.models import ScoringRun

    with reading(site.engine) as session:
        return session.get_one(ScoringRun, run_of(site, submission)).failure


def open_to_organisers(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let anybody organise on an empty server, now; workers of this process have the key."""
    site.set_clock(datetime.now(UTC))
    monkeypatch.setattr(site.settings, "organise", "anybody")
    monkeypatch.setenv("EVERGOLD_DATABASE_URL", site.engine.url.render_as_string(hide_password=False))
    monkeypatch.setenv("EVERGOLD_DATA_DIR", str(site.settings.data_dir))
    get_settings.cache_clear()
    make_key(site.engine)


def work(site: Site) -> None:
    """Do what workers do: check gold, and score everything that waits."""
    with reading(site.engine) as session:
        versions = session.scalars(select(GoldVersion.id).where(GoldVersion.published_at.is_(None))).all()
    for version in versions:
        check_gold_version(version)
    with reading(site.engine) as session:
        waiting = session.scalars(select(ScoringRun.id).where(ScoringRun.status == RunStatus.QUEUED)).all()
    for run in waiting:
        score_submission(run)
