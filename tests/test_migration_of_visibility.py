"""Competitions from before there was anything to hide: after the upgrade they show everything, as they did before."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from sqlalchemy import Column, Engine, MetaData, Table, insert, select

from app.base.db import Base, make_engine, reading, writing
from app.boards.leaderboard import build_leaderboard
from app.boards.snapshots import freeze_due
from app.competitions.find import find_board, find_competition
from app.competitions.visibility import Declared, View, declared_of
from app.models import Competition, EntryRule, Phase, PhaseTask
from app.operations.migrate import alembic_config, upgrade
from tests.world import COMPETITION, DAY, NOW, PHASE, add_competition, add_user, score, submit


@pytest.fixture
def upgraded(sqlite_engine: Engine, tmp_path: Path) -> Engine:
    """Two competitions with a scored submission, as a database of revision 0006 has them; then upgraded."""
    for name in (COMPETITION, "other"):
        add_competition(sqlite_engine, name=name)
    score(sqlite_engine, submit(sqlite_engine, add_user(sqlite_engine, "ada")).run_id, 0.123456789)
    old = make_engine(f"sqlite:///{tmp_path / 'old.db'}")
    with old.execution_options(evergold_write=True).begin() as connection:
        command.upgrade(alembic_config(connection), "0006")
    _copy(sqlite_engine, old)
    upgrade(old)
    return old


def _copy(source: Engine, target: Engine) -> None:
    """Every row, as far as the older tables have room for it."""
    tables = MetaData()
    with target.execution_options(evergold_write=True).begin() as connection:
        tables.reflect(connection)
        for table in Base.metadata.sorted_tables:
            older = tables.tables.get(table.name)
            if older is None or table.name == "alembic_version":
                continue
            with source.connect() as reader:
                rows: list[Any] = [dict(row._mapping) for row in reader.execute(select(table))]
            shared = [Column(column.name, column.type) for column in table.columns if column.name in older.columns]
            if rows:
                values = [{column.name: row[column.name] for column in shared} for row in rows]
                connection.execute(insert(Table(table.name, MetaData(), *shared)).values(values))


def test_everything_is_shown_to_everybody_as_before(upgraded: Engine) -> None:
    with reading(upgraded) as session:
        phase = session.scalars(select(Phase).limit(1)).one()
        asked = session.scalars(select(PhaseTask).limit(1)).one()
        assert declared_of(phase, asked) == Declared(closes_at=phase.ends_at)
        assert (phase.carry_over, phase.choose_until, phase.without_choice) == (None, None, EntryRule.LAST)
        assert (asked.gold_version, asked.limits, asked.entry) == ("", {}, {})
        place = find_board(find_competition(session, COMPETITION), PHASE, "zero-shot")
        found = build_leaderboard(session, *place, None, NOW)
    assert found.view == View()
    assert [(row.rank, row.team, row.cells[0].value) for row in found.rows] == [(1, "Ada", 0.123456789)]


def test_every_competition_got_a_salt_of_its_own(upgraded: Engine) -> None:
    with reading(upgraded) as session:
        salts = list(session.scalars(select(Competition.neutral_salt)))
    assert len(set(salts)) == 2
    assert all(len(salt) == 32 for salt in salts)


def test_phases_that_ended_long_ago_are_frozen_now(upgraded: Engine) -> None:
    with writing(upgraded) as session:
        assert len(freeze_due(session, NOW + DAY + timedelta(minutes=1))) == 2
