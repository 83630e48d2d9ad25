"""Statistics of single runs, on a board or not: an interval for each score, and differences to earlier runs of the
team.

They are unfiltered; `app.feedback.certainty` decides what teams may see.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import bindparam, delete, select
from sqlalchemy.orm import Session

from app.base.db import in_batches
from app.boards.rows import Interval
from app.boards.statistics import Score
from app.models import GoldVersion, RunStatistics, RunStatus, ScoringRun, Submission
from app.standings.tries import gold_of_run
from evergold.scoring.resampling.pairs import Difference

#: Number of the team's previous runs that a run is compared with: the last one, and others users may select.
COMPARED_BEFORE = 10
#: The number of query parameters is limited.
_AT_A_TIME = 2000


@dataclass(frozen=True, slots=True)
class StatisticsOfRun:
    """The statistics of a run.

    key: of the computation.
    before: all runs to compare with, including those without stored outcomes.
    intervals: by score; differences: this run minus an earlier one, by earlier run and score.
    """

    key: str
    before: tuple[int, ...] = ()
    intervals: Mapping[Score, Interval] = field(default_factory=dict)
    differences: Mapping[tuple[int, Score], Difference] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DueRun:
    """A run whose statistics have to be computed.

    gold: identity of the gold that it was scored with.
    before: the team's previous runs with the same gold and version of the task, latest first.
    """

    run_id: int
    team_id: int
    gold: str
    key: str
    before: tuple[int, ...]


def run_statistics_of(session: Session, runs: Collection[int]) -> dict[int, StatisticsOfRun]:
    """Return the statistics by run, of those runs that have any."""
    found: dict[int, StatisticsOfRun] = {}
    for batch in in_batches(sorted(set(runs)), _AT_A_TIME):
        found |= {one.run_id: _read(one) for one in session.scalars(_OF_RUNS, {"runs": batch})}
    return found


#: Built once: building it takes longer than executing it.
_OF_RUNS = select(RunStatistics).where(RunStatistics.run_id.in_(bindparam("runs", expanding=True)))


def due_runs(session: Session, phase_task_id: int, task_version: int, key_of: Callable[[str], str]) -> list[DueRun]:
    """List the scored runs of a task in a phase whose statistics are missing or have another key, latest first.

    key_of: returns the key of a new computation for a gold identity.
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
        of_team = so_far[team_id, gold]
        before, wanted = tuple(of_team[: -COMPARED_BEFORE - 1 : -1]), key_of(gold)
        if key != wanted or not set(before) <= set(known):
            due.append(DueRun(run_id, team_id, gold, wanted, before))
        of_team.append(run_id)
    return due[::-1]


def record_run_statistics(session: Session, computed: Mapping[int, StatisticsOfRun]) -> None:
    """Store the statistics, replacing the previous ones."""
    session.execute(delete(RunStatistics).where(RunStatistics.run_id.in_(computed)))
    session.add_all(
        RunStatistics(run_id=run_id, key=one.key, before=list(one.before), document=_document(one))
        for run_id, one in computed.items()
    )


def _document(one: StatisticsOfRun) -> dict[str, Any]:
    """Return the document to store; `_read` parses it."""
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
