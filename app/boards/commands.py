"""Commands that reproduce a board's scores, intervals and p-values locally, if its gold is public."""

from __future__ import annotations

import json
import shlex

from sqlalchemy.orm import Session

from app.boards.rows import Leaderboard
from app.competitions.visibility import task_in_phase
from app.gold.versions import gold_identity
from app.models import Board, BoardShown, Phase

#: Placeholders for the user's files.
GOLD, FIRST, SECOND = "GOLD", "FIRST", "SECOND"


def commands_of(session: Session, phase: Phase, board: Board, leaderboard: Leaderboard) -> list[str]:
    """Return commands that score and compare predictions; empty if gold is hidden or no statistics are shown."""
    phase_task = task_in_phase(session, phase, board)
    is_told = leaderboard.view.board is BoardShown.PUBLIC and leaderboard.statistics in ("current", "pending")
    gold = gold_identity(session, phase_task)
    if gold is None or not phase_task.gold_is_public or not is_told:
        return []
    declared = sorted(phase_task.options_of(board.task).items())
    options = [part for name, value in declared for part in ("--option", f"{name}={json.dumps(value)}")]
    task, ranking = board.task.task_type, f"{board.rank_metric} {board.rank_split}"
    score = ["evergold", "score", task, "--gold", GOLD, "--prediction", FIRST, *options, "--intervals"]
    compare = ["evergold", "compare", FIRST, SECOND, "--task", task, "--gold", GOLD, *options]
    return [shlex.join(score), shlex.join([*compare, "--metric", ranking, "--seed", gold])]
