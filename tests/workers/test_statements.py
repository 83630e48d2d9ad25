"""The database's cost of a run: statements are counted, because each is a part of a worker's time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace

import pytest
from celery.signals import worker_init
from sqlalchemy import Engine, event
from sqlalchemy.pool import QueuePool

from app.base.config import get_settings
from app.base.db import get_engine, reading
from app.models import RunStatus, ScoringRun, Standing, User
from tests.rich_world import fresh
from tests.workers.files import upload
from tests.world import NOW, the_run
from workers import celery_app
from workers.keys import ensure_key, key_file
from workers.turns import take_turn

pytestmark = [pytest.mark.both, pytest.mark.usefixtures("workplace")]

#: One to claim it; and, of what is recorded: the boards' version, the run, its scores, how many the team has, the
#: boards' rules, its tries, where it stands. SQLite claims in three.
MOST_STATEMENTS = {"postgresql": 8, "sqlite": 10}
#: The sealed file with its keys, if they are in use still; which SQLite writes one after the other.
OF_SEALED_OUTCOMES = {"postgresql": 1, "sqlite": 2}


@contextmanager
def statements(engine: Engine) -> Iterator[list[str]]:
    """Yield a list to which each statement inside the block is added.

    Left out are the beginnings of transactions, and the look at the tables' revision, which a worker takes every two
    seconds.
    """
    sent: list[str] = []

    def note(connection: object, cursor: object, statement: str, parameters: object, *_: object) -> None:
        if not statement.startswith("BEGIN") and "alembic_version" not in f"{statement} {parameters}":
            sent.append(" ".join(statement.split())[:80])

    event.listen(engine, "before_cursor_execute", note)
    try:
        yield sent
    finally:
        event.remove(engine, "before_cursor_execute", note)


@pytest.mark.parametrize("has_key", [False, True])
def test_a_run_needs_few_statements(engine: Engine, ada: User, has_key: bool) -> None:
    """The second of a team: as most are. It did not enter the setting of the other board."""
    if has_key:
        ensure_key(engine, key_file(), NOW)
    upload(engine, ada)
    take_turn("first", "cpu")
    run_id = upload(engine, ada)
    with statements(get_engine(get_settings().database_address)) as sent:
        take_turn("second", "cpu")
    assert the_run(engine, run_id).status == RunStatus.SCORED
    on = engine.dialect.name
    assert len(sent) <= MOST_STATEMENTS[on] + has_key * OF_SEALED_OUTCOMES[on], sent
    with reading(engine) as session:
        standings = session.scalars(fresh(Standing)).all()
        assert [(one.run_id, one.entries) for one in standings] == [(run_id - 1, 2)]
        assert (session.get_one(ScoringRun, run_id).outcomes_id is not None) == has_key


def test_a_worker_s_child_loads_the_task_types_that_are_declared(
    engine: Engine, ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check that no team waits for imports, and that no others take memory."""
    loaded: list[str] = []
    monkeypatch.setattr(celery_app, "TASKS", SimpleNamespace(get=loaded.append))
    celery_app.load_declared_task_types(engine)
    assert loaded == ["idiom-detection"]


def test_what_children_need_is_loaded_before_they_are_forked_and_never_looked_through(
    engine: Engine, ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check that they share it: the collector writes into everything that it looks at."""
    done: list[object] = []
    monkeypatch.setattr(celery_app, "TASKS", SimpleNamespace(get=done.append))
    steps = {name: lambda *_, name=name: done.append(name) for name in ("collect", "freeze")}
    monkeypatch.setattr(celery_app, "gc", SimpleNamespace(**steps))
    worker_init.send(sender=None)
    assert done == ["idiom-detection", "collect", "freeze"]
    pool = get_engine(get_settings().database_address).pool
    assert isinstance(pool, QueuePool)
    assert pool.checkedin() == 0, "a child would have the connection, too"
