"""What workers computed about single runs, whether they stand on a board or not: an interval for each score, and by how
much a run differs from the runs of the same team before it.

For nobody's eyes: what of it a team is shown, `app.feedback.certainty` says.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from app.base.batches import in_batches
from app.boards.rows import Interval
from app.boards.statistics import Score
from app.models import GoldVersion, RunStatistics, RunStatus, ScoringRun, Submission
from app.standings.tries import gold_of_run
from evergold.scoring.resampling.pairs import Difference

#: A run is compared with so many of its team's before it: the last one, and others that one may want beside it.
COMPARED_BEFORE = 10
#: A query takes only so many parameters.
_AT_A_TIME = 2000


@dataclass(frozen=True, slots=True)
class StatisticsOfRun:
    """intervals: by score; differences: by a run before it and a score, what this one has more; key: what both were
    computed with; before: all runs that it was to be compared with, also those of which no outcomes are kept."""

    key: str
    before: tuple[int, ...] = ()
    intervals: Mapping[Score, Interval] = field(default_factory=dict)
    differences: Mapping[tuple[int, Score], Difference] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DueRun:
    """A run of which something is to be computed. gold: what it was scored against; before: the team's last runs before
    it, of the same gold and by the same version of the task, the newest first."""

    run_id: int
    team_id: int
    gold: str
    key: str
    before: tuple[int, ...]


def run_statistics_of(session: Session, runs: Collection[int]) -> dict[int, StatisticsOfRun]:
    """By run, of those that have any."""
    found: dict[int, StatisticsOfRun] = {}
    for batch in in_batches(sorted(set(runs)), _AT_A_TIME):
        some = select(RunStatistics).where(RunStatistics.run_id.in_(batch))
        found |= {one.run_id: _read(one) for one in session.scalars(some)}
    return found


def due_runs(session: Session, phase_task_id: int, task_version: int, key_of: Callable[[str], str]) -> list[DueRun]:
    """The scored runs of a task in a phase of which statistics are missing, or of another key, the newest first.

    key_of: what they would be computed with, by their gold.
    """
    query = (
        select(ScoringRun.id, Submission.team_id, gold_of_run(), RunStatistics.key, RunStatistics.before)
        .join(Submission, Submission.id == ScoringRun.submission_id)
        .outerjoin(GoldVersion, GoldVersion.id == ScoringRun.gold_version_id)
        .outerjoin(RunStatistics, RunStatistics.run_id == ScoringRun.id)
        .where(
            Submission.phase_task_id == phase_task_id,
            ScoringRun.is_current,
            ScoringRun.status == RunStatus.SCORED,
            Submission.withdrawn_at.is_(None),
            ScoringRun.outcomes_id.is_not(None),
            ScoringRun.task_version == task_version,
        )
        .order_by(Submission.submitted_at, ScoringRun.id)
    )
    due: list[DueRun] = []
    so_far: defaultdict[tuple[int, str], list[int]] = defaultdict(list)
    for run_id, team_id, gold, key, known in session.execute(query):
        theirs = so_far[team_id, gold]
        before, wanted = tuple(theirs[: -COMPARED_BEFORE - 1 : -1]), key_of(gold)
        if key != wanted or not set(before) <= set(known):
            due.append(DueRun(run_id, team_id, gold, wanted, before))
        theirs.append(run_id)
    return due[::-1]


def record_run_statistics(session: Session, computed: Mapping[int, StatisticsOfRun]) -> None:
    """Keep them in the place of what was kept before."""
    session.execute(delete(RunStatistics).where(RunStatistics.run_id.in_(computed)))
    session.add_all(
        RunStatistics(run_id=run_id, key=one.key, before=list(one.before), document=_document(one))
        for run_id, one in computed.items()
    )


def _document(one: StatisticsOfRun) -> dict[str, Any]:
    """`_read` reads it back."""
    return {
        "intervals": [[*score, at.low, at.high, at.level, at.method] for score, at in sorted(one.intervals.items())],
        "differences": [
            [run, *score, at.first, at.second, at.difference, at.low, at.high, at.p, at.undefined]
            + [at.resamples, at.level, at.method]
            for (run, score), at in sorted(one.differences.items())
        ],
    }


def _read(kept: RunStatistics) -> StatisticsOfRun:
    intervals = {(metric, split): Interval(*rest) for metric, split, *rest in kept.document["intervals"]}
    differences = {
        (run, (metric, split)): Difference(*rest) for run, metric, split, *rest in kept.document["differences"]
    }
    return StatisticsOfRun(kept.key, tuple(kept.before), intervals, differences)
