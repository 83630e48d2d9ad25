"""Plan of an apply: its changes and effects, computed by apply itself in a transaction that is rolled back.

So plan and apply can differ only by what happens between them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from sqlalchemy import Engine

from app.base.db import writing
from app.base.storage import Storage
from app.declarations.apply.apply import Change, apply_phases, lock_declarations
from app.declarations.check import LoadedCompetition
from app.declarations.edits.effects import Effect, effects, standings
from app.declarations.leaks import DeclaredLeak, declared_leaks


@dataclass(frozen=True, slots=True)
class Plan:
    """Planned changes as apply would report them, their effects, and what teams could read of the gold."""

    changes: list[Change]
    effects: list[Effect]
    leaks: list[DeclaredLeak] = field(default_factory=list)

    @property
    def changes_something(self) -> bool:
        """True if applying would change anything, or refuse to."""
        return any(change.counts or change.keeps_edits for change in self.changes)

    @property
    def rescore(self) -> int:
        """Number of submissions that would have to be rescored."""
        return sum(effect.rescore for effect in self.effects)


class RolledBack(Exception):
    """Ends a transaction by rolling it back."""


def plan_phases(
    engine: Engine,
    loaded: Sequence[LoadedCompetition],
    *,
    storage: Storage,
    now: datetime,
    overwrite_edits: bool = False,
) -> Plan:
    """Return the plan. Raises the errors of `apply_phases`."""
    names = [one.declaration.name for one in loaded]
    try:
        with writing(engine) as session:
            lock_declarations(session)
            before = standings(session, names, now)
            changes = apply_phases(
                session, loaded, storage=storage, now=now, overwrite_edits=overwrite_edits, is_plan=True
            )
            leaks = [leak for one in loaded for leak in declared_leaks(one.declaration, one.folder.joinpath)]
            planned = Plan(changes, effects(before, standings(session, names, now)), leaks)
            raise RolledBack
    except RolledBack:
        return planned
