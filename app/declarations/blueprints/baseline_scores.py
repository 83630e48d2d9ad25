"""Scores of a competition's baselines while its boards are being rewritten.

These are all scores of their reports, not only those of current columns, so that columns can be chosen by what they
would show. Scores apply to the draft only if it would score in the same way: same file, items, options and part.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.declarations.blueprints.preview import BaselineScores, declaration_of
from app.declarations.model import CompetitionDeclaration
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
        for task, asked in phase.tasks.items()
        for baseline in asked.baselines
    }
    return {
        place: {(score.metric, score.split): score.value for score in scores_of_report(report)}
        for place, sha256, report in _reports(session, competition)
        if place[:2] in same and hashes.get(place) == sha256
    }


def _scored_alike(declared: CompetitionDeclaration, files: Mapping[str, str]) -> dict[tuple[str, str], Any]:
    """Return everything in a declaration that affects scores, by phase and task, except the competition's own gold."""
    tasks = {task.name: task for task in declared.tasks}
    return {
        (phase.name, name): (
            tasks[name].type,
            {**tasks[name].options, **asked.options},
            (asked.private_part.share, asked.private_part.seed) if asked.private_part else None,
            files.get(asked.items or ""),
        )
        for phase in declared.phases
        for name, asked in phase.tasks.items()
        if name in tasks
    }


def _reports(session: Session, competition: Competition) -> Iterator[tuple[tuple[str, str, str], str, bytes]]:
    """Yield the reports of baselines, the latest of each last."""
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
