"""A team's own submissions to a task over time, as far as teams see scores: the points, and their chart as SVG."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from math import ceil, floor
from uuid import UUID
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from sqlalchemy import select
from sqlalchemy.orm import Session, joinedload

from app.boards.rows import with_decimals
from app.competitions.columns import BoardColumn, board_columns
from app.competitions.ordering import difference_of, effective_decimals
from app.competitions.visibility import rounded
from app.feedback.scores import own_scores_of_all
from app.models import Board, Competition, CompetitionTask, Phase, PhaseTask, RunStatus, Submission, User
from app.submissions.find import list_submissions, own_places
from evergold.figures.svg import (
    FONT,
    NAMESPACE,
    add,
    add_line,
    add_names,
    add_text,
    clean,
    multiples,
    number_text,
    round_step,
)

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
    boards = _boards(session, scored[0])
    wanted = [one for one in boards if one.name == board] or boards
    histories = [History(place, boards, one, *_attempts(session, user, scored, one, now)) for one in wanted]
    return next((history for history in histories if history.attempts), None)


def _boards(session: Session, submission: Submission) -> list[Board]:
    asked = submission.phase_task
    query = select(Board).where(Board.competition_id == asked.phase.competition_id, Board.task_id == asked.task_id)
    return list(session.scalars(query.options(joinedload(Board.task)).order_by(Board.position, Board.id)))


def _attempts(
    session: Session, user: User, newest_first: Sequence[Submission], board: Board, now: datetime
) -> tuple[BoardColumn, list[Attempt]]:
    """Return the board's ranking column as shown here, and the attempts with a value in it."""
    own = own_scores_of_all(session, newest_first, user, now)
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


WIDTH, HEIGHT = 640, 260
_LEFT, _RIGHT, _TOP, _BELOW = 56, 18, 16, 34
_MOST_TICKS = 5
_SIZE, _RECORD_SIZE = 4.0, 5.5
#: Minimum span of the axis: values that hardly differ are not stretched to the full height.
_LEAST_SPAN = 0.01


def chart_svg(attempts: Sequence[Attempt], column: BoardColumn, title: str) -> str:
    """Draw the chart. attempts: at least one, oldest first."""
    svg = Element("svg", {"xmlns": NAMESPACE, "viewBox": f"0 0 {WIDTH} {HEIGHT}", "font-family": FONT, "role": "img"})
    add_names(svg, "course", title, _description(attempts, column))
    scale = 100.0 if column.percent else 1.0
    values = [attempt.value * scale for attempt in attempts]
    low, high, step = _axis(min(values), max(values), _LEAST_SPAN * scale)
    y_of = _place(low, high, HEIGHT - _BELOW, _TOP)
    moments = [attempt.submitted_at for attempt in attempts]
    x_of = _place(moments[0].timestamp(), moments[-1].timestamp(), _LEFT + 12, WIDTH - _RIGHT - 12)
    for tick in multiples(low, high, step):
        add_line(svg, "fig-grid", _LEFT, y_of(tick), WIDTH - _RIGHT, y_of(tick))
        add_text(svg, number_text(tick, _decimals(step)), "fig-tick", _LEFT - 8, y_of(tick) + 4, "end")
    _add_dates(svg, moments)
    points = [(x_of(moment.timestamp()), y_of(value)) for moment, value in zip(moments, values, strict=True)]
    _add_record_line(svg, points, attempts)
    for attempt, (x, y) in zip(attempts, points, strict=True):
        kind, size = ("fig-mark", _RECORD_SIZE) if attempt.is_record else ("fig-mark fig-hollow", _SIZE)
        mark = add(svg, "circle", kind, cx=f"{x:.1f}", cy=f"{y:.1f}", r=f"{size}")
        what = f"{_date(attempt.submitted_at)} {attempt.method}: {_value(attempt, column)}"
        SubElement(mark, "title").text = clean(what)
    return ElementTree.tostring(svg, encoding="unicode")


def _axis(low: float, high: float, least: float) -> tuple[float, float, float]:
    """Return the rounded ends of the axis around the values, and its step."""
    air = max((high - low) * 0.08, (least - (high - low)) / 2, 0.0)
    step = round_step(high - low + 2 * air, _MOST_TICKS)
    return floor((low - air) / step) * step, ceil((high + air) / step) * step, step


def _place(low: float, high: float, at_low: float, at_high: float) -> Callable[[float], float]:
    """Return a function from a value between low and high to its coordinate; the middle if low equals high."""

    def place(value: float) -> float:
        share = (value - low) / (high - low) if high > low else 0.5
        return at_low + share * (at_high - at_low)

    return place


def _add_dates(svg: Element, moments: Sequence[datetime]) -> None:
    first, last = _date(moments[0]), _date(moments[-1])
    y = HEIGHT - 10
    if first == last:
        add_text(svg, first, "fig-tick", (_LEFT + WIDTH - _RIGHT) / 2, y, "middle")
        return
    add_text(svg, first, "fig-tick", _LEFT, y)
    add_text(svg, last, "fig-tick", WIDTH - _RIGHT, y, "end")


def _add_record_line(svg: Element, points: Sequence[tuple[float, float]], attempts: Sequence[Attempt]) -> None:
    """Draw a step line: a record holds until the next one."""
    records = [point for point, attempt in zip(points, attempts, strict=True) if attempt.is_record]
    ends = [*(x for x, _ in records[1:]), WIDTH - _RIGHT]
    for number, ((x, y), end) in enumerate(zip(records, ends, strict=True)):
        add_line(svg, "fig-ideal", x, y, end, y)
        if number + 1 < len(records):
            add_line(svg, "fig-ideal", end, y, end, records[number + 1][1])


def _description(attempts: Sequence[Attempt], column: BoardColumn) -> str:
    best = next(attempt for attempt in reversed(attempts) if attempt.is_record)
    count = "One submission" if len(attempts) == 1 else f"{len(attempts)} submissions"
    return (
        f"{count} from {_date(attempts[0].submitted_at)} to {_date(attempts[-1].submitted_at)}; "
        f"the best is {_value(best, column)}, the last {_value(attempts[-1], column)}."
    )


def _value(attempt: Attempt, column: BoardColumn) -> str:
    return number_text(attempt.value * (100 if column.percent else 1), column.decimals)


def _decimals(step: float) -> int:
    return next((digits for digits in range(6) if abs(round(step, digits) - step) < 1e-9), 6)


def _date(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%d")
