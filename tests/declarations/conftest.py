"""A competition in a folder, applied to a database of each kind."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import Engine

from tests.declarations.competition_folder import make_competition
from tests.declarations.place import Place


@pytest.fixture
def place(sqlite_engine: Engine, tmp_path: Path) -> Place:
    """Return a place on SQLite whose folder was applied once."""
    return _applied(sqlite_engine, tmp_path)


@pytest.fixture
def each(engine: Engine, tmp_path: Path) -> Place:
    """Return the same place as `place`, once on each kind of database."""
    return _applied(engine, tmp_path)


def _applied(engine: Engine, folder: Path) -> Place:
    found = Place(engine, make_competition(folder / "demo"))
    found.apply()
    return found
