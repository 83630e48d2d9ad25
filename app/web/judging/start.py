"""The organisers' forms that start a round of human judgement, and that import marks from a file."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import Depends, Form, Request, Response
from fastapi.responses import RedirectResponse

from app.base import links
from app.base.db import reading
from app.base.errors import EvergoldError, InvalidForm
from app.base.storage import storage_of
from app.competitions.find import find_phase_task, organised
from app.judging.imports import IMPORT_LIMIT_BYTES
from app.judging.organising import WantedRound, start_judging
from app.judging.rounds import DEFAULT_NAME, GUIDELINES_CHARACTERS, RoundForm
from app.judging.selection import check_judgeable, newest_scored
from app.models import PhaseTask, Right, User
from app.web.html.forms import PageForm
from app.web.html.guards import PageUser, SentForm, SentUpload, form_again, upload_guard
from app.web.html.rendering import render
from app.web.html.workspace import desk_of
from app.web.http import csrf
from app.web.http.context import Server, ServerHere
from app.web.http.routers import page_router
from app.web.judging.receiving import ROUND_FIELD, receive_marks
from app.web.submissions.receiving import Target

router = page_router()

PLACE = "/competitions/{competition}/phases/{phase}/tasks/{task}/judging"


class StartForm(PageForm):
    """A new round, as typed."""

    name: str = ""
    items: str = ""
    seed: str = ""
    guidelines: str = ""
    submissions: str = ""
    annotators: str = ""

    def wanted(self) -> WantedRound:
        """Return the settings of the round; raise InvalidForm for values that cannot be parsed."""
        fields: dict[str, str] = {}
        items, seed = (_number(name, text, fields) for name, text in (("items", self.items), ("seed", self.seed)))
        submissions = _submissions(self.submissions, fields)
        annotators = _annotators(self.annotators, fields)
        if fields:
            raise InvalidForm("Please correct what is marked.", fields=fields)
        form = RoundForm(self.name.strip(), items, seed, self.guidelines)
        return WantedRound(form, submissions, annotators)


def _number(name: str, text: str, fields: dict[str, str]) -> int | None:
    text = text.strip()
    if text and not (text.isascii() and text.isdigit() and len(text) <= 12):
        fields[name] = "A whole number, or nothing."
        return None
    return int(text) if text else None


def _submissions(text: str, fields: dict[str, str]) -> tuple[UUID, ...]:
    found = []
    for word in text.replace(",", " ").split():
        try:
            found.append(UUID(word))
        except ValueError:
            fields["submissions"] = f"'{word[:60]}' is no submission's id."
    return tuple(found)


def _annotators(text: str, fields: dict[str, str]) -> tuple[tuple[str, str], ...]:
    """Return pairs of a language and a user name, one per line of the text."""
    found = []
    for line in text.splitlines():
        words = line.replace(",", " ").split()
        if len(words) == 2:
            found.append((words[0].lower(), words[1]))
        elif words:
            fields["annotators"] = f"'{line.strip()[:60]}' is not a language and a user name."
    return tuple(found)


@router.get(PLACE)
def read_start(
    request: Request, server: ServerHere, user: PageUser, competition: str, phase: str, task: str
) -> Response:
    return _page(request, server, user, competition, phase, task)


def _page(
    request: Request,
    server: Server,
    user: User,
    competition: str,
    phase: str,
    task: str,
    form: StartForm | None = None,
    round_name: str = DEFAULT_NAME,
    is_import: bool = False,
    error: EvergoldError | None = None,
) -> Response:
    """Return the page; is_import: the error is in the import form."""
    with reading(server.engine) as session:
        found = organised(session, user, competition, Right.SUBMISSIONS)
        phase_task = find_phase_task(session, competition, phase, task)
        submissions = newest_scored(session, phase_task)
        workspace = desk_of(session, found, user, server.clock())
    response = render(
        request,
        "judging/start.html",
        competition=found,
        workspace=workspace,
        phase_task=phase_task,
        submissions=submissions,
        obstacle=_obstacle(phase_task),
        typed=form or StartForm(name=DEFAULT_NAME),
        round_name=round_name,
        error=error,
        is_import=is_import,
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


@router.post(PLACE)
@form_again(_page)
def send_start(
    request: Request,
    server: ServerHere,
    user: SentForm,
    competition: str,
    phase: str,
    task: str,
    form: Annotated[StartForm, Form()],
) -> Response:
    place, storage = (competition, phase, task), storage_of(server.settings)
    started = start_judging(server.engine, storage, place, form.wanted(), user=user, now=server.clock())
    return RedirectResponse(links.judging(competition, started), 303)


def _import_again(
    request: Request,
    server: Server,
    upload: SentUpload,
    competition: str,
    phase: str,
    task: str,
    error: EvergoldError,
) -> Response:
    name = upload.fields.get(ROUND_FIELD, DEFAULT_NAME)
    place = competition, phase, task
    return _page(request, server, upload.user, *place, round_name=name, is_import=True, error=error)


@router.post(f"{PLACE}/marks")
@form_again(_import_again)
async def send_marks(
    request: Request,
    server: ServerHere,
    upload: Annotated[SentUpload, Depends(upload_guard(PLACE))],
    competition: str,
    phase: str,
    task: str,
) -> Response:
    target, fields = Target(competition, phase, task), frozenset({ROUND_FIELD, csrf.FORM_FIELD})
    await receive_marks(request, server, upload.user, target, fields=fields, on_fields=upload.check)
    return RedirectResponse(links.judging(competition, upload.fields.get(ROUND_FIELD, DEFAULT_NAME)), 303)
