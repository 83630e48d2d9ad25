"""Rows are deleted with all that refer to them, and nothing of anybody else's."""

from __future__ import annotations

from typing import cast

from sqlalchemy import Engine, Table, func, select

from app.base.db import Base, reading, writing
from app.base.dependents import delete_with_dependents
from app.competitions.find import find_competition
from app.models import Competition
from tests.world import COMPETITION, add_competition, add_user, score, submit


def counts(engine: Engine) -> dict[str, int]:
    with reading(engine) as session:
        every = {
            table.name: session.scalar(select(func.count()).select_from(table)) or 0
            for table in Base.metadata.sorted_tables
        }
    return {name: count for name, count in every.items() if count}


def test_a_competition_goes_with_all_that_is_its_own(sqlite_engine: Engine) -> None:
    add_competition(sqlite_engine)
    ada, bob = add_user(sqlite_engine, "ada"), add_user(sqlite_engine, "bob")
    for user in (ada, bob):
        score(sqlite_engine, submit(sqlite_engine, user).run_id, 0.5)
    before = counts(sqlite_engine)
    add_competition(sqlite_engine, name="gone")
    score(sqlite_engine, submit(sqlite_engine, ada, competition="gone").run_id, 0.5)
    assert counts(sqlite_engine) != before
    with writing(sqlite_engine) as session:
        root = cast(Table, Competition.__table__)
        delete_with_dependents(session, root, root.c.id == find_competition(session, "gone").id)
    assert counts(sqlite_engine) == before
    with reading(sqlite_engine) as session:
        assert session.scalars(select(Competition.name)).all() == [COMPETITION]
