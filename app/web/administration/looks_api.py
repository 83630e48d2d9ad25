"""The API of the server's looks: name, accents, front page, featured competitions, logos."""

from __future__ import annotations

from anyio.to_thread import run_sync
from fastapi import Request

from app.administration.looks import change_looks, put_logo, read_looks, remove_logo
from app.administration.looks_views import LooksOut
from app.base.db import reading, writing
from app.web.administration.access import ApiAdmin, ApiAdminVisit
from app.web.administration.logos import SchemeHere, received_logo
from app.web.administration.schemas import LooksChange
from app.web.http.context import Server, ServerHere
from app.web.http.errors import error_responses
from app.web.http.openapi import upload_body
from app.web.http.routers import api_router

router = api_router("administration")


@router.get(
    "/admin/looks", operation_id="read_looks", summary="The server's looks", responses=error_responses(401, 403)
)
def get_looks(visit: ApiAdminVisit) -> LooksOut:
    return read_looks(visit.session, visit.server.environment)


@router.patch(
    "/admin/looks",
    operation_id="change_looks",
    summary="Change name, colours, front page or featured competitions",
    description="All changes or none. If a colour has too little contrast, the answer has the nearest one that passes.",
    responses=error_responses(401, 403, 413, 422),
)
def patch_looks(server: ServerHere, user: ApiAdmin, form: LooksChange) -> LooksOut:
    sent = form.model_dump(exclude_none=True)
    wanted = {name: ", ".join(value) if isinstance(value, list) else value for name, value in sent.items()}
    with writing(server.engine) as session:
        change_looks(server.act(session, user), wanted, environment=server.environment)
    return _noticed(server)


@router.put(
    "/admin/looks/logos/{scheme}",
    operation_id="put_logo",
    summary="Set the logo of light pages or of dark pages",
    description="A PNG, or an SVG, of which only drawing elements are kept (`removed` lists the others by line).",
    responses=error_responses(400, 401, 403, 404, 408, 413, 415, 422),
    openapi_extra=upload_body("an SVG or a PNG", file="logo.svg"),
)
async def send_logo(request: Request, server: ServerHere, user: ApiAdmin, scheme: SchemeHere) -> LooksOut:
    made = await received_logo(request)

    def keep() -> LooksOut:
        with writing(server.engine) as session:
            put_logo(server.act(session, user), scheme, made)
        return _noticed(server).model_copy(update={"removed": list(made.removed)})

    return await run_sync(keep)


@router.delete(
    "/admin/looks/logos/{scheme}",
    operation_id="remove_logo",
    summary="Remove a logo",
    responses=error_responses(401, 403, 404, 422),
)
def delete_logo(server: ServerHere, user: ApiAdmin, scheme: SchemeHere) -> LooksOut:
    with writing(server.engine) as session:
        remove_logo(server.act(session, user), scheme)
    return _noticed(server)


def _noticed(server: Server) -> LooksOut:
    """Make this process load the changed looks, and return them."""
    server.live.look(server.engine)
    with reading(server.engine) as session:
        return read_looks(session, server.environment)
