"""The upload form, with the effect of the upload on the entry; the form of the method card."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from fastapi import Depends, Query, Request, Response
from fastapi.responses import RedirectResponse
from sqlalchemy.orm import Session

from app.base import links
from app.base.db import reading, writing
from app.base.errors import EvergoldError, Forbidden, NotFound, StorageAway, StorageDamaged
from app.base.storage import local_file, storage_of
from app.base.text import many_lines
from app.cards.edits import (
    ANSWER_START,
    LANGUAGE_START,
    card_history,
    card_number,
    card_of_submission,
    edit_card,
    form_of,
    frozen_by,
    is_of_team,
    sent_card,
)
from app.cards.form import CardForm, MethodCard, card_of
from app.cards.systems import NAME_CHARACTERS, NAME_FIELD, card_of_system, systems_of_team
from app.competitions.allowances import closes_at, late_entries
from app.competitions.entry_rules import entry_settings
from app.competitions.find import find_competition, find_phase_task
from app.competitions.limits import Quota, declared_limits, is_open_for, phase_state, quota
from app.competitions.tracks import tracks_of
from app.competitions.visibility import Viewer
from app.feedback.history import MOST_SHOWN
from app.feedback.scores import own_scores_of_all
from app.feedback.standings import RunStanding, standings_of_all
from app.models import (
    Competition,
    CompetitionBlock,
    EntryRule,
    Halt,
    PhaseTask,
    PublicFile,
    RunStatus,
    Submission,
    System,
    User,
)
from app.people.blocks import check_not_blocked
from app.submissions.accept import DESCRIPTION_CHARACTERS, METHOD_CHARACTERS, check_text_lengths
from app.submissions.downloads import FileAccess, file_access, file_viewer
from app.submissions.find import get_submission, list_submissions
from app.teams.find import find_team, orcids_of
from app.teams.registration import RegistrationNeeded, Standing, standing
from app.web.html.guards import PageUser, SentFields, SentForm, SentUpload, UploadHere, form_again, upload_guard
from app.web.html.rendering import render
from app.web.html.words import format_score
from app.web.html.workspace import Place, workspace_of, workspace_of_task
from app.web.http import csrf
from app.web.http.context import Server, ServerHere
from app.web.http.identity import ViewerHere, VisitorHere
from app.web.http.paths import TaskNames
from app.web.http.routers import page_router
from app.web.submissions.receiving import AGAIN, UPLOAD_FIELDS, UploadRequest, receive_submission
from app.web.submissions.validation_receiving import receive_validation
from evergold.scoring.tasks import TASKS

router = page_router()

VERSION_FIELD = "version"


@router.get("/submissions/{submission_id}/card")
def read_card(request: Request, server: ServerHere, user: PageUser, _: ViewerHere, submission_id: UUID) -> Response:
    return _card_page(request, server, user, submission_id)


def _card_page(
    request: Request,
    server: Server,
    user: User,
    submission_id: UUID,
    fields: Mapping[str, str] | None = None,
    error: EvergoldError | None = None,
) -> Response:
    """Return the page; fields: the submitted values, None for those of the card."""
    with reading(server.engine) as session:
        submission = get_submission(session, submission_id, user)
        card, form = card_of_submission(session, submission), form_of(submission.phase_task)
        shown: dict[str, Any] = {
            "submission": submission,
            "workspace": workspace_of_task(session, submission.phase_task, Viewer(user, server.clock()), "runs"),
            "task": submission.phase_task.task,
            "phase": submission.phase_task.phase,
            "competition": submission.phase_task.phase.competition,
            "card": card,
            "orcids": orcids_of(session, submission.team.competition_id, submission.team.name),
            "card_form": form,
            "version": card_number(session, submission),
            "frozen": frozen_by(session, submission),
            "is_mine": is_of_team(session, submission, user),
            "changes": card_history(session, submission),
            "system_characters": NAME_CHARACTERS,
            "description_characters": DESCRIPTION_CHARACTERS,
        }
        notes = submission.description
    name = submission.system.name if submission.system else ""
    typed = {**fields_of(card, form), NAME_FIELD: name, "description": notes} if fields is None else fields
    return render(request, "submissions/card.html", **shown, fields=typed, error=error)


@router.post("/submissions/{submission_id}/card")
@form_again(_card_page)
def send_card(
    request: Request, server: ServerHere, user: SentForm, submission_id: UUID, fields: SentFields
) -> Response:
    looked_at = fields.get(VERSION_FIELD, "")
    version = int(looked_at) if looked_at.isascii() and looked_at.isdigit() and len(looked_at) < 10 else None
    with writing(server.engine) as session:
        submission = get_submission(session, submission_id, user)
        sent = {**sent_card(fields, form_of(submission.phase_task)), "method": fields.get("method", "")}
        edit_notes(session, submission, user, fields.get("description", submission.description))
        edit_card(session, submission, user, sent, server.clock(), version=version, name=fields.get(NAME_FIELD))
    return RedirectResponse(links.submission(submission_id), 303)


def edit_notes(session: Session, submission: Submission, user: User, notes: str) -> None:
    """Replace the team's notes on a submission. Raises Forbidden, InvalidForm."""
    if not is_of_team(session, submission, user):
        raise Forbidden("Only its team can change the notes of a submission.")
    check_not_blocked(session, submission.phase_task.phase.competition, user)
    check_text_lengths("", notes, None)
    submission.description = many_lines(notes)


def fields_of(card: MethodCard, form: CardForm) -> dict[str, str]:
    """Return the form fields of a card; `app.cards.edits.sent_card` parses them."""
    answers = {ANSWER_START + one.name: one.text for one in card.answers}
    fields = {
        "method": card.method,
        "summary": card.summary,
        "paper": card.paper,
        "code": card.code,
        "data": card.data,
        **answers,
    }
    if form.languages:
        return fields | {LANGUAGE_START + name: "yes" for name in card.languages}
    return fields | {"languages": " ".join(card.languages)}


#: By entry rule: for a first submission, for one that may replace a visible score, and without a visible score.
EFFECTS = {
    EntryRule.BEST: (
        "The best submission counts, and this is your first.",
        "The best submission counts: this one replaces {} if it is better.",
        "The best submission counts: this one does if it is better.",
    ),
    EntryRule.LAST: (
        "The latest submission counts, and this is your first.",
        "The latest submission counts: this one replaces {}.",
        "The latest submission counts: this one replaces the one before.",
    ),
    EntryRule.ALL: ("Every submission counts, this one too.",) * 3,
    EntryRule.LADDER: ("Your record counts: a submission moves it if it is a real improvement.",) * 3,
}


def effect_words(phase_task: PhaseTask, standings: Sequence[RunStanding], *, is_first: bool) -> str:
    """Return the effect as a sentence; standings: of the current entry by board, empty if scores are hidden."""
    settings = entry_settings(phase_task.phase, phase_task)
    rule = settings.without_choice if settings.rule is EntryRule.CHOSEN else settings.rule
    first, replacing, untold = EFFECTS[rule]
    counting = next((one for one in standings if one.counts and one.score.value is not None), None)
    if is_first:
        told = first
    elif counting is not None and counting.score.value is not None:
        told = replacing.format(format_score(counting.score.value, counting.column))
    else:
        told = untold
    if settings.rule is not EntryRule.CHOSEN:
        return told
    if any(one.is_chosen for one in standings):
        return "Your choice counts: this run changes nothing until you choose it."
    return f"{told} You can choose another afterwards."


def latest_run(session: Session, user: User, phase_task: PhaseTask) -> Submission | None:
    """Return the latest scored submission of the user's team here, or else its latest submission."""
    found, _ = _runs(session, user, phase_task, RunStatus.SCORED)
    if not found:
        found, _ = _runs(session, user, phase_task, None)
    return found[0] if found else None


def scored_runs(session: Session, user: User, phase_task: PhaseTask, limit: int) -> list[Submission]:
    """Return the scored submissions of the user's team here, latest first."""
    found, _ = _runs(session, user, phase_task, RunStatus.SCORED, limit)
    return found


def _runs(
    session: Session, user: User, phase_task: PhaseTask, status: RunStatus | None, limit: int = 1
) -> tuple[list[Submission], object]:
    return list_submissions(
        session,
        user,
        competition=phase_task.phase.competition.name,
        phase=phase_task.phase.name,
        task=phase_task.task.name,
        status=status,
        with_withdrawn=status is None,
        limit=limit,
    )


def phase_options(competition: Competition, here: PhaseTask, now: datetime) -> list[tuple[str, str, bool]]:
    """Return the open phases that have the same task, and this phase."""
    return [
        (phase.title, links.submit(competition.name, phase.name, here.task.name), phase.id == here.phase_id)
        for phase in competition.phases
        if (phase_state(phase, now) == "open" or phase.id == here.phase_id)
        and any(asked.task_id == here.task_id for asked in phase.phase_tasks)
    ]


def task_options(competition: Competition, here: PhaseTask) -> list[tuple[str, str, bool]]:
    phase = next(phase for phase in competition.phases if phase.id == here.phase_id)
    return [
        (asked.task.title, links.submit(competition.name, phase.name, asked.task.name), asked.id == here.id)
        for asked in phase.phase_tasks
    ]


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
    return _page(request, server, visitor.user, TaskNames(competition, phase, task), Form({}), system)


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
    return _page(request, server, upload.user, TaskNames(competition, phase, task), Form(upload.fields, error))


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
    sent = UploadRequest(
        request,
        TaskNames(competition, phase, task),
        authenticate=lambda: upload.user,
        idempotency_key=_own_key(key),
        extra_fields=frozenset({csrf.FORM_FIELD, AGAIN}),
        on_fields=upload.check,
        refuse_duplicate=True,
    )
    place = await receive_submission(sent, lambda received: links.submission(received.submission_id))
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
    sent = UploadRequest(
        request,
        TaskNames(competition, phase, task),
        authenticate=lambda: upload.user,
        idempotency_key=_own_key(key),
        extra_fields=UPLOAD_FIELDS | {csrf.FORM_FIELD, AGAIN},
        on_fields=upload.check,
    )
    accepted = await receive_validation(sent)
    return RedirectResponse(links.validation(accepted.validation.id), 303)


def _own_key(key: str) -> str | None:
    return KEY_START + key if key else None


def _page(
    request: Request, server: Server, user: User | None, target: TaskNames, form: Form, system: str = ""
) -> Response:
    now = server.clock()
    with reading(server.engine) as session:
        phase_task = find_phase_task(session, target.competition, target.phase, target.task)
        team = find_team(session, user, phase_task.phase.competition_id) if user else None
        used = quota(session, team, phase_task, now, user=user)
        mine = standing(session, phase_task.phase.competition, user) if user else None
        block = session.get(CompetitionBlock, (phase_task.phase.competition_id, user.id)) if user else None
        competition = phase_task.phase.competition
        files = file_access(competition, phase_task.phase, phase_task, file_viewer(session, competition, user), now)
        found = find_competition(session, competition.name)
        here = Place(phase_task.phase, phase_task.task)
        workspace = workspace_of(session, found, Viewer(user, now), "submit", here)
        systems = systems_of_team(session, team.id, phase_task.task_id) if team else []
        latest = latest_run(session, user, phase_task) if user else None
        form = _prefilled(session, form, _chosen(systems, system, latest), latest, form_of(phase_task))
        scored = scored_runs(session, user, phase_task, MOST_SHOWN) if user else []
        own = own_scores_of_all(session, scored, Viewer(user, now))
        standings = [one for some in standings_of_all(session, scored, own, Viewer(user, now)).values() for one in some]
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
        obstacle="blocked" if block else _obstacle(user, mine, used, phase_task),
        block=block,
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


def _chosen(systems: Sequence[System], name: str, latest: Submission | None) -> System | None:
    """Return the system of this name; without a name, that of the latest submission here, not of another phase."""
    if not name:
        return latest.system if latest else None
    return next((one for one in systems if one.name == name), None)


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
