"""Serves the style sheet with the server's accents, and its logos, from memory; browsers cache them for ever."""

from __future__ import annotations

from fastapi import Request, Response
from fastapi.responses import RedirectResponse
from starlette.concurrency import run_in_threadpool

from app.base.errors import NotFound
from app.looks.look import Logo
from app.web.html.rendering import asset
from app.web.http.caching import is_known, not_modified
from app.web.http.context import Server, ServerHere
from app.web.http.routers import page_router

router = page_router()

_FOR_EVER = "public, max-age=31536000, immutable"
#: The policy of an SVG opened on its own: it runs and loads nothing, but may have styles.
LOGO_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'none'"
#: Minimum interval between database look-ups for an address that this process does not know (yet).
_LOOK_SECONDS = 0.5


@router.get("/looks.css")
async def read_styles(request: Request, server: ServerHere) -> Response:
    looks = server.looks
    is_addressed = request.url.path + f"?{request.url.query}" == looks.style_address
    headers = {"Cache-Control": _FOR_EVER if is_addressed else "no-cache"}
    return Response(looks.style_sheet, media_type="text/css", headers=headers)


@router.get("/logo/{sha256}")
async def read_logo(request: Request, server: ServerHere, sha256: str) -> Response:
    logo = await _logo_of(server, sha256)
    headers = {"ETag": f'"{logo.sha256}"', "Cache-Control": _FOR_EVER, "Content-Security-Policy": LOGO_POLICY}
    if is_known(request, headers["ETag"]):
        return not_modified(headers)
    return Response(logo.content, media_type=logo.media_type, headers=headers)


async def _logo_of(server: Server, sha256: str) -> Logo:
    """Return the logo, after a reload of the looks if a page of another process shows one that is unknown here."""
    logo = server.looks.logo_of(sha256)
    if logo is None:
        await run_in_threadpool(server.live.look, server.engine, seconds=_LOOK_SECONDS)
        logo = server.looks.logo_of(sha256)
    if logo is None:
        raise NotFound("This server has no such logo.")
    return logo


@router.get("/favicon.ico")
async def read_favicon(server: ServerHere) -> Response:
    icon = server.looks.icon
    return RedirectResponse(icon.address if icon else asset("favicon.svg"), 307, {"Cache-Control": "no-cache"})


@router.get("/apple-touch-icon.png")
async def read_touch_icon(server: ServerHere) -> Response:
    icon = server.looks.touch_icon
    return RedirectResponse(icon.address if icon else asset("touch-icon.png"), 307, {"Cache-Control": "no-cache"})
