"""Engine, sessions and column types; the same code runs on SQLite (embedded default) and on PostgreSQL.

On SQLite a writing transaction takes the write lock at BEGIN (IMMEDIATE): counts made under it cannot change before it
commits, as with SELECT … FOR UPDATE on PostgreSQL.
"""

from __future__ import annotations

import json
import re
import select
import sqlite3
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import lru_cache, partial
from itertools import islice
from typing import Any, TypeVar, cast

from sqlalchemy import (
    JSON,
    ColumnElement,
    ColumnExpressionArgument,
    Connection,
    DateTime,
    Dialect,
    Engine,
    MetaData,
    Table,
    Text,
    TypeDecorator,
    bindparam,
    create_engine,
    event,
    inspect,
    make_url,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.exc import InvalidatePoolError, InvalidRequestError
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.orm import DeclarativeBase, ORMExecuteState, Session, make_transient_to_detached
from sqlalchemy.pool import ConnectionPoolEntry
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

#: Detects a server that disappeared silently (a dead host, a broken network) instead of waiting for it.
POSTGRESQL_PATIENCE = {
    "connect_timeout": 5,
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,  # milliseconds
}
#: A connection used this recently is assumed to be alive unless its server has closed it.
FRESH_SECONDS = 30.0
#: Maximum number of cached statements: visiting all pages takes some 400, and compiling a statement takes longer than
#: running it.
STATEMENTS_KEPT = 2_000
SQLITE_BUSY_SECONDS = 30
SQLITE_RETRY_SECONDS = 0.02
_USED_AT = "used_at"
#: Key of a reading session's cache of results, which stay valid as long as it lasts.
_FOUND = "found"
T = TypeVar("T")
_engines: dict[str, Engine] = {}
_POSTGRESQL = re.compile("^postgres(ql)?://")
#: Names of constraints, so that migrations can change each of them on both databases.
NAMING = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}

#: JSON documents; binary on PostgreSQL.
Json = JSON().with_variant(JSONB(), "postgresql")


class UtcDateTime(TypeDecorator[datetime]):
    """A column of aware UTC datetimes; restores the time zone, which SQLite drops, and refuses naive values."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("times are aware UTC")
        return value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class Base(DeclarativeBase):
    """The base class of all tables."""

    metadata = MetaData(naming_convention=NAMING)
    type_annotation_map = {datetime: UtcDateTime(), dict[str, Any]: Json, list[Any]: Json}


def make_engine(address: str) -> Engine:
    """Return an engine for this address; SQLite gets WAL mode and transactions controlled by this module."""
    if not address.startswith("sqlite"):
        # Hosts give addresses without a driver, and also in the older spelling.
        url = make_url(_POSTGRESQL.sub("postgresql+psycopg://", address))
        patience = {name: value for name, value in POSTGRESQL_PATIENCE.items() if name not in url.query}
        engine = create_engine(url, query_cache_size=STATEMENTS_KEPT, connect_args=patience)
        event.listen(engine, "connect", _check_encoding, insert=True)  # before SQLAlchemy reads what it cannot decode
        event.listen(engine, "checkin", _note_use)
        event.listen(engine, "checkout", partial(_check_alive, engine.dialect))
        return engine
    patient = {"timeout": SQLITE_BUSY_SECONDS, "check_same_thread": False}
    engine = create_engine(address, query_cache_size=STATEMENTS_KEPT, connect_args=patient)
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def get_engine(address: str) -> Engine:
    """Return the shared engine of this process for this address."""
    return _engines.get(address) or _engines.setdefault(address, make_engine(address))


def dispose_engines(*, close: bool = True) -> None:
    """Dispose of all cached engines. close: False in a forked process, whose parent still uses the connections."""
    for engine in _engines.values():
        engine.dispose(close=close)
    _engines.clear()


class ReadingSession(Session):
    """A session for reading only, which may have no transaction that could be rolled back."""


@event.listens_for(ReadingSession, "before_flush")
def _refuse_changes(session: Session, context: object, instances: object) -> None:
    if session.new or session.deleted or any(map(session.is_modified, session.dirty)):
        raise RuntimeError("A read-only session tried to write; use `writing`.")


@event.listens_for(ReadingSession, "do_orm_execute")
def _refuse_statements(state: ORMExecuteState) -> None:
    if state.is_insert or state.is_update or state.is_delete:
        raise RuntimeError("A read-only session tried to write; use `writing`.")


@contextmanager
def reading(engine: Engine) -> Iterator[Session]:
    """Open a session for reading, in which `once` caches results."""
    with ReadingSession(engine_for_reading(engine), expire_on_commit=False, info={_FOUND: {}}) as session:
        yield session


def once(session: Session, key: tuple[Any, ...], look: Callable[[], T]) -> T:
    """Return the result of `look`, cached by key in a session for reading."""
    found: dict[tuple[Any, ...], T] | None = session.info.get(_FOUND)
    if found is None:
        return look()
    if key not in found:
        found[key] = look()
    return found[key]


def found_before(session: Session, key: tuple[Any, ...]) -> Any:
    """Return the result that `once` has cached for the key in this session; None if there is none."""
    return session.info.get(_FOUND, {}).get(key)


@lru_cache(maxsize=4)
def engine_for_reading(engine: Engine) -> Engine:
    """Return the engine for reading outside of a session.

    On PostgreSQL each query runs in autocommit: it sees what was committed at its start anyway, so a transaction would
    only add BEGIN and ROLLBACK, and the latter makes psycopg drop all prepared statements of the connection. On SQLite
    a transaction gives all queries the same view.
    """
    return engine.execution_options(isolation_level="AUTOCOMMIT") if engine.dialect.name == "postgresql" else engine


@contextmanager
def writing(engine: Engine) -> Iterator[Session]:
    """Open a session whose transaction commits at the end of the block and rolls back on any exception."""
    writer = engine.execution_options(evergold_write=True)
    with Session(writer, expire_on_commit=False) as session, session.begin():
        yield session


class likely(FunctionElement[bool]):
    """Marks a condition that most rows meet, on a status or a task, so that SQLite does not use its index.

    SQLite has no statistics here, and would scan almost the whole index; PostgreSQL has statistics.
    """

    inherit_cache = True

    def __init__(self, condition: ColumnElement[bool]) -> None:
        super().__init__(condition)


@compiles(likely)
def _compile_likely_sqlite(element: likely, compiler: SQLCompiler, **options: Any) -> str:
    return f"likely({compiler.process(element.clauses, **options)})"


@compiles(likely, "postgresql")
def _compile_default(element: likely, compiler: SQLCompiler, **options: Any) -> str:
    return compiler.process(element.clauses, **options)


class among(FunctionElement[bool]):
    """The condition that a number is in a list passed as a single parameter, a JSON text of any length.

    `in_` uses one parameter per number. PostgreSQL assumes the JSON list to be short and uses the index; with thousands
    of parameters it would read a whole table.
    """

    inherit_cache = True

    def __init__(self, number: ColumnExpressionArgument[int], parameter: str) -> None:
        super().__init__(number, bindparam(parameter, type_=_Numbers()))


class _Numbers(TypeDecorator[Collection[int]]):
    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Collection[int] | None, dialect: Dialect) -> str:
        return json.dumps(list(value or ()))


@compiles(among)
def _among(element: among, compiler: SQLCompiler, **options: Any) -> str:
    number, numbers = (compiler.process(one, **options) for one in element.clauses)
    return f"{number} IN (SELECT value FROM json_each({numbers}))"  # noqa: S608 - of parts that SQLAlchemy compiled


@compiles(among, "postgresql")
def _among_on_postgresql(element: among, compiler: SQLCompiler, **options: Any) -> str:
    number, numbers = (compiler.process(one, **options) for one in element.clauses)
    found = f"jsonb_array_elements_text(CAST({numbers} AS JSONB))"
    return f"{number} IN (SELECT CAST(value AS INTEGER) FROM {found})"  # noqa: S608 - of parts that SQLAlchemy compiled


def _check_encoding(connection: Any, record: object) -> None:
    """Raise an error for encodings other than UTF-8, since names and texts may be in any script."""
    encoding = connection.info.parameter_status("server_encoding")
    if encoding not in ("UTF8", None):
        raise InvalidRequestError(
            f"its encoding is {encoding}, not UTF8: create one with `createdb --encoding=UTF8 --template=template0`"
        )


def _note_use(connection: Any, record: ConnectionPoolEntry) -> None:
    record.info[_USED_AT] = time.monotonic()


def _check_alive(dialect: Dialect, connection: Any, record: ConnectionPoolEntry, _: object) -> None:
    """Replace connections that were closed by a restart of the database server before they are used.

    Connections that were used recently and have received nothing since, not even their end, are not pinged.
    """
    used_at = record.info.get(_USED_AT)
    if used_at is None or (time.monotonic() - used_at < FRESH_SECONDS and _is_silent(connection)):
        return
    try:
        dialect.do_ping(connection)
    except dialect.loaded_dbapi.Error as error:
        raise InvalidatePoolError from error


def _is_silent(connection: Any) -> bool:
    """Return whether the database server has sent nothing unsolicited, such as the end of the connection."""
    if connection.closed or not hasattr(select, "poll"):
        return False
    poll = select.poll()
    poll.register(connection.fileno(), select.POLLIN)
    return not poll.poll(0)


def _prepare_sqlite(connection: sqlite3.Connection, record: object) -> None:
    connection.isolation_level = None  # we send BEGIN, see _begin_sqlite
    cursor = connection.cursor()
    _use_wal(cursor)
    cursor.execute("PRAGMA synchronous=FULL")  # a committed submission survives a power cut, not only a crash
    cursor.execute("PRAGMA foreign_keys=ON")
    cursor.close()


def _use_wal(cursor: sqlite3.Cursor) -> None:
    """Switch to WAL mode, with retries: SQLite ignores its busy timeout if two servers open a new database."""
    deadline = time.monotonic() + SQLITE_BUSY_SECONDS
    while True:
        try:
            cursor.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError:
            if time.monotonic() > deadline:
                raise
            time.sleep(SQLITE_RETRY_SECONDS)
        else:
            return


def _begin_sqlite(connection: Connection) -> None:
    writes = connection.get_execution_options().get("evergold_write", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def insert_now(session: Session, row: Base) -> bool:
    """Insert a new row and attach it to the session as if it had been flushed; return True.

    Returns False, without an insert, if it violates a unique constraint.
    """
    table = cast(Table, inspect(type(row)).local_table)
    names = [column.name for column in table.columns]
    connection = session.connection()
    values = {name: row.__dict__[name] for name in names if name in row.__dict__}
    result = connection.execute(_insert(table, connection.dialect.name), values)
    key = result.one_or_none()
    if key is None:
        return False
    known = cast(dict[str, Any], result.last_inserted_params()) | dict(key._mapping)  # with defaults
    for name in names:
        if name not in values:
            setattr(row, name, known.get(name))
    make_transient_to_detached(row)
    session.add(row)
    return True


@lru_cache
def _insert(table: Table, dialect: str) -> Any:
    """Return the INSERT statement, built once because even looking it up among compiled ones takes time."""
    insert = postgresql.insert if dialect == "postgresql" else sqlite.insert
    return insert(table).on_conflict_do_nothing().returning(*table.primary_key.columns)


Item = TypeVar("Item")


def in_batches(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """Yield the items in order, `size` at a time; the last batch may be smaller."""
    left = iter(items)
    while batch := list(islice(left, size)):
        yield batch
