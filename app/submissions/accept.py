"""Accepting a submission: the phase must be open and the limits not reached, counted under the team's lock, by server
time.

Nothing here reads the uploaded file: a worker checks its format; a malformed file costs no quota.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import and_, bindparam, exists, or_, select
from sqlalchemy.orm import Session, joinedload

from app.base.db import insert_now
from app.base.errors import EvergoldError, IdempotencyConflict
from app.base.storage import StoredFile
from app.base.text import refuse
from app.base.together import has_single_writer
from app.cards.edits import form_of, keep_card, named_system
from app.cards.form import CardPart, read_document
from app.cards.systems import NAME_FIELD, Document, name_fault, required_cards, wanted_name
from app.competitions.access import check_takes_uploads
from app.competitions.allowances import note_late_entry
from app.competitions.limits import (
    COUNTED,
    FREE_OF_CHARGE,
    Counts,
    check_gold_present,
    check_open_for,
    check_submission_limit,
    moments,
)
from app.competitions.tracks import TRACK_FIELD, track_fault
from app.models import (
    CompetitionBlock,
    CompetitionRole,
    FormerMember,
    PhaseTask,
    Registration,
    Right,
    Role,
    RunStatus,
    ScoringRun,
    Submission,
    System,
    Team,
    TeamMember,
    User,
    rights_in,
)
from app.people.account_blocks import refusal_of_account
from app.people.competition_blocks import refusal_in
from app.submissions.find import current_run
from app.teams.find import TEAM_ID_OF, lock_team_of, new_team_for
from app.teams.registration import check_standing, note_taking_part, standing_by
from evergold.moments import moment_words
from evergold.scoring.characters import printable_name


@dataclass(frozen=True, slots=True)
class Sender:
    """The sender of an upload. arrived_at: when its last byte arrived, which counts for deadlines."""

    user: User
    arrived_at: datetime
    idempotency_key: str | None = None


@dataclass(frozen=True, slots=True)
class SubmissionForm:
    """The file name and the fields sent with a file.

    system: its name. card: further fields of the method card, for `app.cards.form.read_document`.
    refuse_duplicate: refuse a file that the team submitted before, until a person confirms.
    submission_id: of the new submission; None: a random one.
    """

    filename: str = ""
    track: str | None = None
    system: str = ""
    method: str = ""
    description: str = ""
    card: Mapping[str, Any] = field(default_factory=dict)
    refuse_duplicate: bool = False
    submission_id: UUID | None = None


EMPTY_FORM = SubmissionForm()


@dataclass(frozen=True, slots=True)
class UploadContext:
    """An upload without its file, and the state that accepting it depends on.

    phase_task: from `find_phase_task`.
    team: of the user; None: there is none yet.
    sees_all: True if the user is an organiser with permission to see submissions.
    replayed: the user's earlier submission with this Idempotency-Key.
    blocked_here: why the organisers blocked the user; None: the user is not blocked.
    counts: the team's usage; None if it also includes former teams of its members.
    """

    phase_task: PhaseTask
    sender: Sender
    team: Team | None
    registration: Registration | None
    sees_all: bool
    replayed: UUID | None
    blocked_here: str | None
    counts: Counts | None

    def check_not_blocked(self) -> None:
        """Raise an error if the organisers blocked the user."""
        if self.blocked_here is not None:
            raise refusal_in(self.phase_task.phase.competition, self.blocked_here)


def look_up(session: Session, phase_task: PhaseTask, sender: Sender) -> UploadContext:
    """Load the current state, which stays valid only under the team's lock. Raises Blocked."""
    parameters = {
        "user": sender.user.id,
        "competition": phase_task.phase.competition_id,
        "phase_task": phase_task.id,
        "key": sender.idempotency_key,
        **moments(sender.arrived_at),
    }
    team, registration, rights, has_past, replayed, reason, blocked_here, *counts = session.execute(
        _FACTS, parameters
    ).one()
    if reason is not None:
        raise refusal_of_account(reason)
    owns = phase_task.phase.competition.owner_id == sender.user.id
    sees_all = owns or Right.SUBMISSIONS in rights_in(rights or "")
    used = None if has_past else Counts(*counts)
    return UploadContext(phase_task, sender, team, registration, sees_all, replayed, blocked_here, used)


def load_context(session: Session, phase_task: PhaseTask, sender: Sender) -> UploadContext:
    """Load the state and lock the team, if there is one, until the transaction ends.

    Retries if the user changed teams while waiting for the lock.
    """
    if has_single_writer(session.get_bind()):  # a single writer: there is no lock to wait for
        return look_up(session, phase_task, sender)
    while True:
        locked_id = lock_team_of(session, sender.user, phase_task.phase.competition_id)
        context = look_up(session, phase_task, sender)
        if locked_id == (context.team.id if context.team is not None else None):
            return context


def ensure_team(session: Session, phase_task: PhaseTask, sender: Sender) -> tuple[Team, UploadContext]:
    """Return the locked team and the state; a new team is invisible to others until the transaction ends."""
    context = load_context(session, phase_task, sender)
    while context.team is None:
        team = new_team_for(session, sender.user, phase_task.phase.competition_id, sender.arrived_at)
        context = replace(context, team=team) if team else load_context(session, phase_task, sender)
    return context.team, context


_USER, _COMPETITION = bindparam("user", type_=User.id.type), bindparam("competition", type_=User.id.type)
_REPLAYED = (
    select(Submission.id)
    .where(Submission.user_id == _USER, Submission.idempotency_key == bindparam("key"))
    .scalar_subquery()
)
_HAS_PAST = exists().where(
    FormerMember.competition_id == _COMPETITION,
    or_(
        FormerMember.user_id == _USER,
        FormerMember.user_id.in_(select(TeamMember.user_id).where(TeamMember.team_id == TEAM_ID_OF)),
    ),
)
#: The reason why the sender was blocked since the upload began; NULL if not blocked.
_BLOCKED = select(User.blocked_reason).where(User.id == _USER, User.blocked_at.is_not(None)).scalar_subquery()
_RIGHTS = (
    select(CompetitionRole.rights)
    .where(
        CompetitionRole.competition_id == _COMPETITION,
        CompetitionRole.user_id == _USER,
        CompetitionRole.role == Role.ORGANISER,
    )
    .scalar_subquery()
)
_BLOCKED_HERE = (
    select(CompetitionBlock.reason)
    .where(CompetitionBlock.competition_id == _COMPETITION, CompetitionBlock.user_id == _USER)
    .scalar_subquery()
)
_USED = COUNTED.where(
    Submission.team_id == TEAM_ID_OF,
    Submission.phase_task_id == bindparam("phase_task"),
    ScoringRun.submission_id == Submission.id,
    ScoringRun.is_current,
).subquery()
_OWN_REGISTRATION = and_(Registration.competition_id == _COMPETITION, Registration.user_id == _USER)
_FACTS = (
    select(Team, Registration, _RIGHTS, _HAS_PAST, _REPLAYED, _BLOCKED, _BLOCKED_HERE, *_USED.c)
    .select_from(_USED)
    .outerjoin(Team, Team.id == TEAM_ID_OF)
    .outerjoin(Registration, _OWN_REGISTRATION)
    .execution_options(populate_existing=True)
)


METHOD_CHARACTERS = 200
DESCRIPTION_CHARACTERS = 5_000
KEY_CHARACTERS = 200
FILENAME_CHARACTERS = 200
KEY_FIELD = "Idempotency-Key"
#: Maximum number of characters of the texts sent with a file.
TEXT_LIMITS = {"method": METHOD_CHARACTERS, "description": DESCRIPTION_CHARACTERS, KEY_FIELD: KEY_CHARACTERS}


@dataclass(frozen=True, slots=True)
class Accepted:
    """The result of accepting a submission.

    sees_all: True if the sender is an organiser with permission to see submissions.
    created: False if an Idempotency-Key returned an earlier submission.
    is_untouched: True if it has not changed since it was accepted.
    """

    submission: Submission
    run: ScoringRun
    team: Team
    system: System | None
    sees_all: bool
    created: bool = True
    is_untouched: bool = True

    @property
    def run_id(self) -> int:
        return self.run.id


def accept_submission(
    session: Session, phase_task: PhaseTask, upload: StoredFile, sender: Sender, form: SubmissionForm = EMPTY_FORM
) -> Accepted:
    """Create the submission and its queued run; the caller commits, then sends the run to the workers.

    phase_task: from `find_phase_task`.
    """
    competition, user, now = phase_task.phase.competition, sender.user, sender.arrived_at
    key = sender.idempotency_key or None  # an empty header is no key
    refuse(text_faults({"method": form.method, "description": form.description, KEY_FIELD: key or ""}))
    check_takes_uploads(competition)
    team, context = ensure_team(session, phase_task, sender)
    if context.replayed is not None and key and (earlier := find_replay(session, user, key)):
        return _replayed(earlier, context, team, upload, form)
    context.check_not_blocked()
    registered = check_standing(competition, standing_by(session, competition, user, context.registration))
    if form.refuse_duplicate:
        check_is_new(session, team, phase_task, upload.sha256)
    kept = required_cards(session, team.id, phase_task.task_id, form_of(phase_task))
    document = check_submission_form(phase_task, form, kept)
    gold = check_gold_present(phase_task)
    late = check_open_for(session, team, phase_task.phase, now)
    check_submission_limit(session, team, phase_task, now, counts=context.counts)
    note_taking_part(session, competition, user, registered, now)
    known = named_system(session, team, phase_task, form.system, document, now)
    submission = Submission(
        id=form.submission_id or uuid4(),
        team_id=team.id,
        user_id=user.id,
        phase_task_id=phase_task.id,
        sha256=upload.sha256,
        size_bytes=upload.size_bytes,
        filename=base_name(form.filename),
        track=form.track or None,
        system_id=known.system.id if known else None,
        method=document.get(CardPart.METHOD, ""),
        description=form.description.strip(),
        idempotency_key=key,
        submitted_at=now,
        is_late=late is not None,
    )
    if not insert_now(session, submission):  # concurrent use of the key in another competition, without a common lock
        earlier = find_replay(session, user, key or "")
        if earlier is None:
            raise RuntimeError("a submission is neither new nor there")
        return _replayed(earlier, context, team, upload, form)
    keep_card(session, submission, known, document, now)
    if late is not None:
        note_late_entry(session, submission, late, now)
    run = add_run(session, submission, gold, now)
    return Accepted(submission, run, team, known.system if known else None, context.sees_all)


def add_run(session: Session, submission: Submission, gold: str, now: datetime) -> ScoringRun:
    """Create the queued current run of a new submission, which is already flushed."""
    run = ScoringRun(submission_id=submission.id, gold=gold, queued_at=now)
    if not insert_now(session, run):
        raise RuntimeError("a new submission has a run already")
    return run


def precheck(session: Session, context: UploadContext) -> None:
    """Raise every error that is certain before the body is read; the decision is made by `accept_submission`."""
    phase_task, user, now = context.phase_task, context.sender.user, context.sender.arrived_at
    competition = phase_task.phase.competition
    check_takes_uploads(competition)
    context.check_not_blocked()
    check_standing(competition, standing_by(session, competition, user, context.registration))
    check_gold_present(phase_task)
    check_open_for(session, context.team, phase_task.phase, now)
    check_submission_limit(session, context.team, phase_task, now, user=user, counts=context.counts)


def check_submission_form(
    phase_task: PhaseTask, form: SubmissionForm, kept: Mapping[str, Document] | None = None
) -> dict[str, Any]:
    """Return the method card to store. Raises InvalidForm with the errors of all fields.

    kept: the result of `required_cards`.
    """
    of_fields = {
        NAME_FIELD: name_fault(form.system),
        TRACK_FIELD: track_fault(phase_task.phase.competition, form.track or None),
        **text_faults({"method": form.method, "description": form.description}),
    }
    card = form.card
    method = form.method.strip()
    of_system = (kept or {}).get(wanted_name(form.system, {CardPart.METHOD: method or card.get(CardPart.METHOD, "")}))
    # The separate field may be any text; only the card's is validated.
    sent = {**card, CardPart.METHOD: card.get(CardPart.METHOD) or None}
    document, faults = read_document(sent, form_of(phase_task), of_system)
    if method and document.get(CardPart.METHOD, method) != method:
        faults[CardPart.METHOD] = "The card and the field give different methods; send only one of them."
    elif method:
        document[CardPart.METHOD] = method
        faults.pop(CardPart.METHOD, None)
    refuse(faults | of_fields)
    return document


def text_faults(texts: Mapping[str, str]) -> dict[str, str]:
    """Return a sentence for each text that exceeds TEXT_LIMITS or cannot be stored."""
    faults = {}
    for name, text in texts.items():
        if "\0" in text:
            faults[name] = "NUL characters are not allowed."
        elif len(text) > TEXT_LIMITS[name]:
            faults[name] = f"At most {TEXT_LIMITS[name]} characters; this has {len(text)}."
    return faults


def check_key(idempotency_key: str | None) -> None:
    """Raise InvalidForm for a key that is too long or cannot be stored."""
    refuse(text_faults({KEY_FIELD: idempotency_key or ""}))


class SameFile(EvergoldError):
    """The team submitted this exact file before; confirming submits it again."""

    status = 409
    code = "same_file"


def check_is_new(session: Session, team: Team, phase_task: PhaseTask, sha256: str) -> None:
    """Raise SameFile if the team already submitted this file here, except if that was withdrawn or cost no quota."""
    earlier = session.scalars(
        select(Submission)
        .join(ScoringRun, and_(ScoringRun.submission_id == Submission.id, ScoringRun.is_current))
        .where(
            Submission.team_id == team.id,
            Submission.phase_task_id == phase_task.id,
            Submission.sha256 == sha256,
            Submission.withdrawn_at.is_(None),
            ScoringRun.status.not_in(FREE_OF_CHARGE),
        )
        .order_by(Submission.submitted_at.desc())
        .limit(1)
    ).first()
    if earlier is not None:
        raise SameFile(
            f"Your team already submitted this exact file on {moment_words(earlier.submitted_at)}. "
            "Submitting it again uses another submission.",
            submission=str(earlier.id),
        )


def find_replay(session: Session, user: User, idempotency_key: str) -> Submission | None:
    """Return the submission that this user made with this key, with its runs and system."""
    found = session.scalars(
        select(Submission)
        .where(Submission.user_id == user.id, Submission.idempotency_key == idempotency_key)
        .options(joinedload(Submission.runs), joinedload(Submission.system))
    )
    return found.unique().one_or_none()


def base_name(filename: str) -> str:
    """Return the last part of a path for display, without unprintable characters."""
    last = filename.replace("\\", "/").rsplit("/", 1)[-1]
    return printable_name(last)[:FILENAME_CHARACTERS]


def _replayed(
    earlier: Submission, context: UploadContext, team: Team, upload: StoredFile, form: SubmissionForm
) -> Accepted:
    sent = (context.phase_task.id, upload.sha256, form.track or None)
    if (earlier.phase_task_id, earlier.sha256, earlier.track) != sent:
        raise IdempotencyConflict(
            "This Idempotency-Key was already used for another upload; use a new key for a new submission.",
            submission=str(earlier.id),
        )
    run = current_run(earlier)
    is_first = run.status == RunStatus.QUEUED and earlier.runs == [run] and earlier.withdrawn_at is None
    is_untouched = is_first and earlier.team_id == team.id
    return Accepted(earlier, run, team, earlier.system, context.sees_all, created=False, is_untouched=is_untouched)
