"""Migrations build exactly the tables of app.models, on both databases, and can go down and up again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from alembic.script import ScriptDirectory
from sqlalchemy import Engine, inspect, text

import app.models  # noqa: F401 - fills Base.metadata
from app.base.db import Base, make_engine
from app.operations.database_revision import NEWEST_REVISION, is_current
from app.operations.migrate import DatabaseTooNew, alembic_config, upgrade
from tests import postgres
from tests.threads import in_threads


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.services)])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Yield the address of a database without any table."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'empty.db'}"
        return
    with postgres.database(request.getfixturevalue("postgres_server")) as found:
        yield found


@pytest.fixture
def empty(address: str) -> Iterator[Engine]:
    engine = make_engine(address)
    yield engine
    engine.dispose()


def migrate(engine: Engine, direction: str, revision: str) -> None:
    with engine.execution_options(evergold_write=True).begin() as connection:
        getattr(command, direction)(alembic_config(connection), revision)


def tables(engine: Engine) -> dict[str, object]:
    """Return everything that the database reports about its tables, independent of its order."""
    found = inspect(engine)
    return {
        table: {
            "columns": plain(found.get_columns(table)),
            "primary key": plain([found.get_pk_constraint(table)]),
            "foreign keys": plain(found.get_foreign_keys(table)),
            "indexes": plain(found.get_indexes(table)),
            "unique": plain(found.get_unique_constraints(table)),
            "checks": sorted(check["name"] or "" for check in found.get_check_constraints(table)),
        }
        for table in found.get_table_names()
        if table != "alembic_version"
    }


def plain(reflected: Sequence[Mapping[str, Any]]) -> list[str]:
    """Sorted texts; nested dictionaries hold SQL expressions, which compare by identity."""
    return sorted(
        ", ".join(
            f"{key}: { {k: str(v) for k, v in value.items()} if isinstance(value, dict) else value }"
            for key, value in sorted(part.items())
        )
        for part in reflected
    )


def test_upgrade_does_its_work_once(empty: Engine) -> None:
    with empty.connect() as connection:
        assert not is_current(connection)
    assert upgrade(empty) is True
    assert upgrade(empty) is False
    with empty.connect() as connection:
        assert is_current(connection)


def test_models_and_migrations_say_the_same(empty: Engine) -> None:
    upgrade(empty)
    with empty.connect() as connection:
        command.check(alembic_config(connection))  # raises when a revision is missing


def test_migrated_tables_equal_those_that_the_models_would_make(empty: Engine) -> None:
    """`alembic check` looks at neither names of constraints nor checks."""
    upgrade(empty)
    migrated = tables(empty)
    with empty.execution_options(evergold_write=True).begin() as connection:
        Base.metadata.drop_all(connection)
        Base.metadata.create_all(connection)
    assert tables(empty) == migrated
    assert set(migrated) == set(Base.metadata.tables)


def test_down_to_nothing_and_up_again(empty: Engine) -> None:
    upgrade(empty)
    fresh = tables(empty)
    migrate(empty, "downgrade", "base")
    assert tables(empty) == {}
    migrate(empty, "upgrade", "head")
    assert tables(empty) == fresh


def test_step_by_step_equals_all_at_once(empty: Engine) -> None:
    script = ScriptDirectory.from_config(alembic_config())
    for revision in reversed(list(script.walk_revisions())):
        migrate(empty, "upgrade", revision.revision)
    stepwise = tables(empty)
    migrate(empty, "downgrade", "base")
    upgrade(empty)
    assert tables(empty) == stepwise


def test_the_newest_revision_is_the_one_that_the_code_names() -> None:
    assert ScriptDirectory.from_config(alembic_config()).get_heads() == [NEWEST_REVISION]


def test_database_of_a_newer_version_is_refused_in_words(empty: Engine) -> None:
    upgrade(empty)
    with empty.execution_options(evergold_write=True).begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = 'from-the-future'"))
    with pytest.raises(DatabaseTooNew, match="newer version"):
        upgrade(empty)


def test_servers_started_together_migrate_once(address: str) -> None:
    def start(_: int) -> bool:
        engine = make_engine(address)
        try:
            return upgrade(engine)
        finally:
            engine.dispose()

    assert sorted(in_threads(4, start)) == [False, False, False, True]


def test_a_database_is_current_when_it_stands_at_the_newest_revision(tmp_path: Path) -> None:
    engine = make_engine(f"sqlite:///{tmp_path / 'tables.db'}")
    with engine.begin() as connection:
        assert not is_current(connection), "it has no tables"
        connection.execute(text("CREATE TABLE alembic_version (version_num VARCHAR(32))"))
        assert not is_current(connection)
        connection.execute(text("INSERT INTO alembic_version VALUES ('0001')"))
        assert not is_current(connection)
        connection.execute(text("UPDATE alembic_version SET version_num = :newest"), {"newest": NEWEST_REVISION})
        assert is_current(connection)
    engine.dispose()
