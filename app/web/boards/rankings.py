"""The API of rankings across tasks."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Response

from app.base.errors import NotFound
from app.boards.documents import describe_ranking, ranking_csv
from app.boards.rankings import build_ranking, find_ranking
from app.boards.views import RankingOut
from app.competitions.find import find_competition
from app.web.boards.api import VARY, FormatParameter, cache_control
from app.web.http.caching import prefers_csv
from app.web.http.csv_answers import TAKES_BOM, CsvResponse
from app.web.http.errors import error_responses
from app.web.http.paths import CompetitionName, PhaseName
from app.web.http.routers import api_router
from app.web.http.visit import ApiVisit

router = api_router("boards")

_CSV = {
    "schema": {"type": "string"},
    "example": "rank,team,mean,detection rank,detection score,detection counted\r\n1,Ada Lovelace,1.0,1,0.75,1.0\r\n",
}


@router.get(
    "/competitions/{competition}/phases/{phase}/rankings/{ranking}",
    operation_id="get_ranking",
    dependencies=TAKES_BOM,
    summary="A ranking across the tasks of a phase",
    description=(
        "Computed from the boards as you see them. Means are computed exactly and rounded once, to the nearest "
        "float. JSON, or CSV by `format=csv` or `Accept: text/csv`."
    ),
    response_model=RankingOut,
    responses={200: {"description": "The ranking.", "content": {"text/csv": _CSV}}, **error_responses(401, 404, 422)},
)
def read_ranking(
    visit: ApiVisit,
    competition: CompetitionName,
    phase: PhaseName,
    ranking: Annotated[str, Path(max_length=100, examples=["overall"])],
    format: FormatParameter = None,  # noqa: A002
) -> Response:
    found = find_competition(visit.session, competition)
    place = next((one for one in found.phases if one.name == phase), None)
    if place is None:
        raise NotFound(f"Competition '{competition}' has no phase '{phase}'.")
    wanted = find_ranking(found, place, ranking)
    table = build_ranking(visit.session, place, wanted, visit.viewer)
    headers = {"Cache-Control": cache_control(visit.viewer.user), "Vary": VARY}
    if (format or ("csv" if prefers_csv(visit.request.headers.get("accept", "")) else "json")) == "csv":
        name = f"{competition}-{phase}-{ranking}.csv"
        headers["Content-Disposition"] = f'attachment; filename="{name}"'
        return CsvResponse(ranking_csv(table), headers=headers)
    return Response(describe_ranking(table).model_dump_json(), media_type="application/json", headers=headers)
