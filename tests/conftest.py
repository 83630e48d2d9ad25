"""Fixtures of all tests: settings of their own, and databases fresh from the migrations."""

from __future__ import annotations

import fcntl
import gc
import logging
import os
import shutil
import sys
import tempfile
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import certifi
import pytest
from sqlalchemy import Engine, event

from tests import conformance, lanes, lean, postgres, services

if TYPE_CHECKING:
    from app.models import User
    from app.submissions.accept import Accepted

lean.hide_torch()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--soak", action="store_true", help="also what is too deep for each commit, see tests/lanes.py")


def pytest_sessionstart() -> None:
    lean.check_complete()


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        _trust_one_authority(config)
    if config.getoption("--soak"):
        lanes.keep_soak_seed()


def _trust_one_authority(config: pytest.Config) -> None:
    """Trust only one certificate: every client of httpx reads the certificates of all authorities, which takes 20 ms.

    No test uses TLS outside of this machine. The tests' children inherit the setting.
    """
    first, end, _ = Path(certifi.where()).read_text(encoding="utf-8").partition("-----END CERTIFICATE-----\n")
    descriptor, path = tempfile.mkstemp(suffix=".pem")
    with open(descriptor, "w", encoding="utf-8") as file:
        file.write(first + end)
    config.add_cleanup(Path(path).unlink)
    os.environ["SSL_CERT_FILE"] = path


def pytest_report_header(config: pytest.Config) -> list[str]:
    seed = f"{lanes.SEED_VARIABLE}={lanes.soak_seed()} repeats these seeds" if config.getoption("--soak") else ""
    return [line for line in (lean.header(), seed) if line]


@pytest.hookimpl(tryfirst=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Report whether the organisers' own files were there to compare with."""
    skipped = [
        report for report in terminalreporter.getreports("skipped") if conformance.ABSENT in str(report.longrepr)
    ]
    for report in skipped:
        report.longrepr = (conformance.__file__, 1, f"Skipped: {conformance.ABSENT}")  # one line for all of them
    terminalreporter.line(conformance.summary(len(skipped)))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark items with their lanes; deselect those that only `make soak` runs; order the expensive ones first."""
    for item in items:
        lanes.mark(item)
    if not config.getoption("--soak"):
        config.hook.pytest_deselected(items=[item for item in items if item.get_closest_marker("soak")])
        items[:] = [item for item in items if not item.get_closest_marker("soak")]
    items[:] = lanes.in_order(items)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> object | None:
    """Distribute tests by file; all that load torch, and all that share a browser, count as one file each."""
    from xdist.scheduler import LoadFileScheduling

    class Bundles(LoadFileScheduling):  # type: ignore[misc]  # xdist has no types
        def _split_scope(self, nodeid: str) -> str:
            return lanes.bundle_of(nodeid)

    return Bundles(config, log) if config.getoption("dist") == "loadfile" else None


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    gc.disable()
    with _compiled_once():
        return (yield)


@contextmanager
def _compiled_once() -> Iterator[None]:
    """Let one process compile the tests in a fresh clone while the others wait, which would otherwise do
    the same work.
    """
    folder = Path(__file__).parent
    cached = folder / "__pycache__"
    cached.mkdir(exist_ok=True)
    with (cached / "compiling.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        modules, compiled = folder.rglob("test_*.py"), folder.rglob("test_*-pytest-*.pyc")
        if sum(1 for _ in compiled) >= 0.9 * sum(1 for _ in modules):
            fcntl.flock(lock, fcntl.LOCK_UN)
        yield


def pytest_collection_finish(session: pytest.Session) -> None:
    """Freeze what was imported and collected, which stays until the end, and let the garbage collector run less often.

    It took a twentieth of the time of all tests.
    """
    gc.freeze()
    gc.set_threshold(100_000, 50, 100)
    gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    began = lanes.processor_seconds()
    result = yield
    lanes.check_is_cheap(item, lanes.processor_seconds() - began)
    return result


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Generator[None, object, object]:
    """Keep a browser running as long as the next test shares it."""
    try:
        return (yield)
    finally:
        is_last = nextitem is None or lanes.bundle_of(nextitem.nodeid) != lanes.bundle_of(item.nodeid)
        if is_last and "tests.web.browsers" in sys.modules:
            sys.modules["tests.web.browsers"].end_browser()


@pytest.fixture(autouse=True)
def _own_settings(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Keep the machine's EVERGOLD_ settings from every test, and a test's from the next; data are in the test's
    tmp_path.
    """
    if "tmp_path" in request.fixturenames:
        folder: Path = request.getfixturevalue("tmp_path")
    else:  # thousands compute and write nothing: a folder for each, and its end, would take longer than they do
        folder = request.getfixturevalue("tmp_path_factory").getbasetemp() / f"none-{os.urandom(8).hex()}"
    for name in list(os.environ):
        if name.startswith("EVERGOLD_") and not name.startswith(("EVERGOLD_TEST_", "EVERGOLD_CONFORMANCE")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("EVERGOLD_DATA_DIR", str(folder / "var"))
    _forget_settings()
    umask = os.umask(0o022)  # a command that runs in this process sets its own
    yield
    os.umask(umask)
    _forget_settings()
    _forget_logging()


def _forget_settings() -> None:
    """Clear everything that is cached once per process; modules that were not imported stay so."""
    for module, function in (
        ("app.base.config", "get_settings"),
        ("app.base.queue", "_sender"),
        ("app.base.stores.places", "_in_bucket"),
    ):
        if module in sys.modules:
            getattr(sys.modules[module], function).cache_clear()
    if "app.base.db" in sys.modules:
        sys.modules["app.base.db"].dispose_engines()


def _forget_logging() -> None:
    """Undo what the start of a process did to the logs of libraries, see `app.base.logs.log_libraries`."""
    logging.captureWarnings(False)
    for handler in [one for one in logging.root.handlers if type(one).__module__ == "app.base.logs"]:
        logging.root.removeHandler(handler)


@pytest.fixture
def cheap_passwords(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let Argon2 work as little as possible, for tests that register many people; a real hash takes 0.1 s
    on purpose.
    """
    from argon2 import PasswordHasher

    from app.people import auth

    hasher = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
    monkeypatch.setattr(auth, "_hasher", lambda: hasher)
    auth._decoy_hash.cache_clear()


# ------------------------------------------------------------------------------------------------------- databases


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.services)])
def engine(request: pytest.FixtureRequest) -> Engine:
    """Return a migrated database of the test's own.

    Marked `both`, the test runs on each kind with each commit; otherwise its PostgreSQL half runs only in `make soak`:
    see tests/lanes.py.
    """
    found: Engine = request.getfixturevalue(f"{request.param}_engine")
    return found


@pytest.fixture
def sqlite_engine(request: pytest.FixtureRequest, _sqlite_engine: Engine) -> Iterator[Engine]:
    """Yield a migrated SQLite file without rows, or with only the neighbours of `tests.rich_world`."""
    path = Path(_sqlite_engine.url.database or "")
    _remove_database(_sqlite_engine, path)
    shutil.copyfile(request.getfixturevalue(_template(request)), path)
    yield _sqlite_engine
    _remove_database(_sqlite_engine, path)


def _template(request: pytest.FixtureRequest) -> str:
    """Return the name of the fixture whose file is copied for this test's database."""
    return "_sqlite_with_neighbours" if _has_neighbours(request) else "_sqlite_template"


def _has_neighbours(request: pytest.FixtureRequest) -> bool:
    from tests import rich_world

    return rich_world.is_in_rich_world(request.node.nodeid)


def _add_neighbours(engine: Engine) -> None:
    from tests import rich_world

    rich_world.add_neighbours(engine)


def _remove_database(engine: Engine, path: Path) -> None:
    engine.dispose()
    for leftover in path.parent.glob(f"{path.name}*"):
        leftover.unlink(missing_ok=True)


@pytest.fixture
def postgresql_engine(request: pytest.FixtureRequest, _postgresql_engine: Engine) -> Iterator[Engine]:
    """Yield a migrated PostgreSQL database without rows, or with only the neighbours of `tests.rich_world`."""
    if _has_neighbours(request):
        postgres.fill(_postgresql_engine, request.getfixturevalue("_postgresql_neighbours"))
    yield _postgresql_engine
    _postgresql_engine.dispose()
    postgres.empty(_postgresql_engine)


# One engine for all tests: it keeps the compiled statements, which take longer than running them.


@pytest.fixture(scope="session")
def _sqlite_engine(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    from app.base.db import make_engine

    engine = make_engine(f"sqlite:///{tmp_path_factory.mktemp('sqlite') / 'evergold.db'}")
    # A test's database need not survive a power cut; syncing every commit would take most of the time.
    event.listen(engine, "connect", lambda connection, _: connection.execute("PRAGMA synchronous=OFF"))
    return engine


@pytest.fixture(scope="session")
def _sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("template") / "evergold.db"
    _migrate(f"sqlite:///{path}")
    return path


@pytest.fixture(scope="session")
def _sqlite_with_neighbours(_sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a migrated SQLite file with neighbours; it is made once, since a copy costs nothing."""
    from app.base.db import make_engine

    path = tmp_path_factory.mktemp("neighbours") / "evergold.db"
    shutil.copyfile(_sqlite_template, path)
    engine = make_engine(f"sqlite:///{path}")
    _add_neighbours(engine)
    with engine.connect() as connection:
        connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
    engine.dispose()
    return path


@pytest.fixture(scope="session")
def _postgresql_engine(postgres_server: str) -> Iterator[Engine]:
    """Yield the engine of one database, which is emptied after each test: a new one takes a hundred times as long as
    deleting the rows.
    """
    from app.base.db import make_engine

    with postgres.database(postgres_server) as address:
        _migrate(address)
        engine = make_engine(address)
        yield engine
        engine.dispose()


@pytest.fixture(scope="session")
def _postgresql_neighbours(_postgresql_engine: Engine) -> dict[str, bytes]:
    """Return the rows of the neighbours; the database is empty before and after."""
    _add_neighbours(_postgresql_engine)
    found = postgres.rows(_postgresql_engine)
    postgres.empty(_postgresql_engine)
    return found


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """Yield the address of a PostgreSQL server; each process of pytest-xdist has its own."""
    with postgres.server() as address:
        yield address


def _migrate(address: str) -> None:
    from app.base.db import make_engine
    from app.operations.migrate import upgrade

    engine = make_engine(address)
    upgrade(engine)
    engine.dispose()


@pytest.fixture
def valkey() -> Iterator[services.Valkey]:
    """Yield a broker of the test's own."""
    with services.valkey() as server:
        yield server


# ------------------------------------------------------------------------------------------------- what many begin with


@pytest.fixture
def accepted(engine: Engine) -> Accepted:
    """Return a submission with its queued run."""
    from tests.world import add_competition, add_user, submit

    add_competition(engine, options={"languages": ["EN", "PT"]})
    return submit(engine, add_user(engine, "ada"))


@pytest.fixture
def people(request: pytest.FixtureRequest, engine: Engine, _saved_people: Path) -> list[User]:
    """Return Ada, Bob, Cat and Dan, in a competition that shows each team's best submission.

    On SQLite they are made once: hundreds of tests begin with them, and copying a file takes half the time.
    """
    from sqlalchemy import select

    from app.base.db import reading
    from app.models import User
    from tests.world import add_competition, add_user

    names, path = ("ada", "bob", "cat", "dan"), Path(engine.url.database or "")
    template = _template(request)
    saved = _saved_people / template
    can_copy = engine.dialect.name == "sqlite" and _is_fresh(path, request.getfixturevalue(template))
    if can_copy and saved.exists():
        shutil.copyfile(saved, path)
    else:
        add_competition(engine, per_day=None)
        for name in names:
            add_user(engine, name)
        if can_copy:
            with engine.connect() as connection:
                connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
            shutil.copyfile(path, saved)
    with reading(engine) as session:
        return list(session.scalars(select(User).where(User.username.in_(names)).order_by(User.id)))


@pytest.fixture(scope="session")
def _saved_people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("people")


def _is_fresh(path: Path, template: Path) -> bool:
    """Return whether nobody has opened the copy yet: rows of a fixture that came first must stay."""
    return not path.with_name(f"{path.name}-wal").exists() and path.read_bytes() == template.read_bytes()
