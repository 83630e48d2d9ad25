"""The API that creates a competition from a zip, as written by `declaration.zip` and `evergold export yaml`."""

from __future__ import annotations

from anyio.to_thread import run_sync
from fastapi import Request, Response

from app.base import api_links, links
from app.base.db import writing
from app.base.errors import EvergoldError
from app.base.storage import storage_of
from app.competitions.organisers import limits_of
from app.declarations.blueprints.build import build_competition
from app.declarations.blueprints.kept import find_blueprint, throw_away
from app.models import User
from app.web.declarations.blueprint_receiving import receive_zip
from app.web.declarations.editing_turns import editing
from app.web.http.context import Server, ServerHere
from app.web.http.errors import error_responses
from app.web.http.identity import ApiOrganiser
from app.web.http.openapi import upload_body
from app.web.http.routers import api_router
from app.web.http.schemas import ApiModel, example

router = api_router("organising")


class CreatedOut(ApiModel):
    """A competition that was made: a draft."""

    model_config = example({"name": "demo", "link": "/api/v1/competitions/demo", "page": "/competitions/demo"})

    name: str
    link: str
    page: str


@router.post(
    "/competitions",
    operation_id="create_competition",
    summary="Make a competition from a zip, for those who may organise here",
    description="As `declaration.zip` of another one has it: a competition.yaml and its files, without gold. It is a "
    "draft, and yours. All errors are reported at once, by the names of the values; nothing is created then.",
    status_code=201,
    openapi_extra=upload_body("the zip"),
    responses=error_responses(400, 401, 403, 404, 408, 409, 413, 415, 422, 507),
)
async def create_competition(
    request: Request, server: ServerHere, user: ApiOrganiser, response: Response
) -> CreatedOut:
    blueprint_id = await receive_zip(request, server, user)
    async with editing(request):
        name = await run_sync(_build, server, user, blueprint_id)
    response.headers["Location"] = api_links.competition(name)
    return CreatedOut(name=name, link=api_links.competition(name), page=links.competition(name))


def _build(server: Server, user: User, blueprint_id: int) -> str:
    settings = server.settings
    try:
        return build_competition(
            server.engine, storage_of(settings), user, blueprint_id, limits_of(settings), server.clock()
        )
    except EvergoldError:
        with writing(server.engine) as session:
            throw_away(session, find_blueprint(session, user, blueprint_id, lock=True))
        raise
