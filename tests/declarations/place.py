"""Shared by tests of declarations: a folder that is applied, and short calls to edit, plan and look."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from sqlalchemy import Engine

from app.base.db import reading, writing
from app.base.storage import FolderStorage
from app.competitions.find import find_competition
from app.declarations.apply.apply import Change, apply_phases
from app.declarations.apply.precedence import OnEdits
from app.declarations.check import load_competitions
from app.declarations.edits.edit import Edit, Outcome, edit_values, go_back
from app.declarations.edits.effects import Plan, plan_phases
from app.declarations.edits.fields import Value
from app.declarations.revisions.kept import list_revisions, present_revision
from app.models import Revision, User
from tests.declarations.applying import without_neighbours
from tests.declarations.competition_folder import NOW, Competition as Folder

DEMO = "demo"
END = "phases.evaluation.end"
LATER, EVEN_LATER = "2026-07-08 00:00 AoE", "2026-07-15 00:00 AoE"


@dataclass(frozen=True)
class Place:
    """A database, and the folder whose competition it has."""

    engine: Engine
    folder: Folder

    @property
    def storage(self) -> Path:
        return self.folder.folder.parent / "storage"

    def apply(self, now: datetime = NOW, *, on_edits: OnEdits = OnEdits.ASK) -> list[Change]:
        loaded = load_competitions(self.folder.phases)
        with writing(self.engine) as session:
            changes = apply_phases(
                session,
                loaded,
                storage=FolderStorage(self.storage),
                now=now,
                by="the test",
                on_edits=on_edits,
            )
            return without_neighbours(changes)

    def plan(self, now: datetime = NOW, *, on_edits: OnEdits = OnEdits.ASK) -> Plan:
        loaded = load_competitions(self.folder.phases)
        storage = FolderStorage(self.storage)
        plan = plan_phases(self.engine, loaded, storage=storage, now=now, on_edits=on_edits)
        return replace(plan, changes=without_neighbours(plan.changes))

    def edit(
        self,
        values: dict[str, Value],
        *,
        base: int | None = None,
        by: User | None = None,
        preview: bool = False,
        now: datetime = NOW,
        note: str = "",
    ) -> Outcome:
        return edit_values(self.engine, FolderStorage(self.storage), Edit(DEMO, base, by, note, preview), values, now)

    def go_back(self, number: int, *, base: int | None = None, preview: bool = False) -> Outcome:
        return go_back(self.engine, FolderStorage(self.storage), Edit(DEMO, base, None, "", preview), number, NOW)

    def present(self) -> Revision:
        with reading(self.engine) as session:
            return present_revision(session, find_competition(session, DEMO))

    def history(self) -> list[Revision]:
        """Return the revisions, the oldest first."""
        with reading(self.engine) as session:
            return list_revisions(session, find_competition(session, DEMO), limit=100)[::-1]


def said(changes: list[Change]) -> list[str]:
    return [str(change) for change in changes if change.counts]


def noted(changes: list[Change]) -> list[str]:
    return [str(change) for change in changes if not change.counts]
