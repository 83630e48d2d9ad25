"""Shares of the hidden gold of a competition that one team can infer during a phase; for organisers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sqlalchemy.orm import Session

from app.boards.power import gold_sizes
from app.competitions.find import boards_of
from app.competitions.leak import BoardScores, Leak, leak_of, leak_settings
from app.competitions.visibility import is_gold_hidden
from app.models import Board, Competition, Phase, PhaseTask
from evergold.scoring.errors import InvalidOptions
from evergold.scoring.task import read_options
from evergold.scoring.tasks import get_task


@dataclass(frozen=True, slots=True)
class PhaseLeak:
    """A task of a phase. leak: the share of its gold that can be inferred."""

    phase: Phase
    phase_task: PhaseTask
    leak: Leak


def leaks_in(session: Session, competition: Competition) -> list[PhaseLeak]:
    """List every task in a phase with boards and hidden gold, in the organisers' order.

    competition: from `find_competition`.
    """
    sizes = gold_sizes(session, [one for phase in competition.phases for one in phase.phase_tasks])
    found = []
    for phase in competition.phases:
        boards = boards_of(competition, phase)
        for one in phase.phase_tasks:
            shown = _scores(board for board in boards if board.task_id == one.task_id)
            if not shown or not is_gold_hidden(one):
                continue
            task = get_task(one.task.task_type)
            try:
                options = read_options(task, one.options_of(one.task))
            except InvalidOptions:  # written for another version of the task type
                continue
            settings = leak_settings(phase, one, task, options, shown)
            found.append(PhaseLeak(phase, one, leak_of(settings, sizes.get(one.id))))
    return found


def _scores(boards: Iterable[Board]) -> list[BoardScores]:
    return [
        BoardScores(
            (board.rank_metric, board.rank_split), tuple((one["metric"], one["split"]) for one in board.columns)
        )
        for board in boards
    ]
