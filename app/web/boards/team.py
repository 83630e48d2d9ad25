"""The API of teams as boards show them: their rows and systems. The viewer's own team is in `app.web.teams.api`."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path

from app.base.db import reading
from app.boards.team_rows import team_rows
from app.competitions.find import find_competition
from app.web.boards.team_schemas import PublicTeamOut, public_team_out
from app.web.http.context import ServerHere
from app.web.http.errors import error_responses
from app.web.http.paths import CompetitionName
from app.web.http.routers import api_router
from app.web.http.viewer import ApiViewer

router = api_router("boards")

PublicTeamName = Annotated[str, Path(examples=["Ada Lovelace"], description="as it stands on a board")]


@router.get(
    "/competitions/{competition}/teams/{team:path}",
    operation_id="get_public_team",
    summary="A team on the boards",
    description="Its rows on all boards, each as the board shows it to you, and its systems with their method cards. "
    "404 where no board that you can see has this name. A name that only official boards still have, because the team "
    "has another now, has the rows of these.",
    responses=error_responses(401, 404, 422),
)
def read_public_team(
    server: ServerHere, viewer: ApiViewer, competition: CompetitionName, team: PublicTeamName
) -> PublicTeamOut:
    with reading(server.engine) as session:
        found = find_competition(session, competition)
        rows = team_rows(session, found, team, viewer.user, server.clock(), seen_as=viewer.seen_as)
        return public_team_out(found, team, rows)
