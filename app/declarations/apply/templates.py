"""Submission template of a task: an empty submission made from the public items if the organisers declare none.

It is a download like any other, but not declared: it follows the items and options, and disappears with them.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from app.declarations.model import DownloadDeclaration, PhaseTaskDeclaration
from app.models import CompetitionTask, PhaseTask
from evergold.scoring.errors import ScoringError
from evergold.scoring.task import read_options
from evergold.scoring.tasks import TASKS

TITLE = "Submission template"
#: A declared download with this word in its file name or title counts as a template: then none is generated.
WORD = "template"
#: Larger items are not read again: applying stays quick, and teams with that much data use programs.
ITEMS_LIMIT_BYTES = 16 * 1024 * 1024
#: Larger than for items: settings and levels make a template longer than its source.
TEMPLATE_LIMIT_BYTES = 4 * ITEMS_LIMIT_BYTES


def made_template(
    phase_task: PhaseTask, task: CompetitionTask, declared: PhaseTaskDeclaration, folder: Path
) -> tuple[str, bytes] | None:
    """Return file name and content of the template; None if none is to be generated."""
    type_ = TASKS[task.task_type]
    if declared.items is None or type_.template_name is None or any(_is_template(one) for one in declared.downloads):
        return None
    path = folder / declared.items
    if path.stat().st_size > ITEMS_LIMIT_BYTES:
        return None
    try:
        options = read_options(type_, phase_task.options_of(task))
        text = type_.template(type_.read_items(path, options), options)
    except ScoringError:  # `check` reports it; an edit that is applied again may be older than this version of the task
        return None
    content = (text or "").encode()
    return (type_.template_name, content) if 0 < len(content) <= TEMPLATE_LIMIT_BYTES else None


def _is_template(download: DownloadDeclaration) -> bool:
    return WORD in f"{PurePosixPath(download.file).name} {download.title}".lower()
