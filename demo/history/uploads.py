"""The uploads of the demo's past: accepted and scored as of the moment at which they are told to have come."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial

from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from app.base.config import Settings
from app.base.db import reading, writing
from app.base.storage import storage_of, store_upload
from app.competitions.find import find_phase_task
from app.models import ScoringRun, User
from app.runs.claims import Claim, claim_run
from app.server.prepare import COMPETITION
from app.submissions.accept import Sender, SubmissionForm, accept_submission, find_replay
from demo.history import draw
from demo.history.cast import (
    BLIND,
    DETECTION,
    IDENTIFICATION,
    ONE_SHOT_ALONE,
    OWN,
    SIMILARITY,
    TEAMS,
    HistoryTeam,
)
from demo.history.clock import BLIND_TEST, Event, before
from demo.source import digest
from workers.claimed import worker_name
from workers.score import score_as_of

LIMIT_BYTES = 2**20
#: How much worse a team's first run is than its last, in levels.
CLIMB = 0.22


@dataclass(frozen=True, slots=True)
class Upload:
    """A file to send. content: drawn only when it is needed."""

    team: HistoryTeam
    phase: str
    task: str
    number: int
    filename: str
    content: Callable[[], bytes]

    @property
    def key(self) -> str:
        return f"demo-history-{self.team.username}-{self.phase}-{self.task}-{self.number}"


def uploads(engine: Engine, settings: Settings, start: datetime) -> Iterator[Event]:
    """Every upload of every team, at its moment."""
    for team in (*TEAMS, OWN):
        for upload, days in _of_team(team):
            yield Event(before(start, days), upload.key, partial(_send, engine, settings, upload))


def _of_team(team: HistoryTeam) -> Iterator[tuple[Upload, float]]:
    kinds = {
        DETECTION: ("evaluation", "idiom-detection", ".csv"),
        SIMILARITY: ("evaluation", "idiom-similarity", ".csv"),
        IDENTIFICATION: ("evaluation", "idiom-identification", ".zip"),
        BLIND: ("blind-test", "idiom-identification", ".zip"),
    }
    for letter, (phase, task, suffix) in kinds.items():
        if letter not in team.enters:
            continue
        runs = min(team.runs, 2) if letter == BLIND else team.runs
        since = min(team.since, BLIND_TEST - 1) if letter == BLIND else team.since
        for number in range(runs):
            content = partial(_content, team, letter, number, _level(team, number, runs))
            name = f"{task}-run{number + 1}{suffix}"
            yield Upload(team, phase, task, number, name, content), _days(team, letter, since, number, runs)


def _days(team: HistoryTeam, letter: str, since: float, number: int, runs: int) -> float:
    """How long ago: from the team's first day to some day of the last week, at another minute than other teams."""
    minutes = digest(f"{team.username} {letter} {number}") % 600
    last = 0.2 + min(since / 4, digest(f"last {team.username}") % 60 / 10)
    share = 1 - (number / (runs - 1)) ** 0.9 if runs > 1 else 1.0
    return last + (since - last) * share + minutes / 1440


def _level(team: HistoryTeam, number: int, runs: int) -> float:
    """Mostly upwards; now and then an idea that did not help."""
    share = number / (runs - 1) if runs > 1 else 1.0
    slip = 0.07 if digest(f"slip {team.username} {number}") % 4 == 0 and share < 1 else 0.0
    return max(0.02, team.level - CLIMB * (1 - math.sqrt(share)) - slip)


def _content(team: HistoryTeam, letter: str, number: int, level: float) -> bytes:
    name = team.username
    if letter in (IDENTIFICATION, BLIND):
        return draw.identification(name, number, "blind-test" if letter == BLIND else "evaluation", level)
    first = None if ONE_SHOT_ALONE in team.enters else max(0.0, level - 0.13)
    if letter == DETECTION:
        return draw.detection(name, number, {"zero_shot": first, "one_shot": level})
    return draw.similarity(name, number, {"pre_train": first, "fine_tune": level})


def _send(engine: Engine, settings: Settings, upload: Upload, at: datetime) -> None:
    with reading(engine) as session:
        if find_replay(session, _user(session, upload.team.username), upload.key):
            return
    stored = store_upload([upload.content()], storage_of(settings), LIMIT_BYTES)
    with writing(engine) as session:
        accepted = accept_submission(
            session,
            find_phase_task(session, COMPETITION, upload.phase, upload.task),
            stored,
            Sender(_user(session, upload.team.username), at, upload.key),
            SubmissionForm(filename=upload.filename, card=upload.team.card),
        )
        claim = claimed(session, accepted.run_id, at)
    score(engine, claim, at)


def claimed(session: Session, run_id: int, at: datetime) -> Claim | None:
    """The claim as of a moment, with a lease that holds today; None: a worker was quicker."""
    lease = datetime.now(UTC) - at + timedelta(minutes=5)
    return claim_run(session, run_id, worker=worker_name(), lease_seconds=lease.total_seconds(), now=at)


def score(engine: Engine, claim: Claim | None, at: datetime) -> None:
    """What a worker does with a claim, some seconds later; scoring takes its time then as well."""
    if claim is not None:
        score_as_of(engine, claim, at + timedelta(seconds=2 + digest(str(claim.submission_id)) % 5))


def waiting_runs(session: Session, rescoring_id: int) -> list[int]:
    """The runs of a rescoring set that nobody has begun."""
    mine = ScoringRun.rescoring_id == rescoring_id, ScoringRun.started_at.is_(None)
    return list(session.scalars(select(ScoringRun.id).where(*mine).order_by(ScoringRun.id)))


def _user(session: Session, username: str) -> User:
    return session.scalars(select(User).where(User.username == username)).one()
