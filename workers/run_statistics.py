"""Uncertainty of every run's scores, and comparisons with its team's previous runs.

Computed by the job that also computes board statistics, and stored permanently: only new runs are computed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from sqlalchemy import Engine, select
from sqlalchemy.orm import Session, joinedload

from app.base.db import reading
from app.boards.run_statistics import DueRun, StatisticsOfRun, due_runs, run_statistics_of
from app.boards.statistics import Score
from app.competitions.columns import visible_columns
from app.competitions.entry_rules import entry_settings
from app.models import Board, EntryRule, Phase, PhaseTask
from evergold.scoring.resampling import intervals as run_intervals
from evergold.scoring.resampling.draws import METHOD_VERSION
from evergold.scoring.task import AnyTask
from evergold.scoring.tasks import get_task
from workers.samples import Samples, differences_of, intervals_of

#: Runs per job, newest first; the sweep schedules the rest, so that other work is not delayed.
RUNS_AT_A_TIME = 25


@dataclass(frozen=True, slots=True)
class RunsOfTask:
    """The settings for the runs of a task in a phase.

    scores: those of all its boards' columns.
    ranking: those that rank.
    """

    task: AnyTask
    scores: tuple[Score, ...]
    ranking: tuple[Score, ...]


def compute_run_statistics(
    engine: Engine, phase_task_id: int, samples: Samples, resamples: int
) -> tuple[dict[int, StatisticsOfRun], bool]:
    """Return the results to store, by run, and whether they are complete."""
    with reading(engine) as session:
        wanted = _runs_of_task(session, phase_task_id)
        if wanted is None:
            return {}, True
        due = due_runs(session, phase_task_id, wanted.task.version, lambda gold: _key(wanted, gold))
        some = due[:RUNS_AT_A_TIME]
        known = run_statistics_of(session, [one.run_id for one in some])
    found: dict[int, StatisticsOfRun] = {}
    for _, theirs in groupby(sorted(some, key=_alike), _alike):
        found |= _of_team(samples, wanted, list(theirs), known, resamples)
    return found, len(some) == len(due)


def _alike(run: DueRun) -> tuple[int, str]:
    """Group runs by team and gold, within which they are compared."""
    return run.team_id, run.gold


def _runs_of_task(session: Session, phase_task_id: int) -> RunsOfTask | None:
    """Return the settings; None without per-item outcomes, or with a Ladder, which shows only records."""
    phase_task = session.get_one(PhaseTask, phase_task_id)
    phase = session.get_one(Phase, phase_task.phase_id)
    boards = session.scalars(
        select(Board).where(Board.task_id == phase_task.task_id).options(joinedload(Board.task)).order_by(Board.id)
    ).all()
    if not boards or entry_settings(phase, phase_task).rule is EntryRule.LADDER:
        return None
    task = get_task(boards[0].task.task_type)
    if task.sample is None:
        return None
    columns = [one for board in boards for one in visible_columns(board, phase_task.options_of(board.task))]
    scores = tuple(dict.fromkeys((one.metric, one.split) for one in columns))
    return RunsOfTask(task, scores, tuple(dict.fromkeys((one.rank_metric, one.rank_split) for one in boards)))


def _key(wanted: RunsOfTask, gold: str) -> str:
    """Return a key that is equal if a new computation would give the same results."""
    task = wanted.task
    told = [task.name, task.version, run_intervals.VERSION, METHOD_VERSION, gold, wanted.scores, wanted.ranking]
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()


def _of_team(
    samples: Samples, wanted: RunsOfTask, due: Sequence[DueRun], known: dict[int, StatisticsOfRun], resamples: int
) -> dict[int, StatisticsOfRun]:
    """Compute the statistics of runs of one team that were scored against the same gold."""
    kept = {one.run_id: _still_true(known.get(one.run_id), one) for one in due}
    missing = [(other, one.run_id) for one in due for other in one.before if other not in kept[one.run_id].before]
    found = {
        score: differences_of(samples, wanted.task, score, missing, due[0].gold, resamples) for score in wanted.ranking
    }
    return {
        one.run_id: StatisticsOfRun(
            one.key,
            one.before,
            intervals_of(samples.of(one.run_id, wanted.task), wanted.task, wanted.scores),
            {
                **{key: at for key, at in kept[one.run_id].differences.items() if key[0] in one.before},
                **{(a, score): at for score, of in found.items() for (a, b), at in of.items() if b == one.run_id},
            },
        )
        for one in due
    }


def _still_true(known: StatisticsOfRun | None, due: DueRun) -> StatisticsOfRun:
    return known if known is not None and known.key == due.key else StatisticsOfRun(due.key)
