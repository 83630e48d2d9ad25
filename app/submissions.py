"""Accepting a submission: the phase must be open, the limits not reached; counted under the team's lock, by our clock.

Nothing here reads the uploaded file: whether it is well-formed is the worker's to say, and costs no quota if it is not.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session, selectinload

from app.errors import IdempotencyConflict, InvalidForm
from app.limits import check_gold_present, check_phase_open, check_submission_limit
from app.models import PhaseTask, ScoringRun, Submission, User
from app.queries import current_run
from app.storage import StoredFile
from app.teams import find_team, lock_team, team_for
from app.tracks import check_track

METHOD_CHARACTERS = 200
DESCRIPTION_CHARACTERS = 5_000
KEY_CHARACTERS = 200
FILENAME_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class Accepted:
    """created: False when an Idempotency-Key brought back an earlier submission."""

    submission: Submission
    run_id: int
    created: bool


def accept_submission(
    session: Session,
    *,
    user: User,
    phase_task: PhaseTask,
    upload: StoredFile,
    filename: str = "",
    track: str | None = None,
    method: str = "",
    description: str = "",
    idempotency_key: str | None = None,
    now: datetime,
) -> Accepted:
    """The submission and its queued run; the caller commits, then sends. `phase_task` as `find_phase_task` gives it."""
    check_words(method, description, idempotency_key)
    idempotency_key = idempotency_key or None  # an empty header is no key
    track = track or None
    team = team_for(session, user, phase_task.phase.competition_id, now)
    lock_team(session, team)
    if idempotency_key and (earlier := find_replay(session, user, idempotency_key)):
        return _replayed(earlier, phase_task, upload, track)
    check_track(phase_task.phase.competition, track)
    gold = check_gold_present(phase_task)
    check_phase_open(phase_task.phase, now)
    check_submission_limit(session, team, phase_task, now)
    submission = Submission(
        team_id=team.id,
        user_id=user.id,
        phase_task_id=phase_task.id,
        sha256=upload.sha256,
        size_bytes=upload.size_bytes,
        filename=_base_name(filename),
        track=track,
        method=method.strip(),
        description=description.strip(),
        idempotency_key=idempotency_key,
        submitted_at=now,
    )
    try:
        with session.begin_nested():
            session.add(submission)
    except IntegrityError:  # the same key at the same moment in another competition: no team lock in common
        earlier = find_replay(session, user, idempotency_key or "")
        if earlier is None:
            raise
        return _replayed(earlier, phase_task, upload, track)
    return Accepted(submission, add_run(session, submission, gold, now).id, created=True)


def add_run(session: Session, submission: Submission, gold: str, now: datetime) -> ScoringRun:
    """The queued current run of a new, flushed submission."""
    run = ScoringRun(submission_id=submission.id, gold=gold, queued_at=now)
    session.add(run)
    session.flush()
    return run


def precheck(session: Session, user: User, phase_task: PhaseTask, now: datetime) -> None:
    """Every refusal that is already sure before a byte is read; `accept_submission` has the last word."""
    check_gold_present(phase_task)
    check_phase_open(phase_task.phase, now)
    team = find_team(session, user, phase_task.phase.competition_id)
    if team is not None:
        check_submission_limit(session, team, phase_task, now)


def check_words(method: str, description: str, idempotency_key: str | None) -> None:
    """The texts that come with an upload are of bounded length; raises InvalidForm with a sentence per field."""
    bounds = {
        "method": (method, METHOD_CHARACTERS),
        "description": (description, DESCRIPTION_CHARACTERS),
        "Idempotency-Key": (idempotency_key or "", KEY_CHARACTERS),
    }
    wrong = {
        name: f"At most {limit} characters; this has {len(text)}."
        for name, (text, limit) in bounds.items()
        if len(text) > limit
    }
    wrong |= {name: "NUL characters cannot be kept." for name, (text, _) in bounds.items() if "\0" in text}
    if wrong:
        raise InvalidForm("Please correct what is marked.", fields=wrong)


def find_replay(session: Session, user: User, idempotency_key: str) -> Submission | None:
    """The submission that this user already made with this key."""
    return session.scalar(
        select(Submission)
        .where(Submission.user_id == user.id, Submission.idempotency_key == idempotency_key)
        .options(selectinload(Submission.runs))
    )


def _base_name(filename: str) -> str:
    """The last part of the path that a browser may send, for showing; characters that cannot be shown are dropped."""
    last = filename.replace("\\", "/").rsplit("/", 1)[-1]
    return "".join(c for c in last if c.isprintable())[:FILENAME_CHARACTERS]


def _replayed(earlier: Submission, phase_task: PhaseTask, upload: StoredFile, track: str | None) -> Accepted:
    if (earlier.phase_task_id, earlier.sha256, earlier.track) != (phase_task.id, upload.sha256, track):
        raise IdempotencyConflict(
            "This Idempotency-Key was already used for another upload; use a new key for a new submission.",
            submission=str(earlier.id),
        )
    return Accepted(earlier, current_run(earlier).id, created=False)
