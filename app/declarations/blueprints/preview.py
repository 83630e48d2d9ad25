"""What is written, as those will see it who take part: whatever can be shown while nothing was scored.

Scores need gold, which is sealed for a place in a competition that is there: boards have their columns and baselines,
and of scores those alone that organisers declared a baseline must have.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pydantic import ValidationError

from app.declarations.model import BaselineDeclaration, BoardDeclaration, CompetitionDeclaration, PhaseTaskDeclaration
from app.declarations.revisions.documents import Document
from evergold.scoring.errors import ScoringError
from evergold.scoring.task import read_options
from evergold.scoring.tasks import TASKS


@dataclass(frozen=True, slots=True)
class ColumnShown:
    """ranks: whether the board is ordered by it."""

    title: str
    percent: bool
    ranks: bool


@dataclass(frozen=True, slots=True)
class RowShown:
    """A baseline; scores: as declared, with the column's digits; None: known when a worker has scored it."""

    name: str
    method: str
    scores: tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class BoardShown:
    """A board in one phase."""

    title: str
    phase: str
    description: str
    columns: tuple[ColumnShown, ...]
    rows: tuple[RowShown, ...]


def declaration_of(document: Document) -> CompetitionDeclaration | None:
    """None while its form is wrong; its files, and what only fits together wrongly, may still be."""
    try:
        return CompetitionDeclaration.model_validate(document)
    except ValidationError:
        return None


def boards_of(declared: CompetitionDeclaration) -> list[BoardShown]:
    """In the order of phases, then of boards."""
    return [
        BoardShown(board.title, phase.title, board.description, tuple(_columns(declared, board)), _rows(board, asked))
        for phase in declared.phases
        for board in declared.boards
        if (asked := phase.tasks.get(board.task)) is not None
    ]


def _rows(board: BoardDeclaration, asked: PhaseTaskDeclaration) -> tuple[RowShown, ...]:
    """A baseline without a track stands on the boards of every track."""
    shown = [one for one in asked.baselines if None in (one.track, board.track) or one.track == board.track]
    return tuple(_row(one, board) for one in shown)


def _columns(declared: CompetitionDeclaration, board: BoardDeclaration) -> Iterator[ColumnShown]:
    titles = _titles(declared, board.task)
    rank = board.rank_by or board.columns[0]
    for column in board.columns:
        score = (column.metric, column.split)
        title = column.title or titles.get(score) or f"{column.metric} {column.split}"
        yield ColumnShown(title, column.percent, score == (rank.metric, rank.split))


def _titles(declared: CompetitionDeclaration, name: str) -> dict[tuple[str, str], str]:
    """As the task type calls its scores; none while its options are wrong."""
    task = next((one for one in declared.tasks if one.name == name), None)
    if task is None or task.type not in TASKS:
        return {}
    type_ = TASKS[task.type]
    try:
        columns = type_.columns(read_options(type_, task.options))
    except (ScoringError, ValueError, KeyError):
        return {}
    return {(column.metric, column.split): column.title for column in columns}


def _row(baseline: BaselineDeclaration, board: BoardDeclaration) -> RowShown:
    scores = []
    for column in board.columns:
        value = baseline.scores.get(f"{column.metric} {column.split}")
        factor = 100 if column.percent else 1
        scores.append(None if value is None else f"{value * factor:.{column.decimals}f}")
    return RowShown(baseline.name, baseline.method, tuple(scores))
