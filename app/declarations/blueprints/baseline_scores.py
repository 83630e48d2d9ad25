"""What the baselines of a competition have scored, while its boards are written anew: every score of their reports, not
those of the present columns alone, so that columns are chosen by what they would show.

Scores stand for what is written only where it would be scored in the same way: the same file, items, options and part.
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
    """None for a competition that is not there yet, and for who may not see scores in it. written: the blueprint's."""
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
    """By phase and task, all of a declaration that moves scores; gold is the competition's own."""
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
    """The newest of each baseline last."""
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
