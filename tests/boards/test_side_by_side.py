"""Why a place of the results of all phases is empty, and the gold and versions that boards have of their own."""

from __future__ import annotations

import pytest
from sqlalchemy import Engine

from app.base.db import reading
from app.boards.leaderboard import board_version
from app.boards.rows import CommittedGold
from app.boards.side_by_side import build_results
from app.competitions.find import find_board, find_competition
from app.competitions.visibility import Viewer
from app.models import User
from evergold.scoring.task import NOT_ENTERED
from tests.boards.places import board, enter
from tests.competitions.embargo import add_phase, declare
from tests.sealed import make_key, seal_gold
from tests.world import COMPETITION, EARLIER_PHASE, HOUR, NOW, PHASE


@pytest.fixture
def engine(sqlite_engine: Engine) -> Engine:
    return sqlite_engine


def reasons(engine: Engine, team: str) -> dict[str, str | None]:
    """Why this team has no score, by phase; None where it has one."""
    with reading(engine) as session:
        competition = find_competition(session, COMPETITION)
        found = build_results(session, competition, competition.tasks[0], Viewer(None, NOW))
        row = next(row for row in found.rows if row.team == team)
        cells = zip(found.columns, row.cells, strict=True)
        return {column.phase.name: cell.reason for column, cell in cells if column.board.name == "zero-shot"}


def test_a_hidden_board_and_one_not_entered_are_empty_for_their_own_reasons(engine: Engine, people: list[User]) -> None:
    add_phase(engine, "post", starts_at=NOW - HOUR, visibility={"board": "hidden"})
    enter(engine, people[0], 0.9)
    found = reasons(engine, "Ada")
    assert (found[PHASE], found[EARLIER_PHASE]) == (None, NOT_ENTERED)
    assert found["post"] == "hidden until the organisers show it"


def test_a_board_names_the_gold_in_use_of_its_own_phase_and_task(engine: Engine, people: list[User]) -> None:
    make_key(engine)
    gold = seal_gold(engine, b"gold")
    assert board(engine).sealed_gold == (CommittedGold(1, gold.commitment),)


def test_boards_that_show_ranks_alone_have_versions_of_their_own(engine: Engine, people: list[User]) -> None:
    """Check two boards that are both empty."""
    declare(engine, visibility={"board": "ranks_only"})
    add_phase(
        engine, "post", starts_at=NOW - HOUR, visibility={"board": "ranks_only", "precision": "full", "slices": "all"}
    )

    def version(phase: str) -> str:
        with reading(engine) as session:
            return board_version(
                session, *find_board(find_competition(session, COMPETITION), phase, "zero-shot"), Viewer(None, NOW)
            )

    assert version(PHASE) != version("post")
