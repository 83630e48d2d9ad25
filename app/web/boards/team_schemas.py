"""A team as the boards show it, in JSON."""

from __future__ import annotations

from pydantic import Field

from app.base import links
from app.base.answers import ApiModel, example
from app.boards.team_rows import TeamRow, TeamSystem, systems_of
from app.boards.views import EXAMPLE_COLUMN, EXAMPLE_ROW, ColumnOut, RowOut, row_document
from app.cards.views import CARD_EXAMPLE, CardOut
from app.models import Competition


class BoardPlace(ApiModel):
    """A board in a phase."""

    phase: str
    board: str


class TeamRowOut(BoardPlace):
    """A row of the team with the columns of its board."""

    task: str
    ranked: int = Field(description="how many rows of the board have a rank")
    rank_by: int = Field(description="index of the ranking column")
    columns: list[ColumnOut]
    row: RowOut
    official: int | None = Field(description="the number of the frozen board that it stands on; null: on the live one")
    renamed_to: str = Field(description="what the live board calls the same submission now; empty: nothing else")
    page: str = Field(description="of the board")


class TeamSystemOut(ApiModel):
    """A system of the team, and the boards on which it stands."""

    name: str = Field(description="empty: it has none")
    card: CardOut
    boards: list[BoardPlace]


class PublicTeamOut(ApiModel):
    """A team as the boards show it to the viewer."""

    model_config = example(
        {
            "competition": "demo",
            "team": "Ada Lovelace",
            "is_mine": False,
            "rows": [
                {
                    "phase": "evaluation",
                    "board": "zero-shot",
                    "task": "idiom-detection",
                    "ranked": 34,
                    "rank_by": 0,
                    "columns": [EXAMPLE_COLUMN],
                    "row": EXAMPLE_ROW,
                    "official": None,
                    "renamed_to": "",
                    "page": "/competitions/demo/phases/evaluation/boards/zero-shot",
                }
            ],
            "systems": [
                {
                    "name": "XLM-R large",
                    "card": CARD_EXAMPLE,
                    "boards": [{"phase": "evaluation", "board": "zero-shot"}],
                }
            ],
            "page": "/competitions/demo/teams/Ada%20Lovelace",
        }
    )

    competition: str
    team: str
    is_mine: bool
    rows: list[TeamRowOut] = Field(description="phases and boards in the order of the competition")
    systems: list[TeamSystemOut] = Field(description="of its rows")
    page: str


def public_team_out(competition: Competition, team: str, rows: list[TeamRow]) -> PublicTeamOut:
    """Return a team as an API model; rows: from `team_rows`."""
    return PublicTeamOut(
        competition=competition.name,
        team=team,
        is_mine=any(one.row.is_mine for one in rows),
        rows=[_row(competition, one) for one in rows],
        systems=[_system(one) for one in systems_of(rows)],
        page=links.public_team(competition.name, team),
    )


def _row(competition: Competition, one: TeamRow) -> TeamRowOut:
    place = competition.name, one.phase.name, one.board.name
    return TeamRowOut(
        phase=one.phase.name,
        board=one.board.name,
        task=one.board.task.name,
        ranked=one.of,
        rank_by=one.leaderboard.rank_by,
        columns=[ColumnOut.model_validate(column) for column in one.leaderboard.columns],
        row=RowOut.model_validate(row_document(one.row), from_attributes=True),
        official=one.official,
        renamed_to=one.renamed_to,
        page=links.board(*place) if one.official is None else links.official(*place, one.official),
    )


def _system(system: TeamSystem) -> TeamSystemOut:
    places = [BoardPlace(phase=one.phase.name, board=one.board.name) for one in system.rows]
    return TeamSystemOut(name=system.name, card=CardOut.model_validate(system.card), boards=places)
