"""The upload form: the file format, remaining quota and time; and the upload itself."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from fastapi import Depends, Query, Request, Response
from fastapi.responses import RedirectResponse
from sqlalchemy.orm import Session

from app.base import links
from app.base.db import reading
from app.base.errors import EvergoldError, Forbidden, NotFound, StorageAway, StorageDamaged
from app.base.storage import local_file, storage_of
from app.cards.form import CardForm, card_of
from app.cards.kept import card_of_submission, form_of
from app.cards.systems import NAME_CHARACTERS, NAME_FIELD, card_of_system, systems_of_team
from app.competitions.allowances import closes_at
from app.competitions.find import find_competition, find_phase_task
from app.competitions.late_entries import late_entries
from app.competitions.limits import Quota, declared_limits, is_open_for, phase_state, quota
from app.competitions.tracks import tracks_of
from app.feedback.history import MOST_SHOWN
from app.feedback.standings import standings_of_all
from app.models import Halt, PhaseTask, PublicFile, Submission, System, User
from app.submissions.accept import DESCRIPTION_CHARACTERS, METHOD_CHARACTERS
from app.submissions.downloads import FileAccess, file_access, file_viewer
from app.teams.find import find_team
from app.teams.registration import RegistrationNeeded, Standing, standing
from app.web.html.guards import SentUpload, UploadHere, form_again, upload_guard
from app.web.html.rendering import render
from app.web.html.workspace import Place, workspace_of
from app.web.http import csrf
from app.web.http.context import Server, ServerHere
from app.web.http.identity import VisitorHere
from app.web.http.routers import page_router
from app.web.http.viewer import Viewer
from app.web.submissions.card_pages import fields_of
from app.web.submissions.effect import effect_words, latest_run, phase_options, scored_runs, task_options
from app.web.submissions.receiving import AGAIN, UPLOAD_FIELDS, Target, receive_submission
from app.web.submissions.validation_receiving import receive_validation
from evergold.scoring.tasks import TASKS

router = page_router()

SUBMIT = "/competitions/{competition}/phases/{phase}/tasks/{task}/submit"
FormKey = Annotated[str, Query(max_length=100)]
#: Forms send their own key, so that a double click or a reload submits once.
KEY_START = "form-"
#: Previews of text downloads show the file format in the form.
PREVIEWED = (".csv", ".tsv", ".json", ".jsonl", ".txt", ".cupt")
PREVIEW_BYTES, PREVIEW_LINES = 2_000, 5


@dataclass(frozen=True, slots=True)
class Preview:
    """The first lines of a download. is_input: it is the input of predictions."""

    file: PublicFile
    lines: list[str]
    is_input: bool


@dataclass(frozen=True, slots=True)
class Form:
    """The values of the form and their error; is_prefilled: values of the latest card, not the user's."""

    fields: Mapping[str, str]
    error: EvergoldError | None = None
    is_prefilled: bool = False


@router.get(SUBMIT)
def read_form(
    request: Request,
    server: ServerHere,
    visitor: VisitorHere,
    competition: str,
    phase: str,
    task: str,
    system: Annotated[str, Query(max_length=200)] = "",
) -> Response:
    """system: whose card fills in the form; default: the one that the team used last."""
    return _page(request, server, visitor.user, Target(competition, phase, task), Form({}), system)


def _send_again(
    request: Request,
    server: Server,
    upload: SentUpload,
    competition: str,
    phase: str,
    task: str,
    error: EvergoldError,
) -> Response:
    """Return the form with the submitted values and the error; includes the registration link if that is missing."""
    if isinstance(error, NotFound | Forbidden) and not isinstance(error, RegistrationNeeded):
        raise error
    return _page(request, server, upload.user, Target(competition, phase, task), Form(upload.fields, error))


@router.post(SUBMIT)
@form_again(_send_again, EvergoldError)
async def send_form(
    request: Request,
    server: ServerHere,
    upload: UploadHere,
    competition: str,
    phase: str,
    task: str,
    key: FormKey = "",
) -> Response:
    place = await receive_submission(
        request,
        server,
        lambda: upload.user,
        Target(competition, phase, task),
        lambda received: links.submission(received.submission_id),
        idempotency_key=_own_key(key),
        extra_fields=frozenset({csrf.FORM_FIELD, AGAIN}),
        on_fields=upload.check,
        refuse_duplicate=True,
    )
    return RedirectResponse(place, 303)


@router.post("/competitions/{competition}/phases/{phase}/tasks/{task}/validate")
@form_again(_send_again, EvergoldError)
async def send_to_check(
    request: Request,
    server: ServerHere,
    upload: Annotated[SentUpload, Depends(upload_guard(SUBMIT))],
    competition: str,
    phase: str,
    task: str,
    key: FormKey = "",
) -> Response:
    """Validate the file only (the form's other button); the other fields are not stored."""
    received = await receive_validation(
        request,
        server,
        upload.user,
        Target(competition, phase, task),
        idempotency_key=_own_key(key),
        extra_fields=UPLOAD_FIELDS | {csrf.FORM_FIELD, AGAIN},
        on_fields=upload.check,
    )
    return RedirectResponse(links.validation(received.validation_id), 303)


def _own_key(key: str) -> str | None:
    return KEY_START + key if key else None


def _page(
    request: Request, server: Server, user: User | None, target: Target, form: Form, system: str = ""
) -> Response:
    now = server.clock()
    with reading(server.engine) as session:
        phase_task = find_phase_task(session, target.competition, target.phase, target.task)
        team = find_team(session, user, phase_task.phase.competition_id) if user else None
        used = quota(session, team, phase_task, now, user=user)
        mine = standing(session, phase_task.phase.competition, user) if user else None
        competition = phase_task.phase.competition
        files = file_access(competition, phase_task.phase, phase_task, file_viewer(session, competition, user), now)
        found = find_competition(session, competition.name)
        here = Place(phase_task.phase, phase_task.task)
        workspace = workspace_of(session, found, Viewer(user, None), now, "submit", here)
        systems = systems_of_team(session, team.id, phase_task.task_id) if team else []
        latest = latest_run(session, user, phase_task) if user and not systems else None
        form = _prefilled(session, form, _chosen(systems, system), latest, form_of(phase_task))
        scored = scored_runs(session, user, phase_task, MOST_SHOWN) if user else []
        standings = [one for some in standings_of_all(session, scored, user, now).values() for one in some]
        late = late_entries(session, used.allowance, phase_task.phase) if used.allowance else None
    phase = phase_task.phase
    response = render(
        request,
        "submissions/submit.html",
        phase_task=phase_task,
        competition=competition,
        workspace=workspace,
        phase_options=phase_options(found, phase_task, now),
        task_options=task_options(found, phase_task),
        effect=effect_words(phase_task, [one for one in standings if one.counts], is_first=not scored),
        systems=systems,
        card_form=form_of(phase_task),
        phase=phase,
        task=phase_task.task,
        task_type=TASKS[phase_task.task.task_type],
        state="open" if is_open_for(phase, used, now) else phase_state(phase, now),
        closes=closes_at(phase, used.allowance),
        allowance=used.allowance,
        late=late,
        limit_bytes=min(declared_limits(phase, phase_task).upload_bytes, server.settings.upload_limit_bytes),
        used=used,
        obstacle=_obstacle(user, mine, used, phase_task),
        missing=mine.missing if mine else None,
        files=files,
        previews=_previews(server, files, phase_task.items_sha256),
        tracks=tracks_of(phase.competition),
        form=form,
        form_key=secrets.token_urlsafe(18),
        method_characters=METHOD_CHARACTERS,
        system_characters=NAME_CHARACTERS,
        description_characters=DESCRIPTION_CHARACTERS,
        now=now,
    )
    response.headers["Cache-Control"] = "no-store"  # the form's key is for one file: going back loads a new form
    return response


def _chosen(systems: Sequence[System], name: str) -> System | None:
    """Return the system of this name; without a name, the one used last."""
    return next((one for one in systems if name in ("", one.name)), None)


def _prefilled(
    session: Session, form: Form, system: System | None, latest: Submission | None, card_form: CardForm
) -> Form:
    """Return an empty form filled with the system's card, or, for a team without one, with its latest submission's."""
    if form.fields or form.error or (system is None and latest is None):
        return form
    if system is not None:
        fields = fields_of(card_of(card_of_system(session, system).document, card_form), card_form)
        return replace(form, fields={**fields, NAME_FIELD: system.name}, is_prefilled=True)
    fields = fields_of(card_of_submission(session, latest), card_form) if latest else {}
    return replace(form, fields=fields, is_prefilled=any(fields.values()))


def _obstacle(user: User | None, mine: Standing | None, used: Quota, phase_task: PhaseTask) -> str:
    """Return what, besides the dates, prevents an upload, as a word for the template; "" if nothing."""
    if phase_task.phase.competition.halt != Halt.NONE:
        return "halt"  # every page of the competition shows it
    if phase_task.gold is None:
        return "gold"
    if user is None:
        return "login"
    if mine is not None and mine.missing:
        return "registration"
    if used.remaining == 0:
        return "limit"
    return "pause" if used.rejected_last_hour >= used.rejected_per_hour else ""


def _previews(server: Server, files: Sequence[FileAccess], items_sha256: str | None) -> list[Preview]:
    """Return previews of the text files that this user may download, templates first."""
    texts = [access.file for access in files if access.is_open and access.file.name.lower().endswith(PREVIEWED)]
    texts.sort(key=lambda file: "template" not in file.name.lower())
    return [preview for file in texts if (preview := _preview(server, file, items_sha256))]


def _preview(server: Server, file: PublicFile, items_sha256: str | None) -> Preview | None:
    try:
        with local_file(storage_of(server.settings), file.sha256).open("rb") as stored:
            start = stored.read(PREVIEW_BYTES).decode("utf-8-sig", errors="replace")
    except (OSError, StorageAway, StorageDamaged):
        return None
    return Preview(file, start.splitlines()[:PREVIEW_LINES], is_input=file.sha256 == items_sha256)
