"""Preview of a blueprint as participants will see it.

Scores need gold, which is sealed for a place in an existing competition. Before the draft exists, boards show their
columns and baselines, with only the scores that organisers declared for them; later, while boards are being rewritten,
with the scores of the competition's baselines.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.declarations.model import (
    BaselineDeclaration,
    BoardDeclaration,
    ColumnDeclaration,
    CompetitionDeclaration,
    PhaseDeclaration,
    PhaseTaskDeclaration,
)
from app.declarations.revisions.documents import Document
from app.declarations.revisions.kept import present_revision
from app.models import (
    Blueprint,
    Competition,
    CompetitionTask,
    Phase,
    PhaseTask,
    Right,
    RunStatus,
    ScoringRun,
    Submission,
    Team,
    TeamKind,
    User,
)
from app.people.rights import may_organise
from app.runs.report import scores_of_report
from evergold.scoring.errors import ScoringError
from evergold.scoring.task import read_options
from evergold.scoring.tasks import TASKS

#: Scores by (phase, task, name of the baseline), then by (metric, split); None for undefined scores.
BaselineScores = Mapping[tuple[str, str, str], Mapping[tuple[str, str], float | None]]


@dataclass(frozen=True, slots=True)
class ColumnShown:
    """A column. ranks: True if it orders the board."""

    title: str
    percent: bool
    ranks: bool


@dataclass(frozen=True, slots=True)
class ScoreShown:
    """A score with the decimals of its column, None until a worker has scored it.

    is_declared: marks an expected score, which may differ from the real one.
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
    """Return the declaration; None if keys or types are invalid. Its files and cross-checks may have errors."""
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
            tuple(_rows(phase, board, declaration, scored)),
        )
        for phase in declared.phases
        for board in declared.boards
        if (declaration := phase.tasks.get(board.task)) is not None
    ]


def _rows(
    phase: PhaseDeclaration, board: BoardDeclaration, declaration: PhaseTaskDeclaration, scored: BaselineScores
) -> Iterator[RowShown]:
    """Yield the baselines of a board; a baseline without a track is on the boards of all tracks."""
    for baseline in declaration.baselines:
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
    """Return the titles of the task type's scores; empty if its options are invalid."""
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


def baseline_scores(
    session: Session, user: User, blueprint: Blueprint, written: CompetitionDeclaration
) -> BaselineScores:
    """Return the scores; empty for a new competition, and for users who may not see its scores.

    written: the declaration of the blueprint.
    """
    competition = blueprint.competition
    if competition is None or not may_organise(session, user, competition, Right.SUBMISSIONS):
        return {}
    present = present_revision(session, competition)
    declared = declaration_of(present.document)
    if declared is None:
        return {}
    files = {file.path: file.sha256 for file in blueprint.files}
    there = _scored_alike(declared, {file.path: file.sha256 for file in present.files})
    same = {place for place, how in _scored_alike(written, files).items() if there.get(place) == how}
    hashes = {
        (phase.name, task, baseline.name): files.get(baseline.file)
        for phase in written.phases
        for task, declaration in phase.tasks.items()
        for baseline in declaration.baselines
    }
    return {
        place: {(score.metric, score.split): score.value for score in scores_of_report(report)}
        for place, sha256, report in _reports(session, competition)
        if place[:2] in same and hashes.get(place) == sha256
    }


def _scored_alike(declared: CompetitionDeclaration, files: Mapping[str, str]) -> dict[tuple[str, str], Any]:
    """Return everything in a declaration that affects scores, by phase and task, except the competition's gold."""
    tasks = {task.name: task for task in declared.tasks}
    return {
        (phase.name, name): (
            tasks[name].type,
            {**tasks[name].options, **declaration.options},
            (declaration.private_part.share, declaration.private_part.seed) if declaration.private_part else None,
            files.get(declaration.items or ""),
        )
        for phase in declared.phases
        for name, declaration in phase.tasks.items()
        if name in tasks
    }


def _reports(session: Session, competition: Competition) -> Iterator[tuple[tuple[str, str, str], str, bytes]]:
    """Yield the reports of baselines; if a baseline has several, the latest comes last."""
    query = (
        select(Phase.name, CompetitionTask.name, Team.name, Submission.sha256, ScoringRun.report)
        .join(Submission, Submission.id == ScoringRun.submission_id)
        .join(Team, Team.id == Submission.team_id)
        .join(PhaseTask, PhaseTask.id == Submission.phase_task_id)
        .join(Phase, Phase.id == PhaseTask.phase_id)
        .join(CompetitionTask, CompetitionTask.id == PhaseTask.task_id)
        .where(Team.competition_id == competition.id, Team.kind == TeamKind.BASELINE)
        .where(ScoringRun.is_current, ScoringRun.status == RunStatus.SCORED, Submission.withdrawn_at.is_(None))
        .order_by(Submission.submitted_at)
    )
    for phase, task, name, sha256, report in session.execute(query):
        if report is not None:
            yield (phase, task, name), sha256, report


def scores_of_baselines(session: Session, competition: Competition) -> BaselineScores:
    """Return the worker's scores of all baselines of a competition, for organisers who may see them."""
    return {
        place: {(score.metric, score.split): score.value for score in scores_of_report(report)}
        for place, _, report in _reports(session, competition)
    }
