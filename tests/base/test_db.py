"""Engines and column types: SQLite set up to lose nothing, times aware, transactions that end as they should."""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy import Engine, delete, select, text, update
from sqlalchemy.exc import IntegrityError, InvalidRequestError, StatementError

from app.base import db
from app.base.config import Settings
from app.base.db import engine_for_reading, get_engine, make_engine, reading, writing
from app.models import Phase, TeamMember, User
from tests import postgres
from tests.threads import in_threads
from tests.world import NOW, SECOND, add_competition, add_user

pytestmark = pytest.mark.both


def test_sqlite_survives_a_power_cut_and_checks_references(tmp_path: Path) -> None:
    engine = make_engine(f"sqlite:///{tmp_path / 'a.db'}")
    with engine.connect() as connection:
        pragmas = [
            connection.exec_driver_sql(f"PRAGMA {name}").scalar()
            for name in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        ]
    engine.dispose()
    assert pragmas == ["wal", 2, 1, 30_000]  # 2: FULL


class _OpenedByAnother:
    """A cursor of a new database that another server prepares at the same moment."""

    def __init__(self, times: int) -> None:
        self.left, self.asked = times, 0

    def execute(self, statement: str) -> None:
        self.asked += 1
        if self.asked <= self.left:
            raise sqlite3.OperationalError("database is locked")


def test_a_new_database_that_another_server_opens_is_waited_for_and_not_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(db, "SQLITE_RETRY_SECONDS", 0)
    cursor = _OpenedByAnother(3)
    db._use_wal(cursor)  # type: ignore[arg-type]
    assert cursor.asked == 4
    monkeypatch.setattr(db, "SQLITE_BUSY_SECONDS", 0)
    with pytest.raises(sqlite3.OperationalError, match="locked"):
        db._use_wal(_OpenedByAnother(10**9))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "address", ["postgres://ada:s%40crt@db/evergold", "postgresql://ada:s%40crt@db/evergold?sslmode=require"]
)
def test_postgresql_addresses_need_no_driver(address: str) -> None:
    engine = make_engine(address)
    assert engine.url.drivername == "postgresql+psycopg"
    assert (engine.url.username, engine.url.password, engine.url.database) == ("ada", "s@crt", "evergold")


def test_a_process_has_one_engine_per_address(tmp_path: Path) -> None:
    address = f"sqlite:///{tmp_path / 'a.db'}"
    assert get_engine(address) is get_engine(address)


# ------------------------------------------------------------------------------------------------------------- times


def test_times_come_back_aware_and_exact(engine: Engine) -> None:
    moment = datetime(2026, 3, 29, 1, 30, 15, 123456, tzinfo=UTC)  # an hour that central Europe skips
    add_competition(engine, starts_at=moment, ends_at=None)
    with reading(engine) as session:
        found = session.scalars(select(Phase.starts_at)).one()
    assert found == moment
    assert found.utcoffset() == timedelta(0)
    assert found.microsecond == 123456


def test_times_of_any_zone_are_kept_and_compared_as_moments(engine: Engine) -> None:
    tokyo = timezone(timedelta(hours=9))
    add_competition(engine, starts_at=datetime(2026, 1, 10, 6, tzinfo=tokyo), ends_at=None)  # 2026-01-09 21:00 UTC
    with reading(engine) as session:
        before = select(Phase.id).where(Phase.starts_at <= datetime(2026, 1, 9, 20, 59, 59, tzinfo=UTC))
        at = select(Phase.id).where(Phase.starts_at <= datetime(2026, 1, 9, 21, tzinfo=UTC))
        assert session.scalar(before) is None
        assert session.scalar(at) is not None


def test_a_naive_time_is_refused(engine: Engine) -> None:
    add_competition(engine)
    naive = NOW.replace(tzinfo=None)
    with writing(engine) as session, pytest.raises(StatementError, match="times are aware UTC"):
        session.execute(update(Phase).values(starts_at=naive))


# ------------------------------------------------------------------------------------------------------- transactions


def test_writing_commits_at_the_end_of_the_block(engine: Engine) -> None:
    ada = add_user(engine, "ada")
    with reading(engine) as session:
        assert session.get_one(User, ada.id).username == "ada"


def test_writing_rolls_back_on_any_exception(engine: Engine) -> None:
    ada = add_user(engine, "ada")

    def break_off() -> None:
        with writing(engine) as session:
            session.execute(update(User).values(display_name="Other"))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        break_off()
    with reading(engine) as session:
        assert session.get_one(User, ada.id).display_name == "Ada"


def test_who_reads_cannot_write(engine: Engine) -> None:
    """Check that a reading session writes nothing: there may be no transaction that could be rolled back."""
    ada = add_user(engine, "ada")
    with reading(engine) as session:
        found = session.get_one(User, ada.id)
        found.display_name = "Ada"  # as it is
        session.flush()
        found.display_name = "Other"
        with pytest.raises(RuntimeError, match="tried to write"):
            session.flush()
    for statement in (update(User).values(display_name="Other"), delete(User)):
        with reading(engine) as session, pytest.raises(RuntimeError, match="tried to write"):
            session.execute(statement)
    with reading(engine) as session:
        assert session.get_one(User, ada.id).display_name == "Ada"


@pytest.mark.parametrize("encoding", ["SQL_ASCII", "LATIN1"])
def test_a_database_that_cannot_hold_every_letter_is_refused_in_words(postgres_server: str, encoding: str) -> None:
    made = f"ENCODING '{encoding}' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0"
    with postgres.database(postgres_server, made) as address, pytest.raises(InvalidRequestError) as refused:
        make_engine(address).connect()
    assert str(refused.value).startswith(f"its encoding is {encoding}, not UTF8: create one with `createdb ")


def test_postgresql_keeps_what_it_has_prepared(postgresql_engine: Engine) -> None:
    """Check that a repeated statement is not parsed and planned again, whoever reads, writes or fails to find something
    in between.

    psycopg would discard all prepared statements at each ROLLBACK.
    """
    ada = add_user(postgresql_engine, "ada")
    for _ in range(12):
        with reading(postgresql_engine) as session:
            assert session.scalars(select(User.display_name).where(User.id == ada.id)).one() == "Ada"
        with writing(postgresql_engine) as session:
            session.get_one(User, ada.id).created_at += SECOND
    with engine_for_reading(postgresql_engine).connect() as connection:
        prepared = connection.scalars(text("SELECT statement FROM pg_prepared_statements")).all()
    assert sum("users.display_name" in one and "SELECT" in one for one in prepared) >= 1
    assert any(one.startswith("UPDATE users") for one in prepared)


# -------------------------------------------------------------------------------------------------------- connections


@pytest.fixture
def pings(postgresql_engine: Engine, monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Return a list to which each check that PostgreSQL is still there is added."""
    asked: list[object] = []
    ping = postgresql_engine.dialect.do_ping

    def noted(connection: Any) -> bool:
        asked.append(connection)
        return ping(connection)

    monkeypatch.setattr(postgresql_engine.dialect, "do_ping", noted)
    return asked


def test_a_connection_used_a_moment_ago_is_not_asked_whether_it_lives(
    postgresql_engine: Engine, pings: list[object]
) -> None:
    for _ in range(3):
        with reading(postgresql_engine) as session:
            session.execute(select(User.id))
    assert pings == []


def test_a_connection_that_rested_is_asked(
    postgresql_engine: Engine, pings: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check a connection that was idle: its server may be gone without an error."""
    for _ in range(2):
        monkeypatch.setattr("app.base.db.FRESH_SECONDS", 0.0)
        with reading(postgresql_engine) as session:
            session.execute(select(User.id))
    assert len(pings) == 1


def test_a_connection_that_its_server_closed_is_replaced(postgresql_engine: Engine, pings: list[object]) -> None:
    def backend() -> int:
        with reading(postgresql_engine) as session:
            return int(session.execute(text("SELECT pg_backend_pid()")).scalar_one())

    first = backend()
    with psycopg.connect(postgresql_engine.url.set(drivername="postgresql").render_as_string(False)) as other:
        # Waits until it has ended.
        assert other.execute("SELECT pg_terminate_backend(%s, 10000)", (first,)).fetchone() == (True,)
    assert backend() != first
    assert len(pings) == 1


def test_references_are_checked_on_both_databases(engine: Engine) -> None:
    with pytest.raises(IntegrityError), writing(engine) as session:
        session.add(TeamMember(team_id=1, user_id=1, competition_id=1))


def test_what_was_counted_does_not_change_before_the_commit(sqlite_engine: Engine) -> None:
    """Count with twenty threads to twenty: SQLite's write lock is taken at the beginning."""
    ada = add_user(sqlite_engine, "ada", "0")

    def add_one(_: int) -> None:
        with writing(sqlite_engine) as session:
            user = session.get_one(User, ada.id)
            user.display_name = str(int(user.display_name) + 1)

    in_threads(20, add_one)
    with reading(sqlite_engine) as session:
        assert session.get_one(User, ada.id).display_name == "20"


def test_readers_do_not_wait_for_a_writer(sqlite_engine: Engine) -> None:
    ada = add_user(sqlite_engine, "ada")
    with writing(sqlite_engine) as writer:
        writer.execute(update(User).values(display_name="Other"))
        with reading(sqlite_engine) as session:
            assert session.get_one(User, ada.id).display_name == "Ada"


def test_tables_can_be_read_with_plain_sql(engine: Engine) -> None:
    """Statuses and kinds are words in the tables, for organisers who ask with SQL."""
    add_competition(engine)
    with engine.connect() as connection:
        assert connection.execute(text("SELECT entry_rule FROM phases")).scalar() == "best"


def test_the_embedded_database_lies_in_the_data_folder_whatever_that_is_called(tmp_path: Path) -> None:
    folder = tmp_path / "a b%20é?#x"
    folder.mkdir()
    engine = make_engine(Settings(data_dir=folder, database_url="").database_address)
    with writing(engine) as session:
        session.execute(text("CREATE TABLE here (id INTEGER)"))
    engine.dispose()
    assert (folder / "evergold.db").is_file()
