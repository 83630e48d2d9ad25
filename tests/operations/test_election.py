"""Of several sweeps one works; when it is gone, or has lost the database, another one does."""

from __future__ import annotations

import pytest
from sqlalchemy import Engine, text

from app.operations.election import Election
from tests.processes import wait_until


@pytest.mark.services
def test_one_of_several_is_elected_and_stays(postgresql_engine: Engine) -> None:
    first, second = Election(postgresql_engine), Election(postgresql_engine)
    try:
        assert [first.is_won(), second.is_won(), first.is_won(), second.is_won()] == [True, False, True, False]
        first.leave()
        assert [second.is_won(), first.is_won()] == [True, False]
    finally:
        first.leave()
        second.leave()


@pytest.mark.services
def test_who_loses_the_database_loses_the_work(postgresql_engine: Engine) -> None:
    first, second = Election(postgresql_engine), Election(postgresql_engine)
    try:
        assert first.is_won()
        with postgresql_engine.connect() as other:
            holders = "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted"
            other.execute(text(holders))
        wait_until(second.is_won, "the lock is gone with its connection")
        assert not first.is_won()
    finally:
        first.leave()
        second.leave()


def test_on_sqlite_there_is_one(sqlite_engine: Engine) -> None:
    assert Election(sqlite_engine).is_won()
