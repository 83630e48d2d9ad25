"""Competitions that clients of Codabench create from a bundle, imported in the same way as in the browser."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from anyio.to_thread import run_sync
from fastapi import Request

from app.base import links
from app.base.db import writing
from app.base.errors import Busy, EvergoldError, InvalidForm
from app.base.private_folders import private_folder
from app.declarations.bundle_uploads import (
    INTERRUPTED,
    claim_bundle,
    creation_by_number,
    finish_bundle,
    release_bundle,
)
from app.importers.bundles.moments import DateOrder
from app.importers.bundles.notes import Fate
from app.importers.in_helper import Wish
from app.models import TokenScope, User
from app.people.auth import scopes_of
from app.web.codabench.bodies import receive_body
from app.web.codabench.find import competition_number
from app.web.codabench.views import CreationOut
from app.web.declarations.bundle_receiving import Made, bundle_writer, make_draft
from app.web.declarations.editing_turns import editing
from app.web.http.context import Server, public_address
from app.web.http.identity import ScopeMissing, Visitor
from app.web.http.room import room_left, within
from app.web.http.routers import page_router
from app.web.http.schemas import RowId
from app.web.http.visit import ApiUserVisit

router = page_router()

#: The reading of ambiguous dates in a bundle, as in Codabench; the browser and the command line ask instead.
AS_THERE = Wish("UTC", DateOrder.MONTH_FIRST)


@router.get("/api/competitions/{status_id}/creation_status/")
def read_creation(visit: ApiUserVisit, status_id: RowId) -> CreationOut:
    """Return the status of a bundle that this user uploaded, with the competition made from it."""
    found = creation_by_number(visit.session, visit.user, status_id, visit.viewer.now)
    number = competition_number(visit.session, found.competition, visit.user) if found.competition else None
    if not found.is_finished:
        return CreationOut(id=found.number, status="Starting", details=None, resulting_competition=None)
    status = "Finished" if found.competition else "Failed"
    return CreationOut(id=found.number, status=status, details=found.details, resulting_competition=number)


def check_may_send_bundles(visitor: Visitor) -> None:
    """Raise ScopeMissing for a token without the scope `create` or `organise`."""
    token = visitor.token
    if token is not None and not scopes_of(token) & {TokenScope.CREATE, TokenScope.ORGANISE}:
        raise ScopeMissing(
            "This token lacks the scope `create`. Create a token with it on your account page.",
            needed=[TokenScope.CREATE],
            scopes=token.scopes.split(),
        )


async def receive_sent_bundle(request: Request, server: Server, secret: str, user: User) -> None:
    """Create a draft from the body, and record the outcome, including the problems if it fails.

    Raises UploadTooLarge, EmptyUpload, QuotaReached, UploadedAlready, Busy. Except after UploadedAlready, the upload
    address can be used again.
    """
    with private_folder(server.settings) as folder:
        with within(await room_left(server, user), server.settings.upload_limit_bytes) as limit_bytes:
            await receive_body(request, bundle_writer(folder, limit_bytes))
        address = public_address(request, server, "")
        async with editing(request):
            await run_sync(_make, server, secret, user, Sent(folder, address))


@dataclass(frozen=True, slots=True)
class Sent:
    """A bundle in its private folder. address: base address of this server, as the sender sees it."""

    folder: Path
    address: str


def _make(server: Server, secret: str, user: User, sent: Sent) -> None:
    """Create the draft for this upload address, only once, and record the outcome."""
    with writing(server.engine) as session:
        claim_bundle(session, secret, server.clock())
    try:
        competition, details = _made(server, user, sent)
    except Busy:
        with writing(server.engine) as session:
            release_bundle(session, secret)
        raise
    except Exception:
        with writing(server.engine) as session:
            finish_bundle(session, secret, None, INTERRUPTED, server.clock())
        raise
    with writing(server.engine) as session:
        finish_bundle(session, secret, competition, details, server.clock())


def _made(server: Server, user: User, sent: Sent) -> tuple[str | None, str]:
    """Create the draft; return its name, or None if that failed, and sentences about the outcome."""
    try:
        made = make_draft(server, user, sent.folder, AS_THERE)
    except Busy:
        raise
    except InvalidForm as refused:
        return None, "\n".join([refused.message, *refused.fields.values()])
    except EvergoldError as refused:
        return None, refused.message
    if made.competition is None:
        place = f"{sent.address}{links.organise(made.blueprint_id)}"
        return None, f"{made.unsealed} The public parts are saved for you to correct: {place}"
    return made.competition, _words(made, f"{sent.address}{links.life(made.competition)}")


def _words(made: Made, publishing: str) -> str:
    first = f"It is a draft. Compare a score of its board with the other system, and publish it: {publishing}"
    unsealed = [f"Gold could not be sealed: {made.unsealed}"] if made.unsealed else []
    noted = [
        f"{fate}: line {line}, {key}: {text}"
        for fate, key, line, text in made.notes
        if fate in (Fate.OPEN, Fate.ASSUMED)
    ]
    return "\n".join([first, *unsealed, *noted])
