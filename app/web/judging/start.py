"""The organisers' forms that start a round of human judgement, and that bring marks in a file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated
from uuid import UUID

from anyio.to_thread import run_sync
from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import RedirectResponse

from app.base import links
from app.base.db import reading
from app.base.errors import EvergoldError, Forbidden, InvalidForm, NotFound
from app.competitions.find import find_phase_task
from app.judging.imports import IMPORT_LIMIT_BYTES
from app.judging.rounds import DEFAULT_NAME, GUIDELINES_CHARACTERS, RoundForm
from app.judging.selection import check_judgeable, scored_submissions
from app.models import PhaseTask, User
from app.web.html.guards import to_login
from app.web.html.rendering import check_form, render
from app.web.http import csrf
from app.web.http.context import Server, ServerHere
from app.web.http.identity import VisitorHere
from app.web.http.multipart import receive_upload
from app.web.judging import use_cases as judging_work
from app.web.submissions.receiving import Target, incoming_of

router = APIRouter()

FormText = Annotated[str, Form()]
PLACE = "/competitions/{competition}/phases/{phase}/tasks/{task}/judging"
#: Fields of the form that starts a round.
TYPED = ("name", "items", "seed", "guidelines", "submissions", "annotators")


@router.get(PLACE)
def read_start(
    request: Request, server: ServerHere, visitor: VisitorHere, competition: str, phase: str, task: str
) -> Response:
    if visitor.user is None:
        return to_login(request)
    return _start_page(request, server, visitor.user, Target(competition, phase, task), {})


@router.post(PLACE)
def send_start(
    request: Request,
    server: ServerHere,
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
        started = judging_work.start(server, visitor.user, target, _wanted(typed))
    except (NotFound, Forbidden):
        raise
    except EvergoldError as error:
        return _start_page(request, server, visitor.user, target, typed, error)
    return RedirectResponse(links.judging(competition, started), 303)


@router.post(f"{PLACE}/marks")
async def send_marks(
    request: Request, server: ServerHere, visitor: VisitorHere, competition: str, phase: str, task: str
) -> Response:
    if visitor.user is None or visitor.login is None:
        return to_login(request)
    user, target, typed = visitor.user, Target(competition, phase, task), {"round": DEFAULT_NAME}

    def before_file(fields: Mapping[str, str]) -> None:
        typed.update({name: fields[name] for name in ("round",) if name in fields})
        check_form(request, fields.get(csrf.FORM_FIELD))

    try:
        await run_sync(judging_work.check_import, server, user, target)
        upload = await receive_upload(
            incoming_of(request),
            folder=server.settings.storage_dir,
            limit_bytes=IMPORT_LIMIT_BYTES,
            fields=frozenset({"round", csrf.FORM_FIELD}),
            before_file=before_file,
        )
        await run_sync(judging_work.bring, server, user, target, typed["round"], upload.file.sha256)
    except (NotFound, Forbidden):
        raise
    except EvergoldError as error:
        return await run_sync(_start_page, request, server, user, target, typed, error, True)
    return RedirectResponse(links.judging(competition, typed["round"]), 303)


def _start_page(
    request: Request,
    server: Server,
    user: User,
    target: Target,
    typed: Mapping[str, str],
    error: EvergoldError | None = None,
    is_import: bool = False,
) -> Response:
    with reading(server.engine) as session:
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
