"""Starter kits, which exist for tasks with a baseline to start from and a blind file to download."""

from __future__ import annotations

from app.models import CompetitionTask, PhaseTask
from evergold.baselines.starter_kit import has_starter_kit


def items_of_starter_kit(phase_task: PhaseTask, task: CompetitionTask) -> str | None:
    """Return the name of the blind file for the kit; None if there is no kit."""
    return _blind_file(phase_task) if has_starter_kit(task.task_type, phase_task.options_of(task)) else None


def lacks_baseline(phase_task: PhaseTask, task: CompetitionTask) -> bool:
    """Return True if there is a blind file to download but no baseline, because the task declares no labels."""
    return _blind_file(phase_task) is not None and not has_starter_kit(task.task_type, phase_task.options_of(task))


def _blind_file(phase_task: PhaseTask) -> str | None:
    return next((file.name for file in phase_task.files if file.sha256 == phase_task.items_sha256), None)
