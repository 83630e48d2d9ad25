"""A team's own submissions to a task over time, as far as teams see scores: the points, and their chart as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.boards.rows import with_decimals
from app.charts.history import draw_history
from app.charts.picture import AxisOut, PointOut
from app.competitions.columns import BoardColumn, board_columns
from app.competitions.ordering import difference_of, effective_decimals
from app.competitions.visibility import Viewer, rounded
from app.feedback.scores import boards_of_run, own_scores_of_all
from app.models import Board, Competition, CompetitionTask, Phase, PhaseTask, RunStatus, Submission, User
from app.submissions.find import list_submissions, own_places

#: Number of latest submissions that are shown; teams with more have the board's pictures.
MOST_SHOWN = 200


@dataclass(frozen=True, slots=True)
class Place:
    """A task in a phase to which the user submitted, with its names and titles."""

    competition: str
    phase: str
    task: str
    competition_title: str
    phase_title: str
    task_title: str


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
    """The attempts at a place, oldest first, in the column that ranks a board. boards: all boards to choose from."""

    place: Place
    boards: Sequence[Board]
    board: Board
    column: BoardColumn
    attempts: Sequence[Attempt]


def places_of(session: Session, user: User) -> list[Place]:
    """List the places where this user or one of their teams submitted, in the organisers' order."""
    found = session.execute(
        select(
            Competition.name, Phase.name, CompetitionTask.name, Competition.title, Phase.title, CompetitionTask.title
        )
        .join(Phase, Phase.competition_id == Competition.id)
        .join(PhaseTask, PhaseTask.phase_id == Phase.id)
        .join(CompetitionTask, CompetitionTask.id == PhaseTask.task_id)
        .where(PhaseTask.id.in_({place.phase_task_id for place in own_places(session, user)}))
        .order_by(Competition.position, Competition.id, Phase.starts_at, Phase.id, CompetitionTask.id)
    )
    return [Place(*row) for row in found]


def history_of(session: Session, user: User, place: Place, now: datetime, *, board: str = "") -> History | None:
    """Return the history in this board's ranking column, or in that of the first board with values. None if teams do
    not see their scores, or nothing was scored."""
    scored, _ = list_submissions(
        session,
        user,
        competition=place.competition,
        phase=place.phase,
        task=place.task,
        status=RunStatus.SCORED,
        with_withdrawn=False,
        limit=MOST_SHOWN,
    )
    if not scored:
        return None
    boards = boards_of_run(session, scored[0])
    wanted = [one for one in boards if one.name == board] or boards
    histories = [History(place, boards, one, *_attempts(session, user, scored, one, now)) for one in wanted]
    return next((history for history in histories if history.attempts), None)


def _attempts(
    session: Session, user: User, newest_first: Sequence[Submission], board: Board, now: datetime
) -> tuple[BoardColumn, list[Attempt]]:
    """Return the board's ranking column as shown here, and the attempts with a value in it."""
    own = own_scores_of_all(session, newest_first, Viewer(user, now))
    column = next(c for c in board_columns(board) if (c.metric, c.split) == (board.rank_metric, board.rank_split))
    view = own[newest_first[0].id].view
    decimals, best = effective_decimals(column, view.precision), None
    attempts: list[Attempt] = []
    for submission in reversed(newest_first):
        if board.track not in (None, submission.track) or not own[submission.id].view.own_scores:
            continue
        scores = {(score.metric, score.split): score.value for score in own[submission.id].scores}
        value = rounded(scores.get((column.metric, column.split)), decimals)
        if value is None:
            continue
        change = difference_of(value, attempts[-1].value, decimals) if attempts else None
        is_record = best is None or (value > best if column.higher_is_better else value < best)
        best = value if is_record else best
        attempts.append(Attempt(submission.id, submission.submitted_at, submission.method, value, change, is_record))
    return with_decimals(column, view.precision), attempts


def chart_svg(attempts: Sequence[Attempt], column: BoardColumn, title: str) -> str:
    """Draw the chart of attempts. attempts: at least one, oldest first."""
    axis = AxisOut(title=column.title, decimals=column.decimals, percent=column.percent)
    points = [
        PointOut(x=one.submitted_at.astimezone(UTC).isoformat(), y=one.value, label=one.method) for one in attempts
    ]
    records = [point for point, one in zip(points, attempts, strict=True) if one.is_record]
    return draw_history(title, axis, points, records)
