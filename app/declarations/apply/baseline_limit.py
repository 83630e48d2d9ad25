"""Limit on baselines scored against hidden gold in a phase: each score reveals something about it, with every digit."""

from __future__ import annotations

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.base.errors import EvergoldError
from app.competitions.visibility import is_gold_hidden
from app.declarations.apply.changes import Work
from app.models import PhaseTask, RunStatus, ScoringRun, Submission, Team, TeamKind

#: Per phase, over all its tasks with hidden gold; a changed file counts again.
MOST_BASELINES = 10
#: Statuses of runs whose outcome does not depend on gold.
_TELLS_NOTHING = (RunStatus.REJECTED, RunStatus.FAILED)


class TooManyBaselines(EvergoldError):
    """A phase has reached its limit of baselines scored against hidden gold."""

    status = 409
    code = "too_many_baselines"


def baseline_refusal(work: Work, phase_task: PhaseTask, name: str, what: str) -> str | None:
    """Explain why this baseline cannot be submitted, and what to do; None if it can."""
    if not is_gold_hidden(phase_task, trusts_declaration=work.trusts_declaration):
        return None
    if _submitted(work, phase_task.phase_id) < MOST_BASELINES:
        return None
    return (
        f"Baseline '{name}' of {what} cannot be scored: at most {MOST_BASELINES} baselines a phase, changed files "
        "included, are scored while its gold is hidden, as each score tells something of it. Leave it out, or make the "
        "gold public first."
    )


def _submitted(work: Work, phase_id: int) -> int:
    """Count the baselines that were or will be scored against hidden gold of the phase."""
    asked = work.session.scalars(select(PhaseTask).where(PhaseTask.phase_id == phase_id)).all()
    trusts = work.trusts_declaration
    hidden = [one.id for one in asked if is_gold_hidden(one, trusts_declaration=trusts)]
    return count_baselines(work.session, hidden)


def count_baselines(session: Session, phase_tasks: list[int]) -> int:
    """Count the baseline submissions that reveal something about the gold."""
    query = (
        select(func.count())
        .select_from(Submission)
        .join(Team, Team.id == Submission.team_id)
        .join(ScoringRun, (ScoringRun.submission_id == Submission.id) & ScoringRun.is_current)
        .where(Submission.phase_task_id.in_(phase_tasks), Team.kind == TeamKind.BASELINE)
        .where(ScoringRun.status.not_in(_TELLS_NOTHING))
    )
    return session.scalars(query).one()
