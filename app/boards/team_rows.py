"""All rows of one team on the boards of a competition, each as the board shows it to this viewer.

Rows are found by their visible name: a hidden team has none under its name, and a hidden board has no rows, so this
reveals nothing that the boards do not. For a former name, the rows of official boards that still have it are found.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.base.errors import NotFound
from app.boards.leaderboard import build_leaderboard
from app.boards.rows import Cell, Leaderboard, LeaderboardRow
from app.boards.snapshots import last_snapshot, official_board
from app.cards.form import MethodCard
from app.competitions.columns import BoardColumn
from app.competitions.find import boards_of
from app.competitions.limits import phase_state
from app.competitions.visibility import Viewer
from app.models import Board, Competition, Phase, Right, Team, User
from app.people.rights import may_organise
from app.teams.find import find_team, orcids_of


@dataclass(frozen=True, slots=True)
class TeamRow:
    """A row of the team.

    official: number of the frozen board that it is on, None for the live one.
    renamed_to: name of the same submission on the live board, "" if it is unchanged or not there.
    """

    phase: Phase
    board: Board
    leaderboard: Leaderboard
    row: LeaderboardRow
    official: int | None = None
    renamed_to: str = ""

    @property
    def of(self) -> int:
        """The number of ranked rows on its board."""
        return sum(row.rank is not None for row in self.leaderboard.rows)

    @property
    def column(self) -> BoardColumn:
        """The ranking column of the board."""
        return self.leaderboard.columns[self.leaderboard.rank_by]

    @property
    def score(self) -> Cell:
        return self.row.cells[self.leaderboard.rank_by]


@dataclass(frozen=True, slots=True)
class TeamSystem:
    """A system with its card and its rows. name: "" if the team gave it none."""

    name: str
    card: MethodCard
    rows: tuple[TeamRow, ...]


def team_rows(
    session: Session,
    competition: Competition,
    name: str,
    viewer: Viewer,
) -> list[TeamRow]:
    """Return the rows with this name on all boards, in the order of phases and boards.

    competition: from `find_competition`. Raises NotFound if there are none, except for members of the team and
    organisers, who know it anyway.
    """
    live = [
        (phase, board, build_leaderboard(session, phase, board, viewer))
        for phase, board in _boards(competition, viewer.now)
    ]
    rows = [TeamRow(*place, row) for place in live for row in place[2].rows if row.team == name]
    rows = rows or [row for place in live for row in _official_rows(session, place, name, viewer)]
    if not rows and (viewer.seen_as is not None or not _knows(session, competition, name, viewer.user)):
        raise NotFound("No board that you can see has a team of this name.")
    return rows


def shown_orcids(session: Session, competition: Competition, name: str, rows: Sequence[TeamRow]) -> list[str]:
    """Return the ORCID iDs that members of the team show. rows: from `team_rows`.

    Empty for a former name, or one that only a published result has: another team may have it by now.
    """
    return orcids_of(session, competition.id, name) if is_of_team(rows) else []


def is_of_team(rows: Sequence[TeamRow]) -> bool:
    """Return whether the name of these rows is the current name of a team."""
    return not rows or any(one.official is None and one.row.kind == "team" for one in rows)


def _official_rows(
    session: Session,
    place: tuple[Phase, Board, Leaderboard],
    name: str,
    viewer: Viewer,
) -> Iterator[TeamRow]:
    """Yield the rows with this name on the latest official board. place: with the live board."""
    phase, board, live = place
    snapshot = last_snapshot(session, phase, board, viewer)
    if snapshot is None:
        return
    names = {row.page_id: row.team for row in live.rows}
    leaderboard = official_board(session, snapshot, viewer)
    for row in leaderboard.rows:
        if row.team == name:
            yield TeamRow(
                phase, board, leaderboard, row, snapshot.number, names.get(row.page_id, "") if row.page_id else ""
            )


def _knows(session: Session, competition: Competition, name: str, user: User | None) -> bool:
    """Return True if this viewer knows the team independently of boards, as its member or as an organiser."""
    if user is None:
        return False
    own = find_team(session, user, competition.id)
    if own is not None and own.name == name:
        return True
    there = select(Team.id).where(Team.competition_id == competition.id, Team.name == name)
    return may_organise(session, user, competition, Right.SUBMISSIONS) and session.scalar(there) is not None


def _boards(competition: Competition, now: datetime) -> Iterator[tuple[Phase, Board]]:
    for phase in competition.phases:
        if phase_state(phase, now) != "upcoming":
            yield from ((phase, board) for board in boards_of(competition, phase))


def systems_of(rows: Sequence[TeamRow]) -> list[TeamSystem]:
    """List the team's systems by name and card, in the order of its rows; rows without any description are left out."""
    found: dict[tuple[str, MethodCard], list[TeamRow]] = {}
    for one in rows:
        card = one.row.card
        if card is not None and (one.row.system or card.method or card.says_more):
            found.setdefault((one.row.system or card.method, card), []).append(one)
    return [TeamSystem(name, card, tuple(rows_of)) for (name, card), rows_of in found.items()]
