"""Two submissions to a task side by side: every score that their team may see for both, and which one is better.

Only scores computed in the same way are compared. `app.feedback.items` compares single items.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.base.errors import EvergoldError
from app.boards.pair_tests import PairTest
from app.boards.rows import Interval
from app.boards.run_statistics import StatisticsOfRun
from app.competitions.metrics import metrics_of
from app.competitions.ordering import difference_of
from app.competitions.visibility import Viewer, min_decimals
from app.feedback.certainty import certainty_of, pair_test_of
from app.feedback.scores import OwnScores, own_scores_of_all
from app.models import Board, CompetitionTask, RunStatus, Submission
from app.submissions.find import current_run, get_submission
from evergold.scoring.resampling.ranking import holm
from evergold.scoring.task import Metric, Score

Better = Literal["a", "b", "equal"]


class NotComparable(EvergoldError):
    """These two submissions cannot be compared."""

    status = 409
    code = "not_comparable"


@dataclass(frozen=True, slots=True)
class Compared:
    """One score of both submissions.

    difference: b minus a; None if one is undefined or they were computed differently.
    interval_a, interval_b: of both values; test: of the difference; None if it does not exist or may not be shown.
    """

    metric: str
    metric_title: str
    split: str
    a: Score | None
    b: Score | None
    difference: float | None
    better: Better | None
    is_same_computation: bool
    interval_a: Interval | None = None
    interval_b: Interval | None = None
    test: PairTest | None = None


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two submissions side by side.

    a, b: the older and the newer one.
    rows: ranking scores of boards first.
    hidden_words: why there are no scores to compare, or "".
    decimals: of all values, None for full precision.
    has_details: True if both phases show their scores in full, see `View.has_details`.
    """

    a: Submission
    b: Submission
    rows: Sequence[Compared]
    hidden_words: str
    decimals: int | None
    has_details: bool

    @property
    def sure(self) -> list[Compared]:
        """The scores that have an interval or a test."""
        return [row for row in self.rows if row.test or row.interval_a or row.interval_b]

    @property
    def better_count(self) -> dict[str, int]:
        """The numbers of scores that are better in a, better in b, and equal."""
        return {side: sum(row.better == side for row in self.rows) for side in ("a", "b", "equal")}


def compare(
    session: Session,
    a_id: UUID,
    b_id: UUID,
    viewer: Viewer,
) -> Comparison:
    """Return the comparison of two submissions, the older one first.

    Raises NotFound if the viewer may not see both, NotComparable if they belong to two tasks or are not scored.
    """
    pair = (get_submission(session, a_id, viewer.user), get_submission(session, b_id, viewer.user))
    a, b = sorted(pair, key=lambda submission: (submission.submitted_at, submission.id))
    if a.phase_task.task_id != b.phase_task.task_id:
        raise NotComparable("These are submissions to two different tasks.")
    if a.id == b.id:
        raise NotComparable("This is the same submission twice. Choose another one to compare with.")
    for one in (a, b):
        if current_run(one).status != RunStatus.SCORED:
            raise NotComparable("Only submissions that were scored can be compared.")
    own = own_scores_of_all(session, [a, b], viewer)
    decimals = min_decimals(own[a.id].view.precision, own[b.id].view.precision)
    hidden = own[a.id].hidden_words or own[b.id].hidden_words
    task = a.phase_task.task
    rows = [] if hidden else _rows(metrics_of(task), own[a.id], own[b.id], decimals, _ranking(session, task))
    certain = certainty_of(session, [a, b], own)
    rows = [_with_certainty(row, certain.get(a.id), certain.get(b.id), current_run(a).id) for row in rows]
    rows = _corrected(rows)
    return Comparison(a, b, rows, hidden, decimals, all(own[one.id].view.has_details for one in (a, b)))


def _ranking(session: Session, task: CompetitionTask) -> list[tuple[str, str]]:
    """List the ranking scores of the task's boards, in board order."""
    boards = select(Board.rank_metric, Board.rank_split).where(Board.task_id == task.id)
    return [(metric, split) for metric, split in session.execute(boards.order_by(Board.position, Board.id))]


def _rows(
    metrics: Mapping[str, Metric], a: OwnScores, b: OwnScores, decimals: int | None, first: Sequence[tuple[str, str]]
) -> list[Compared]:
    of_a = {(score.metric, score.split): score for score in a.scores}
    of_b = {(score.metric, score.split): score for score in b.scores}
    keys = dict.fromkeys([*(key for key in first if key in of_a or key in of_b), *of_a, *of_b])
    return [_compared(metrics.get(key[0]), key, of_a.get(key), of_b.get(key), decimals) for key in keys]


def _compared(
    metric: Metric | None, key: tuple[str, str], a: Score | None, b: Score | None, decimals: int | None
) -> Compared:
    is_same = a is not None and b is not None and a.signature == b.signature
    difference, better = None, None
    if is_same and a and b and a.value is not None and b.value is not None:
        difference = difference_of(b.value, a.value, decimals)
        better = better_by(difference or 0.0, higher_is_better=metric is None or metric.higher_is_better)
    title = metric.title if metric else key[0]
    return Compared(key[0], title, key[1], a, b, difference, better, is_same or a is None or b is None)


def _with_certainty(row: Compared, a: StatisticsOfRun | None, b: StatisticsOfRun | None, older_run: int) -> Compared:
    """Return the row with intervals and test; without a test if the certainty of either run is not shown."""
    name = row.metric, row.split
    is_tested = a is not None and b is not None and row.difference is not None
    return replace(
        row,
        interval_a=a.intervals.get(name) if a else None,
        interval_b=b.intervals.get(name) if b else None,
        test=pair_test_of(b, older_run, name) if is_tested and b else None,
    )


def _corrected(rows: Sequence[Compared]) -> list[Compared]:
    """Return the rows with all tests corrected as one family, because the page shows them as one table."""
    tests = [row.test for row in rows if row.test is not None]
    corrected = iter(holm([test.p for test in tests]))
    return [
        row if row.test is None else replace(row, test=replace(row.test, corrected=next(corrected))) for row in rows
    ]


def better_by(difference: float, *, higher_is_better: bool) -> Better:
    """Return which submission is better. difference: b minus a."""
    if difference == 0:
        return "equal"
    return "b" if (difference > 0) == higher_is_better else "a"
