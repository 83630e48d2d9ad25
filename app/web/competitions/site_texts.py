"""The server's own text pages, if its settings name files for them: contact, privacy, imprint."""

from __future__ import annotations

from fastapi import Request, Response

from app.base.errors import NotFound
from app.web.html.rendering import SITE_TEXTS, render
from app.web.http.context import Server, ServerHere
from app.web.http.routers import page_router

router = page_router()

#: Pages for people are shorter; a larger file was named by mistake.
LIMIT_BYTES = 200_000


@router.get("/contact")
def read_contact(request: Request, server: ServerHere) -> Response:
    return _page(request, server, "contact")


@router.get("/privacy")
def read_privacy(request: Request, server: ServerHere) -> Response:
    return _page(request, server, "privacy")


@router.get("/imprint")
def read_imprint(request: Request, server: ServerHere) -> Response:
    return _page(request, server, "imprint")


def _page(request: Request, server: Server, name: str) -> Response:
    path = server.settings.site_texts[name]
    if path is None:
        raise NotFound("There is nothing at this address.")
    try:
        with path.open("rb") as file:
            text = file.read(LIMIT_BYTES).decode("utf-8", "replace")
    except OSError:
        raise NotFound(f"The file that EVERGOLD_{name.upper()}_FILE names cannot be read.") from None
    return render(request, "competitions/site_text.html", title=SITE_TEXTS[name], text=text)
