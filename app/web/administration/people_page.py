"""Pages about people: search, one account with all actions on it, and requests to organise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated
from urllib.parse import quote, urlencode

from fastapi import Depends, Form, Query, Response
from fastapi.responses import RedirectResponse

from app.administration import people
from app.administration.people import GROUPS, REASON_CHARACTERS, Group, OrganiserRules, Organising, Search
from app.administration.views import OrganisingRequestOut
from app.base.db import writing
from app.base.errors import EvergoldError
from app.base.text import refuse
from app.models import User
from app.people.act import UserAct
from app.people.auth import LastAdministrator
from app.people.organising_requests import TEXT_CHARACTERS, answer_request, list_requests
from app.privacy.deletions import describe_deletion, plan_account_deletion, undo_account_deletion
from app.web.administration.access import AdminVisit, admin_form_of
from app.web.html.administration import ADMIN, render_section
from app.web.html.guards import FormSender, PageForm, form_again
from app.web.html.typed import typed_number
from app.web.http.routers import page_router
from app.web.http.schemas import RowId
from app.web.http.visit import UserVisit

router = page_router()

PEOPLE, REQUESTS = f"{ADMIN}/people", f"{ADMIN}/requests"
PERSON = f"{PEOPLE}/{{username}}"
FromPeople = Annotated[FormSender, Depends(admin_form_of(PEOPLE))]
FromPerson = Annotated[FormSender, Depends(admin_form_of(PERSON))]
FromRequests = Annotated[FormSender, Depends(admin_form_of(REQUESTS))]
Text = Annotated[str, Query(max_length=200)]


class BlockForm(PageForm):
    """The reason for a block."""

    reason: str = ""


class RulesForm(PageForm):
    """Rules for one organiser; empty values: the server's defaults apply."""

    organising: Organising = "rule"
    competitions: str = ""
    mebibytes: str = ""

    def wanted(self) -> OrganiserRules:
        """Return the rules; raise InvalidForm for values that are not numbers."""
        wrong: dict[str, str] = {}
        competitions = typed_number("competitions", self.competitions, wrong)
        mebibytes = typed_number("mebibytes", self.mebibytes, wrong)
        refuse(wrong)
        return OrganiserRules(self.organising, competitions, mebibytes)


class DomainForm(PageForm):
    """A mail domain whose addresses the server is to refuse."""

    domain: str = ""


class AnswerForm(PageForm):
    """The decision on a request to organise. decision: `approve`; any other value declines."""

    decision: str = ""
    text: str = ""


# ------------------------------------------------------------------------------------------------------------- search


@router.get(PEOPLE)
def read_people(visit: AdminVisit, q: Text = "", group: Group = "all", after: Text = "") -> Response:
    return _people(visit, q, group, after)


def _people(
    visit: UserVisit, q: str = "", group: Group = "all", after: str = "", error: EvergoldError | None = None
) -> Response:
    found = people.search_people(visit.session, Search(q, group, after))
    onward = urlencode({"q": q, "group": group, "after": found.next_after or ""})
    return render_section(
        visit,
        "administration/people.html",
        found=found.accounts,
        onward=f"{PEOPLE}?{onward}" if found.next_after else "",
        q=q,
        group=group,
        groups=GROUPS,
        banned=visit.server.settings.banned_domains,
        error=error,
    )


@router.post(f"{PEOPLE}/ban")
@form_again(_people)
def send_ban(sender: FromPeople, form: Annotated[DomainForm, Form()]) -> Response:
    with writing(sender.server.engine) as session:
        people.ban_domain(sender.act(session), form.domain, environment=sender.server.environment)
    sender.server.live.look(sender.server.engine)
    return RedirectResponse(PEOPLE, 303)


# ------------------------------------------------------------------------------------------------------------- person


@router.get(PERSON)
def read_person(visit: AdminVisit, username: str) -> Response:
    return _person(visit, username)


def _person(
    visit: UserVisit, username: str, form: PageForm | None = None, error: EvergoldError | None = None
) -> Response:
    user = people.find_account(visit.session, username)
    account = people.describe(visit.session, user, visit.server.settings, visit.now)
    limits = [str("" if one is None else one) for one in (account.competitions_limit, account.mebibytes_limit)]
    kept = RulesForm(organising=account.organising, competitions=limits[0], mebibytes=limits[1])
    typed = form if isinstance(form, RulesForm) else kept
    return render_section(
        visit,
        "administration/person.html",
        account=account,
        deletion=describe_deletion(visit.session, user, visit.server.settings),
        typed=typed,
        reason=form.reason if isinstance(form, BlockForm) else account.blocked_reason,
        reason_characters=REASON_CHARACTERS,
        is_self=user.id == visit.user.id,
        error=error,
    )


def _changed(sender: FormSender, username: str, change: Callable[[UserAct, User], object]) -> Response:
    """Change an account in a transaction, and redirect to its page."""
    with writing(sender.server.engine) as session:
        user = people.find_account(session, username)
        change(sender.act(session), user)
    sender.server.live.look(sender.server.engine)
    return RedirectResponse(PERSON.format(username=quote(user.username)), 303)


@router.post(f"{PERSON}/block")
@form_again(_person)
def send_block(sender: FromPerson, username: str, form: Annotated[BlockForm, Form()]) -> Response:
    return _changed(sender, username, lambda act, one: people.block(act, one, form.reason))


@router.post(f"{PERSON}/unblock")
def send_unblock(sender: FromPerson, username: str) -> Response:
    return _changed(sender, username, people.unblock)


@router.post(f"{PERSON}/confirm")
def send_confirmation(sender: FromPerson, username: str) -> Response:
    return _changed(sender, username, people.confirm_address)


@router.post(f"{PERSON}/second-factor")
def send_reset(sender: FromPerson, username: str) -> Response:
    return _changed(sender, username, people.reset_second_factor)


@router.post(f"{PERSON}/demote")
@form_again(_person, LastAdministrator)
def send_demotion(sender: FromPerson, username: str) -> Response:
    return _changed(sender, username, people.demote)


@router.post(f"{PERSON}/delete")
def send_deletion(sender: FromPerson, username: str) -> Response:
    return _changed(sender, username, plan_account_deletion)


@router.post(f"{PERSON}/keep")
def send_keep(sender: FromPerson, username: str) -> Response:
    return _changed(sender, username, undo_account_deletion)


@router.post(f"{PERSON}/organising")
@form_again(_person)
def send_rules(sender: FromPerson, username: str, form: Annotated[RulesForm, Form()]) -> Response:
    rules = form.wanted()
    return _changed(sender, username, lambda act, one: people.set_organiser_rules(act, one, rules))


# ----------------------------------------------------------------------------------------------------------- requests


@router.get(REQUESTS)
def read_requests(visit: AdminVisit) -> Response:
    return _requests(visit)


def _requests(visit: UserVisit, error: EvergoldError | None = None) -> Response:
    listed = [OrganisingRequestOut.of(one) for one in list_requests(visit.session)]
    rule = visit.server.settings.organise
    return render_section(
        visit,
        "administration/requests.html",
        requests=listed,
        rule=rule,
        text_characters=TEXT_CHARACTERS,
        error=error,
    )


@router.post(f"{REQUESTS}/{{request_id}}")
@form_again(_requests)
def send_answer(sender: FromRequests, request_id: RowId, form: Annotated[AnswerForm, Form()]) -> Response:
    with writing(sender.server.engine) as session:
        answer_request(sender.act(session), request_id, is_approved=form.decision == "approve", text=form.text)
    return RedirectResponse(REQUESTS, 303)
