"""Changes made by `evergold apply`, as sentences; and the only function that updates rows, if values differ."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy.orm import Session

from app.base.db import Base
from app.base.storage import Storage, StoredFile
from app.base.times import in_utc
from app.models import Stage, User

#: Maximum length of a text that is quoted in a sentence.
SHOWN_CHARACTERS = 80
#: Names of columns in phases.yaml or in sentences, if they differ from the column's.
_WORDS = {
    "starts_at": "start",
    "ends_at": "end",
    "entry_rule": "entry",
    "has_snapshot": "snapshot",
    "task_type": "type",
    "program_sha256": "program",
    "submissions_per_day": "per_day",
    "submissions_per_week": "per_week",
    "submissions_per_month": "per_month",
    "submissions_total": "total",
    "upload_limit_bytes": "upload_bytes",
    "rank_metric": "ranking metric",
    "rank_split": "ranking split",
}

#: Columns whose values are not quoted: anybody who knows the seed knows which items are private.
_UNTOLD = frozenset({"private_part"})


@dataclass(frozen=True, slots=True)
class Change:
    """A sentence about a change.

    counts: False for notes; run_id: a run to send to workers after the commit; keeps_edits: marks a competition that
    was left as edited on the server.
    """

    message: str
    counts: bool = True
    run_id: int | None = None
    keeps_edits: bool = False

    def __str__(self) -> str:
        return self.message


@dataclass(slots=True)
class Changes:
    """Collects changes in the order in which they were made."""

    made: list[Change] = field(default_factory=list)

    def add(self, message: str, run_id: int | None = None) -> None:
        """Add a change."""
        self.made.append(Change(message, run_id=run_id))

    def note(self, message: str) -> None:
        """Add a note for the organiser about something that did not change."""
        self.made.append(Change(message, counts=False))

    def keep_edits(self, message: str) -> None:
        """Note a competition that was left as edited on the server although its file differs."""
        self.made.append(Change(message, counts=False, keeps_edits=True))

    def update(self, row: Base, what: str, values: Mapping[str, Any]) -> set[str]:
        """Set the columns that differ, with a sentence for each; return the names of those changed."""
        changed = set()
        for name, value in values.items():
            before = getattr(row, name)
            if before != value:
                setattr(row, name, value)
                changed.add(name)
                if name == "position":
                    self.add(f"moved {what} from place {before + 1} to {value + 1}")
                else:
                    words = "" if name in _UNTOLD else _from_to(before, value)
                    self.add(f"changed {_WORDS.get(name, name)} of {what}{words}")
        return changed


@dataclass(frozen=True, slots=True)
class Work:
    """The state of one call of `apply_phases`.

    by: who applies, as for `app.people.audit.record`.
    """

    session: Session
    storage: Storage
    now: datetime
    changes: Changes
    by: User | str | None = None
    is_plan: bool = False  # everything is rolled back: no file is stored
    stage: Stage = Stage.PUBLISHED  # of new competitions
    trusts_declaration: bool = True  # that plain gold is public; False if an organiser edits
    refuses_baselines: bool = True  # beyond the limit; False: leave them out with a note
    kept: dict[Path, StoredFile] = field(default_factory=dict)  # files read already


def _from_to(before: object, after: object) -> str:
    shown = [_shown(value) for value in (before, after)]
    return f" from {shown[0]} to {shown[1]}" if all(len(text) <= SHOWN_CHARACTERS for text in shown) else ""


def _shown(value: object) -> str:
    if value is None:
        return "none"
    if isinstance(value, datetime):
        return in_utc(value)
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str | dict | list) else str(value)
