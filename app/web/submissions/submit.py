"""The upload form, and the effect that an upload has on the entry."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Annotated

from fastapi import Depends, Query, Response
from fastapi.responses import RedirectResponse
from sqlalchemy.orm import Session

from app.base import links
from app.base.config import Settings
from app.base.errors import EvergoldError, Forbidden, NotFound, StorageAway, StorageDamaged
from app.base.storage import local_file, storage_of
from app.cards.edits import card_of_submission, fields_of, form_of
from app.cards.form import CardForm, card_of
from app.cards.systems import NAME_CHARACTERS, NAME_FIELD, card_of_system, systems_of_team
from app.competitions.allowances import closes_at, late_entries
from app.competitions.entry_rules import entry_settings
from app.competitions.find import find_competition, find_phase_task
from app.competitions.limits import Quota, declared_limits, is_open_for, phase_state, quota
from app.competitions.tracks import tracks_of
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
from app.submissions.accept import DESCRIPTION_CHARACTERS, METHOD_CHARACTERS
from app.submissions.downloads import FileAccess, file_access, file_viewer
from app.submissions.find import OwnFilter, list_submissions
from app.teams.find import find_team
from app.teams.registration import RegistrationNeeded, Standing, standing
from app.web.html.guards import SentUpload, UploadHere, form_again, upload_guard
from app.web.html.rendering import render_page
from app.web.html.words import format_score
from app.web.html.workspace import Place, workspace_of
from app.web.http import csrf
from app.web.http.paths import TaskNames, TaskNamesHere
from app.web.http.routers import page_router
from app.web.http.visit import PlainPageVisit, UserVisit, Visit
from app.web.submissions.receiving import AGAIN, UPLOAD_FIELDS, UploadRequest, receive_submission
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
    """The first lines of a download. is_input: the file has the items to predict."""

    file: PublicFile
    lines: list[str]
    is_input: bool


@dataclass(frozen=True, slots=True)
class Form:
    """The values of the form and their error. is_prefilled: the values come from the latest card."""

    fields: Mapping[str, str]
    error: EvergoldError | None = None
    is_prefilled: bool = False


@router.get(SUBMIT)
def read_form(
    visit: PlainPageVisit, names: TaskNamesHere, system: Annotated[str, Query(max_length=200)] = ""
) -> Response:
    """Show the upload form. system: whose card fills in the form; default: the system that the team used last."""
    return _page(visit, names, Form({}), system)


def _send_again(visit: UserVisit, names: TaskNames, upload: SentUpload, error: EvergoldError) -> Response:
    """Return the form with the submitted values and the error; the error has a registration link if registration is
    missing.
    """
    if isinstance(error, NotFound | Forbidden) and not isinstance(error, RegistrationNeeded):
        raise error
    return _page(visit, names, Form(upload.fields, error))


@router.post(SUBMIT)
@form_again(_send_again, EvergoldError)
async def send_form(upload: UploadHere, names: TaskNamesHere, key: FormKey = "") -> Response:
    sent = UploadRequest(
        upload.request,
        names,
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
    upload: Annotated[SentUpload, Depends(upload_guard(SUBMIT))], names: TaskNamesHere, key: FormKey = ""
) -> Response:
    """Validate the file only (the form's other button); the other fields are not stored."""
    sent = UploadRequest(
        upload.request,
        names,
        authenticate=lambda: upload.user,
        idempotency_key=_own_key(key),
        extra_fields=UPLOAD_FIELDS | {csrf.FORM_FIELD, AGAIN},
        on_fields=upload.check,
    )
    accepted = await receive_validation(sent)
    return RedirectResponse(links.validation(accepted.validation.id), 303)


def _own_key(key: str) -> str | None:
    return KEY_START + key if key else None


def _page(visit: Visit, names: TaskNames, form: Form, system: str = "") -> Response:
    session, viewer, now = visit.session, visit.viewer, visit.now
    user, settings = viewer.user, visit.server.settings
    phase_task = find_phase_task(session, *names)
    phase, task = phase_task.phase, phase_task.task
    competition = phase.competition
    team = find_team(session, user, competition.id) if user else None
    used = quota(session, team, phase_task, now, user=user)
    mine = standing(session, competition, user) if user else None
    block = session.get(CompetitionBlock, (competition.id, user.id)) if user else None
    files = file_access(competition, phase, phase_task, file_viewer(session, competition, user), now)
    found = find_competition(session, competition.name)
    systems = systems_of_team(session, team.id, phase_task.task_id) if team else []
    latest = latest_run(session, user, phase_task) if user else None
    form = _prefilled(session, form, _chosen(systems, system, latest), latest, form_of(phase_task))
    scored = scored_runs(session, user, phase_task, MOST_SHOWN) if user else []
    own = own_scores_of_all(session, scored, viewer)
    standings = [one for some in standings_of_all(session, scored, own, viewer).values() for one in some]
    workspace = workspace_of(session, found, viewer, "submit", Place(phase, task))
    late = late_entries(session, used.allowance, phase) if used.allowance else None
    session.close()  # previews may come from far away, and need no connection
    return render_page(
        visit,
        "submissions/submit.html",
        may_store=False,  # the form's key is for one file: going back loads a new form
        phase_task=phase_task,
        competition=competition,
        workspace=workspace,
        phase_options=phase_options(found, phase_task, now),
        task_options=task_options(found, phase_task),
        effect=effect_words(phase_task, [one for one in standings if one.counts], is_first=not scored),
        systems=systems,
        card_form=form_of(phase_task),
        phase=phase,
        task=task,
        task_type=TASKS[task.task_type],
        state="open" if is_open_for(phase, used, now) else phase_state(phase, now),
        closes=closes_at(phase, used.allowance),
        allowance=used.allowance,
        late=late,
        limit_bytes=min(declared_limits(phase, phase_task).upload_bytes, settings.upload_limit_bytes),
        used=used,
        obstacle="blocked" if block else _obstacle(user, mine, used, phase_task),
        block=block,
        missing=mine.missing if mine else None,
        files=files,
        previews=_previews(settings, files, phase_task.items_sha256),
        tracks=tracks_of(competition),
        form=form,
        form_key=secrets.token_urlsafe(18),
        method_characters=METHOD_CHARACTERS,
        system_characters=NAME_CHARACTERS,
        description_characters=DESCRIPTION_CHARACTERS,
        now=now,
    )


def _chosen(systems: Sequence[System], name: str, latest: Submission | None) -> System | None:
    """Return the system with this name; without a name, that of the latest submission to this phase."""
    if not name:
        return latest.system if latest else None
    return next((one for one in systems if one.name == name), None)


def _prefilled(
    session: Session, form: Form, system: System | None, latest: Submission | None, card_form: CardForm
) -> Form:
    """Return an empty form, filled in with the system's card or, without a system, with the latest submission's."""
    if form.fields or form.error or (system is None and latest is None):
        return form
    if system is not None:
        fields = fields_of(card_of(card_of_system(session, system).document, card_form), card_form)
        return replace(form, fields={**fields, NAME_FIELD: system.name}, is_prefilled=True)
    fields = fields_of(card_of_submission(session, latest), card_form) if latest else {}
    return replace(form, fields=fields, is_prefilled=any(fields.values()))


def _obstacle(user: User | None, mine: Standing | None, used: Quota, phase_task: PhaseTask) -> str:
    """Return what prevents an upload, apart from the dates, as a word for the template; "" if nothing does."""
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


def _previews(settings: Settings, files: Sequence[FileAccess], items_sha256: str | None) -> list[Preview]:
    """Return previews of the text files that this user may download, templates first."""
    texts = [access.file for access in files if access.is_open and access.file.name.lower().endswith(PREVIEWED)]
    texts.sort(key=lambda file: "template" not in file.name.lower())
    return [preview for file in texts if (preview := _preview(settings, file, items_sha256))]


def _preview(settings: Settings, file: PublicFile, items_sha256: str | None) -> Preview | None:
    try:
        with local_file(storage_of(settings), file.sha256).open("rb") as stored:
            start = stored.read(PREVIEW_BYTES).decode("utf-8-sig", errors="replace")
    except (OSError, StorageAway, StorageDamaged):
        return None
    return Preview(file, start.splitlines()[:PREVIEW_LINES], is_input=file.sha256 == items_sha256)


#: Sentences by entry rule: for a first submission, for one that may replace a visible score, and without a visible
#: score.
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
    EntryRule.LADDER: ("Your record counts: it changes only if a submission is a clear improvement.",) * 3,
}


def effect_words(phase_task: PhaseTask, standings: Sequence[RunStanding], *, is_first: bool) -> str:
    """Return the effect of the upload as a sentence. standings: of the current entry by board, empty if scores are
    hidden.
    """
    settings = entry_settings(phase_task.phase, phase_task)
    rule = settings.without_choice if settings.rule is EntryRule.CHOSEN else settings.rule
    first, replacing, untold = EFFECTS[rule]
    counting = next((one for one in standings if one.counts and one.score.value is not None), None)
    if is_first:
        words = first
    elif counting is not None and counting.score.value is not None:
        words = replacing.format(format_score(counting.score.value, counting.column))
    else:
        words = untold
    if settings.rule is not EntryRule.CHOSEN:
        return words
    if any(one.is_chosen for one in standings):
        return "Your choice counts: this submission counts only if you choose it."
    return f"{words} You can choose another one afterwards."


def latest_run(session: Session, user: User, phase_task: PhaseTask) -> Submission | None:
    """Return the latest scored submission of the user's team to this task in this phase, or else its latest."""
    found, _ = _runs(session, user, phase_task, RunStatus.SCORED)
    if not found:
        found, _ = _runs(session, user, phase_task, None)
    return found[0] if found else None


def scored_runs(session: Session, user: User, phase_task: PhaseTask, limit: int) -> list[Submission]:
    """Return the scored submissions of the user's team to this task in this phase, latest first."""
    found, _ = _runs(session, user, phase_task, RunStatus.SCORED, limit)
    return found


def _runs(
    session: Session, user: User, phase_task: PhaseTask, status: RunStatus | None, limit: int = 1
) -> tuple[list[Submission], object]:
    phase = phase_task.phase
    wanted = OwnFilter(competition=phase.competition.name, phase=phase.name, task=phase_task.task.name, status=status)
    return list_submissions(session, user, wanted, with_withdrawn=status is None, limit=limit)


def phase_options(competition: Competition, here: PhaseTask, now: datetime) -> list[tuple[str, str, bool]]:
    """Return the open phases with the same task, and this phase."""
    return [
        (phase.title, links.submit(competition.name, phase.name, here.task.name), phase.id == here.phase_id)
        for phase in competition.phases
        if (phase_state(phase, now) == "open" or phase.id == here.phase_id)
        and any(phase_task.task_id == here.task_id for phase_task in phase.phase_tasks)
    ]


def task_options(competition: Competition, here: PhaseTask) -> list[tuple[str, str, bool]]:
    phase = next(phase for phase in competition.phases if phase.id == here.phase_id)
    return [
        (
            phase_task.task.title,
            links.submit(competition.name, phase.name, phase_task.task.name),
            phase_task.id == here.id,
        )
        for phase_task in phase.phase_tasks
    ]
