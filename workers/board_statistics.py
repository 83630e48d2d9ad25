"""compute_statistics(phase_task_id): uncertainty of a task's boards and runs, from sealed outcomes.

Results for a run or a pair of runs stay valid: a new run on a large board requires only its interval and its pairs.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from itertools import combinations, groupby
from typing import Any

from sqlalchemy import Engine, select
from sqlalchemy.orm import Session, joinedload

from app.base.config import get_settings
from app.base.db import get_engine, reading, writing
from app.base.errors import StorageAway
from app.base.logs import bound, log
from app.boards.leaderboard import entry_sources, has_ladder, whole_board
from app.boards.power import Power, record_power
from app.boards.rows import LeaderboardRow
from app.boards.run_statistics import DueRun, StatisticsOfRun, due_runs, record_run_statistics, run_statistics_of
from app.boards.statistics import Score, Statistics, statistics_document, statistics_of
from app.boards.statistics_work import (
    LEASE,
    begin_statistics,
    interrupt_statistics,
    leave_statistics,
    record_statistics,
    renew_statistics,
)
from app.boards.view import UnfilteredBoard
from app.competitions.columns import visible_columns
from app.competitions.entry_rules import entry_settings
from app.competitions.metrics import metrics_of
from app.gold.versions import gold_identity
from app.models import Board, EntryRule, Phase, PhaseTask, RowStatus
from evergold.scoring.halves import Half
from evergold.scoring.resampling import intervals as run_intervals
from evergold.scoring.resampling.draws import METHOD_VERSION, RESAMPLES
from evergold.scoring.task import AnyTask, Metric
from evergold.scoring.tasks import get_task
from workers.apart import Failed, Lost, Run, here
from workers.confined import confined
from workers.faults import logged, named
from workers.keys import KeyFileBroken, NoKeyForIt
from workers.lease import renewing
from workers.power import compute_power
from workers.samples import Samples, differences_of, intervals_of

#: Runs per job, newest first; the sweep schedules the rest, so that other work is not delayed.
RUNS_AT_A_TIME = 25


@dataclass(frozen=True, slots=True)
class RunsOfTask:
    """The settings for the runs of a task in a phase.

    scores: of all columns of its boards.
    ranking: the scores that rank boards.
    metrics: of the task, by name.
    """

    task: AnyTask
    metrics: Mapping[str, Metric]
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
        due = due_runs(session, phase_task_id, wanted.task.version, lambda gold: _run_key(wanted, gold))
        some = due[:RUNS_AT_A_TIME]
        known = run_statistics_of(session, [one.run_id for one in some])
    found: dict[int, StatisticsOfRun] = {}
    for _, of_team in groupby(sorted(some, key=_alike), _alike):
        found |= _of_team(samples, wanted, list(of_team), known, resamples)
    return found, len(some) == len(due)


def _alike(run: DueRun) -> tuple[int, str]:
    """Return the key of runs that are compared with each other: team and gold."""
    return run.team_id, run.gold


def _runs_of_task(session: Session, phase_task_id: int) -> RunsOfTask | None:
    """Return the settings; None without per-item outcomes, or with a Ladder, which reveals only records."""
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
    metrics = metrics_of(boards[0].task)
    return RunsOfTask(task, metrics, scores, tuple(dict.fromkeys((one.rank_metric, one.rank_split) for one in boards)))


def _run_key(wanted: RunsOfTask, gold: str) -> str:
    """Return a key that is equal if a new computation would give the same results."""
    task = wanted.task
    key = [task.name, task.version, run_intervals.VERSION, METHOD_VERSION, gold, wanted.scores, wanted.ranking]
    return hashlib.sha256(json.dumps(key).encode()).hexdigest()


def _of_team(
    samples: Samples, wanted: RunsOfTask, due: Sequence[DueRun], known: dict[int, StatisticsOfRun], resamples: int
) -> dict[int, StatisticsOfRun]:
    """Return the statistics of a team's runs that were scored with the same gold, by run."""
    kept = {one.run_id: _still_true(known.get(one.run_id), one) for one in due}
    missing = [(other, one.run_id) for one in due for other in one.before if other not in kept[one.run_id].before]
    found = {
        score: differences_of(samples, wanted.task, score, missing, due[0].gold, resamples) for score in wanted.ranking
    }
    return {
        one.run_id: StatisticsOfRun(
            one.key,
            one.before,
            intervals_of(samples.of(one.run_id, wanted.task), wanted.metrics, wanted.scores),
            {
                **{key: at for key, at in kept[one.run_id].differences.items() if key[0] in one.before},
                **{(a, score): at for score, of in found.items() for (a, b), at in of.items() if b == one.run_id},
            },
        )
        for one in due
    }


def _still_true(known: StatisticsOfRun | None, due: DueRun) -> StatisticsOfRun:
    return known if known is not None and known.key == due.key else StatisticsOfRun(due.key)


#: Pairs are compared on boards of up to this many rows; longer boards have intervals only.
MOST_COMPARED = 100
#: Errors that another machine may not hit.
LACKING = (NoKeyForIt, KeyFileBroken, FileNotFoundError, StorageAway)


@dataclass(frozen=True, slots=True)
class ComputedStatistics:
    """The results to record.

    documents: by board.
    of_runs: by run.
    is_all: True if all single runs are computed.
    """

    documents: dict[int, Any]
    of_runs: dict[int, StatisticsOfRun]
    is_all: bool
    power: Power | None


def compute_statistics(phase_task_id: int, run: Run[ComputedStatistics | Failed] = here) -> None:
    """Compute missing statistics unless another worker computes them. Safe to repeat."""
    with bound(phase_task_id=phase_task_id):
        compute(get_engine(get_settings().database_address), phase_task_id, run=run)


def compute(
    engine: Engine, phase_task_id: int, resamples: int = RESAMPLES, run: Run[ComputedStatistics | Failed] = here
) -> bool:
    """Compute and store missing statistics; return True if any are new.

    run: executes the long part of the work, such as in another process.
    """
    with writing(engine) as session:
        now = datetime.now(UTC)
        versions = begin_statistics(session, phase_task_id, now, attempts=get_settings().attempts)
    if versions is None:
        return False
    result = run(partial(_find, engine, phase_task_id, resamples))
    with _kept(engine, phase_task_id):
        found = result()
    with writing(engine) as session:
        if not isinstance(found, ComputedStatistics):
            _leave(session, phase_task_id, found)
            return False
        is_new = record_statistics(session, phase_task_id, versions, found.documents, is_all=found.is_all)
        record_run_statistics(session, found.of_runs)
        if found.power is not None:
            record_power(session, phase_task_id, found.power)
    counts = {"boards": len(found.documents), "runs": len(found.of_runs)}
    log.info("statistics_computed", phase_task_id=phase_task_id, **counts, new=is_new)
    return is_new


def _find(engine: Engine, phase_task_id: int, resamples: int) -> ComputedStatistics | Failed:
    """Return all missing statistics; only reads the database."""
    try:
        with confined():
            samples = Samples(engine)
            documents = _documents(engine, phase_task_id, samples, resamples)
            of_runs, is_all = compute_run_statistics(engine, phase_task_id, samples, resamples)
            return ComputedStatistics(documents, of_runs, is_all, compute_power(engine, phase_task_id, samples))
    except LACKING as lacking:
        return Failed(str(lacking), is_lacking=True)
    except Exception as error:
        log.error("statistics_failed", phase_task_id=phase_task_id, **logged(error))
        return Failed(named(error))


def _leave(session: Session, phase_task_id: int, found: Failed | Lost) -> None:
    if isinstance(found, Lost) and found.is_stopped:
        interrupt_statistics(session, phase_task_id)
        return
    to_others = isinstance(found, Failed) and found.is_lacking
    leave_statistics(session, phase_task_id, found.reason, to_others=to_others)


def _kept(engine: Engine, phase_task_id: int) -> AbstractContextManager[None]:
    """Renew the lease while the block runs."""

    def renew(session: Session) -> bool:
        return renew_statistics(session, phase_task_id, datetime.now(UTC))

    return renewing(engine, renew, LEASE.total_seconds(), phase_task_id=phase_task_id)


@dataclass(frozen=True, slots=True)
class _BoardOfRuns:
    """The inputs of a board's statistics.

    runs: of all live rows.
    compared: the runs to compare in pairs.
    scores: of the columns, the ranking one first.
    known: earlier results.
    half: the part of divided items.
    """

    board_id: int
    task: AnyTask
    metrics: Mapping[str, Metric]
    gold: str
    runs: tuple[int, ...]
    compared: tuple[int, ...]
    scores: tuple[Score, ...]
    known: Statistics
    half: Half | None = None

    @property
    def rank_by(self) -> Score:
        return self.scores[0]


def _documents(engine: Engine, phase_task_id: int, samples: Samples, resamples: int) -> dict[int, Any]:
    """Return the documents to store, by board, except for boards without live rows."""
    with reading(engine) as session:
        boards = _boards(session, phase_task_id)
    found: dict[int, Any] = {}
    for one in boards:
        if one.runs:
            document = statistics_document(_of_board(one, samples, resamples))
            found.setdefault(one.board_id, {}).update({one.half: document} if one.half is Half.PRIVATE else document)
    return found


def _boards(session: Session, phase_task_id: int) -> list[_BoardOfRuns]:
    """Return the boards of the task in this phase; empty if the task type has no per-item outcomes."""
    phase_task = session.get_one(PhaseTask, phase_task_id)
    phase, gold = session.get_one(Phase, phase_task.phase_id), gold_identity(session, phase_task)
    of_task = select(Board).where(Board.task_id == phase_task.task_id).options(joinedload(Board.task))
    found = []
    for board in session.scalars(of_task.order_by(Board.id)):
        task = get_task(board.task.task_type)
        sources = entry_sources(session, phase, board)
        if task.sample is not None and gold is not None and not has_ladder(sources):
            for half in (Half.PUBLIC, Half.PRIVATE) if phase_task.private_part else (None,):
                kept = statistics_of(session, phase_task_id, board.id, half)
                whole = whole_board(session, board, sources, half=half)
                found.append(replace(_board(board, task, gold, whole, kept), half=half))
    return found


def _board(board: Board, task: AnyTask, gold: str, whole: UnfilteredBoard, kept: Statistics | None) -> _BoardOfRuns:
    runs = {row.run_id: row for row in whole.rows if row.run_id is not None}
    compared = [run for run, row in runs.items() if _is_compared(row, whole.rank_by)]
    columns = [whole.columns[whole.rank_by], *whole.columns]
    scores = tuple(dict.fromkeys((column.metric, column.split) for column in columns))
    key = _key(task, gold, scores)
    known = kept if kept is not None and kept.key == key else Statistics(key)
    few = compared if len(compared) <= MOST_COMPARED else []
    ids = tuple(sorted(runs)), tuple(sorted(few))
    return _BoardOfRuns(board.id, task, metrics_of(board.task), gold, *ids, scores, known)


def _is_compared(row: LeaderboardRow, rank_by: int) -> bool:
    """Return True unless the row is hidden, disqualified, scored with other gold, or without a ranking score."""
    return row.status in (None, RowStatus.UNRANKED) and not row.is_outdated and row.cells[rank_by].value is not None


def _key(task: AnyTask, gold: str, scores: Sequence[Score]) -> str:
    """Return a key that is equal if a new computation would give the same results."""
    key = json.dumps([task.name, task.version, run_intervals.VERSION, METHOD_VERSION, gold, scores])
    return hashlib.sha256(key.encode()).hexdigest()


def _of_board(board: _BoardOfRuns, samples: Samples, resamples: int) -> Statistics:
    known, half = board.known, board.half or Half.PUBLIC
    intervals = {
        run: known.intervals.get(run, {})
        if run in known.runs
        else intervals_of(samples.of(run, board.task, half), board.metrics, board.scores)
        for run in board.runs
    }
    pairs = {pair: one for pair, one in known.pairs.items() if set(pair) <= set(board.compared)}
    missing = [pair for pair in combinations(board.compared, 2) if pair not in pairs]
    pairs |= differences_of(samples, board.task, board.rank_by, missing, board.gold, resamples, half)
    return Statistics(known.key, frozenset(board.runs), {run: of for run, of in intervals.items() if of}, pairs)
