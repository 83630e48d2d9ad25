"""A team's public page: its rows on all boards visible to the viewer, its systems, and its scores by language."""

from __future__ import annotations

from fastapi import Response
from markupsafe import Markup

from app.boards.pictures.of_team import team_pictures
from app.boards.team_rows import is_of_team, shown_orcids, systems_of, team_rows
from app.charts.draw import draw
from app.charts.picture import Picture
from app.competitions.find import find_competition
from app.models import Right
from app.people.rights import may_organise
from app.teams.find import is_team
from app.web.html.rendering import render_page
from app.web.html.sharing import share_team
from app.web.html.workspace import Place, workspace_of
from app.web.http.routers import page_router
from app.web.http.visit import PageVisit

router = page_router()


@router.get("/competitions/{competition}/teams/{team:path}")
def read_public_team(visit: PageVisit, competition: str, team: str) -> Response:
    session, viewer = visit.session, visit.viewer
    found = find_competition(session, competition)
    rows = team_rows(session, found, team, viewer)
    pictures = team_pictures(session, rows, viewer)
    place = Place(rows[-1].phase, rows[-1].board.task, rows[-1].board) if rows else Place()
    workspace = workspace_of(session, found, viewer, "leaderboard", place)
    orcids = shown_orcids(session, found, team, rows)
    return render_page(
        visit,
        "teams/public.html",
        competition=found,
        workspace=workspace,
        team=team,
        rows=rows,
        orcids=orcids,
        systems=systems_of(rows),
        pictures=[(one, *_drawn(one)) for one in pictures],
        kinds={one.row.kind for one in rows},
        is_mine=any(one.row.is_mine for one in rows),
        is_team=is_of_team(rows) and is_team(session, found, team),
        sharing=share_team(visit.server, found, team, orcids),
        may_hide=may_organise(session, viewer.user, found, Right.SUBMISSIONS),
        seen_as=viewer.seen_as,
    )


def _drawn(picture: Picture) -> tuple[Markup, Markup]:
    """Return the picture for desktop and phone."""
    drawn = draw(picture)
    return Markup(drawn.wide), Markup(drawn.narrow)  # noqa: S704 - escaped by ElementTree
