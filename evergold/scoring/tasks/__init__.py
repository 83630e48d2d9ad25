"""Every task type that this server knows: the one registration. Importing it loads neither scipy nor torch."""

from __future__ import annotations

import difflib

from evergold.scoring.errors import UnknownTask
from evergold.scoring.task import AnyTask
from evergold.scoring.tasks import (
    idiom_detection,
    idiom_similarity,
    idiomaticity_probing,
    meaning_matching,
    mwe_identification,
    mwe_paraphrase,
    table,
)

TASKS: dict[str, AnyTask] = {
    task.name: task
    for task in (
        idiom_detection.TASK,
        idiom_similarity.TASK,
        idiomaticity_probing.TASK,
        meaning_matching.TASK,
        mwe_identification.TASK,
        mwe_paraphrase.TASK,
        table.TASK,
    )
}


def get_task(name: str) -> AnyTask:
    """The task type called `name`; raises UnknownTask, which suggests the nearest name and lists all."""
    task = TASKS.get(name)
    if task is None:
        near = difflib.get_close_matches(name.lower().replace("_", "-"), TASKS, n=1)
        hint = f"did you mean {near[0]}? " if near else ""
        raise UnknownTask(f"there is no task type {name!r}: {hint}the task types are {', '.join(sorted(TASKS))}")
    return task
