"""The client's wheel, and the page on which pip finds it: `pip install --find-links ADDRESS/wheels/ evergold`."""

from __future__ import annotations

from fastapi import Request, Response

from app.base.errors import NotFound
from app.exports.client_wheel import client_wheel
from app.web.html.rendering import render_page
from app.web.http.caching import is_known, not_modified
from app.web.http.context import public_address
from app.web.http.routers import page_router
from app.web.http.visit import PublicVisit

router = page_router()


@router.get("/wheels/")
def list_wheels(visit: PublicVisit) -> Response:
    """Show a link to the wheel with its hash, which pip verifies."""
    address = public_address(visit.request, visit.server, "/wheels/")
    return render_page(visit, "exports/wheels.html", wheel=client_wheel(), address=address)


@router.get("/wheels/{filename}")
def download_wheel(request: Request, filename: str) -> Response:
    wheel = client_wheel()
    if filename != wheel.filename:
        raise NotFound(f"{filename[:100]} does not exist; this server has {wheel.filename}.")
    headers = {"ETag": f'"{wheel.sha256}"', "Cache-Control": "public, no-cache"}
    if is_known(request, headers["ETag"]):
        return not_modified(headers)
    headers["Content-Disposition"] = f'attachment; filename="{wheel.filename}"'
    return Response(wheel.content, headers=headers, media_type="application/zip")
