"""How many baselines a phase may have scored against hidden gold: each score tells something of it, at every digit."""

from __future__ import annotations

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.base.errors import EvergoldError
from app.declarations.apply.changes import Work
from app.gold.hidden import is_gold_hidden
from app.models import PhaseTask, RunStatus, ScoringRun, Submission, Team, TeamKind

#: In a phase, over all of its tasks with hidden gold; a changed file counts anew.
MOST_BASELINES = 10
#: What such runs tell has nothing to do with gold.
_TELLS_NOTHING = (RunStatus.REJECTED, RunStatus.FAILED)


class TooManyBaselines(EvergoldError):
    """A phase has had as many baselines scored against hidden gold as it may."""

    status = 409
    code = "too_many_baselines"


def baseline_refusal(work: Work, phase_task: PhaseTask, name: str, what: str) -> str | None:
    """Why this baseline cannot be submitted, and what to do; None if it can."""
    if not is_gold_hidden(work.session, phase_task, trusts_declaration=work.trusts_declaration):
        return None
    if _submitted(work, phase_task.phase_id) < MOST_BASELINES:
        return None
    return (
        f"Baseline '{name}' of {what} cannot be scored: at most {MOST_BASELINES} baselines a phase, changed files "
        "included, are scored while its gold is hidden, as each score tells something of it. Leave it out, or make the "
        "gold public first."
    )


def _submitted(work: Work, phase_id: int) -> int:
    """How many baselines were scored, or will be, against hidden gold of the phase."""
    asked = work.session.scalars(select(PhaseTask).where(PhaseTask.phase_id == phase_id)).all()
    trusts = work.trusts_declaration
    hidden = [one.id for one in asked if is_gold_hidden(work.session, one, trusts_declaration=trusts)]
    return count_baselines(work.session, hidden)


def count_baselines(session: Session, phase_tasks: list[int]) -> int:
    """Count the submissions of baselines that say something of the gold."""
    query = (
        select(func.count())
        .select_from(Submission)
        .join(Team, Team.id == Submission.team_id)
        .join(ScoringRun, (ScoringRun.submission_id == Submission.id) & ScoringRun.is_current)
        .where(Submission.phase_task_id.in_(phase_tasks), Team.kind == TeamKind.BASELINE)
        .where(ScoringRun.status.not_in(_TELLS_NOTHING))
    )
    return session.scalars(query).one()
