"""A team's own submissions to a task over time, if teams may see their scores: the points, and their chart as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

from sqlalchemy import and_, bindparam, select
from sqlalchemy.orm import Session

from app.boards.rows import with_decimals
from app.charts.history import draw_history
from app.charts.picture import AxisOut, PointOut
from app.competitions.columns import BoardColumn, board_columns
from app.competitions.ordering import difference_of, effective_decimals
from app.competitions.visibility import View, Viewer, boards_of_task, rounded, view_of
from app.models import Board, Phase, PhaseTask, RunStatus, ScoreRow, ScoringRun, Submission, User
from app.submissions.find import OwnFilter, newest_own, own_places

#: Number of latest submissions that are shown; teams with more have the board's pictures.
MOST_SHOWN = 200


@dataclass(frozen=True, slots=True)
class SubmittedTask:
    """A task in a phase to which the user submitted, with its names and titles."""

    competition: str
    phase: str
    task: str
    competition_title: str
    phase_title: str
    task_title: str
    phase_task_id: int

    @property
    def filter(self) -> OwnFilter:
        """The filter for the submissions to this task in this phase."""
        return OwnFilter(competition=self.competition, phase=self.phase, task=self.task)


@dataclass(frozen=True, slots=True)
class Attempt:
    """A scored submission. change: since the previous one, None for the first; is_record: better than all before."""

    submission_id: UUID
    submitted_at: datetime
    method: str
    value: float
    change: float | None
    is_record: bool


@dataclass(frozen=True, slots=True)
class History:
    """The attempts of a team at a task in a phase, oldest first, with the score that ranks a board. boards: those that
    can be chosen.
    """

    place: SubmittedTask
    boards: Sequence[Board]
    board: Board
    column: BoardColumn
    attempts: Sequence[Attempt]


def places_of(session: Session, user: User, competition: str | None = None) -> list[SubmittedTask]:
    """List where this user or the user's teams submitted, in the organisers' order. competition: restricts the list."""
    found = own_places(session, user, competition=competition)
    return list(dict.fromkeys(SubmittedTask(*one.names, *one.titles, one.phase_task_id) for one in found))


def history_of(session: Session, user: User, place: SubmittedTask, now: datetime, *, board: str = "") -> History | None:
    """Return the history in this board's ranking column; by default in that of the first board with values.

    None if teams may not see their scores, or nothing was scored.
    """
    with_scores = place.filter.model_copy(update={"status": RunStatus.SCORED})
    scored = newest_own(session, user, with_scores, with_withdrawn=False, limit=MOST_SHOWN)
    if not scored:
        return None
    phase_task = session.get_one(PhaseTask, place.phase_task_id)
    view = view_of(session, phase_task, Viewer(user, now))
    if not view.own_scores:
        return None
    phase = session.get_one(Phase, phase_task.phase_id)
    boards = boards_of_task(session, phase.competition_id, phase_task.task_id)
    wanted = [one for one in boards if one.name == board] or boards
    histories = (History(place, boards, one, *_attempts(session, scored, one, view)) for one in wanted)
    return next((history for history in histories if history.attempts), None)


def _attempts(session: Session, scored: Sequence[UUID], board: Board, view: View) -> tuple[BoardColumn, list[Attempt]]:
    """Return the board's ranking column with the decimals of this view, and the attempts with a value in it."""
    column = next(c for c in board_columns(board) if (c.metric, c.split) == (board.rank_metric, board.rank_split))
    decimals, best = effective_decimals(column, view.precision), None
    attempts: list[Attempt] = []
    ranking = {"metric": column.metric, "split": column.split, "ids": scored}
    found = session.execute(_VALUES, ranking) if view.shows(column.metric, column.split) else ()
    for submission_id, submitted_at, method, track, score in found:
        value = rounded(rounded(score, view.precision), decimals)
        if value is None or board.track not in (None, track):
            continue
        change = difference_of(value, attempts[-1].value, decimals) if attempts else None
        is_record = best is None or (value > best if column.higher_is_better else value < best)
        best = value if is_record else best
        attempts.append(Attempt(submission_id, submitted_at, method, value, change, is_record))
    return with_decimals(column, view.precision), attempts


#: The values of scored submissions, oldest first. Built once, since building it takes longer than executing it.
_VALUES = (
    select(Submission.id, Submission.submitted_at, Submission.method, Submission.track, ScoreRow.value)
    .join(ScoringRun, and_(ScoringRun.submission_id == Submission.id, ScoringRun.is_current))
    .join(
        ScoreRow,
        and_(
            ScoreRow.run_id == ScoringRun.id,
            ScoreRow.metric == bindparam("metric"),
            ScoreRow.split == bindparam("split"),
        ),
    )
    .where(Submission.id.in_(bindparam("ids", expanding=True)))
    .order_by(Submission.submitted_at, Submission.id)
)


def chart_svg(attempts: Sequence[Attempt], column: BoardColumn, title: str, counting: UUID | None = None) -> str:
    """Draw the chart of attempts and return its SVG. attempts: at least one, oldest first; counting: the entry, if
    known.
    """
    axis = AxisOut(title=column.title, decimals=column.decimals, percent=column.percent)
    points = [
        PointOut(x=one.submitted_at.astimezone(UTC).isoformat(), y=one.value, label=one.method) for one in attempts
    ]
    records = [point for point, one in zip(points, attempts, strict=True) if one.is_record]
    entry = next((point for point, one in zip(points, attempts, strict=True) if one.submission_id == counting), None)
    return draw_history(title, axis, points, records, entry)
