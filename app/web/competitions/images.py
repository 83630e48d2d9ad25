"""The images of a competition's texts, as rendered when it was applied; visible to all who see the competition."""

from __future__ import annotations

from fastapi import Request, Response

from app.base.db import reading
from app.base.errors import NotFound
from app.competitions.find import named_competition
from app.web.http.context import ServerHere
from app.web.http.images import image_response
from app.web.http.routers import page_router

router = page_router()


@router.get("/competitions/{competition}/images/{sha256}")
def read_image(request: Request, server: ServerHere, competition: str, sha256: str) -> Response:
    with reading(server.engine) as session:
        images = named_competition(session, competition).images
    image = next((one for one in images.values() if one["sha256"] == sha256), None)
    if image is None:
        raise NotFound("There is no such image here.")
    return image_response(request, server, sha256, image["type"])
