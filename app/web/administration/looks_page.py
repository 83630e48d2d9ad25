"""The page of the server's looks: name, accents, front page and featured competitions, and the two logos."""

from __future__ import annotations

from typing import Annotated

from anyio.to_thread import run_sync
from fastapi import Depends, Form, Query, Response
from fastapi.responses import RedirectResponse

from app.administration.looks import SETTINGS, change_looks, put_logo, read_looks, remove_logo
from app.base.db import writing
from app.base.errors import EvergoldError
from app.base.live_settings import FRONT_CHARACTERS, SERVER_NAME_CHARACTERS
from app.web.administration.access import AdminVisit, admin_form_of, admin_upload_of
from app.web.administration.logos import SchemeHere, received_logo
from app.web.html.administration import ADMIN, render_section
from app.web.html.guards import FormSender, PageForm, SentUpload, form_again
from app.web.http.routers import page_router
from app.web.http.visit import UserVisit

router = page_router()

LOOKS = f"{ADMIN}/looks"
FromLooks = Annotated[FormSender, Depends(admin_form_of(LOOKS))]
UploadFromLooks = Annotated[SentUpload, Depends(admin_upload_of(LOOKS))]


class LooksForm(PageForm):
    """The looks as submitted in the form."""

    name: str = ""
    accent: str = ""
    accent_dark: str = ""
    front: str = ""
    featured: str = ""


@router.get(LOOKS)
def read_page(visit: AdminVisit, removed: Annotated[int, Query(ge=0)] = 0) -> Response:
    return _page(visit, removed=removed)


def _page(
    visit: UserVisit,
    form: LooksForm | None = None,
    error: EvergoldError | None = None,
    removed: int = 0,
) -> Response:
    found = read_looks(visit.session, visit.server.environment)
    return render_section(
        visit,
        "administration/looks.html",
        found=found,
        typed=form or LooksForm(**{**found.model_dump(include=set(SETTINGS)), "featured": ", ".join(found.featured)}),
        error=error,
        removed=removed,
        name_characters=SERVER_NAME_CHARACTERS,
        front_characters=FRONT_CHARACTERS,
    )


@router.post(LOOKS)
@form_again(_page)
def send_looks(sender: FromLooks, form: Annotated[LooksForm, Form()]) -> Response:
    with writing(sender.server.engine) as session:
        change_looks(sender.act(session), form.model_dump(), environment=sender.server.environment)
    sender.server.live.look(sender.server.engine)
    return RedirectResponse(LOOKS, 303)


@router.post(f"{LOOKS}/logos/{{scheme}}")
@form_again(_page)
async def send_logo(upload: UploadFromLooks, scheme: SchemeHere) -> Response:
    made = await received_logo(upload.request, upload.check)

    def keep() -> None:
        with writing(upload.server.engine) as session:
            put_logo(upload.act(session), scheme, made)
        upload.server.live.look(upload.server.engine)

    await run_sync(keep)
    return RedirectResponse(f"{LOOKS}?removed={len(made.removed)}" if made.removed else LOOKS, 303)


@router.post(f"{LOOKS}/logos/{{scheme}}/remove")
def send_removal(sender: FromLooks, scheme: SchemeHere) -> Response:
    with writing(sender.server.engine) as session:
        remove_logo(sender.act(session), scheme)
    sender.server.live.look(sender.server.engine)
    return RedirectResponse(LOOKS, 303)
