"""The page of a ranking across tasks."""

from __future__ import annotations

from fastapi import Request, Response

from app.base.db import reading
from app.base.errors import NotFound
from app.boards.rankings import RankingBy, build_ranking, find_ranking
from app.competitions.find import find_competition
from app.web.html.rendering import render
from app.web.html.workspace import Place, workspace_of
from app.web.http.context import ServerHere
from app.web.http.routers import page_router
from app.web.http.viewer import ViewerHere

router = page_router()


@router.get("/competitions/{competition}/phases/{phase}/rankings/{ranking}")
def read_ranking(
    request: Request, server: ServerHere, viewer: ViewerHere, competition: str, phase: str, ranking: str
) -> Response:
    now = server.clock()
    with reading(server.engine) as session:
        found = find_competition(session, competition)
        place = next((one for one in found.phases if one.name == phase), None)
        if place is None:
            raise NotFound(f"Competition '{competition}' has no phase '{phase}'.")
        table = build_ranking(
            session, place, find_ranking(found, place, ranking), viewer.user, now, seen_as=viewer.seen_as
        )
        workspace = workspace_of(session, found, viewer, now, "leaderboard", Place(place))
    return render(
        request,
        "boards/ranking.html",
        competition=found,
        workspace=workspace,
        phase=place,
        table=table,
        by_rank=table.ranking.by is RankingBy.MEAN_RANK,
        seen_as=viewer.seen_as,
    )
