"""The organisers' pages of human judgement: rounds, the forms that start and import them, and what a round comes to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any
from uuid import UUID

from anyio.to_thread import run_sync
from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import RedirectResponse
from sqlalchemy.orm import Session

from app.api import links
from app.db import reading
from app.errors import EvergoldError, Forbidden, InvalidForm, NotFound
from app.judging.annotators import appoint, dismiss, list_assignments
from app.judging.choosing import scored_submissions
from app.judging.imports import IMPORT_LIMIT_BYTES
from app.judging.material import AUTOMATIC_METRICS, check_judgeable
from app.judging.results import open_texts, progress_of
from app.judging.rounds import (
    DEFAULT_NAME,
    GUIDELINES_CHARACTERS,
    RoundForm,
    discard_round,
    find_round,
    list_rounds,
    publish_round,
    withdraw_round,
)
from app.judging.summary import summary_of
from app.models import Competition, JudgingRound, PhaseTask, User
from app.queries import find_competition, find_phase_task
from app.roles import check_may_organise, may_organise
from app.routes import csrf, judging_work
from app.routes.identity import Visitor, VisitorHere
from app.routes.pages.drawings import drawings_of, svg_response
from app.routes.pages.judging_figures import figures_of
from app.routes.pages.login import to_login
from app.routes.pages.rendering import check_form, render
from app.routes.receiving import Target, incoming_of
from app.routes.serving import Serving, ServingHere
from app.uploads import receive_upload

router = APIRouter()

FormText = Annotated[str, Form()]
PLACE = "/competitions/{competition}/phases/{phase}/tasks/{task}/judging"
ROUNDS = "/competitions/{competition}/judging"
#: Fields of the form that starts a round.
TYPED = ("name", "items", "seed", "guidelines", "submissions", "annotators")


@router.get(ROUNDS)
def read_rounds(request: Request, serving: ServingHere, visitor: VisitorHere, competition: str) -> Response:
    """The rounds of a competition: for organisers all, for annotators what they are asked to judge."""
    if visitor.user is None:
        return to_login(request)
    with reading(serving.engine) as session:
        found = find_competition(session, competition)
        mine = list_assignments(session, visitor.user, found)
        organises = may_organise(session, visitor.user, found)
        if not organises and not mine:
            raise Forbidden("This is for the organisers of the competition, and for those whom they asked to judge.")
        rounds = list_rounds(session, found) if organises else []
    places = [
        (phase, phase_task)
        for phase in found.phases
        for phase_task in phase.phase_tasks
        if organises and phase_task.task.task_type in AUTOMATIC_METRICS
    ]
    return render(
        request, "judging/rounds.html", competition=found, rounds=rounds, places=places, mine=mine, organises=organises
    )


# ------------------------------------------------------------------------------------------------ starting, importing


@router.get(PLACE)
def read_start(
    request: Request, serving: ServingHere, visitor: VisitorHere, competition: str, phase: str, task: str
) -> Response:
    if visitor.user is None:
        return to_login(request)
    return _start_page(request, serving, visitor.user, Target(competition, phase, task), {})


@router.post(PLACE)
def send_start(
    request: Request,
    serving: ServingHere,
    visitor: VisitorHere,
    competition: str,
    phase: str,
    task: str,
    name: FormText = "",
    items: FormText = "",
    seed: FormText = "",
    guidelines: FormText = "",
    submissions: FormText = "",
    annotators: FormText = "",
    csrf_token: FormText = "",
) -> Response:
    if visitor.user is None or visitor.login is None:
        return to_login(request)
    check_form(request, csrf_token)
    target = Target(competition, phase, task)
    typed = dict(zip(TYPED, (name, items, seed, guidelines, submissions, annotators), strict=True))
    try:
        started = judging_work.start(serving, visitor.user, target, _wanted(typed))
    except (NotFound, Forbidden):
        raise
    except EvergoldError as error:
        return _start_page(request, serving, visitor.user, target, typed, error)
    return RedirectResponse(links.judging(competition, started), 303)


@router.post(f"{PLACE}/marks")
async def send_marks(
    request: Request, serving: ServingHere, visitor: VisitorHere, competition: str, phase: str, task: str
) -> Response:
    if visitor.user is None or visitor.login is None:
        return to_login(request)
    user, target, typed = visitor.user, Target(competition, phase, task), {"round": DEFAULT_NAME}

    def before_file(fields: Mapping[str, str]) -> None:
        typed.update({name: fields[name] for name in ("round",) if name in fields})
        check_form(request, fields.get(csrf.FORM_FIELD))

    try:
        await run_sync(judging_work.check_import, serving, user, target)
        upload = await receive_upload(
            incoming_of(request),
            folder=serving.settings.storage_dir,
            limit_bytes=IMPORT_LIMIT_BYTES,
            fields=frozenset({"round", csrf.FORM_FIELD}),
            before_file=before_file,
        )
        await run_sync(judging_work.bring, serving, user, target, typed["round"], upload.file.sha256)
    except (NotFound, Forbidden):
        raise
    except EvergoldError as error:
        return await run_sync(_start_page, request, serving, user, target, typed, error, True)
    return RedirectResponse(links.judging(competition, typed["round"]), 303)


def _start_page(
    request: Request,
    serving: Serving,
    user: User,
    target: Target,
    typed: Mapping[str, str],
    error: EvergoldError | None = None,
    is_import: bool = False,
) -> Response:
    with reading(serving.engine) as session:
        competition = judging_work.organised(session, target.competition, user)
        phase_task = find_phase_task(session, target.competition, target.phase, target.task)
        submissions = scored_submissions(session, phase_task)
    response = render(
        request,
        "judging/start.html",
        error.status if error else 200,
        competition=competition,
        phase_task=phase_task,
        submissions=submissions,
        obstacle=_obstacle(phase_task),
        typed=typed,
        error=error,
        is_import=is_import,
        default_name=DEFAULT_NAME,
        guidelines_characters=GUIDELINES_CHARACTERS,
        limit_bytes=IMPORT_LIMIT_BYTES,
    )
    response.headers["Cache-Control"] = "no-store"
    return response


def _obstacle(phase_task: PhaseTask) -> str:
    try:
        check_judgeable(phase_task)
    except EvergoldError as error:
        return error.message
    return ""


def _wanted(typed: Mapping[str, str]) -> judging_work.Wanted:
    """The form as it was typed; raises InvalidForm for what cannot be read at all."""
    fields: dict[str, str] = {}
    numbers: dict[str, int | None] = {}
    for name in ("items", "seed"):
        text = typed[name].strip()
        if text and not (text.isascii() and text.isdigit() and len(text) <= 12):
            fields[name] = "A whole number, or nothing."
        numbers[name] = int(text) if text and name not in fields else None
    submissions, annotators = [], []
    for word in typed["submissions"].replace(",", " ").split():
        try:
            submissions.append(UUID(word))
        except ValueError:
            fields["submissions"] = f"'{word[:60]}' is no submission's id."
    for line in typed["annotators"].splitlines():
        words = line.replace(",", " ").split()
        if len(words) == 2:
            annotators.append((words[0].lower(), words[1]))
        elif words:
            fields["annotators"] = f"'{line.strip()[:60]}' is not a language and a user name."
    if fields:
        raise InvalidForm("Please correct what is marked.", fields=fields)
    form = RoundForm(typed["name"].strip(), numbers["items"], numbers["seed"], typed["guidelines"])
    return judging_work.Wanted(form, tuple(submissions), tuple(annotators))


# ----------------------------------------------------------------------------------------------------------- one round


@router.get(f"{ROUNDS}/{{round_name}}")
def read_round(
    request: Request, serving: ServingHere, visitor: VisitorHere, competition: str, round_name: str
) -> Response:
    return _round_page(request, serving, visitor.user, competition, round_name)


@router.get(f"{ROUNDS}/{{round_name}}/figures/{{name}}.svg")
def read_figure(serving: ServingHere, visitor: VisitorHere, competition: str, round_name: str, name: str) -> Response:
    """The scatter of one language, or of their mean, as a file."""
    with reading(serving.engine) as session:
        found = find_competition(session, competition)
        judging = find_round(session, found, round_name)
        summary = summary_of(session, found, judging, visitor.user, serving.clock())
    figures = figures_of(found, judging, summary)
    if not figures:
        raise NotFound("There is no such figure here.")
    return svg_response(figures, name, f"{competition}-{round_name}")


@router.post(f"{ROUNDS}/{{round_name}}/publish")
def send_publish(
    request: Request,
    serving: ServingHere,
    visitor: VisitorHere,
    competition: str,
    round_name: str,
    unfinished: FormText = "",
    csrf_token: FormText = "",
) -> Response:
    deed: dict[str, Any] = {"unfinished": bool(unfinished), "now": serving.clock()}
    return _change(request, serving, visitor, competition, round_name, csrf_token, publish_round, deed)


@router.post(f"{ROUNDS}/{{round_name}}/withdraw")
def send_withdraw(
    request: Request,
    serving: ServingHere,
    visitor: VisitorHere,
    competition: str,
    round_name: str,
    csrf_token: FormText = "",
) -> Response:
    return _change(
        request, serving, visitor, competition, round_name, csrf_token, withdraw_round, {"now": serving.clock()}
    )


@router.post(f"{ROUNDS}/{{round_name}}/discard")
def send_discard(
    request: Request,
    serving: ServingHere,
    visitor: VisitorHere,
    competition: str,
    round_name: str,
    csrf_token: FormText = "",
) -> Response:
    return _change(
        request,
        serving,
        visitor,
        competition,
        round_name,
        csrf_token,
        discard_round,
        {"now": serving.clock()},
        links.judging(competition),
    )


@router.post(f"{ROUNDS}/{{round_name}}/annotators")
def send_annotator(
    request: Request,
    serving: ServingHere,
    visitor: VisitorHere,
    competition: str,
    round_name: str,
    language: FormText = "",
    username: FormText = "",
    leave: FormText = "",
    csrf_token: FormText = "",
) -> Response:
    """Appoint somebody, or (with `leave`) let them go."""
    deed: dict[str, Any] = {"language": language, "username": username, "now": serving.clock()}
    change = dismiss if leave else appoint
    return _change(request, serving, visitor, competition, round_name, csrf_token, change, deed)


def _change(
    request: Request,
    serving: Serving,
    visitor: Visitor,
    competition: str,
    round_name: str,
    csrf_token: str,
    deed: Callable[..., object],
    arguments: Mapping[str, Any],
    then: str = "",
) -> Response:
    """Do it and show the round again, or why it was not done."""
    if visitor.user is None or visitor.login is None:
        return to_login(request)
    check_form(request, csrf_token)

    def do(session: Session, found: Competition, judging: JudgingRound) -> None:
        deed(session, found, judging, actor=visitor.user, **arguments)

    try:
        judging_work.change(serving, visitor.user, competition, round_name, do)
    except EvergoldError as error:
        with reading(serving.engine) as session:
            check_may_organise(session, visitor.user, find_competition(session, competition))
        typed = {name: str(value) for name, value in arguments.items() if name in ("language", "username")}
        return _round_page(request, serving, visitor.user, competition, round_name, typed, error)
    return RedirectResponse(then or links.judging(competition, round_name), 303)


def _round_page(
    request: Request,
    serving: Serving,
    user: User | None,
    competition: str,
    round_name: str,
    typed: Mapping[str, str] | None = None,
    error: EvergoldError | None = None,
) -> Response:
    with reading(serving.engine) as session:
        found = find_competition(session, competition)
        judging = find_round(session, found, round_name)
        summary = summary_of(session, found, judging, user, serving.clock())
        organises = may_organise(session, user, found)
        progress = progress_of(session, judging) if organises else []
        left = open_texts(session, judging) if organises else {}
    figures = figures_of(found, judging, summary)
    return render(
        request,
        "judging/round.html",
        error.status if error else 200,
        competition=found,
        judging=judging,
        summary=summary,
        organises=organises,
        progress=progress,
        left=left,
        drawings=drawings_of(figures, f"{links.judging(competition, round_name)}/figures", ""),
        typed=typed or {},
        error=error,
    )
