"""PostgreSQL goes away and comes back: web, sweep and worker report it, lose nothing, and need nobody to
restart them.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from app.base.config import get_settings
from app.base.db import get_engine, make_engine, writing
from app.base.queue import _sender
from app.models import RunStatus, User
from app.operations.migrate import upgrade
from app.people import auth
from app.web import main
from tests import postgres
from tests.web.site import SUBMIT, Site
from tests.whole import site_of
from tests.workers.files import GOLD, PREDICTION, upload
from tests.world import HOUR, add_competition, add_user, the_run
from workers import score
from workers.score import score_submission
from workers.sweep import sweep

pytestmark = pytest.mark.services


@pytest.fixture(scope="module")
def server() -> Iterator[postgres.Postgres]:
    """Yield a server of our own, since other tests would miss a shared one."""
    with postgres.breakable() as own:
        yield own


@pytest.fixture
def away_engine(server: postgres.Postgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    """Yield a migrated engine on that server, with settings and gold of a worker that uses it."""
    (tmp_path / "var" / "gold").mkdir(parents=True)
    (tmp_path / "var" / "gold" / "gold.csv").write_text(GOLD)
    with postgres.database(server.address) as address:
        monkeypatch.setenv("EVERGOLD_DATABASE_URL", address)
        get_settings.cache_clear()
        engine = make_engine(address)
        upgrade(engine)
        add_competition(engine, ends_at=None)
        yield engine
        engine.dispose()
        get_engine(address).dispose()  # the worker's own
    if _sender.cache_info().currsize:
        _sender().close()


@pytest.fixture
def ada(away_engine: Engine) -> User:
    return add_user(away_engine, "ada")


@pytest.fixture
def site(away_engine: Engine) -> Iterator[Site]:
    with site_of(away_engine) as found:
        found.set_clock(datetime.now(UTC))
        yield found


def submit(site: Site, secret: str, key: str) -> httpx.Response:
    with site.client(Authorization=f"Bearer {secret}", **{"Idempotency-Key": key}) as client:
        return client.post(SUBMIT, files={"file": ("mine.csv", PREDICTION)})


@pytest.mark.parametrize(
    "crash", [pytest.param(False, id="restarted", marks=pytest.mark.soak), pytest.param(True, id="crashed")]
)
def test_visitors_are_asked_to_come_back_and_find_everything_as_it_was(
    site: Site, ada: User, server: postgres.Postgres, crash: bool
) -> None:
    with writing(site.engine) as session:
        _, secret = auth.create_token(session, ada, "test", site.now)
    first = submit(site, secret, "first")
    assert first.status_code == 202, first.text
    server.stop(crash=crash)
    for _ in range(3):  # the connections in the pool are dead, one after the other
        away = submit(site, secret, "second")
        assert (away.status_code, away.json()["error"]["code"]) == (503, "database_unavailable")
        assert away.headers["Retry-After"] == "5"
    with site.client(Accept="text/html") as browser:
        page = browser.get("/")
        assert (page.status_code, page.headers["Retry-After"]) == (503, "5")
        assert "cannot be reached" in page.text
    server.start()
    again = submit(site, secret, "second")
    assert again.status_code == 202, again.text
    assert submit(site, secret, "first").json()["id"] == first.json()["id"]
    assert site.submissions() == 2


def test_a_web_process_that_starts_meanwhile_waits_for_it(
    away_engine: Engine, server: postgres.Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.stop()
    monkeypatch.setattr(main, "DATABASE_SECONDS", 0.0)
    with pytest.raises(main.DatabaseNotReady, match="OperationalError"):
        main._check_database(away_engine)
    monkeypatch.setattr(main, "DATABASE_SECONDS", 60.0)
    has_waited = threading.Event()

    def sleep(seconds: float) -> None:
        has_waited.set()
        time.sleep(seconds)

    monkeypatch.setattr(main, "time", SimpleNamespace(monotonic=time.monotonic, sleep=sleep))
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(main._check_database, away_engine)
        waiting.add_done_callback(lambda _: has_waited.set())
        assert has_waited.wait(60)
        server.start()
        waiting.result(60)


def test_the_sweep_goes_on_when_the_database_is_back(away_engine: Engine, ada: User, server: postgres.Postgres) -> None:
    run_id = upload(away_engine, ada)
    later = datetime.now(UTC) + HOUR
    server.stop()
    with pytest.raises(SQLAlchemyError):
        sweep(away_engine, later)
    server.start()
    assert sweep(away_engine, later) == 1
    assert the_run(away_engine, run_id).sent_at == later


def test_a_worker_keeps_what_it_scored_until_the_database_is_back(
    away_engine: Engine, ada: User, server: postgres.Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check a worker notified of a run while the database was away, too: it claims the run when it is back."""
    scored, unscored = upload(away_engine, ada), upload(away_engine, ada, PREDICTION + "\n")
    reached = threading.Event()
    score_claim = score.score_claim

    def score_then_lose_the_database(*arguments: Any) -> object:
        outcome = score_claim(*arguments)
        server.stop()
        reached.set()
        return outcome

    monkeypatch.setattr(score, "score_claim", score_then_lose_the_database)
    first = threading.Thread(target=score_submission, args=(scored,))
    first.start()
    assert reached.wait(60)
    monkeypatch.setattr(score, "score_claim", score_claim)
    second = threading.Thread(target=score_submission, args=(unscored,))
    second.start()
    server.start()
    for thread in (first, second):
        thread.join(60)
    for run_id in (scored, unscored):
        run = the_run(away_engine, run_id)
        assert (run.status, run.attempts) == (RunStatus.SCORED, 1)


def test_nobody_meets_an_error_after_a_restart_that_went_unnoticed(
    away_engine: Engine, server: postgres.Postgres
) -> None:
    with writing(away_engine):
        pass  # a connection lies in the pool
    server.stop()
    server.start()
    assert add_user(away_engine, "bob").id
