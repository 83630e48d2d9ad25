"""The progress of a submission: received, queued (with its position, or waiting for a worker), checked, scored.

Used by the API, pages and the command line for submissions that are not final; these describe results themselves.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, cast

from sqlalchemy.orm import Session

from app.models import RunStatus, ScoringRun
from app.runs.workers import Waiting, queue_position, waiting_for_worker
from evergold.scoring.errors import Problem

StageName = Literal["queued", "waiting", "checking", "scoring", "scored", "rejected", "failed"]

#: The meaning of each state, for the team. `failed` gives no reason, which is for organisers only.
STATUS_WORDS = {
    RunStatus.QUEUED: "Your file has arrived and waits to be scored.",
    RunStatus.RUNNING: "Your file is being checked and scored.",
    RunStatus.SCORED: "Your file was scored.",
    RunStatus.REJECTED: "Your file has errors and was not scored. It uses none of your quota.",
    RunStatus.FAILED: "Scoring failed. This was not your fault and used none of your quota; "
    "the organisers can see the failure.",
}
#: The only problem shown to a team if the organisers' own program failed.
PROGRAM_FAILED = Problem(
    "program-failed",
    "the organisers' own program could not score this file; the organisers can read its log",
)
#: The text instead, if the program could not score the file: the file need not be wrong.
PROGRAM_FAILED_WORDS = (
    "The organisers' own program could not score your file. This used none of your quota. "
    "The organisers can read the program's log; if your file is correct, ask them."
)
_MINUTE = 60


def status_words(run: ScoringRun) -> str:
    """Return a sentence on the status of a run, for the team."""
    if run.status == RunStatus.REJECTED and any(one.get("code") == PROGRAM_FAILED.code for one in run.problems[:1]):
        return PROGRAM_FAILED_WORDS
    return STATUS_WORDS[RunStatus(run.status)]


@dataclass(frozen=True, slots=True)
class Stage:
    """The progress of a run.

    stamp: changes with everything here that a worker reports.
    position: in the queue; 1 is next.
    items_done, items_total, seconds_left: the progress, and an estimate at the current speed; None if unknown.
    """

    name: StageName
    message: str
    stamp: str
    position: int | None = None
    waiting: Waiting | None = None
    items_done: int | None = None
    items_total: int | None = None
    seconds_left: int | None = None

    @property
    def percent(self) -> int | None:
        """The percentage of items done, rounded down, so that 100 means all."""
        return 100 * (self.items_done or 0) // self.items_total if self.items_total else None


def stage_of(session: Session, run: ScoringRun, task_type: str, now: datetime, *, with_position: bool = True) -> Stage:
    """Return the stage of a run; for a final run its result.

    with_position: also determine its position, which reads the whole queue.
    """
    status = RunStatus(run.status)
    message, stamp = status_words(run), stamp_of(status, run.checked_at, run.items_done)
    if status == RunStatus.QUEUED:
        position = queue_position(session, run, task_type) if with_position else None
        waiting = waiting_for_worker(session, run, task_type, now)
        if waiting:
            return Stage("waiting", waiting.words, stamp, position, waiting)
        return Stage("queued", message, stamp, position)
    if status != RunStatus.RUNNING:
        return Stage(cast(StageName, status.value), message, stamp)
    if run.checked_at is None:
        return Stage("checking", message, stamp)
    return Stage(
        "scoring",
        _scoring_words(run),
        stamp,
        items_done=run.items_done,
        items_total=run.items_total,
        seconds_left=run.seconds_left,
    )


def stamp_of(status: str | None, checked_at: datetime | None, items_done: int | None) -> str:
    """Return a stamp that changes with all progress, such as `queued`, `running`, `running.checked`, `running.120`."""
    if status != RunStatus.RUNNING or (checked_at is None and items_done is None):
        return str(status)
    return f"{status}.{'checked' if items_done is None else items_done}"


def time_left(seconds: int) -> str:
    """Return an estimate as `a few seconds`, `40 s`, `3 min`, `1 h 5 min`, without false precision."""
    if seconds < 10:
        return "a few seconds"
    if seconds < _MINUTE:
        return f"{10 * math.ceil(seconds / 10)} s"
    minutes = math.ceil(seconds / _MINUTE)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def _scoring_words(run: ScoringRun) -> str:
    if run.items_total is None:
        return "Your file is valid and is being scored."
    left = f", about {time_left(run.seconds_left)} left" if run.seconds_left else ""
    return f"Your file is valid and is being scored: {run.items_done:,} of {run.items_total:,} items{left}."
