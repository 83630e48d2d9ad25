"""The template of a task: an empty submission, made from the public items where the organisers declare none themselves.

It is a download like any other, but nobody declared it: it follows the items and options, and goes with them.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from app.declarations.model import DownloadDeclaration, PhaseTaskDeclaration
from app.models import CompetitionTask, PhaseTask
from evergold.scoring.errors import ScoringError
from evergold.scoring.task import read_options
from evergold.scoring.tasks import TASKS

TITLE = "Submission template"
#: A declared download with this word in its file name or title is a template, or tells of one: then none is made.
WORD = "template"
#: Items larger than this are not read once more: applying stays quick, and teams with so much data use programs.
ITEMS_LIMIT_BYTES = 16 * 1024 * 1024
#: As for items; settings and levels make a template longer than what it is made of.
TEMPLATE_LIMIT_BYTES = 4 * ITEMS_LIMIT_BYTES


def made_template(
    phase_task: PhaseTask, task: CompetitionTask, declared: PhaseTaskDeclaration, folder: Path
) -> tuple[str, bytes] | None:
    """Its file name and content; None where there is none to make."""
    type_ = TASKS[task.task_type]
    if declared.items is None or type_.template_name is None or any(_is_template(one) for one in declared.downloads):
        return None
    path = folder / declared.items
    if path.stat().st_size > ITEMS_LIMIT_BYTES:
        return None
    try:
        options = read_options(type_, phase_task.options_of(task))
        text = type_.template(type_.read_items(path, options), options)
    except ScoringError:  # `check` says so; an edit that is applied again may be older than this version of the task
        return None
    content = (text or "").encode()
    return (type_.template_name, content) if 0 < len(content) <= TEMPLATE_LIMIT_BYTES else None


def _is_template(download: DownloadDeclaration) -> bool:
    return WORD in f"{PurePosixPath(download.file).name} {download.title}".lower()
