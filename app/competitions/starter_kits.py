"""Which tasks have a starter kit in a phase: those with a baseline to begin with and a blind file to download."""

from __future__ import annotations

from app.models import CompetitionTask, PhaseTask
from evergold.baselines.starter_kit import has_starter_kit


def items_of_starter_kit(phase_task: PhaseTask, task: CompetitionTask) -> str | None:
    """The name of the blind file that the kit downloads; None where there is no kit."""
    return _blind_file(phase_task) if has_starter_kit(task.task_type, phase_task.options_of(task)) else None


def lacks_baseline(phase_task: PhaseTask, task: CompetitionTask) -> bool:
    """Whether there is a blind file to download, but nothing to predict: labels that the task does not declare."""
    return _blind_file(phase_task) is not None and not has_starter_kit(task.task_type, phase_task.options_of(task))


def _blind_file(phase_task: PhaseTask) -> str | None:
    return next((file.name for file in phase_task.files if file.sha256 == phase_task.items_sha256), None)
