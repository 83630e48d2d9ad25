"""Every task type there is: those of Evergold itself, the one registration, and those of installed plug-ins.

Importing it loads neither scipy nor torch, unless a plug-in does.
"""

from __future__ import annotations

import difflib

from evergold.scoring.errors import UnknownTask
from evergold.scoring.plugins import load_plugins
from evergold.scoring.task import AnyTask
from evergold.scoring.tasks import (
    idiom_detection,
    idiom_similarity,
    idiomaticity_probing,
    meaning_matching,
    multi_label,
    mwe_identification,
    mwe_paraphrase,
    ranking,
    sequence_labelling,
    table,
    text_generation,
)


class TaskTypes(dict[str, AnyTask]):
    """Task types by name; asking for one that is not there raises UnknownTask, which suggests and lists."""

    def __missing__(self, name: str) -> AnyTask:
        if reasons := unusable_reasons(name):
            raise UnknownTask(f"{'; '.join(reasons)}")
        near = difflib.get_close_matches(name.lower().replace("_", "-"), self, n=1)
        hint = f"did you mean {near[0]}? " if near else ""
        raise UnknownTask(f"there is no task type {name!r}: {hint}the task types are {', '.join(sorted(self))}")


TASKS = TaskTypes(
    {
        task.name: task
        for task in (
            idiom_detection.TASK,
            idiom_similarity.TASK,
            idiomaticity_probing.TASK,
            meaning_matching.TASK,
            multi_label.TASK,
            mwe_identification.TASK,
            mwe_paraphrase.TASK,
            ranking.TASK,
            sequence_labelling.TASK,
            table.TASK,
            text_generation.TASK,
        )
    }
)
_FROM_OUTSIDE, UNUSABLE = load_plugins(own=TASKS)
TASKS.update(_FROM_OUTSIDE)


def get_task(name: str) -> AnyTask:
    """The task type called `name`; raises UnknownTask, which suggests the nearest name and lists all, or says why a
    plug-in of that name cannot be used."""
    return TASKS[name]


def needs_gpu(name: str) -> bool:
    """Whether runs of this task type go to the `gpu` queue; not if it is not there, so that somebody sees them."""
    task = TASKS.get(name)
    return task is not None and task.needs_gpu


def unusable_reasons(name: str) -> list[str]:
    """Why plug-ins that register this name are not there, a sentence each; none where there are no such."""
    return [str(plugin) for plugin in UNUSABLE if plugin.name == name]
