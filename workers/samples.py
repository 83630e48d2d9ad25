"""What the scores of runs follow from, opened from their sealed outcomes, and what is computed of it: an interval for
each score, and every pair of runs that somebody asks for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from sqlalchemy import Engine

from app.base.db import reading
from app.base.logs import log
from app.boards.rows import Interval
from app.boards.statistics import RunPair, Score
from app.models import ScoringRun
from evergold.scoring.halves import Half
from evergold.scoring.resampling import intervals as run_intervals
from evergold.scoring.resampling.draws import Draws
from evergold.scoring.resampling.pairs import Difference, compare_all
from evergold.scoring.resampling.sample import Sample
from evergold.scoring.resampling.swaps import NotComparable
from evergold.scoring.task import AnyTask
from workers.gold_errors import SealBroken
from workers.outcomes import read_outcomes

#: As many stay in memory: every row of a board that is compared, and some runs more.
OPENED_AT_ONCE = 200


class Samples:
    """Opened once for all that is computed of them, the last ones that were asked for."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._opened: dict[tuple[int, Half], Sample | None] = {}

    def of(self, run_id: int, task: AnyTask, half: Half = Half.PUBLIC) -> Sample | None:
        """None where no outcomes are kept that can be read, or another version of the task kept them. half: of divided
        items."""
        key = run_id, half
        found = self._opened.pop(key) if key in self._opened else self._open(run_id, task, half)
        self._opened[key] = found
        if len(self._opened) > OPENED_AT_ONCE:
            del self._opened[next(iter(self._opened))]
        return found

    def _open(self, run_id: int, task: AnyTask, half: Half) -> Sample | None:
        try:
            with reading(self._engine) as session:
                is_ours = session.get_one(ScoringRun, run_id).task_version == task.version
                outcomes = read_outcomes(session, run_id, half) if is_ours else None
        except SealBroken as broken:
            log.error("outcomes_broken", run_id=run_id, error=str(broken))
            return None
        return task.sample(outcomes) if outcomes is not None and task.sample is not None else None


def intervals_of(sample: Sample | None, task: AnyTask, scores: Sequence[Score]) -> dict[Score, Interval]:
    """Of these scores, of those that have one."""
    if sample is None:
        return {}
    few = sample.only([name for name in scores if name in sample.names])
    found = run_intervals.intervals(few, task.metrics)
    return {name: Interval(**asdict(one)) for name, one in found.items() if not isinstance(one, str)}


def differences_of(
    samples: Samples,
    task: AnyTask,
    score: Score,
    wanted: Sequence[RunPair],
    gold: str,
    resamples: int,
    half: Half = Half.PUBLIC,
) -> dict[RunPair, Difference]:
    """By pair of runs, what the second has more; nothing of runs of which no outcomes are kept, or without this score.

    gold: what both were scored against, which chance begins from.
    """
    runs = sorted({run for pair in wanted for run in pair})
    opened = {run: sample for run in runs if (sample := _comparable(samples.of(run, task, half), score))}
    place = {run: number for number, run in enumerate(opened)}
    pairs = [(first, second) for first, second in wanted if first in place and second in place]
    if not pairs:
        return {}
    some = list(opened.values())
    try:
        found = compare_all(
            some,
            [score],
            Draws(some[0].units, gold, resamples),
            [(place[first], place[second]) for first, second in pairs],
        )
    except NotComparable as reason:
        log.warning("runs_not_comparable", runs=runs, reason=str(reason))
        return {}
    by_place = found.get(score, {})
    return {pair: by_place[place[pair[0]], place[pair[1]]] for pair in pairs if by_place}


def _comparable(sample: Sample | None, name: Score) -> Sample | None:
    """None where it has no such score that depends on items."""
    if sample is None or name not in sample.names or name in sample.constant:
        return None
    return sample if sample.only([name]).scores()[name] is not None else None
