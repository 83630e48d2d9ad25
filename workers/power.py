"""The smallest differences that a task's gold can detect, for its organisers.

They are computed from sealed outcomes of baselines, or from systems simulated with the gold itself, which only a worker
opens. Only numbers leave this module.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from app.base.db import reading
from app.base.logs import log
from app.boards.power import Power, SmallestDifference, is_kept, power_basis
from app.competitions.private_part import division_of
from app.gold.versions import gold_identity, published_gold
from app.models import Board, CompetitionTask, GoldVersion, PhaseTask, RunStatus, ScoringRun, Submission, Team, TeamKind
from app.runs.claims import SealedGold, sealed_gold
from app.standings.tries import gold_of_run
from evergold.scoring.gold_size import size_of_gold
from evergold.scoring.halves import Division, Half, half
from evergold.scoring.rehearsal import simulated
from evergold.scoring.resampling import intervals as run_intervals
from evergold.scoring.resampling.power import resolutions
from evergold.scoring.resampling.sample import Sample
from evergold.scoring.task import AnyTask, Options, read_options, score_with_outcomes
from evergold.scoring.tasks import get_task
from workers.faults import logged
from workers.gold import read_gold, read_sealed_gold
from workers.gold_errors import GoldNotFound, SealBroken
from workers.keys import KeyFileBroken, NoKeyForIt
from workers.samples import Samples

#: Errors that another worker may not hit; nothing waits for the result.
_CLOSED = (GoldNotFound, NoKeyForIt, KeyFileBroken, SealBroken, OSError)
#: Maximum number of baseline runs used, latest first.
_MOST_BASELINES = 10
MADE_UP = "two simulated systems that are right three times in four"
ONE_BASELINE = "the baseline, and an equally good system with independent errors"


@dataclass(frozen=True, slots=True)
class _GoldOfTask:
    """The gold of a task in a phase.

    basis: from `power_basis`.
    sealed: None for plain gold, named by `gold`.
    ranking: the metrics that rank its boards.
    """

    task: AnyTask
    options: Options
    gold: str
    basis: str
    sealed: SealedGold | None
    ranking: frozenset[str]
    baselines: tuple[int, ...]
    division: Division | None

    @property
    def key(self) -> str:
        """A key that is equal if a new computation would give the same results."""
        key = [self.task.name, self.task.version, run_intervals.VERSION, self.gold, sorted(self.ranking)]
        key += [self.options.model_dump(mode="json"), self.baselines]
        key += [self.division.fingerprint] if self.division else []
        key += [self.basis]
        return hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()


def compute_power(engine: Engine, phase_task_id: int, samples: Samples) -> Power | None:
    """Return the power of a task's gold; None if the stored one is current, or this worker cannot open the gold."""
    with reading(engine) as session:
        wanted = _gold_of_task(session, phase_task_id)
        if wanted is None or is_kept(session, phase_task_id, wanted.key):
            return None
    nothing = Power(wanted.gold, wanted.key, "", (), basis=wanted.basis)
    try:
        of_baselines = [one for run in wanted.baselines if (one := samples.of(run, wanted.task)) is not None]
        gold = _opened(wanted)
        power = _power(wanted, of_baselines or _made_up(wanted, gold))
        return replace(power, size=size_of_gold(wanted.task, gold, wanted.options), basis=wanted.basis)
    except _CLOSED as closed:
        log.warning("power_not_computed", phase_task_id=phase_task_id, reason=str(closed))
        return None
    except Exception as error:  # no reason to give up the statistics of boards
        log.error("power_failed", phase_task_id=phase_task_id, **logged(error))
        return nothing


def _gold_of_task(session: Session, phase_task_id: int) -> _GoldOfTask | None:
    """Return the gold to examine; None without gold, or if the task type has no per-item outcomes."""
    phase_task = session.get_one(PhaseTask, phase_task_id)
    declared = session.get_one(CompetitionTask, phase_task.task_id)
    gold, task = gold_identity(session, phase_task), get_task(declared.task_type)
    basis = power_basis(session, phase_task)
    if gold is None or basis is None or task.sample is None:
        return None
    published = published_gold(session, phase_task.phase_id, phase_task.task_id)
    boards = session.scalars(select(Board.rank_metric).where(Board.task_id == phase_task.task_id))
    return _GoldOfTask(
        task=task,
        options=read_options(task, phase_task.options_of(declared)),
        gold=gold,
        basis=basis,
        sealed=sealed_gold(session, published[-1].id) if published else None,
        ranking=frozenset(boards),
        baselines=_baselines(session, phase_task_id, task.version, gold),
        division=division_of(phase_task.private_part),
    )


def _baselines(session: Session, phase_task_id: int, task_version: int, gold: str) -> tuple[int, ...]:
    """Return the latest run of each baseline scored with this gold."""
    runs = session.execute(
        select(Submission.team_id, ScoringRun.id)
        .join(Submission, Submission.id == ScoringRun.submission_id)
        .join(Team, Team.id == Submission.team_id)
        .outerjoin(GoldVersion, GoldVersion.id == ScoringRun.gold_version_id)
        .where(
            Submission.phase_task_id == phase_task_id,
            Team.kind == TeamKind.BASELINE,
            ScoringRun.is_current,
            ScoringRun.status == RunStatus.SCORED,
            ScoringRun.task_version == task_version,
            ScoringRun.outcomes_id.is_not(None),
            gold_of_run() == gold,
        )
        .order_by(Submission.submitted_at, ScoringRun.id)
    )
    last: dict[int, int] = {team: run for team, run in runs}
    return tuple(sorted(last.values())[-_MOST_BASELINES:])


def _opened(wanted: _GoldOfTask) -> Any:
    """Return the opened gold; only numbers derived from it leave this module."""
    if wanted.sealed is not None:
        return read_sealed_gold(wanted.task, wanted.options, wanted.sealed).content
    return read_gold(wanted.task, wanted.options, wanted.gold)


def _made_up(wanted: _GoldOfTask, gold: Any) -> list[Sample]:
    """Return samples of two simulated systems, for the public part if items are divided.

    Empty if the task type cannot simulate, or scoring needs an encoder.
    """
    make, task = wanted.task.sample, wanted.task
    if make is None or task.needs_gpu:
        return []
    predictions = [simulated(task, gold, wanted.options, number) for number in (1, 2)]
    if None in predictions:
        return []
    pairs = [(gold, one) for one in predictions]
    if wanted.division is not None:
        pairs = [half(task, *pair, wanted.division, Half.PUBLIC) for pair in pairs]
    scored = [score_with_outcomes(task, *pair, wanted.options) for pair in pairs]
    return [make(outcomes or {}) for _, outcomes in scored]


def _power(wanted: _GoldOfTask, systems: list[Sample]) -> Power:
    """Return the smallest detectable differences of the ranking metrics in all splits."""
    if not systems:
        return Power(wanted.gold, wanted.key, "", ())
    found, metrics = resolutions(systems), wanted.task.metrics_of(wanted.options)
    scores = tuple(
        SmallestDifference(metric, split, one.smallest, one.size)
        for (metric, split), one in found.items()
        if metric in wanted.ranking and metrics[metric].has_interval
    )
    words = {0: MADE_UP, 1: ONE_BASELINE}.get(len(wanted.baselines), f"{len(wanted.baselines)} baselines")
    words += "; of the public part" if wanted.division else ""
    return Power(wanted.gold, wanted.key, words, scores)
