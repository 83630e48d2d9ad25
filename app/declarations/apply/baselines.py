"""Baselines of the organisers: teams without members whose files are scored like any other as soon as there is gold.

A file is submitted once; a changed file or track, or a failed run, leads to a new submission.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import PurePosixPath

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.base.storage import StoredFile
from app.competitions.changed import boards_changed
from app.declarations.apply.baseline_limit import TooManyBaselines, baseline_refusal
from app.declarations.apply.changes import Work
from app.declarations.model import BaselineDeclaration
from app.models import Competition, PhaseTask, RunStatus, ScoringRun, Submission, Team, TeamKind, User
from app.submissions.accept import add_run

#: Nobody can register these: user names have no '@', and addresses have a dot after it.
USERNAME = "@baselines"
EMAIL = "baselines@evergold"


def apply_baselines(
    work: Work,
    competition: Competition,
    phase_task: PhaseTask,
    declared: Sequence[BaselineDeclaration],
    stored: Callable[[str], StoredFile],
    what: str,
) -> None:
    """Submit new baselines, or note that they wait for gold; update which of them are ranked.

    stored: maps a declared file to its stored one. Raises TooManyBaselines.
    """
    ranked = []
    for baseline in declared:
        if phase_task.gold is None:
            work.changes.note(f"baseline '{baseline.name}' of {what} waits for the gold, and is submitted as it comes")
            continue
        file = stored(baseline.file)
        team = _team(work, competition, baseline.name)
        if baseline.ranked:
            ranked.append(team.id)
        why = _why_submit(work.session, team, phase_task, file, baseline.track)
        if why is not None:
            if refusal := baseline_refusal(work, phase_task, baseline.name, what):
                if work.refuses_baselines:
                    raise TooManyBaselines(refusal)
                work.changes.note(refusal)
                continue
            run = _submit(work, team, phase_task, baseline, file, phase_task.gold)
            work.changes.add(f"submitted baseline '{baseline.name}' to {what}{why}", run_id=run.id)
    _note_ranked(work, phase_task, ranked, what)


def _note_ranked(work: Work, phase_task: PhaseTask, ranked: Sequence[int], what: str) -> None:
    """Update the ranked baselines; a change also increments the board version."""
    before, now = set(phase_task.ranked_baselines), set(ranked)
    if before == now:
        return
    named = work.session.execute(select(Team.id, Team.name).where(Team.id.in_(before | now)))
    names = {team_id: name for team_id, name in named}
    for team_id in sorted(before ^ now):
        has = "has a rank now" if team_id in now else "has no rank any more"
        work.changes.add(f"baseline '{names[team_id]}' of {what} {has}")
    phase_task.ranked_baselines = sorted(now)
    boards_changed(work.session, [phase_task.id])


def _why_submit(session: Session, team: Team, phase_task: PhaseTask, file: StoredFile, track: str | None) -> str | None:
    """Return the reason to submit the file, worded as the end of a sentence; None if it was submitted already."""
    last = session.execute(
        select(Submission.sha256, Submission.track, ScoringRun.status)
        .join(ScoringRun, (ScoringRun.submission_id == Submission.id) & ScoringRun.is_current)
        .where(Submission.team_id == team.id, Submission.phase_task_id == phase_task.id)
        .order_by(ScoringRun.id.desc())
        .limit(1)
    ).first()
    if last is None:
        return ""
    if last.sha256 != file.sha256:
        return ": its file has changed"
    if last.track != track:
        return ": its track has changed"
    return ": scoring it had failed" if last.status == RunStatus.FAILED else None


def _submit(
    work: Work, team: Team, phase_task: PhaseTask, baseline: BaselineDeclaration, file: StoredFile, gold: str
) -> ScoringRun:
    submission = Submission(
        team_id=team.id,
        user_id=_user(work).id,
        phase_task_id=phase_task.id,
        sha256=file.sha256,
        size_bytes=file.size_bytes,
        filename=PurePosixPath(baseline.file).name[:200],
        track=baseline.track,
        method=baseline.method,
        description=baseline.description,
        submitted_at=work.now,
    )
    work.session.add(submission)
    work.session.flush()
    return add_run(work.session, submission, gold, work.now)


def _team(work: Work, competition: Competition, name: str) -> Team:
    """Return the team of the baseline; a suffix is added if another team has the name already."""
    for free in (name, f"{name[:80]} (baseline)", f"{name[:60]} (organisers' baseline)"):
        team = work.session.scalar(select(Team).where(Team.competition_id == competition.id, Team.name == free))
        if team is None:
            team = Team(competition_id=competition.id, name=free, kind=TeamKind.BASELINE, created_at=work.now)
            work.session.add(team)
            work.session.flush()
        if team.kind == TeamKind.BASELINE:
            return team
    raise RuntimeError(f"three teams have the name of the baseline {name!r}")


def _user(work: Work) -> User:
    """Return the account that owns baselines; it has no password."""
    user = work.session.scalar(select(User).where(User.username == USERNAME))
    if user is None:
        user = User(username=USERNAME, email=EMAIL, display_name="Baselines", created_at=work.now)
        work.session.add(user)
        work.session.flush()
    return user
