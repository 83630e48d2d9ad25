"""Finds the previous and the best run of a team, to compare a run with on a board, without loading all runs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import Select, String, Uuid, and_, bindparam, or_, select
from sqlalchemy.orm import Session

from app.base.db import UtcDateTime
from app.feedback.history import MOST_SHOWN
from app.models import Board, EntryChoice, ScoreRow, ScoringRun, Submission
from app.standings.tries import is_rankable
from evergold.scoring.task import NOT_ENTERED


class RunBefore(NamedTuple):
    """A team's run. value: its ranking score, None if undefined."""

    submission_id: UUID
    run_id: int
    value: float | None


class Beside(NamedTuple):
    """The runs of its team with which a run is compared: the previous one, and the best score of the others."""

    before: RunBefore | None
    best: float | None


def runs_beside(
    session: Session, wanted: Sequence[Submission], board: Board, *, higher_is_better: bool
) -> dict[UUID, Beside]:
    """Return the runs to compare with by submission. wanted: of one team to one task in a phase, all on the board."""
    ordered = sorted(wanted, key=lambda one: (one.submitted_at, one.id.hex))
    oldest, newest = ordered[0], ordered[-1]
    has_track = board.track is not None
    here = {
        "team": oldest.team_id,
        "phase_task": oldest.phase_task_id,
        "metric": board.rank_metric,
        "split": board.rank_split,
        **({"track": board.track} if has_track else {}),
    }
    connection = session.connection()
    best = connection.execute(_best(has_track=has_track, higher_is_better=higher_is_better), here).all()
    earlier = {**here, "at": oldest.submitted_at, "id": oldest.id}
    course = [RunBefore(*row) for row in connection.execute(_before(has_track=has_track), earlier)]
    if len(ordered) > 1:
        span = {**here, "first": oldest.submitted_at, "last": newest.submitted_at}
        known = {one.submission_id for one in course}
        course += [
            RunBefore(*row) for row in connection.execute(_between(has_track=has_track), span) if row[0] not in known
        ]
    before = {one.submission_id: earlier for earlier, one in zip(course, course[1:], strict=False)}
    if len(ordered) == 1 and course:
        before = {oldest.id: course[0]}
    return {
        one.id: Beside(before.get(one.id), next((value for key, value in best if key != one.id), None))
        for one in ordered
    }


def has_choice(session: Session, submission: Submission, board: Board) -> bool:
    """Return True if the team has chosen one of its runs as its entry on a board."""
    place = {"team": submission.team_id, "phase_task": submission.phase_task_id, "board": board.id}
    return session.connection().execute(_CHOICE, place).first() is not None


# Statements are built once: building one takes longer than executing it.

_CHOICE = (
    select(EntryChoice.board_id)
    .join(Submission, Submission.id == EntryChoice.submission_id)
    .where(
        Submission.team_id == bindparam("team"),
        Submission.phase_task_id == bindparam("phase_task"),
        EntryChoice.board_id == bindparam("board"),
    )
    .limit(1)
)


_NEWEST = (
    select(Submission.id)
    .where(Submission.team_id == bindparam("team"), Submission.phase_task_id == bindparam("phase_task"))
    .order_by(Submission.submitted_at.desc())
    .limit(MOST_SHOWN)
    .subquery()
)


def _of_team(*columns: Any, has_track: bool) -> Select[*tuple[Any, ...]]:
    """Return a query for the team's runs on the board."""
    is_ranking = and_(ScoreRow.metric == bindparam("metric"), ScoreRow.split == bindparam("split"))
    query = (
        select(*columns)
        .select_from(Submission)
        .join(ScoringRun, and_(ScoringRun.submission_id == Submission.id, ScoringRun.is_current))
        .join(ScoreRow, and_(ScoreRow.run_id == ScoringRun.id, is_ranking))
        .where(Submission.team_id == bindparam("team"), Submission.phase_task_id == bindparam("phase_task"))
        .where(is_rankable(), or_(ScoreRow.reason.is_(None), ScoreRow.reason != NOT_ENTERED))
    )
    return query.where(Submission.track == bindparam("track", type_=String())) if has_track else query


@cache
def _best(*, has_track: bool, higher_is_better: bool) -> Select[*tuple[Any, ...]]:
    """Return a query for the two best scores of the team's latest submissions; one may belong to the run itself."""
    query = _of_team(Submission.id, ScoreRow.value, has_track=has_track).where(ScoreRow.value.is_not(None))
    query = query.where(Submission.id.in_(select(_NEWEST.c.id)))
    return query.order_by(ScoreRow.value.desc() if higher_is_better else ScoreRow.value).limit(2)


@cache
def _before(*, has_track: bool) -> Select[*tuple[Any, ...]]:
    at, this = bindparam("at", type_=UtcDateTime()), bindparam("id", type_=Uuid())
    is_earlier = or_(Submission.submitted_at < at, Submission.id < this)
    query = _of_team(Submission.id, ScoringRun.id, ScoreRow.value, has_track=has_track)
    query = query.where(Submission.submitted_at <= at, is_earlier)
    return query.order_by(Submission.submitted_at.desc(), Submission.id.desc()).limit(1)


@cache
def _between(*, has_track: bool) -> Select[*tuple[Any, ...]]:
    first, last = bindparam("first", type_=UtcDateTime()), bindparam("last", type_=UtcDateTime())
    query = _of_team(Submission.id, ScoringRun.id, ScoreRow.value, has_track=has_track)
    query = query.where(Submission.submitted_at >= first, Submission.submitted_at <= last)
    return query.order_by(Submission.submitted_at, Submission.id)
