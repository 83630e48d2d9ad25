"""Boards that are others now: the number that cached boards rest on, and that it rises in one place alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import Engine, Select, select

import app
from app.base.db import reading, writing
from app.competitions.changed import boards_changed
from app.models import Competition, Phase, PhaseTask
from tests.world import add_competition

ONE, TWO, THREE = "one", "two", "three"
Asked = Callable[[dict[str, int]], list[int] | Select[int]]


@pytest.mark.parametrize(
    ("asked", "risen"),
    [
        (lambda ids: [ids[TWO]], [0, 1, 0]),
        (lambda ids: [ids[THREE], ids[ONE], ids[THREE]], [1, 0, 1]),
        (lambda ids: [], [0, 0, 0]),
        (lambda ids: select(PhaseTask.id).where(PhaseTask.id != ids[TWO]), [1, 0, 1]),
        (lambda ids: select(PhaseTask.id).where(PhaseTask.id < 0), [0, 0, 0]),
    ],
    ids=["one", "some, one of them twice", "none", "those of a query", "a query without any"],
)
def test_the_boards_of_these_change_and_no_others(engine: Engine, asked: Asked, risen: list[int]) -> None:
    for name in (ONE, TWO, THREE):
        add_competition(engine, name=name)
    query = select(Competition.name, PhaseTask.id, PhaseTask.board_version).join(
        Phase, Phase.competition_id == Competition.id
    )
    query = query.join(PhaseTask, PhaseTask.phase_id == Phase.id)
    with writing(engine) as session:
        ids = {name: number for name, number, _ in session.execute(query)}
        boards_changed(session, asked(ids))
    with reading(engine) as session:
        versions = {name: version for name, _, version in session.execute(query)}
    assert [versions[name] for name in (ONE, TWO, THREE)] == risen


def test_nobody_else_raises_the_number() -> None:
    root = Path(app.__file__).parent
    sources = [*root.rglob("*.py"), *(root.parent / "workers").rglob("*.py")]
    raising = {path.name for path in sources if "board_version=" in path.read_text("utf-8").replace(" ", "")}
    assert raising == {"changed.py"}
