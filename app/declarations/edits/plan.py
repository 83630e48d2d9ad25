"""What applying would change, and whom it affects: apply itself, in a transaction that is rolled back.

So plan and apply cannot disagree, except by what happens between them.
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
    """changes: as apply would say them; effects: whom they affect, and how; leaks: what teams could read of gold."""

    changes: list[Change]
    effects: list[Effect]
    leaks: list[DeclaredLeak] = field(default_factory=list)

    @property
    def changes_something(self) -> bool:
        """Whether applying would change anything, or refuse to."""
        return any(change.counts or change.keeps_edits for change in self.changes)

    @property
    def rescore(self) -> int:
        """How many submissions would have to be rescored."""
        return sum(effect.rescore for effect in self.effects)


class RolledBack(Exception):
    """Ends a transaction without a trace."""


def plan_phases(
    engine: Engine,
    loaded: Sequence[LoadedCompetition],
    *,
    storage: Storage,
    now: datetime,
    overwrite_edits: bool = False,
) -> Plan:
    """Raises what `apply_phases` raises."""
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
