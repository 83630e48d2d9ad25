"""Columns of a board: the declared ones with metadata of the task type, and the number of languages submitted.

If a task type lets each team choose its languages, their number is a separate score: metric `languages`, split `macro`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from app.competitions.metrics import metrics_of
from app.models import Board

LANGUAGES, MACRO = "languages", "macro"
#: Score by human judges: never declared, present once a round of judgements is published (`app.boards.entries`).
HUMAN_SCORE = "human_score"


@dataclass(frozen=True, slots=True)
class BoardColumn:
    """A column: its score (`metric`, `split`) and how it is displayed.

    title: as declared, often only the part of the items; metric_title: the name of the metric, "" on boards that were
    frozen without it.
    out_of: the maximum of a count; aspect: see `Metric`.
    """

    metric: str
    split: str
    title: str
    decimals: int
    percent: bool
    higher_is_better: bool
    description: str
    out_of: int | None = None
    aspect: str = ""
    metric_title: str = ""

    @property
    def full_title(self) -> str:
        """The metric and the title: `Macro F1 · English`; only one if they are the same, or the metric's name is
        unknown.
        """
        names = dict.fromkeys(name for name in (self.metric_title, self.title) if name)
        return " · ".join(names)


def ranked_by(columns: Sequence[BoardColumn], rank_by: int) -> str:
    """Return the scores' title: `Macro F1 · All`, or `Ranked by Macro F1 · All` for a board with several columns."""
    ranking = columns[rank_by]
    metrics = {column.metric_title for column in columns}
    if len(columns) > 1 and metrics == {ranking.metric_title} and ranking.title != ranking.metric_title != "":
        return f"{ranking.metric_title}, ranked by {ranking.title}"
    return ranking.full_title if len(columns) == 1 else f"Ranked by {ranking.full_title}"


def board_columns(board: Board) -> tuple[BoardColumn, ...]:
    """Return the declared columns with metadata of their metrics. `board.task` must be loaded."""
    metrics = metrics_of(board.task)
    return tuple(
        BoardColumn(
            metric=column["metric"],
            split=column["split"],
            title=column["title"],
            decimals=column["decimals"],
            percent=column["percent"],
            higher_is_better=metrics[column["metric"]].higher_is_better,
            description=metrics[column["metric"]].description,
            aspect=metrics[column["metric"]].aspect,
            metric_title=metrics[column["metric"]].title,
        )
        for column in board.columns
    )


def visible_columns(board: Board, options: Mapping[str, Any]) -> tuple[BoardColumn, ...]:
    """Return the columns of a board in one phase; for a task with several languages the first is the number submitted.

    options: of the task, overridden by those of the phase.
    """
    columns = board_columns(board)
    metric = metrics_of(board.task).get(LANGUAGES)
    declared = options.get(LANGUAGES)
    if metric is None or not isinstance(declared, list) or len(declared) < 2:
        return columns
    if all((column.metric, column.split) != (LANGUAGES, MACRO) for column in columns):
        title, better = metric.title, metric.higher_is_better
        count = BoardColumn(LANGUAGES, MACRO, title, 0, False, better, metric.description, metric_title=title)
        columns = (count, *columns)
    return tuple(
        replace(column, out_of=len(declared)) if (column.metric, column.split) == (LANGUAGES, MACRO) else column
        for column in columns
    )


def further_columns(
    board: Board, columns: tuple[BoardColumn, ...], scores: Iterable[tuple[str, str]]
) -> tuple[BoardColumn, ...]:
    """Return columns for the (metric, split) pairs that the board does not declare, in their order."""
    metrics, known = metrics_of(board.task), {(column.metric, column.split) for column in columns}
    return tuple(
        BoardColumn(
            metric=metric,
            split=split,
            title=metrics[metric].title,
            decimals=4,
            percent=False,
            higher_is_better=metrics[metric].higher_is_better,
            description=metrics[metric].description,
            aspect=metrics[metric].aspect,
            metric_title=metrics[metric].title,
        )
        for metric, split in scores
        if (metric, split) not in known
    )
