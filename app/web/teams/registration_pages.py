"""Registration pages: terms and status for the user, the list for organisers, and the confirmation link."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated

from fastapi import Depends, Form, Path, Query, Request, Response
from fastapi.responses import RedirectResponse
from pydantic import Field

from app.base import links
from app.base.db import writing
from app.base.errors import EvergoldError, InvalidForm, LimitReached
from app.competitions.find import find_competition, organised
from app.models import RegistrationStatus, Right, User
from app.people import email_confirmations
from app.people.invitations import own_invitations
from app.people.rights import find_user, may_organise
from app.teams.codes import end_code, make_code, open_code
from app.teams.consents import consents, set_consent, team_consents
from app.teams.questions import NO, Question, QuestionKind, answer_text
from app.teams.registration import (
    SentCode,
    Standing,
    decide_all,
    list_registrations,
    register,
    rules_of,
    settle_confirmed,
    standing,
)
from app.web.html.guards import (
    FormSender,
    PageForm,
    PageUserVisit,
    SentFields,
    SentForm,
    Ticked,
    form_again,
    form_guard,
)
from app.web.html.rendering import render, render_page
from app.web.html.workspace import desk_of, workspace_of
from app.web.http.rate_limits import limit_of_codes, limit_of_confirmations
from app.web.http.routers import page_router
from app.web.http.visit import PlainPageVisit, UserVisit, Visit, user_visit_of

router = page_router()

REGISTRATION = "/competitions/{competition}/registration"
REGISTRATIONS = "/competitions/{competition}/registrations"
JOINING_CODE = "/competitions/{competition}/joining-code"
CONFIRM = "/account/confirm-email"
Secret = Annotated[str, Query(max_length=200)]
#: Prefix of question names in forms.
ANSWER = "answer-"
DECISIONS = {"approve": RegistrationStatus.APPROVED, "refuse": RegistrationStatus.REFUSED}


class RegistrationForm(PageForm):
    """A registration. terms_sha256: of the terms shown; terms: whether they were accepted; code: as typed;
    consents: whether predictions may be published.
    """

    terms_sha256: str = ""
    terms: Ticked = False
    consents: Ticked = False
    code: str = Field("", max_length=200)


class ConsentForm(PageForm):
    """Consent to the publication of predictions; unticked: revoked."""

    consents: Ticked = False


class DecisionForm(PageForm):
    """The organisers' decision: one of DECISIONS."""

    decision: str = ""


class DecisionsForm(DecisionForm):
    """One decision on several registrations. user: their user names."""

    user: list[str] = Field(default_factory=list, max_length=1000)


class ConfirmationForm(PageForm):
    """The mailed secret."""

    link: str = Field("", max_length=200)


@router.get(REGISTRATION)
def read_registration(visit: PlainPageVisit, competition: str) -> Response:
    return _page(visit, competition)


def _page(
    visit: Visit,
    competition: str,
    fields: Mapping[str, str] | None = None,
    error: EvergoldError | None = None,
) -> Response:
    """Return the page with the registration form. fields: the submitted values, None to show the stored answers."""
    session, user = visit.session, visit.viewer.user
    found = find_competition(session, competition)
    mine = standing(session, found, user) if user else None
    is_organiser = may_organise(session, user, found, Right.EDIT)
    workspace = workspace_of(session, found, visit.viewer, "overview")
    return render_page(
        visit,
        "teams/registration.html",
        competition=found,
        workspace=workspace,
        rules=rules_of(found),
        mine=mine,
        fields=_answered(mine) if fields is None else fields,
        consents=user is not None and consents(session, found, user),
        team_consents=user is not None and team_consents(session, found, user),
        is_organiser=is_organiser,
        error=error,
    )


def _answered(mine: Standing | None) -> dict[str, str]:
    answers = mine.row.answers if mine and mine.row else {}
    return {ANSWER + name: answer_text(answer) for name, answer in answers.items()}


def _sent_answers(fields: Mapping[str, str], questions: Sequence[Question]) -> dict[str, str]:
    """Return the answers in the form; an unticked checkbox, which browsers do not send, means no."""
    return {
        question.name: fields.get(ANSWER + question.name, NO if question.kind is QuestionKind.TICK else "")
        for question in questions
    }


@router.post(REGISTRATION)
@form_again(_page, InvalidForm, LimitReached)
def send_registration(
    sender: SentForm, competition: str, form: Annotated[RegistrationForm, Form()], fields: SentFields
) -> Response:
    with writing(sender.server.engine) as session:
        act = sender.act(session)
        found = find_competition(session, competition)
        register(
            act,
            found,
            accepted=form.terms_sha256 if form.terms else None,
            answers=_sent_answers(fields, rules_of(found).questions),
            code=SentCode(form.code, limit_of_codes(sender.request, sender.user, act.now)),
            before_mail=limit_of_confirmations(sender.request, sender.user, act.now),
        )
        if form.consents:
            set_consent(session, found, sender.user, True, act.now)
    return RedirectResponse(links.registration(competition), 303)


@router.post(f"{REGISTRATION}/consent")
def send_consent(
    sender: Annotated[FormSender, Depends(form_guard(REGISTRATION))],
    competition: str,
    form: Annotated[ConsentForm, Form()],
) -> Response:
    with writing(sender.server.engine) as session:
        found = find_competition(session, competition)
        set_consent(session, found, sender.user, form.consents, sender.server.clock())
    return RedirectResponse(f"{links.registration(competition)}#consent", 303)


@router.get(REGISTRATIONS)
def read_registrations(visit: PageUserVisit, competition: str) -> Response:
    return _registrations_page(visit, competition)


def _registrations_page(visit: UserVisit, competition: str, code: str = "") -> Response:
    """Return the page of all registrations. code: a joining code that was just created and is shown only once."""
    session = visit.session
    found = organised(session, visit.user, competition, Right.EDIT)
    rows = list_registrations(session, found)
    workspace = desk_of(session, found, visit.viewer)
    waiting = [row for row in rows if row.status == RegistrationStatus.PENDING]
    others = [row for row in rows if row.status != RegistrationStatus.PENDING]
    return render_page(
        visit,
        "teams/registrations.html",
        may_store=False,
        competition=found,
        workspace=workspace,
        rules=rules_of(found),
        waiting=waiting,
        others=others,
        held_code=open_code(session, found),
        code=code,
    )


@router.post(JOINING_CODE)
def send_code(sender: Annotated[FormSender, Depends(form_guard(REGISTRATIONS))], competition: str) -> Response:
    """Create a joining code, which the next page shows once."""
    with writing(sender.server.engine) as session:
        found = organised(session, sender.user, competition, Right.EDIT)
        code = make_code(sender.act(session), found)
    with user_visit_of(sender.request, sender.user) as visit:
        return _registrations_page(visit, competition, code)


@router.post(f"{JOINING_CODE}/end")
def send_end_of_code(sender: Annotated[FormSender, Depends(form_guard(REGISTRATIONS))], competition: str) -> Response:
    with writing(sender.server.engine) as session:
        end_code(sender.act(session), organised(session, sender.user, competition, Right.EDIT))
    return RedirectResponse(links.registrations(competition), 303)


@router.post(REGISTRATIONS)
def send_decisions(
    sender: Annotated[FormSender, Depends(form_guard(REGISTRATIONS))],
    competition: str,
    form: Annotated[DecisionsForm, Form()],
) -> Response:
    """Decide several registrations: all of them or, if one is invalid, none."""
    _decide(sender, competition, form.user, form.decision)
    return RedirectResponse(links.registrations(competition), 303)


@router.post(f"{REGISTRATIONS}/{{username}}")
def send_decision(
    sender: Annotated[FormSender, Depends(form_guard(REGISTRATIONS))],
    competition: str,
    username: Annotated[str, Path(max_length=320)],
    form: Annotated[DecisionForm, Form()],
) -> Response:
    _decide(sender, competition, [username], form.decision)
    return RedirectResponse(links.registrations(competition), 303)


def _decide(sender: FormSender, competition: str, usernames: Sequence[str], decision: str) -> None:
    with writing(sender.server.engine) as session:
        found = organised(session, sender.user, competition, Right.EDIT)
        people = [find_user(session, username) for username in usernames]
        status = DECISIONS.get(decision)
        if status is None:
            raise InvalidForm("Please choose approve or refuse.", fields={"decision": "Use `approve` or `refuse`."})
        decide_all(sender.act(session), found, people, status)


# ------------------------------------------------------------------------------------------------------------ the link


@router.get(CONFIRM)
def read_confirmation(visit: PageUserVisit, link: Secret = "") -> Response:
    """Show the form without using the link, because mail programs and scanners open links, too.

    A log-in is required, so that users see for which account they confirm the address.
    """
    found = email_confirmations.find(visit.session, visit.user, link, visit.now)
    return _confirmation(visit.request, email=found.email, link=link, entered=None, invitations=0)


@router.post(CONFIRM)
def confirm(sender: SentForm, form: Annotated[ConfirmationForm, Form()]) -> Response:
    with writing(sender.server.engine) as session:
        email_confirmations.confirm(session, sender.user, form.link, sender.server.clock(), keep=sender.login)
        entered = settle_confirmed(session, sender.user, sender.server.clock())
        present = session.get_one(User, sender.user.id, populate_existing=True)  # with the address confirmed
        invitations = len(own_invitations(session, present, sender.server.clock()))
    return _confirmation(sender.request, email="", link="", entered=entered, invitations=invitations)


def _confirmation(request: Request, **context: object) -> Response:
    # its address is a secret
    return render(request, "people/confirm_email.html", may_store=False, **context)
