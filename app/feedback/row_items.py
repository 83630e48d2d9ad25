"""Two rows of a board item by item, if the gold is declared public and the predictions may be shown.

A board shows no predictions: a team sees the items of its own entries and, for comparison, of baselines; organisers see
all of them.
"""

from __future__ import annotations

from sqlalchemy.orm import Session

from app.boards.row_comparison import RowComparison
from app.boards.rows import Leaderboard
from app.competitions.visibility import task_in_phase
from app.feedback.items import GOLD_HIDDEN, NOTHING_OF_ITEMS, SCORES_IN_PART, ItemComparison, paired
from app.models import Board, Phase
from app.runs.report import results_of
from evergold.scoring.tasks import TASKS

OTHERS_PREDICTIONS = (
    "Item-by-item comparison is for your own submissions and baselines: predictions of other teams are not shown."
)
NOT_KEPT = "One of the two has no item results: only submissions scored since their gold was declared public have them."


def items_of_rows(
    session: Session, phase: Phase, board: Board, leaderboard: Leaderboard, rows: RowComparison
) -> ItemComparison:
    """Return the items of both rows, or the reason why they are hidden."""
    both = (rows.first, rows.second)
    view = leaderboard.view
    is_own = any(row.is_mine for row in both) and all(row.is_mine or row.kind == "baseline" for row in both)
    if not task_in_phase(session, phase, board).gold_is_public:
        return ItemComparison(hidden_words=GOLD_HIDDEN)
    if not TASKS[board.task.task_type].has_item_results:
        return ItemComparison(hidden_words=NOTHING_OF_ITEMS)
    if not view.has_details or not view.own_scores:
        return ItemComparison(hidden_words=SCORES_IN_PART)
    if not view.is_organiser and not is_own:
        return ItemComparison(hidden_words=OTHERS_PREDICTIONS)
    first, second = (results_of(session, row.run_id) if row.run_id is not None else None for row in both)
    if first is None or second is None:
        return ItemComparison(hidden_words=NOT_KEPT)
    return paired(first, second)
