"""The effect of an upload on the entry, shown before it is sent; and links to other phases and tasks."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy.orm import Session

from app.base import links
from app.competitions.entry_rules import entry_settings
from app.competitions.limits import phase_state
from app.feedback.standings import RunStanding
from app.models import Competition, EntryRule, PhaseTask, RunStatus, Submission, User
from app.submissions.find import list_submissions
from app.web.html.words import format_score

#: By entry rule: for a first submission, for one that may replace a visible score, and without a visible score.
EFFECTS = {
    EntryRule.BEST: (
        "The best run counts, and this is your first.",
        "The best run counts: this one replaces {} if it is better.",
        "The best run counts: this one does if it is better.",
    ),
    EntryRule.LAST: (
        "The newest run counts, and this is your first.",
        "The newest run counts: this one replaces {}.",
        "The newest run counts: this one replaces the one before.",
    ),
    EntryRule.ALL: ("Every run counts, this one too.",) * 3,
    EntryRule.LADDER: ("Your record counts: a run moves it if it is a real improvement.",) * 3,
}


def effect_words(phase_task: PhaseTask, standings: Sequence[RunStanding], *, is_first: bool) -> str:
    """Return the effect as a sentence; standings: of the current entry by board, empty if scores are hidden."""
    settings = entry_settings(phase_task.phase, phase_task)
    rule = settings.without_choice if settings.rule is EntryRule.CHOSEN else settings.rule
    first, replacing, untold = EFFECTS[rule]
    counting = next((one for one in standings if one.counts and one.score.value is not None), None)
    if is_first:
        told = first
    elif counting is not None and counting.score.value is not None:
        told = replacing.format(format_score(counting.score.value, counting.column))
    else:
        told = untold
    if settings.rule is not EntryRule.CHOSEN:
        return told
    if any(one.is_chosen for one in standings):
        return "Your choice counts: this run changes nothing until you choose it."
    return f"{told} You can choose another afterwards."


def latest_run(session: Session, user: User, phase_task: PhaseTask) -> Submission | None:
    """Return the latest scored submission of the user's team here, or else its latest submission."""
    found, _ = _runs(session, user, phase_task, RunStatus.SCORED)
    if not found:
        found, _ = _runs(session, user, phase_task, None)
    return found[0] if found else None


def scored_runs(session: Session, user: User, phase_task: PhaseTask, limit: int) -> list[Submission]:
    """Return the scored submissions of the user's team here, latest first."""
    found, _ = _runs(session, user, phase_task, RunStatus.SCORED, limit)
    return found


def _runs(
    session: Session, user: User, phase_task: PhaseTask, status: RunStatus | None, limit: int = 1
) -> tuple[list[Submission], object]:
    return list_submissions(
        session,
        user,
        competition=phase_task.phase.competition.name,
        phase=phase_task.phase.name,
        task=phase_task.task.name,
        status=status,
        with_withdrawn=status is None,
        limit=limit,
    )


def phase_options(competition: Competition, here: PhaseTask, now: datetime) -> list[tuple[str, str, bool]]:
    """Return the open phases that have the same task, and this phase."""
    return [
        (phase.title, links.submit(competition.name, phase.name, here.task.name), phase.id == here.phase_id)
        for phase in competition.phases
        if (phase_state(phase, now) == "open" or phase.id == here.phase_id)
        and any(asked.task_id == here.task_id for asked in phase.phase_tasks)
    ]


def task_options(competition: Competition, here: PhaseTask) -> list[tuple[str, str, bool]]:
    phase = next(phase for phase in competition.phases if phase.id == here.phase_id)
    return [
        (asked.task.title, links.submit(competition.name, phase.name, asked.task.name), asked.id == here.id)
        for asked in phase.phase_tasks
    ]
