"""Samples behind the scores of runs, from sealed outcomes, with their intervals and pairwise comparisons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
from evergold.scoring.task import AnyTask, Metric
from workers.gold_errors import SealBroken
from workers.score import read_outcomes

#: Samples kept in memory: all compared rows of a board and some more runs.
OPENED_AT_ONCE = 200


class Samples:
    """A cache of opened samples that evicts the least recently used."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._opened: dict[tuple[int, Half], Sample | None] = {}

    def of(self, run_id: int, task: AnyTask, half: Half = Half.PUBLIC) -> Sample | None:
        """Return a run's sample; None without readable outcomes, or with those of another version of the task type.

        half: the part of divided items.
        """
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


def intervals_of(
    sample: Sample | None, metrics: Mapping[str, Metric], scores: Sequence[Score]
) -> dict[Score, Interval]:
    """Return the intervals of those scores that have one."""
    if sample is None:
        return {}
    few = sample.only([name for name in scores if name in sample.names])
    found = run_intervals.intervals(few, metrics)
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
    """Return the second run's score minus the first's, by pair; runs without outcomes or this score are left out.

    gold: identity of the gold of both, which seeds the random draws.
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
    """Return the sample if it has this score and the score depends on items, else None."""
    if sample is None or name not in sample.names or name in sample.constant:
        return None
    return sample if sample.only([name]).scores()[name] is not None else None
