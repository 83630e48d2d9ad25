"""Preview of a blueprint as participants will see it.

Scores need gold, which is sealed for a place in an existing competition. Before the draft exists, boards show their
columns and baselines, with only those scores that organisers declared a baseline must have; later, while boards are
being rewritten, they show the scores of the competition's baselines: `app.declarations.blueprints.baseline_scores`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pydantic import ValidationError

from app.declarations.model import (
    BaselineDeclaration,
    BoardDeclaration,
    ColumnDeclaration,
    CompetitionDeclaration,
    PhaseDeclaration,
    PhaseTaskDeclaration,
)
from app.declarations.revisions.documents import Document
from evergold.scoring.errors import ScoringError
from evergold.scoring.task import read_options
from evergold.scoring.tasks import TASKS

#: By phase, task and name of the baseline, then by metric and split; None for undefined scores.
BaselineScores = Mapping[tuple[str, str, str], Mapping[tuple[str, str], float | None]]


@dataclass(frozen=True, slots=True)
class ColumnShown:
    """A column; `ranks` is True if it orders the board."""

    title: str
    percent: bool
    ranks: bool


@dataclass(frozen=True, slots=True)
class ScoreShown:
    """A score with the digits of its column, None until a worker has scored it.

    `is_declared` marks an expected score, which may differ from the real one.
    """

    text: str | None
    is_declared: bool = False


@dataclass(frozen=True, slots=True)
class RowShown:
    """A baseline, with a score for each column."""

    name: str
    method: str
    scores: tuple[ScoreShown, ...]


@dataclass(frozen=True, slots=True)
class BoardShown:
    """A board in one phase."""

    title: str
    phase: str
    description: str
    columns: tuple[ColumnShown, ...]
    rows: tuple[RowShown, ...]


def declaration_of(document: Document) -> CompetitionDeclaration | None:
    """Return the declaration; None if its form is invalid. Its files and cross-checks may still be wrong."""
    try:
        return CompetitionDeclaration.model_validate(document)
    except ValidationError:
        return None


def boards_of(declared: CompetitionDeclaration, scored: BaselineScores) -> list[BoardShown]:
    """Return the boards, by phase, then in their order."""
    return [
        BoardShown(
            board.title,
            phase.title,
            board.description,
            tuple(_columns(declared, board)),
            tuple(_rows(phase, board, asked, scored)),
        )
        for phase in declared.phases
        for board in declared.boards
        if (asked := phase.tasks.get(board.task)) is not None
    ]


def _rows(
    phase: PhaseDeclaration, board: BoardDeclaration, asked: PhaseTaskDeclaration, scored: BaselineScores
) -> Iterator[RowShown]:
    """Yield the baselines of a board; one without a track is on the boards of every track."""
    for baseline in asked.baselines:
        if None in (baseline.track, board.track) or baseline.track == board.track:
            known = scored.get((phase.name, board.task, baseline.name), {})
            scores = tuple(_score(baseline, column, known) for column in board.columns)
            yield RowShown(baseline.name, baseline.method, scores)


def _columns(declared: CompetitionDeclaration, board: BoardDeclaration) -> Iterator[ColumnShown]:
    titles = _titles(declared, board.task)
    rank = board.rank_by or board.columns[0]
    for column in board.columns:
        score = (column.metric, column.split)
        title = column.title or titles.get(score) or f"{column.metric} {column.split}"
        yield ColumnShown(title, column.percent, score == (rank.metric, rank.split))


def _titles(declared: CompetitionDeclaration, name: str) -> dict[tuple[str, str], str]:
    """Return the titles of the task type's scores; none if its options are invalid."""
    task = next((one for one in declared.tasks if one.name == name), None)
    if task is None or task.type not in TASKS:
        return {}
    type_ = TASKS[task.type]
    try:
        columns = type_.columns(read_options(type_, task.options))
    except (ScoringError, ValueError, KeyError):
        return {}
    return {(column.metric, column.split): column.title for column in columns}


def _score(
    baseline: BaselineDeclaration, column: ColumnDeclaration, known: Mapping[tuple[str, str], float | None]
) -> ScoreShown:
    place = column.metric, column.split
    is_declared = place not in known
    value = baseline.scores.get(" ".join(place)) if is_declared else known[place]
    if value is None:
        return ScoreShown(None if is_declared else "–")
    return ScoreShown(f"{value * (100 if column.percent else 1):.{column.decimals}f}", is_declared)
