"""The API of a user's own data: the archive, the deletion of the account, consents, and retention periods."""

from __future__ import annotations

from typing import Annotated

from fastapi import Request, Response, Security

from app.base.db import reading, writing
from app.base.errors import Forbidden, NotFound
from app.base.queue import send_archive
from app.competitions.find import find_competition
from app.models import TokenScope, User
from app.privacy.archives import (
    audit_download,
    describe_archive,
    latest_archive,
    ready_archive,
    request_archive,
)
from app.privacy.deletions import describe_deletion, plan_account_deletion, undo_account_deletion
from app.privacy.retention import retention_rules
from app.privacy.views import ArchiveOut, DeletionOut, PrivacyOut
from app.teams.consents import describe_consent, set_consent
from app.teams.views import ConsentOut
from app.web.html.guards import FormSender
from app.web.http.context import Server, ServerHere
from app.web.http.errors import error_responses
from app.web.http.files import FILE_RESPONSES, NOT_MODIFIED, stored_file_response
from app.web.http.identity import ApiOrganiser, ApiSubmitter, Visitor, api_visitor, user_of
from app.web.http.paths import CompetitionName
from app.web.http.routers import api_router
from app.web.http.visit import ApiOrganiserVisit, ApiUserVisit
from app.web.people.passwords import PasswordTurn, check_password, prove_again
from app.web.people.schemas import ConsentIn, DeletionIn

router = api_router("accounts")

ARCHIVE, DELETION = "/me/archive", "/me/deletion"
CONSENT = "/competitions/{competition}/publication-consent"
#: A visitor whose token has the scope of organisers.
OrganisingVisitor = Annotated[Visitor, Security(api_visitor, scopes=[TokenScope.ORGANISE])]


@router.get(
    ARCHIVE,
    operation_id="read_archive",
    summary="The archive of everything stored about me",
    responses=error_responses(401, 403, 404),
)
def read_archive(visit: ApiOrganiserVisit) -> ArchiveOut:
    archive = latest_archive(visit.session, visit.user)
    if archive is None:
        raise NotFound("You have not requested an archive of your data.")
    return describe_archive(archive, visit.server.settings)


@router.post(
    ARCHIVE,
    operation_id="request_archive",
    summary="Request an archive of everything stored about me",
    description=(
        "A worker creates the archive, and you get a mail when it is ready. At most one per day; an earlier request "
        "returns the latest archive. A token needs the scope `organise`, since the archive contains more than any "
        "other answer."
    ),
    status_code=202,
    responses=error_responses(401, 403),
)
def post_archive(server: ServerHere, user: ApiOrganiser) -> ArchiveOut:
    with writing(server.engine) as session:
        archive = request_archive(session, user, server.clock())
    if archive.ready_at is None:
        send_archive(archive.id)
    return describe_archive(archive, server.settings)


@router.get(
    f"{ARCHIVE}/file",
    operation_id="download_archive",
    summary="Download the archive",
    description="A zip of JSON and your files. 409 `archive_not_ready` before it is created and after it has expired.",
    response_class=Response,
    responses={status: answer for status, answer in FILE_RESPONSES.items() if status != 307}
    | error_responses(401, 403, 404, 409, 416),
)
def download_archive(request: Request, server: ServerHere, user: ApiOrganiser) -> Response:
    with reading(server.engine) as session:
        archive = ready_archive(session, user)
    name = f"evergold-{user.username}-{archive.asked_at:%Y-%m-%d}.zip"
    response = stored_file_response(request, archive.sha256 or "", name, is_public=False, by_worker=True)
    if response.status_code != NOT_MODIFIED:
        with writing(server.engine) as session:
            audit_download(session, user, archive, server.clock())
    return response


@router.get(
    DELETION,
    operation_id="read_deletion",
    summary="Whether my account is going to be deleted",
    responses=error_responses(401, 403),
)
def read_deletion(visit: ApiOrganiserVisit) -> DeletionOut:
    return describe_deletion(visit.session, visit.user, visit.server.settings)


@router.post(
    DELETION,
    operation_id="delete_account",
    summary="Delete my account",
    description=(
        "Needs the account's password; an account without one can only be deleted on its page. The account is "
        "deleted after some days, in which you can undo it. 409 `account_needed`, with `obstacles`, while something "
        "depends on the account."
    ),
    status_code=202,
    responses=error_responses(401, 403, 409, 422, 429),
)
def post_deletion(
    request: Request, server: ServerHere, visitor: OrganisingVisitor, turn: PasswordTurn, form: DeletionIn
) -> DeletionOut:
    user = user_of(visitor)
    _prove(request, server, visitor, user, form)
    with writing(server.engine) as session:
        plan_account_deletion(server.act(session, user), user)
        return describe_deletion(session, user, server.settings)


def _prove(request: Request, server: Server, visitor: Visitor, user: User, form: DeletionIn) -> None:
    """Verify that the request comes from the owner of the account. Raises the errors of `prove_again`."""
    if visitor.login is not None:
        prove_again(FormSender(request, server, user, visitor.login), form.password.get_secret_value(), "password")
    elif not (server.settings.passwords and user.has_password):
        raise Forbidden("This account has no password: delete it on its page, Your data.")
    else:
        check_password(request, server, username=user.username, password=form.password.get_secret_value())


@router.delete(
    DELETION,
    operation_id="keep_account",
    summary="Undo the deletion of my account",
    responses=error_responses(401, 403),
)
def delete_deletion(server: ServerHere, user: ApiOrganiser) -> DeletionOut:
    with writing(server.engine) as session:
        undo_account_deletion(server.act(session, user), user)
        return describe_deletion(session, user, server.settings)


@router.get(
    CONSENT,
    operation_id="read_publication_consent",
    summary="Whether I consent to the publication of my predictions",
    responses=error_responses(401, 404),
)
def read_consent(visit: ApiUserVisit, competition: CompetitionName) -> ConsentOut:
    return describe_consent(visit.session, find_competition(visit.session, competition), visit.user)


@router.put(
    CONSENT,
    operation_id="set_publication_consent",
    summary="Consent to the publication of my predictions, or revoke it",
    description="Only if the organisers request it. They may publish submissions of a team only while all of its "
    "members consent.",
    responses=error_responses(401, 403, 404, 422),
)
def put_consent(server: ServerHere, user: ApiSubmitter, competition: CompetitionName, form: ConsentIn) -> ConsentOut:
    with writing(server.engine) as session:
        found = find_competition(session, competition)
        set_consent(session, found, user, form.consents, server.clock())
        return describe_consent(session, found, user)


@router.get(
    "/privacy",
    operation_id="read_privacy",
    summary="What this server stores, and for how long",
    responses=error_responses(),
)
def read_privacy(server: ServerHere) -> PrivacyOut:
    return PrivacyOut(contact=server.settings.contact, retention=retention_rules(server.settings))
