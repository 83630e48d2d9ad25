"""An upper bound on how much gold a team could infer in each declared phase; needs no database.

The gold itself is only read if organisers have it locally, as in `evergold check --gold`; otherwise the blind items
determine the number of answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from app.competitions.leak import (
    LEVEL_WORDS,
    BoardScores,
    Leak,
    Level,
    leak_of,
    leak_settings,
    leak_words,
    remedy_words,
)
from app.declarations.apply.apply import phase_task_values, phase_values
from app.declarations.model import CompetitionDeclaration, PhaseDeclaration, PhaseTaskDeclaration
from app.models import Phase, PhaseTask
from evergold.scoring.errors import InvalidFile, InvalidOptions
from evergold.scoring.gold_size import size_of_gold, size_of_items
from evergold.scoring.leakage import GoldSize
from evergold.scoring.task import AnyTask, Options, read_options
from evergold.scoring.tasks import TASKS

#: Maps a declared path to its file; None if it does not exist.
Find = Callable[[str], Path | None]


@dataclass(frozen=True, slots=True)
class DeclaredLeak:
    """A task in a declared phase. leak: what could be inferred about its gold."""

    competition: str
    phase: str
    task: str
    leak: Leak

    @property
    def place(self) -> str:
        """The place as on the command line: competition, phase and task, separated by slashes."""
        return f"{self.competition}/{self.phase}/{self.task}"

    @property
    def is_warning(self) -> bool:
        """True if organisers should change a setting."""
        return self.leak.level is Level.WARNING

    def __str__(self) -> str:
        level = f" ({LEVEL_WORDS[self.leak.level]})" if self.leak.level else ""
        better = remedy_words(self.leak.remedies)
        return f"{self.place}: {leak_words(self.leak)}{level}{f'. Better: {better}' if better else ''}"


def declared_leaks(declared: CompetitionDeclaration, find: Find, gold: Path | None = None) -> Iterator[DeclaredLeak]:
    """Yield every task in a phase with hidden gold and boards. gold: a folder of plain gold."""
    types = {task.name: task for task in declared.tasks}
    for phase in declared.phases:
        for name, declaration in phase.tasks.items():
            boards = [
                BoardScores(_pair(board.rank_by or board.columns[0]), tuple(map(_pair, board.columns)))
                for board in declared.boards
                if board.task == name
            ]
            task = TASKS.get(types[name].type) if name in types else None
            if declaration.gold_is_public or task is None or not boards:
                continue
            try:
                options = read_options(task, {**types[name].options, **declaration.options})
            except InvalidOptions:
                continue
            size = _size(task, options, declaration, find, gold)
            counted = leak_settings(*_rows(phase, declaration), task, options, boards)
            yield DeclaredLeak(declared.name, phase.name, name, leak_of(counted, size))


def _pair(score: Any) -> tuple[str, str]:
    return score.metric, score.split


def _rows(phase: PhaseDeclaration, declaration: PhaseTaskDeclaration) -> tuple[Phase, PhaseTask]:
    """Return the phase and its task as database rows, not stored."""
    return Phase(**phase_values(phase, 0)), PhaseTask(**phase_task_values(declaration))


def _size(
    task: AnyTask, options: Options, declaration: PhaseTaskDeclaration, find: Find, gold: Path | None
) -> GoldSize | None:
    """Return the size of the gold; None if neither gold nor items can be read, which is reported elsewhere."""
    try:
        if gold is not None and (path := _plain_gold(gold, declaration.gold)) is not None:
            return size_of_gold(task, task.read_gold(path, options), options)
        items = find(declaration.items) if declaration.items else None
        return size_of_items(task, task.read_items(items, options), options) if items is not None else None
    except (InvalidFile, OSError):
        return None


def _plain_gold(folder: Path, name: str | None) -> Path | None:
    if name is None or ".." in PurePosixPath(name).parts or not (folder / name).exists():
        return None
    return folder / name
