"""What all boards of a competition show of one team: its rows, each as the board itself shows it to this viewer.

A row is found by the name that stands on it. Where names are hidden the team has none there, and where a board is
hidden it has no row; so this tells nothing that the boards do not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from app.base.errors import NotFound
from app.boards.leaderboard import build_leaderboard
from app.boards.rows import Cell, Leaderboard, LeaderboardRow
from app.cards.form import MethodCard
from app.competitions.columns import BoardColumn
from app.competitions.find import boards_of
from app.competitions.limits import phase_state
from app.competitions.visibility import SeenAs
from app.models import Board, Competition, Phase, User


@dataclass(frozen=True, slots=True)
class TeamRow:
    """A row of the team; of: how many rows of its board have a rank."""

    phase: Phase
    board: Board
    leaderboard: Leaderboard
    row: LeaderboardRow
    of: int

    @property
    def column(self) -> BoardColumn:
        """The one that ranks the board."""
        return self.leaderboard.columns[self.leaderboard.rank_by]

    @property
    def score(self) -> Cell:
        return self.row.cells[self.leaderboard.rank_by]


@dataclass(frozen=True, slots=True)
class TeamSystem:
    """A system, as its card tells it, and where it stands; name: empty where the team gave it none."""

    name: str
    card: MethodCard
    rows: tuple[TeamRow, ...]


def team_rows(
    session: Session,
    competition: Competition,
    name: str,
    viewer: User | None,
    now: datetime,
    *,
    seen_as: SeenAs | None = None,
) -> list[TeamRow]:
    """The rows of this name on all boards, phases and boards in their order; raises NotFound where there is none.

    competition: as `find_competition` gives it.
    """
    found = []
    for phase, board in _boards(competition, now):
        leaderboard = build_leaderboard(session, phase, board, viewer, now, seen_as=seen_as)
        ranked = sum(row.rank is not None for row in leaderboard.rows)
        found += [TeamRow(phase, board, leaderboard, row, ranked) for row in leaderboard.rows if row.team == name]
    if not found:
        raise NotFound("No board that you can see has a team of this name.")
    return found


def _boards(competition: Competition, now: datetime) -> Iterator[tuple[Phase, Board]]:
    for phase in competition.phases:
        if phase_state(phase, now) != "upcoming":
            yield from ((phase, board) for board in boards_of(competition, phase))


def systems_of(rows: Sequence[TeamRow]) -> list[TeamSystem]:
    """The team's systems by name and card, in the order of its rows; rows of which nothing is said belong to none."""
    found: dict[tuple[str, MethodCard], list[TeamRow]] = {}
    for one in rows:
        card = one.row.card
        if card is not None and (one.row.system or card.method or card.says_more):
            found.setdefault((one.row.system or card.method, card), []).append(one)
    return [TeamSystem(name, card, tuple(rows_of)) for (name, card), rows_of in found.items()]
