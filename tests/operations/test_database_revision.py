"""Tables of another revision than this program needs: which, in words, and whether a running process notices."""

from __future__ import annotations

from pathlib import Path

import pytest
from alembic.script import ScriptDirectory
from sqlalchemy import Engine, text

from app.base.db import make_engine
from app.operations.database_revision import NEWEST_REVISION, NewerRevision, OtherRevision, Tables, check_revision
from app.operations.migrate import AppliedRevision, alembic_config, migrating, upgrade, upgrade_to
from evergold.version import VERSION
from tests.revisions import set_revision

OURS = f"revision {NEWEST_REVISION}, Evergold {VERSION}"


@pytest.fixture
def empty(tmp_path: Path) -> Engine:
    return make_engine(f"sqlite:///{tmp_path / 'tables.db'}")


def misfit(engine: Engine) -> OtherRevision:
    with engine.connect() as connection, pytest.raises(OtherRevision) as caught:
        check_revision(connection)
    return caught.value


def test_older_tables_are_named_with_the_command_that_helps(empty: Engine) -> None:
    with migrating(empty) as connection:
        upgrade_to(connection, "0004")
    assert (
        str(misfit(empty))
        == f"The database is of revision 0004, older than this program needs ({OURS}): run `evergold migrate`."
    )
    assert not isinstance(misfit(empty), NewerRevision)


def test_newer_tables_are_named_as_newer(empty: Engine) -> None:
    upgrade(empty)
    set_revision(empty, "0999")
    assert str(misfit(empty)) == (
        f"The database is of revision 0999, made by a newer version of Evergold than this program ({OURS}): start the "
        "newer version."
    )
    assert isinstance(misfit(empty), NewerRevision)


def test_a_database_without_tables_is_named_so(empty: Engine) -> None:
    assert str(misfit(empty)) == "The database has no tables yet: create them with `evergold migrate`."
    with empty.begin() as connection:
        connection.execute(text("CREATE TABLE alembic_version (version_num VARCHAR(32))"))
    assert "no tables yet" in str(misfit(empty))


def test_each_file_of_a_revision_begins_with_its_name() -> None:
    for script in ScriptDirectory.from_config(alembic_config()).walk_revisions():
        assert Path(script.path).name.startswith(f"{script.revision}_")


def test_a_running_process_notices_both_ways_and_keeps_what_it_knew_while_the_database_is_away(empty: Engine) -> None:
    upgrade(empty)
    tables = Tables()
    assert tables.look(empty) is None
    set_revision(empty, "0999")
    assert tables.look(empty, seconds=3600) is None, "it has looked just now"
    assert isinstance(tables.look(empty), NewerRevision)
    away = make_engine("sqlite:////nowhere/at/all.db")
    assert isinstance(tables.look(away), NewerRevision)
    set_revision(empty, NEWEST_REVISION)
    assert tables.look(empty) is None


def test_migrating_reports_each_revision_as_it_is_applied(empty: Engine) -> None:
    with migrating(empty) as connection:
        upgrade_to(connection, "0003")
    reported: list[AppliedRevision] = []
    assert upgrade(empty, reported.append)
    names = [script.revision for script in ScriptDirectory.from_config(alembic_config()).walk_revisions()]
    assert [one.name for one in reported] == [name for name in reversed(names) if name > "0003"]
    assert str(reported[0]) == "0004: Indexes on growing tables: teams of a person, recently finished runs, files"
    assert not upgrade(empty, reported.append)
    assert len(reported) == len(set(reported))
