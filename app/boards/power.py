"""Discriminative power of gold: the smallest detectable difference between two systems by score, computed by workers.

For organisers. Only numbers leave the worker; gold, and the baselines' answers to each item, stay sealed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.competitions.columns import BoardColumn, board_columns
from app.competitions.find import boards_of
from app.gold.versions import gold_identity
from app.models import Board, Competition, CompetitionTask, GoldPower, Phase, PhaseTask
from evergold.scoring.leakage import GoldSize


@dataclass(frozen=True, slots=True)
class SmallestDifference:
    """The difference that a test at p < .05 detects in four of five cases. size: number of units."""

    metric: str
    split: str
    difference: float
    size: int


@dataclass(frozen=True, slots=True)
class Power:
    """The power of a task's gold.

    gold, key: identities of the gold and of the computation.
    systems: the systems whose errors it is based on, in words.
    scores: empty if unknown.
    size: information content of the gold, None if its answers have no such measure.
    basis: from `power_basis`.
    """

    gold: str
    key: str
    systems: str
    scores: tuple[SmallestDifference, ...]
    size: GoldSize | None = None
    basis: str = ""


@dataclass(frozen=True, slots=True)
class BoardPower:
    """The smallest difference in a board's ranking score. parts: the same for single languages, or other parts of the
    items.
    """

    phase: Phase
    board: Board
    column: BoardColumn
    whole: SmallestDifference
    parts: tuple[SmallestDifference, ...]
    systems: str


def power_of(session: Session, competition: Competition) -> list[BoardPower]:
    """Return the known power of boards, in the organisers' order. competition: from `find_competition`."""
    kept = _kept(session, [one.id for phase in competition.phases for one in phase.phase_tasks])
    found = []
    for phase in competition.phases:
        by_task = {one.task_id: kept[one.id] for one in phase.phase_tasks if one.id in kept}
        for board in boards_of(competition, phase):
            power = by_task.get(board.task_id)
            scores = [one for one in power.scores if one.metric == board.rank_metric] if power else []
            whole = next((one for one in scores if one.split == board.rank_split), None)
            if power is not None and whole is not None:
                parts = tuple(one for one in scores if _is_part(one.split, board.rank_split))
                found.append(BoardPower(phase, board, _ranking(board), whole, parts, power.systems))
    return found


def power_basis(session: Session, phase_task: PhaseTask) -> str | None:
    """Return a digest of the gold and the declarations on which its power depends: options, private part, and the
    metrics that rank the task's boards. None without gold.
    """
    gold, task = gold_identity(session, phase_task), session.get_one(CompetitionTask, phase_task.task_id)
    if gold is None:
        return None
    ranking = session.scalars(select(Board.rank_metric).where(Board.task_id == task.id).distinct())
    declared = [gold, phase_task.options_of(task), phase_task.private_part, sorted(ranking)]
    return hashlib.sha256(json.dumps(declared, sort_keys=True).encode()).hexdigest()


def lacks_power(session: Session, phase_task_id: int) -> bool:
    """Return True if the task has gold whose power has not been computed for the current declarations."""
    basis = power_basis(session, session.get_one(PhaseTask, phase_task_id))
    kept = session.get(GoldPower, phase_task_id)
    return basis is not None and (kept is None or kept.document.get("basis") != basis)


def is_kept(session: Session, phase_task_id: int, key: str) -> bool:
    """Return True if the cached result is current."""
    kept = session.get(GoldPower, phase_task_id)
    return kept is not None and kept.key == key


def record_power(session: Session, phase_task_id: int, power: Power) -> None:
    """Store the power of a task, replacing an earlier result."""
    scores = [[s.metric, s.split, s.difference, s.size] for s in power.scores]
    size = [power.size.items, round(power.size.bits, 1), power.size.labels] if power.size else None
    document = {"basis": power.basis, "systems": power.systems, "scores": scores, "size": size}
    session.merge(GoldPower(phase_task_id=phase_task_id, gold=power.gold, key=power.key, document=document))


def gold_sizes(session: Session, phase_tasks: Sequence[PhaseTask]) -> dict[int, GoldSize]:
    """Return the size of the gold in use by phase task id, without gold that no worker has measured."""
    kept = _kept(session, [one.id for one in phase_tasks])
    return {
        one.id: power.size
        for one in phase_tasks
        if (power := kept.get(one.id)) is not None and power.size and power.gold == gold_identity(session, one)
    }


def _kept(session: Session, phase_tasks: Sequence[int]) -> dict[int, Power]:
    rows = session.scalars(select(GoldPower).where(GoldPower.phase_task_id.in_(phase_tasks)))
    return {row.phase_task_id: _read(row.gold, row.key, row.document) for row in rows}


def _read(gold: str, key: str, document: dict[str, Any]) -> Power:
    size = document.get("size")
    scores = tuple(SmallestDifference(*one) for one in document["scores"])
    return Power(gold, key, document["systems"], scores, GoldSize(*size) if size else None, document.get("basis", ""))


def _ranking(board: Board) -> BoardColumn:
    return next(c for c in board_columns(board) if (c.metric, c.split) == (board.rank_metric, board.rank_split))


def _is_part(split: str, whole: str) -> bool:
    """Return True if the split is a part of `whole`: `zero_shot/en` of `zero_shot/all`, `en` of `macro` and `all`."""
    return split != whole and split.rpartition("/")[0] == whole.rpartition("/")[0]
