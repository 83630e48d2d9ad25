"""The preview page of a draft competition, as participants will see it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

from fastapi import Request, Response

from app.base import links
from app.base.db import reading
from app.base.storage import Storage, local_file, storage_of
from app.declarations.blueprints.baseline_scores import baseline_scores
from app.declarations.blueprints.kept import find_blueprint
from app.declarations.blueprints.preview import boards_of, declaration_of
from app.declarations.blueprints.stories import is_phase_divided, seen_when
from app.declarations.images.texts import media_type_of
from app.declarations.leaks import declared_leaks
from app.models import Blueprint
from app.texts.html import Images, ShownImage
from app.web.declarations.blueprint_aids import calendar_aid
from app.web.declarations.editing_turns import EDITING
from app.web.html.guards import PageUser
from app.web.html.rendering import render
from app.web.http.context import ServerHere
from app.web.http.routers import page_router
from app.web.http.schemas import RowId

router = page_router()


@router.get("/organise/{blueprint_id}/preview", dependencies=EDITING)
def read_preview(request: Request, server: ServerHere, user: PageUser, blueprint_id: RowId) -> Response:
    with reading(server.engine) as session:
        blueprint = find_blueprint(session, user, blueprint_id)
        declared = declaration_of(blueprint.document)
        scored = baseline_scores(session, user, blueprint, declared) if declared else {}
    phases = blueprint.document["phases"] if declared else []
    response = render(
        request,
        "declarations/preview.html",
        blueprint=blueprint,
        declared=declared,
        phases=list(
            zip(
                declared.phases if declared else (),
                [
                    seen_when(
                        phase, phase.get("visibility") or {}, is_divided=is_phase_divided(blueprint.document, phase)
                    )
                    for phase in phases
                ],
                strict=True,
            )
        ),
        boards=boards_of(declared, scored) if declared else [],
        leaks=list(declared_leaks(declared, _finder(blueprint, storage_of(server.settings)))) if declared else [],
        images=_images(blueprint),
        **calendar_aid(server, blueprint.document),
    )
    response.headers["Cache-Control"] = "no-store"
    return response


def _finder(blueprint: Blueprint, storage: Storage) -> Callable[[str], Path | None]:
    """Return a function that finds uploaded files of the draft by path."""
    known = {file.path: file.sha256 for file in blueprint.files}
    return lambda path: local_file(storage, known[path]) if path in known else None


def _images(blueprint: Blueprint) -> Images:
    """Return the uploaded images of the draft by path."""
    address = links.organise(blueprint.id, "images")
    paths = [file.path for file in blueprint.files if media_type_of(file.path)]
    return {path: ShownImage(f"{address}?path={quote(path)}") for path in paths}
