"""Filters of the list of competitions: by task type, by language, and those that accept submissions now.

The choices come from the competitions in the list, so that they reveal no hidden one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from app.competitions.limits import phase_state
from app.models import Competition, CompetitionTask, Halt
from evergold.scoring.tasks import TASKS
from evergold.split_titles import language_name


@dataclass(frozen=True, slots=True)
class CompetitionFilter:
    """A filter of competitions; empty values and False: any."""

    task_type: str = ""
    language: str = ""
    is_open: bool = False

    @property
    def is_used(self) -> bool:
        """True if the filter may leave out any competition."""
        return bool(self.task_type or self.language or self.is_open)

    def matches(self, competition: Competition, now: datetime) -> bool:
        """Return whether one task has both the type and the language, and, if required, the competition is open now."""
        if self.is_open and not is_open(competition, now):
            return False
        if not self.task_type and not self.language:
            return True
        return any(self._matches_task(competition, task) for task in competition.tasks)

    def _matches_task(self, competition: Competition, task: CompetitionTask) -> bool:
        if self.task_type and task.task_type != self.task_type:
            return False
        return not self.language or self.language.lower() in languages_of(competition, task)


@dataclass(frozen=True, slots=True)
class FilterChoices:
    """Values to choose from, each with its title, sorted by title.

    tells_open: whether some competitions are open and some are not.
    """

    task_types: tuple[tuple[str, str], ...]
    languages: tuple[tuple[str, str], ...]
    tells_open: bool
    are_useful: bool  # one of them can leave a competition out


def choices_among(competitions: Sequence[Competition], now: datetime) -> FilterChoices:
    """Return the choices among these competitions."""
    tasks = [(competition, task) for competition in competitions for task in competition.tasks]
    types = {task.task_type for _, task in tasks}
    codes = {code for competition, task in tasks for code in languages_of(competition, task)}
    tells_open = len({is_open(competition, now) for competition in competitions}) > 1
    tells_apart = len(competitions) > 1 and (len(types) > 1 or len(codes) > 1)
    return FilterChoices(
        _sorted((name, _type_title(name)) for name in types),
        _sorted((code, language_name(code) or code.upper()) for code in codes),
        tells_open,
        tells_apart or tells_open,
    )


def is_open(competition: Competition, now: datetime) -> bool:
    """Return whether one of its phases accepts submissions at this moment."""
    return competition.halt == Halt.NONE and any(phase_state(phase, now) == "open" for phase in competition.phases)


def languages_of(competition: Competition, task: CompetitionTask) -> frozenset[str]:
    """Return the codes of the task's languages in any phase, in lower case.

    They come from its option `languages`, or from its type's default; empty if they depend on the data.
    """
    phase_tasks = (one for phase in competition.phases for one in phase.phase_tasks if one.task_id == task.id)
    declared = [task.options.get("languages"), *(one.options.get("languages") for one in phase_tasks)]
    found = [value for value in declared if value is not None] or [_presumed_languages(task.task_type)]
    return frozenset(code.lower() for value in found if _is_list(value) for code in value if isinstance(code, str))


def _presumed_languages(task_type: str) -> Any:
    """Return the default of the type's option `languages`; None if it has none, or this server lacks the type."""
    if task_type not in TASKS:
        return None
    field = TASKS[task_type].options.model_fields.get("languages")
    return field.get_default(call_default_factory=True) if field is not None and not field.is_required() else None


def _is_list(value: Any) -> bool:
    return isinstance(value, (list, tuple))


def _type_title(task_type: str) -> str:
    return TASKS[task_type].title if task_type in TASKS else task_type


def _sorted(choices: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(choices, key=lambda choice: (choice[1].casefold(), choice[0])))
