"""The API of declarations: drafts made in the browser, revisions, edits, and restoring an earlier revision."""

from __future__ import annotations

from typing import Annotated

from anyio.to_thread import run_sync
from fastapi import Query, Request, Response
from fastapi.responses import StreamingResponse
from sqlalchemy import Engine

from app.base import api_links, links
from app.base.answers import ApiModel, example
from app.base.db import writing
from app.base.errors import EvergoldError
from app.base.storage import Storage, storage_of
from app.competitions.find import organised
from app.declarations.blueprints.build import build_competition
from app.declarations.blueprints.kept import find_blueprint, throw_away
from app.declarations.edits.edit import Edit, edit_values, go_back
from app.declarations.edits.export import export_zip
from app.declarations.revisions.kept import find_revision, list_revisions, present_revision
from app.declarations.views import DeclarationOut, OutcomeOut, RevisionList, describe_declaration, describe_revision
from app.models import Right, User
from app.web.declarations.blueprint_receiving import receive_zip
from app.web.declarations.editing_turns import EDITING, editing
from app.web.declarations.schemas import BackForm, EditForm
from app.web.http.context import Server, ServerHere
from app.web.http.errors import error_responses
from app.web.http.identity import ApiOrganiser
from app.web.http.openapi import upload_body
from app.web.http.paths import CompetitionName
from app.web.http.routers import api_router
from app.web.http.schemas import RowId
from app.web.http.visit import ApiOrganiserVisit

router = api_router("organising")


class CreatedOut(ApiModel):
    """A competition that was created as a draft."""

    model_config = example({"name": "demo", "link": "/api/v1/competitions/demo", "page": "/competitions/demo"})

    name: str
    link: str
    page: str


@router.post(
    "/competitions",
    operation_id="create_competition",
    summary="Create a competition from a zip, if you may organise here",
    description=(
        "The zip has the form of `declaration.zip` of a competition: a competition.yaml and its files, without "
        "gold. The new competition is a draft that you own. If there are errors, all are reported at once, by the "
        "names of the values, and nothing is created."
    ),
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
    try:
        return build_competition(server.engine, server.settings, user, blueprint_id, server.clock())
    except EvergoldError:
        with writing(server.engine) as session:
            throw_away(session, find_blueprint(session, user, blueprint_id, lock=True))
        raise


PLACE = "/competitions/{competition}"
PAGE_LENGTH = 50
Preview = Annotated[bool, Query(description="only show what would change")]


@router.get(
    f"{PLACE}/declaration",
    operation_id="get_declaration",
    summary="The current declaration, for organisers",
    responses=error_responses(401, 403, 404),
)
def read_declaration(visit: ApiOrganiserVisit, competition: CompetitionName) -> DeclarationOut:
    present = present_revision(visit.session, organised(visit.session, visit.user, competition, Right.EDIT))
    return describe_declaration(present, present)


@router.patch(
    f"{PLACE}/declaration",
    operation_id="edit_declaration",
    summary="Edit dates, limits, visibility, texts and the citation, for organisers",
    description=(
        "If there are errors, all are reported at once, by the names of the values, and nothing is changed. If "
        "there is a newer revision than `base`, `details` lists who changed what in the meantime."
    ),
    responses=error_responses(400, 401, 403, 404, 409, 413, 422, 507),
    dependencies=EDITING,
)
def patch_declaration(
    server: ServerHere,
    user: ApiOrganiser,
    competition: CompetitionName,
    form: EditForm,
    preview: Preview = False,
) -> OutcomeOut:
    edit = Edit(competition, form.base, user, form.note, preview)
    return edit_values(*_server(server), edit, form.values, server.clock()).describe()


@router.get(
    f"{PLACE}/declaration.zip",
    operation_id="export_declaration",
    summary="The declaration as YAML with its files, for organisers",
    description="`evergold check` and `evergold apply` read it; applying it restores exactly this declaration.",
    response_class=StreamingResponse,
    responses={
        200: {"content": {"application/zip": {"schema": {"type": "string", "format": "binary"}}}},
        **error_responses(401, 403, 404, 409, 422),
    },
)
def export_declaration(
    visit: ApiOrganiserVisit,
    competition: CompetitionName,
    revision: Annotated[RowId | None, Query(description="number of the revision; default: the current one")] = None,
) -> StreamingResponse:
    session = visit.session
    found = organised(session, visit.user, competition, Right.EDIT)
    wanted = find_revision(session, found, revision) if revision else present_revision(session, found)
    headers = {
        "Content-Disposition": f'attachment; filename="{found.name}-{wanted.number}.zip"',
        "Cache-Control": "no-store",
    }
    pieces = export_zip(wanted, found.name, storage_of(visit.server.settings))
    return StreamingResponse(pieces, media_type="application/zip", headers=headers)


@router.get(
    f"{PLACE}/revisions",
    operation_id="list_revisions",
    summary="The revisions of the declaration, for organisers",
    description="The newest first: who changed what, and when.",
    responses=error_responses(401, 403, 404, 422),
)
def read_revisions(
    visit: ApiOrganiserVisit,
    competition: CompetitionName,
    before: Annotated[RowId | None, Query(description="as in `next`")] = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = PAGE_LENGTH,
) -> RevisionList:
    found = organised(visit.session, visit.user, competition, Right.EDIT)
    revisions = list_revisions(visit.session, found, limit=limit + 1, before=before)
    shown, is_more = revisions[:limit], len(revisions) > limit
    older = (
        f"{api_links.competition(found.name)}/revisions?limit={limit}&before={shown[-1].number}" if is_more else None
    )
    return RevisionList(revisions=[describe_revision(revision) for revision in shown], next=older)


@router.get(
    f"{PLACE}/revisions/{{number}}",
    operation_id="get_revision",
    summary="One revision of the declaration, for organisers",
    responses=error_responses(401, 403, 404, 422),
)
def read_revision(visit: ApiOrganiserVisit, competition: CompetitionName, number: RowId) -> DeclarationOut:
    session = visit.session
    found = organised(session, visit.user, competition, Right.EDIT)
    return describe_declaration(find_revision(session, found, number), present_revision(session, found))


@router.post(
    f"{PLACE}/revisions/{{number}}/apply",
    operation_id="apply_revision",
    summary="Go back to an earlier revision, for organisers",
    description="Applies the revision again, with its files, as a new revision. Submissions do not change.",
    responses=error_responses(400, 401, 403, 404, 409, 413, 422, 507),
    dependencies=EDITING,
)
def apply_revision(
    server: ServerHere,
    user: ApiOrganiser,
    competition: CompetitionName,
    number: RowId,
    form: BackForm,
    preview: Preview = False,
) -> OutcomeOut:
    edit = Edit(competition, form.base, user, form.note, preview)
    return go_back(*_server(server), edit, number, server.clock()).describe()


def _server(server: Server) -> tuple[Engine, Storage]:
    return server.engine, storage_of(server.settings)
