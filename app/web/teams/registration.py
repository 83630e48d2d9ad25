"""The API of registrations: the user's own status, registering, and the organisers' decisions."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Query, Request
from sqlalchemy.orm import Session

from app.base.db import reading, writing
from app.competitions.find import find_competition, organised
from app.models import RegistrationStatus, Right, User
from app.people.rights import find_user
from app.teams.codes import end_code, make_code
from app.teams.consents import set_consent
from app.teams.registration import SentCode, decide, decide_all, list_registrations, register, standing
from app.teams.views import RegisteredList, RegisteredOut, RegistrationOut
from app.web.http.context import ServerHere
from app.web.http.errors import error_responses
from app.web.http.identity import ApiOrganiser, ApiSubmitter
from app.web.http.paths import CompetitionName
from app.web.http.rate_limits import limit_of_codes, limit_of_confirmations
from app.web.http.routers import api_router
from app.web.http.visit import ApiOrganiserVisit, ApiUserVisit
from app.web.teams.schemas import JoiningCodeOut, RegistrationDecision, RegistrationDecisions, RegistrationRequest

router = api_router()

TAKING_PART, ORGANISING = ["taking part"], ["organising"]


@router.get(
    "/competitions/{competition}/registration",
    operation_id="get_registration",
    summary="Your registration in a competition",
    tags=[*TAKING_PART],
    responses=error_responses(401, 404),
)
def read_registration(visit: ApiUserVisit, competition: CompetitionName) -> RegistrationOut:
    return _registration(visit.session, visit.user, competition)


def _registration(session: Session, user: User, competition: str) -> RegistrationOut:
    found = find_competition(session, competition)
    return RegistrationOut.of(found, standing(session, found, user))


@router.put(
    "/competitions/{competition}/registration",
    operation_id="register_for_competition",
    summary="Register for a competition",
    description=(
        "If a competition is open to all and has no terms, your first upload registers you. If it needs a confirmed "
        "address, you get a mail with a link. Register again after new terms, with another address, or to change "
        "your answers. 403 `registration_needed` if the organisers have refused you."
    ),
    tags=[*TAKING_PART],
    responses=error_responses(401, 403, 404, 413, 422, 429),
)
def put_registration(
    request: Request, server: ServerHere, user: ApiSubmitter, competition: CompetitionName, form: RegistrationRequest
) -> RegistrationOut:
    with writing(server.engine) as session:
        act = server.act(session, user)
        found = find_competition(session, competition)
        register(
            act,
            found,
            accepted=form.accepted_terms_sha256,
            answers=form.answers,
            code=SentCode(form.code, limit_of_codes(request, user, act.now)),
            before_mail=limit_of_confirmations(request, user, act.now),
        )
        if form.consents_to_publication is not None:
            set_consent(session, found, user, form.consents_to_publication, act.now)
    with reading(server.engine) as session:
        return _registration(session, user, competition)


@router.get(
    "/competitions/{competition}/registrations",
    operation_id="list_registrations",
    summary="Registrations, for organisers",
    tags=[*ORGANISING],
    responses=error_responses(401, 403, 404, 422),
)
def read_registrations(
    visit: ApiOrganiserVisit,
    competition: CompetitionName,
    status: Annotated[RegistrationStatus | None, Query(description="only of this status")] = None,
) -> RegisteredList:
    found = organised(visit.session, visit.user, competition, Right.EDIT)
    rows = list_registrations(visit.session, found, status=status)
    return RegisteredList.model_validate({"registrations": rows}, from_attributes=True)


@router.put(
    "/competitions/{competition}/registrations",
    operation_id="decide_registrations",
    summary="Approve or refuse several registrations, for organisers",
    description="If one cannot be decided, none is. Each person gets a mail. Repeating it changes nothing.",
    tags=[*ORGANISING],
    responses=error_responses(401, 403, 404, 413, 422),
)
def put_decisions(
    server: ServerHere, user: ApiOrganiser, competition: CompetitionName, form: RegistrationDecisions
) -> RegisteredList:
    with writing(server.engine) as session:
        found = organised(session, user, competition, Right.EDIT)
        people = [find_user(session, name) for name in form.usernames]
        decide_all(server.act(session, user), found, people, form.status)
        ids = {one.id for one in people}
        rows = [row for row in list_registrations(session, found) if row.user_id in ids]
        return RegisteredList.model_validate({"registrations": rows}, from_attributes=True)


@router.put(
    "/competitions/{competition}/registrations/{username}",
    operation_id="decide_registration",
    summary="Approve or refuse a registration, for organisers",
    description="Also possible before the person has registered. The person gets a mail. Repeating it changes nothing.",
    tags=[*ORGANISING],
    responses=error_responses(401, 403, 404, 413, 422),
)
def put_decision(
    server: ServerHere,
    user: ApiOrganiser,
    competition: CompetitionName,
    username: Annotated[str, Path(examples=["ada"], description="a user name or an e-mail address")],
    form: RegistrationDecision,
) -> RegisteredOut:
    with writing(server.engine) as session:
        found = organised(session, user, competition, Right.EDIT)
        person = find_user(session, username)
        decide(server.act(session, user), found, person, form.status)
        row = next(row for row in list_registrations(session, found) if row.user_id == person.id)
        return RegisteredOut.model_validate(row, from_attributes=True)


@router.post(
    "/competitions/{competition}/joining-code",
    operation_id="make_joining_code",
    summary="Create a code by which people join, for organisers",
    description=(
        "With the mode `code`, people who register with this code can take part; ten attempts per hour. The "
        "previous code ends; people who joined stay."
    ),
    status_code=201,
    tags=[*ORGANISING],
    responses=error_responses(401, 403, 404),
)
def post_joining_code(server: ServerHere, user: ApiOrganiser, competition: CompetitionName) -> JoiningCodeOut:
    with writing(server.engine) as session:
        found = organised(session, user, competition, Right.EDIT)
        return JoiningCodeOut(code=make_code(server.act(session, user), found))


@router.delete(
    "/competitions/{competition}/joining-code",
    operation_id="end_joining_code",
    summary="End the code by which people join, for organisers",
    status_code=204,
    tags=[*ORGANISING],
    responses=error_responses(401, 403, 404),
)
def delete_joining_code(server: ServerHere, user: ApiOrganiser, competition: CompetitionName) -> None:
    with writing(server.engine) as session:
        end_code(server.act(session, user), organised(session, user, competition, Right.EDIT))
