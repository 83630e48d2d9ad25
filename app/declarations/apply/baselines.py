"""Baselines of the organisers: teams without members whose files are scored like others as soon as there is gold.

A file is submitted once; a changed file or track, or a failed run, leads to a new submission.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import PurePosixPath

from pydantic import ValidationError
from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from app.base.config import get_settings
from app.base.errors import EvergoldError
from app.base.storage import StoredFile, storage_of
from app.competitions.changed import boards_changed
from app.competitions.visibility import is_gold_hidden
from app.declarations.apply.changes import Changes, Work
from app.declarations.model import BaselineDeclaration, CompetitionDeclaration
from app.declarations.revisions.kept import newest_revision
from app.gold.versions import SEALED_NAME, published_gold
from app.models import Competition, PhaseTask, RunStatus, ScoringRun, Submission, Team, TeamKind, User
from app.runs.claims import BACK_IN_QUEUE
from app.standings.renew import renew_all
from app.submissions.accept import add_run

#: Maximum number of baselines per phase, over all its tasks with hidden gold; a changed file counts again.
MOST_BASELINES = 10
#: Statuses of runs whose outcome does not depend on gold.
_TELLS_NOTHING = (RunStatus.REJECTED, RunStatus.FAILED)


class TooManyBaselines(EvergoldError):
    """A phase has reached its limit of baselines scored against hidden gold."""

    status = 409
    code = "too_many_baselines"


def baseline_refusal(work: Work, phase_task: PhaseTask, name: str, what: str) -> str | None:
    """Return why this baseline cannot be submitted, and what to do; None if it can."""
    if not is_gold_hidden(phase_task, trusts_declaration=work.trusts_declaration):
        return None
    if _submitted(work, phase_task.phase_id) < MOST_BASELINES:
        return None
    return (
        f"Baseline '{name}' of {what} cannot be scored: at most {MOST_BASELINES} baselines a phase, changed files "
        "included, are scored while its gold is hidden, as each score reveals something about it. Leave it out, or "
        "make the gold public first."
    )


def _submitted(work: Work, phase_id: int) -> int:
    """Return the number of baselines that were or will be scored against hidden gold of the phase."""
    phase_tasks = work.session.scalars(select(PhaseTask).where(PhaseTask.phase_id == phase_id)).all()
    trusts = work.trusts_declaration
    hidden = [one.id for one in phase_tasks if is_gold_hidden(one, trusts_declaration=trusts)]
    return count_baselines(work.session, hidden)


def count_baselines(session: Session, phase_tasks: list[int]) -> int:
    """Return the number of baseline submissions that reveal something about the gold."""
    query = (
        select(func.count())
        .select_from(Submission)
        .join(Team, Team.id == Submission.team_id)
        .join(ScoringRun, (ScoringRun.submission_id == Submission.id) & ScoringRun.is_current)
        .where(Submission.phase_task_id.in_(phase_tasks), Team.kind == TeamKind.BASELINE)
        .where(ScoringRun.status.not_in(_TELLS_NOTHING))
    )
    return session.scalars(query).one()


#: Owner of the baselines. Nobody can register these: user names have no '@', and addresses have a dot after it.
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
            work.changes.note(
                f"baseline '{baseline.name}' of {what} waits for the gold, and is submitted as soon as it is there"
            )
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
    """Update which baselines are ranked; a change also increments the board version."""
    before, now = set(phase_task.ranked_baselines), set(ranked)
    if before == now:
        return
    named = work.session.execute(select(Team.id, Team.name).where(Team.id.in_(before | now)))
    names = {team_id: name for team_id, name in named}
    for team_id in sorted(before ^ now):
        has = "has a rank now" if team_id in now else "no longer has a rank"
        work.changes.add(f"baseline '{names[team_id]}' of {what} {has}")
    phase_task.ranked_baselines = sorted(now)
    boards_changed(work.session, [phase_task.id])


def _why_submit(session: Session, team: Team, phase_task: PhaseTask, file: StoredFile, track: str | None) -> str | None:
    """Return the reason to submit the file, as the end of a sentence; None if it was already submitted."""
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
    """Return the team of the baseline; its name gets a suffix if another team already has the name."""
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


def submit_waiting_baselines(session: Session, phase_task: PhaseTask, now: datetime) -> list[int]:
    """Submit waiting baselines, and score others with the gold now in use; return the runs to send after the commit.

    phase_task: with phase, competition and task, from `find_phase_task`.
    """
    return [*_rescore_baselines(session, phase_task, now), *_submit_waiting(session, phase_task, now)]


def _rescore_baselines(session: Session, phase_task: PhaseTask, now: datetime) -> list[int]:
    """Replace the runs of baselines that were scored with earlier gold if no team has submitted; return the new runs.

    Otherwise the board would have scores with both: these submissions are rescored together, as a set.
    """
    versions = published_gold(session, phase_task.phase_id, phase_task.task_id)
    here = select(Submission.id).join(Team, Team.id == Submission.team_id)
    here = here.where(Submission.phase_task_id == phase_task.id)
    if not versions or session.scalar(here.where(Team.kind == TeamKind.TEAM).limit(1)) is not None:
        return []
    outdated = select(ScoringRun).where(
        ScoringRun.is_current,
        ScoringRun.submission_id.in_(here),
        ScoringRun.gold_version_id != versions[-1].id,
    )
    made = []
    for run in session.scalars(outdated.order_by(ScoringRun.id).with_for_update()).all():
        if run.status in (RunStatus.QUEUED, RunStatus.RUNNING):  # its worker has the earlier gold: it starts over
            begun = {**BACK_IN_QUEUE, "gold_version_id": None, "sent_at": None}
            session.execute(update(ScoringRun).where(ScoringRun.id == run.id).values(begun))
            made.append(run.id)
            continue
        run.is_current = False
        session.flush()
        new = ScoringRun(submission_id=run.submission_id, gold=SEALED_NAME, queued_at=now, replaced_id=run.id)
        session.add(new)
        session.flush()
        made.append(new.id)
    if made:
        boards_changed(session, [phase_task.id])
        renew_all(session, [phase_task.id])
    return made


def _submit_waiting(session: Session, phase_task: PhaseTask, now: datetime) -> list[int]:
    phase, task = phase_task.phase, phase_task.task
    revision = newest_revision(session, phase.competition)
    if revision is None or phase_task.gold is None:
        return []
    files = {file.path: StoredFile(file.sha256, file.size_bytes) for file in revision.files}
    declared = [one for one in _declared(revision.document, phase.name, task.name) if one.file in files]
    work = Work(session, storage_of(get_settings()), now, Changes(), refuses_baselines=False)
    what = f"'{task.name}' in phase '{phase.name}' of '{phase.competition.name}'"
    apply_baselines(work, phase.competition, phase_task, declared, files.__getitem__, what)
    return [change.run_id for change in work.changes.made if change.run_id is not None]


def _declared(document: dict[str, object], phase: str, task: str) -> list[BaselineDeclaration]:
    try:
        competition = CompetitionDeclaration.model_validate(document)
    except ValidationError:  # from another version of Evergold: the next apply submits them
        return []
    declarations = [one.tasks[task] for one in competition.phases if one.name == phase and task in one.tasks]
    return list(declarations[0].baselines) if declarations else []
