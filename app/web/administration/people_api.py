"""The API of administrators: people, requests to organise, banned domains, and all competitions by size."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from fastapi import Query

from app.administration import people
from app.administration.competitions import list_sizes, transfer
from app.administration.people import Group, OrganiserRules, Search
from app.administration.views import (
    AccountList,
    AccountOut,
    CompetitionSizes,
    OrganisingRequestList,
    OrganisingRequestOut,
    SettingOut,
)
from app.base.db import writing
from app.competitions.find import find_competition
from app.competitions.organisers import limits_of
from app.models import User
from app.people.act import UserAct
from app.people.organising_requests import answer_request, list_requests
from app.privacy.deletions import describe_deletion, plan_account_deletion, undo_account_deletion
from app.privacy.views import DeletionOut
from app.web.administration.access import ApiAdmin, ApiAdminVisit
from app.web.administration.schemas import BlockReason, NewOwner, OrganiserRulesIn, RequestAnswer
from app.web.http.context import Server, ServerHere
from app.web.http.errors import error_responses
from app.web.http.routers import api_router
from app.web.http.schemas import RowId

router = api_router("administration")

PERSON = "/admin/people/{username}"
Text = Annotated[
    str, Query(max_length=200, description="text in a user name, a name, an address, or the name of a team")
]
After = Annotated[str, Query(max_length=200, description="`next_after` of the previous page")]
GroupHere = Annotated[Group, Query(description="only these")]


@router.get(
    "/admin/people",
    operation_id="search_people",
    summary="People of the server",
    description="Fifty at a time, by user name.",
    responses=error_responses(401, 403, 422),
)
def search_people(visit: ApiAdminVisit, q: Text = "", group: GroupHere = "all", after: After = "") -> AccountList:
    return people.search_people(visit.session, Search(q, group, after))


@router.get(
    PERSON, operation_id="read_person", summary="An account of the server", responses=error_responses(401, 403, 404)
)
def read_person(visit: ApiAdminVisit, username: str) -> AccountOut:
    user = people.find_account(visit.session, username)
    return people.describe(visit.session, user, visit.server.settings, visit.now)


def _changed(server: Server, by: User, username: str, change: Callable[[UserAct, User], object]) -> AccountOut:
    """Change an account in a transaction, and return the changed account."""
    with writing(server.engine) as session:
        act, user = server.act(session, by), people.find_account(session, username)
        change(act, user)
        return people.describe(session, user, act.settings, act.now)


@router.put(
    f"{PERSON}/block",
    operation_id="block_account",
    summary="Block an account",
    description="Ends log-ins, tokens, links and running requests at once. The reason is shown to the person.",
    responses=error_responses(401, 403, 404, 413, 422),
)
def put_block(server: ServerHere, by: ApiAdmin, username: str, form: BlockReason) -> AccountOut:
    blocked = _changed(server, by, username, lambda act, user: people.block(act, user, form.reason))
    server.live.look(server.engine)
    return blocked


@router.delete(
    f"{PERSON}/block", operation_id="unblock_account", summary="Unblock it", responses=error_responses(401, 403, 404)
)
def delete_block(server: ServerHere, by: ApiAdmin, username: str) -> AccountOut:
    unblocked = _changed(server, by, username, people.unblock)
    server.live.look(server.engine)
    return unblocked


@router.put(
    f"{PERSON}/confirmation",
    operation_id="confirm_address_of",
    summary="Confirm an address for its owner",
    description="Like the mailed link, this ends other log-ins and revokes all tokens.",
    responses=error_responses(401, 403, 404),
)
def put_confirmation(server: ServerHere, by: ApiAdmin, username: str) -> AccountOut:
    return _changed(server, by, username, people.confirm_address)


@router.delete(
    f"{PERSON}/second-factor",
    operation_id="reset_second_factor_of",
    summary="Remove the second factor of somebody who has lost it",
    responses=error_responses(401, 403, 404),
)
def delete_second_factor(server: ServerHere, by: ApiAdmin, username: str) -> AccountOut:
    return _changed(server, by, username, people.reset_second_factor)


@router.delete(
    f"{PERSON}/administration",
    operation_id="demote_administrator",
    summary="Revoke somebody's administration",
    description="Log-ins and second factor stay. 409 for the last administrator who can log in.",
    responses=error_responses(401, 403, 404, 409),
)
def delete_administration(server: ServerHere, by: ApiAdmin, username: str) -> AccountOut:
    return _changed(server, by, username, people.demote)


@router.put(
    f"{PERSON}/deletion",
    operation_id="delete_account_of",
    summary="Delete an account",
    description=(
        "It is deleted after some days, in which its owner or an administrator can undo it. Submissions that boards "
        "depend on stay."
    ),
    responses=error_responses(401, 403, 404, 409),
)
def put_deletion(server: ServerHere, by: ApiAdmin, username: str) -> DeletionOut:
    with writing(server.engine) as session:
        user = people.find_account(session, username)
        plan_account_deletion(server.act(session, by), user)
        return describe_deletion(session, user, server.settings)


@router.delete(
    f"{PERSON}/deletion",
    operation_id="keep_account_of",
    summary="Undo the deletion of an account",
    responses=error_responses(401, 403, 404),
)
def delete_deletion(server: ServerHere, by: ApiAdmin, username: str) -> DeletionOut:
    with writing(server.engine) as session:
        user = people.find_account(session, username)
        undo_account_deletion(server.act(session, by), user)
        return describe_deletion(session, user, server.settings)


@router.put(
    f"{PERSON}/organising",
    operation_id="set_organiser_rules",
    summary="Set whether a person may create competitions, and limits for this person",
    responses=error_responses(401, 403, 404, 413, 422),
)
def put_organising(server: ServerHere, by: ApiAdmin, username: str, form: OrganiserRulesIn) -> AccountOut:
    rules = OrganiserRules(form.organising, form.competitions, form.mebibytes)
    return _changed(server, by, username, lambda act, user: people.set_organiser_rules(act, user, rules))


@router.put(
    "/admin/banned-domains/{domain}",
    operation_id="ban_domain",
    summary="Refuse new addresses of a domain",
    description="Also of its subdomains. Existing accounts stay. The setting `banned_domains` has the list.",
    responses=error_responses(401, 403, 404, 422),
)
def put_banned_domain(server: ServerHere, by: ApiAdmin, domain: str) -> SettingOut:
    with writing(server.engine) as session:
        changed = people.ban_domain(server.act(session, by), domain, environment=server.environment)
    server.live.look(server.engine)
    return changed


@router.get(
    "/admin/requests",
    operation_id="list_organising_requests",
    summary="Requests to create competitions that wait for an answer",
    responses=error_responses(401, 403),
)
def read_requests(visit: ApiAdminVisit) -> OrganisingRequestList:
    return OrganisingRequestList(requests=[OrganisingRequestOut.of(one) for one in list_requests(visit.session)])


@router.put(
    "/admin/requests/{request_id}/answer",
    operation_id="answer_organising_request",
    summary="Answer a request to create competitions",
    description="A request can be answered once; the person gets a mail.",
    responses=error_responses(401, 403, 404, 409, 413, 422),
)
def put_answer(server: ServerHere, by: ApiAdmin, request_id: RowId, form: RequestAnswer) -> OrganisingRequestOut:
    with writing(server.engine) as session:
        answered = answer_request(server.act(session, by), request_id, is_approved=form.is_approved, text=form.text)
        return OrganisingRequestOut.of(answered)


@router.get(
    "/admin/competitions",
    operation_id="list_competition_sizes",
    summary="All competitions by size and owner",
    description="The largest first, including hidden ones.",
    responses=error_responses(401, 403),
)
def read_competitions(visit: ApiAdminVisit) -> CompetitionSizes:
    return CompetitionSizes(competitions=list_sizes(visit.session))


@router.put(
    "/admin/competitions/{competition}/owner",
    operation_id="transfer_competition",
    summary="Make somebody the owner of a competition",
    description="They become an organiser first if needed. Administrators who give their own name take it over.",
    responses=error_responses(401, 403, 404, 409, 413, 422),
)
def put_owner(server: ServerHere, by: ApiAdmin, competition: str, form: NewOwner) -> NewOwner:
    with writing(server.engine) as session:
        found, limits = find_competition(session, competition), limits_of(server.settings)
        return NewOwner(owner=transfer(server.act(session, by), found, form.owner, limits).username)
