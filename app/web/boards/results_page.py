"""The page of a task's results: every phase and board side by side, sorted by any column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from fastapi import Query, Request, Response

from app.base.db import reading
from app.boards.side_by_side import ResultColumn, build_results, find_task, results_best, sort_results
from app.competitions.find import find_competition
from app.models import Phase
from app.web.html.rendering import render
from app.web.html.workspace import Place, workspace_of
from app.web.http.context import ServerHere
from app.web.http.routers import page_router
from app.web.http.viewer import ViewerHere

router = page_router()


@dataclass(frozen=True, slots=True)
class PhaseHeading:
    """The heading of a phase above its columns."""

    phase: Phase
    columns: int


@router.get("/competitions/{competition}/tasks/{task}/results")
def read_results(
    request: Request,
    server: ServerHere,
    viewer: ViewerHere,
    competition: str,
    task: str,
    sort: Annotated[str, Query()] = "",
) -> Response:
    """`sort` is `phase/board`; what is no column leaves the rows as they are."""
    now = server.clock()
    with reading(server.engine) as session:
        found = find_competition(session, competition)
        asked = find_task(found, task)
        results = build_results(session, found, asked, viewer.user, now, seen_as=viewer.seen_as)
        workspace = workspace_of(session, found, viewer, now, "leaderboard", Place(task=asked))
    keys = [key_of(column) for column in results.columns]
    if sort in keys:
        results = sort_results(results, keys.index(sort))
    return render(
        request,
        "boards/results.html",
        competition=found,
        workspace=workspace,
        task=asked,
        results=results,
        headings=_headings(results.columns),
        keys=keys,
        best=results_best(results),
        seen_as=viewer.seen_as,
    )


def key_of(column: ResultColumn) -> str:
    """Return the name of a column in addresses."""
    return f"{column.phase.name}/{column.board.name}"


def _headings(columns: Sequence[ResultColumn]) -> list[PhaseHeading]:
    phases = dict.fromkeys(column.phase for column in columns)
    return [PhaseHeading(phase, sum(column.phase is phase for column in columns)) for phase in phases]
