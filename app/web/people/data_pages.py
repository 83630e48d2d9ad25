"""Pages on a user's own data: the archive and the deletion of the account; and on the data that the server stores."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Form, Query, Response
from fastapi.responses import RedirectResponse
from pydantic import Field

from app.base import links
from app.base.db import writing
from app.base.errors import EvergoldError, InvalidForm, LimitReached
from app.base.queue import send_archive
from app.privacy.archives import describe_archive, latest_archive, may_request, request_archive
from app.privacy.deletions import (
    NotDeletable,
    deletion_of,
    obstacles_of,
    plan_account_deletion,
    undo_account_deletion,
)
from app.privacy.retention import retention_rules
from app.web.html.guards import FormSender, PageForm, PageUserVisit, form_again, form_guard
from app.web.html.rendering import render_page
from app.web.html.site_texts import read_site_text
from app.web.http.routers import page_router
from app.web.http.visit import PlainPageVisit, UserVisit
from app.web.people.passwords import PasswordTurn, prove_again

router = page_router()

DATA = links.own_data()
DONE = {
    "archive": "Requested: you get a mail when it is ready.",
    "deletion": "Your account is going to be deleted. Until then you can undo it.",
    "undone": "Undone: your account stays as it is.",
}
Sender = Annotated[FormSender, Depends(form_guard(DATA))]


class DeletionForm(PageForm):
    """A request to delete the account. proof: its password, if it has one."""

    proof: str = Field("", repr=False)


@router.get(DATA)
def read_data(visit: PageUserVisit, done: Annotated[str, Query(max_length=20)] = "") -> Response:
    return _data_page(visit, done=DONE.get(done, ""))


def _data_page(visit: UserVisit, done: str = "", error: EvergoldError | None = None) -> Response:
    """Return the page on a user's own data. error: the reason why the account is not deleted."""
    settings, archive = visit.server.settings, latest_archive(visit.session, visit.user)
    return render_page(
        visit,
        "people/data.html",
        may_store=False,
        user=visit.user,
        archive=describe_archive(archive, settings) if archive is not None else None,
        may_request=may_request(archive, visit.now),
        archive_days=settings.archive_days,
        deletion=deletion_of(visit.session, visit.user),
        obstacles=obstacles_of(visit.session, visit.user),
        deletion_days=settings.deletion_days,
        proves_by_password=settings.passwords and visit.user.has_password,
        done=done,
        error=error,
    )


@router.post(f"{DATA}/archive")
def send_request(sender: Sender) -> Response:
    with writing(sender.server.engine) as session:
        archive = request_archive(session, sender.user, sender.server.clock())
    if archive.ready_at is None:
        send_archive(archive.id)
    return RedirectResponse(f"{DATA}?done=archive", 303)


@router.post(f"{DATA}/deletion")
@form_again(_data_page, InvalidForm, LimitReached, NotDeletable)
def send_deletion(sender: Sender, turn: PasswordTurn, form: Annotated[DeletionForm, Form()]) -> Response:
    prove_again(sender, form.proof, "proof")
    with writing(sender.server.engine) as session:
        plan_account_deletion(sender.act(session), sender.user)
    return RedirectResponse(f"{DATA}?done=deletion", 303)


@router.post(f"{DATA}/deletion/undo")
def send_undo(sender: Sender) -> Response:
    with writing(sender.server.engine) as session:
        undo_account_deletion(sender.act(session), sender.user)
    return RedirectResponse(f"{DATA}?done=undone", 303)


@router.get(links.privacy())
def read_privacy(visit: PlainPageVisit) -> Response:
    """Show the privacy page: generated from the current settings, followed by the operator's own text, if any."""
    settings = visit.server.settings
    return render_page(
        visit,
        "people/privacy.html",
        rules=retention_rules(settings),
        contact=settings.contact,
        text=read_site_text(settings, "privacy") if settings.privacy_file is not None else "",
        providers=[provider.title_of(name) for name, provider in sorted(settings.providers.items())],
        deletion_days=settings.deletion_days,
    )
