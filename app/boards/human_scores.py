"""The column of human scores on a board, shown once a judging round on its task and phase is published."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sqlalchemy import bindparam, select
from sqlalchemy.orm import Session

from app.boards.rows import Cell, LeaderboardRow
from app.boards.view import UnfilteredBoard
from app.competitions.columns import HUMAN_SCORE, BoardColumn
from app.models import Board, JudgingRound, Phase, PhaseTask
from evergold.scoring.task import Metric

METRIC = Metric(
    HUMAN_SCORE,
    "Human score",
    "Mean over the judged items and annotators of (2a + b + c) / 12, where a, b, c are marks from 0 to 3 for the sense "
    "of the expression, the sense of the rest, and naturalness; 0 where the expression is still there.",
    percent=True,
)
_OTHER_JUDGED, _HISTORIC = "this submission was not judged", "not published"


def with_human_scores(session: Session, phase: Phase, board: Board, whole: UnfilteredBoard) -> UnfilteredBoard:
    """Add a last column of human scores in the board's language, or of their mean; unchanged without such a round."""
    judging = published_round(session, phase, board)
    if judging is None or judging.results is None or board.rank_split not in judging.results["signatures"]:
        return whole
    document, split = judging.results, board.rank_split
    column = BoardColumn(
        metric=METRIC.name,
        split=split,
        title=METRIC.title,
        decimals=2,
        percent=METRIC.percent,
        higher_is_better=METRIC.higher_is_better,
        description=METRIC.description,
    )
    rows = tuple(row._replace(cells=(*row.cells, _cell(row, document, split))) for row in whole.rows)
    return replace(whole, columns=(*whole.columns, column), rows=rows)


def _cell(row: LeaderboardRow, document: Mapping[str, Any], split: str) -> Cell:
    if row.kind == "historic":
        return Cell(None, _HISTORIC, None)
    score = document["scores"].get(str(row.submission_id), {}).get(split)
    if score is None:
        return Cell(None, _OTHER_JUDGED, None)
    return Cell(score["value"], score["reason"], document["signatures"][split])


def published_round(session: Session, phase: Phase, board: Board) -> JudgingRound | None:
    """Return the round on this board's task in this phase that was published last."""
    return session.scalar(_PUBLISHED, {"phase": phase.id, "task": board.task_id})


_PUBLISHED = (
    select(JudgingRound)
    .join(PhaseTask, PhaseTask.id == JudgingRound.phase_task_id)
    .where(
        PhaseTask.phase_id == bindparam("phase"),
        PhaseTask.task_id == bindparam("task"),
        JudgingRound.published_at.is_not(None),
    )
    .order_by(JudgingRound.published_at.desc(), JudgingRound.id.desc())
    .limit(1)
)
