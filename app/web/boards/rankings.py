"""The API of rankings across tasks."""

from __future__ import annotations

import csv
import io
from typing import Annotated

from fastapi import Path, Request, Response
from pydantic import ConfigDict, Field

from app.base.answers import ApiModel, example
from app.base.db import reading
from app.base.errors import NotFound
from app.base.text import spreadsheet_safe
from app.boards.rankings import MissingEntry, RankingBy, RankingTable, build_ranking, find_ranking
from app.competitions.find import find_competition
from app.web.boards.api import VARY, FormatParameter, cache_control
from app.web.http.caching import prefers_csv
from app.web.http.context import ServerHere
from app.web.http.csv_answers import TAKES_BOM, CsvResponse
from app.web.http.errors import error_responses
from app.web.http.identity import ApiViewer
from app.web.http.paths import CompetitionName, PhaseName
from app.web.http.routers import api_router

router = api_router("boards")

_CSV = {
    "schema": {"type": "string"},
    "example": "rank,team,mean,detection rank,detection score,detection counted\r\n1,Ada Lovelace,1.0,1,0.75,1.0\r\n",
}

_EXAMPLE = {
    "name": "overall",
    "title": "Overall",
    "by": "mean_rank",
    "missing": "worst",
    "boards": [{"board": "zero-shot", "weight": 2.0}, {"board": "one-shot", "weight": 1.0}],
    "hidden": [],
    "left_out": 0,
    "rows": [
        {
            "rank": 1,
            "team": "Ada Lovelace",
            "mean": 1.3333333333333333,
            "standings": [{"rank": 1, "score": 0.75, "counted": 1.0}, {"rank": 2, "score": 0.5, "counted": 2.0}],
        }
    ],
}


class RankedBoardOut(ApiModel):
    """A board of the ranking."""

    board: str
    weight: float


class RankingStandingOut(ApiModel):
    """A team on one of the boards."""

    model_config = ConfigDict(from_attributes=True)

    rank: int | None = Field(description="null: none there")
    score: float | None
    counted: float = Field(description="what the mean is made of: the rank or the score, or what stands for it")


class RankedTeamOut(ApiModel):
    """A team in the ranking; `standings` in the order of `boards`."""

    model_config = ConfigDict(from_attributes=True)

    rank: int
    team: str
    mean: float
    standings: list[RankingStandingOut]


class RankingOut(ApiModel):
    """A ranking across tasks, as far as you see its boards."""

    model_config = example(_EXAMPLE)

    name: str
    title: str
    by: RankingBy
    missing: MissingEntry
    boards: list[RankedBoardOut]
    hidden: list[str] = Field(description="titles of boards that you do not see (enough of); then there are no rows")
    left_out: int = Field(description="teams with a rank on some of the boards alone, where these are left out")
    rows: list[RankedTeamOut]


@router.get(
    "/competitions/{competition}/phases/{phase}/rankings/{ranking}",
    operation_id="get_ranking",
    dependencies=TAKES_BOM,
    summary="A ranking across the tasks of a phase",
    description="Made of what you see of its boards. Means are exact, and rounded once, to the nearest float. JSON, or "
    "CSV by `format=csv` or `Accept: text/csv`.",
    response_model=RankingOut,
    responses={200: {"description": "The ranking.", "content": {"text/csv": _CSV}}, **error_responses(401, 404, 422)},
)
def read_ranking(
    request: Request,
    server: ServerHere,
    viewer: ApiViewer,
    competition: CompetitionName,
    phase: PhaseName,
    ranking: Annotated[str, Path(max_length=100, examples=["overall"])],
    format: FormatParameter = None,  # noqa: A002
) -> Response:
    with reading(server.engine) as session:
        found = find_competition(session, competition)
        place = next((one for one in found.phases if one.name == phase), None)
        if place is None:
            raise NotFound(f"Competition '{competition}' has no phase '{phase}'.")
        wanted = find_ranking(found, place, ranking)
        table = build_ranking(session, place, wanted, viewer.user, server.clock(), seen_as=viewer.seen_as)
    headers = {"Cache-Control": cache_control(viewer.user), "Vary": VARY}
    if (format or ("csv" if prefers_csv(request.headers.get("accept", "")) else "json")) == "csv":
        name = f"{competition}-{phase}-{ranking}.csv"
        headers["Content-Disposition"] = f'attachment; filename="{name}"'
        return CsvResponse(ranking_csv(table), headers=headers)
    return Response(ranking_out(table).model_dump_json(), media_type="application/json", headers=headers)


def ranking_csv(table: RankingTable) -> str:
    """Return a line per team: rank and mean, then for each board its rank, its score, and the value in the mean."""
    text = io.StringIO()
    writer = csv.writer(text)
    of_boards = [f"{one.board.name} {what}" for one in table.ranking.boards for what in ("rank", "score", "counted")]
    writer.writerow(["rank", "team", "mean", *of_boards])
    for row in table.rows:
        there = [value for one in row.standings for value in (one.rank, one.score, float(one.counted))]
        writer.writerow([row.rank, spreadsheet_safe(row.team), float(row.mean), *there])
    return text.getvalue()


def ranking_out(table: RankingTable) -> RankingOut:
    """Return the ranking as an API model."""
    return RankingOut(
        name=table.ranking.name,
        title=table.ranking.title,
        by=table.ranking.by,
        missing=table.ranking.missing,
        boards=[RankedBoardOut(board=one.board.name, weight=float(one.weight)) for one in table.ranking.boards],
        hidden=list(table.hidden),
        left_out=table.left_out,
        rows=[RankedTeamOut.model_validate(row) for row in table.rows],
    )
