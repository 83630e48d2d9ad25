"""Queries of boards: the parameters of pages and API, and the choices that a board offers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal
from urllib.parse import parse_qsl, urlencode

from fastapi import Depends, Query, Request
from sqlalchemy.orm import Session

from app.base.errors import InvalidForm
from app.boards.query import PARAMETERS, REPEATED, TEXT_CHARACTERS, BoardQuery, QueriedBoard, apply_query, read_query
from app.boards.rows import Leaderboard, RowKind
from app.competitions.tracks import tracks_of
from app.competitions.visibility import task_in_phase
from app.models import Board, Competition, Phase
from evergold.scoring.halves import Half
from evergold.scoring.task import read_options
from evergold.scoring.tasks import TASKS

Text = Annotated[str, Query(max_length=TEXT_CHARACTERS)]
#: Parameter of a board's pictures.
SplitAsked = Annotated[
    str | None, Query(max_length=100, description="the part of the items that a scatter shows, one of its `splits`")
]
#: Parameter for divided items.
HalfAsked = Annotated[
    Half | None,
    Query(alias="part", description="the part of divided items; default: the private part, once it is shown"),
]
TeamsAsked = Annotated[
    list[str], Query(max_length=12, description="teams to draw, for pictures with `teams`; may be repeated")
]


async def page_query(request: Request) -> BoardQuery:
    """Return the query of a page; unknown values raise no error here, the page reports them."""
    return read_query(request.query_params.multi_items())


async def api_query(
    sort: Annotated[
        str,
        Query(
            max_length=TEXT_CHARACTERS,
            description="column to sort by: `metric split`, `rank`, `team`, `entries` or `date`; ranks do not change",
        ),
    ] = "",
    order: Annotated[Literal["asc", "desc"] | None, Query(description="default: the best or the latest first")] = None,
    q: Annotated[
        str,
        Query(
            max_length=TEXT_CHARACTERS,
            description="words in the names of team and method; case and accents do not matter",
        ),
    ] = "",
    track: Annotated[str, Query(max_length=TEXT_CHARACTERS, description="the name of a track")] = "",
    kind: Annotated[list[RowKind] | None, Query(max_length=3, description="kind of row; may be repeated")] = None,
    team: Annotated[
        str, Query(max_length=TEXT_CHARACTERS, description="only the rows of the team with this name")
    ] = "",
    mine: Annotated[bool, Query(description="only your own rows")] = False,
    language: Annotated[
        list[str] | None, Query(max_length=100, description="only columns of this language; may be repeated")
    ] = None,
    category: Annotated[
        str,
        Query(max_length=TEXT_CHARACTERS, description="only columns of this category, such as an MWE type or `seen`"),
    ] = "",
    aspect: Annotated[
        str,
        Query(
            max_length=TEXT_CHARACTERS,
            description="for measures with several numbers, only these columns: `mean`, `sd` or `rho`; default: all",
        ),
    ] = "",
) -> BoardQuery:
    """Return the query of an API request, with the same parameters as pages."""
    given = {"sort": sort, "order": order or "", "q": q, "track": track, "team": team}
    given |= {"mine": "yes" if mine else "", "category": category, "aspect": aspect}
    several = [*(("kind", one) for one in kind or []), *(("language", one) for one in language or [])]
    return read_query([*given.items(), *several])


PageQuery = Annotated[BoardQuery, Depends(page_query)]
ApiQuery = Annotated[BoardQuery, Depends(api_query)]


def arrange_board(
    session: Session, competition: Competition, phase: Phase, board: Board, leaderboard: Leaderboard, query: BoardQuery
) -> QueriedBoard:
    """Return the board sorted and filtered by the query."""
    tracks = [track.name for track in tracks_of(competition)] if board.track is None else []
    return apply_query(leaderboard, query, languages=languages_of(session, phase, board), tracks=tracks)


def languages_of(session: Session, phase: Phase, board: Board) -> Sequence[str]:
    """Return the languages of the board's task, if it declares them."""
    task = TASKS[board.task.task_type]
    options = read_options(task, task_in_phase(session, phase, board).options_of(board.task))
    return getattr(options, "languages", None) or ()


def raise_if_unknown(queried: QueriedBoard) -> Leaderboard:
    """Return the board; raise InvalidForm if the query has unknown values."""
    if queried.problems:
        raise InvalidForm(" ".join(queried.problems.values()), fields=dict(queried.problems))
    return queried.board


def canonical(query: str, others: frozenset[str]) -> tuple[str, bool] | None:
    """Return the query in normalised form, and whether it changes the board; None for unknown or repeated parameters.

    others: further parameters that the address may have.
    """
    if not query:
        return "", False
    pairs = [(name, value) for name, value in parse_qsl(query, keep_blank_values=True)]
    once = [name for name, _ in pairs if name not in REPEATED]
    if len(set(once)) < len(once) or not (PARAMETERS | others).issuperset(name for name, _ in pairs):
        return None
    choices = read_query(pairs).pairs()
    return urlencode([*sorted(pair for pair in pairs if pair[0] in others), *choices]), bool(choices)
