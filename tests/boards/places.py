"""Shared by tests of boards: enter a score, and look at a board."""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy import Engine

from app.base.db import reading
from app.boards.leaderboard import Leaderboard, board_version, build_leaderboard
from app.competitions.find import find_board, find_competition
from app.competitions.visibility import Viewer
from app.models import User
from tests.world import COMPETITION, NOW, PHASE, score, submit


def board(engine: Engine, name: str = "zero-shot", viewer: User | None = None) -> Leaderboard:
    with reading(engine) as session:
        phase, found = find_board(find_competition(session, COMPETITION), PHASE, name)
        return build_leaderboard(session, phase, found, Viewer(viewer, NOW))


def version(engine: Engine, name: str = "zero-shot") -> str:
    with reading(engine) as session:
        return board_version(
            session, *find_board(find_competition(session, COMPETITION), PHASE, name), Viewer(None, NOW)
        )


def shown(engine: Engine, name: str = "zero-shot") -> list[tuple[int | None, str, float | None]]:
    """Return (rank, team, value in the ranking column) from the top."""
    found = board(engine, name)
    return [(row.rank, row.team, row.cells[found.rank_by].value) for row in found.rows]


def enter(engine: Engine, user: User, zero_shot: float | None, one_shot: float | None = None, minute: int = 0) -> None:
    """Upload for this user, `minute` minutes after NOW, and have it scored."""
    accepted = submit(engine, user, NOW + timedelta(minutes=minute), content=f"{user.username} {minute}")
    score(engine, accepted.run_id, zero_shot, one_shot)
