"""All task types: Evergold's own, registered here, and those of installed plug-ins.

Each is loaded on first use; plug-ins are loaded when an unknown name or the whole list is requested. So a command that
scores one file, or the sweep, which scores none, need not load them all.
"""

from __future__ import annotations

import difflib
import threading
from collections.abc import Iterator, MutableMapping
from importlib import import_module
from typing import TYPE_CHECKING

from evergold.scoring.errors import UnknownTask

if TYPE_CHECKING:
    from evergold.scoring.plugins import UnusablePlugin
    from evergold.scoring.task import AnyTask

#: Evergold's own, named after the modules of this package, and whether they need a GPU (or much time).
OWN: dict[str, bool] = {
    "idiom-detection": False,
    "idiom-similarity": False,
    "idiomaticity-probing": False,
    "meaning-matching": False,
    "multi-label": False,
    "mwe-identification": False,
    "mwe-paraphrase": True,
    "program": False,
    "ranking": False,
    "sequence-labelling": False,
    "table": False,
    "text-generation": True,
}


class TaskTypes(MutableMapping[str, "AnyTask"]):
    """Task types by name; an unknown name raises UnknownTask, which suggests the nearest name and lists all."""

    def __init__(self) -> None:
        self._loaded: dict[str, AnyTask] = {}
        self._waiting = set(OWN)
        self._unusable: tuple[UnusablePlugin, ...] | None = None
        self._turn = threading.RLock()

    @property
    def unusable(self) -> tuple[UnusablePlugin, ...]:
        """Plug-ins that cannot be used, and why."""
        self._with_plugins()
        return self._unusable or ()

    def is_for_gpu(self, name: str) -> bool:
        """Return whether a task type needs a GPU, without loading one of Evergold's own."""
        if name in self._waiting:
            return OWN[name]
        return name in self and self[name].needs_gpu

    def __getitem__(self, name: str) -> AnyTask:
        with self._turn:
            if name in self._waiting:
                self[name] = import_module(f"{__name__}.{name.replace('-', '_')}").TASK
            elif name not in self:
                raise UnknownTask(self._why_unknown(name))
            return self._loaded[name]

    def __setitem__(self, name: str, task: AnyTask) -> None:
        self._waiting.discard(name)
        self._loaded[name] = task

    def __delitem__(self, name: str) -> None:
        if name not in self:
            raise KeyError(name)
        self._waiting.discard(name)
        self._loaded.pop(name, None)

    def __contains__(self, name: object) -> bool:
        return name in self._waiting or name in self._loaded or name in self._with_plugins()

    def get(self, name: str, default: AnyTask | None = None) -> AnyTask | None:  # type: ignore[override]
        """Return the task type, or the default."""
        return self[name] if name in self else default  # noqa: SIM401 - this is what it is made of

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names: Evergold's own task types, in their order, then plug-ins."""
        loaded = self._with_plugins()
        ours = [name for name in OWN if name in self._waiting or name in loaded]
        return iter([*ours, *(name for name in loaded if name not in OWN)])

    def __len__(self) -> int:
        return len(self._waiting) + len(self._with_plugins())

    def _with_plugins(self) -> dict[str, AnyTask]:
        """Return the loaded task types, including all that other distributions register."""
        with self._turn:
            if self._unusable is None:
                from evergold.scoring.plugins import load_plugins

                from_outside, self._unusable = load_plugins(own=OWN)
                self._loaded |= from_outside
            return self._loaded

    def _why_unknown(self, name: str) -> str:
        if reasons := unusable_reasons(name):
            return "; ".join(reasons)
        near = difflib.get_close_matches(name.lower().replace("_", "-"), self, n=1)
        hint = f"did you mean {near[0]}? " if near else ""
        return f"there is no task type {name!r}: {hint}the task types are {', '.join(sorted(self))}"


TASKS = TaskTypes()


def get_task(name: str) -> AnyTask:
    """Return the task type called `name`.

    Raises UnknownTask, which suggests the nearest name and lists all, or explains why a plug-in of that name cannot be
    used.
    """
    return TASKS[name]


def needs_gpu(name: str) -> bool:
    """Return whether runs of this task type go to the `gpu` queue.

    False for an unknown type: a worker of the `cpu` queue then takes its runs and reports that the type is missing.
    """
    return TASKS.is_for_gpu(name)


def gpu_types() -> list[str]:
    """List the task types whose runs go to the `gpu` queue."""
    return [name for name in TASKS if TASKS.is_for_gpu(name)]


def unusable_plugins() -> tuple[UnusablePlugin, ...]:
    """Return the plug-ins that cannot be used, and why."""
    return TASKS.unusable


def unusable_reasons(name: str) -> list[str]:
    """Return a sentence for each plug-in that registers this name and cannot be used, with the reason; [] if there is
    none.
    """
    return [str(plugin) for plugin in unusable_plugins() if plugin.name == name]
