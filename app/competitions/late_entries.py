"""Late entries in official results, which wait for ranked late entries unless they are frozen already."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.base.times import in_utc
from app.models import Allowance, Phase, Snapshot


@dataclass(frozen=True, slots=True)
class LateEntries:
    """Ranked late entries of an extension.

    `frozen_at` is when the official results were frozen without them; None if the results wait for them.
    """

    frozen_at: datetime | None

    @property
    def count(self) -> bool:
        """True if they can be part of the official results."""
        return self.frozen_at is None

    @property
    def words(self) -> str:
        """A sentence for organisers and the team."""
        if self.frozen_at is None:
            return "The official results wait for late entries."
        return f"Late entries do not count in the official results, which were frozen at {in_utc(self.frozen_at)}."


def late_entries(session: Session, allowance: Allowance, phase: Phase) -> LateEntries | None:
    """Return None if the extension admits no ranked late entries or the phase has no official results."""
    if allowance.until is None or not allowance.is_ranked or not phase.has_snapshot or phase.ends_at is None:
        return None
    of_this_close = (Snapshot.phase_id == phase.id, Snapshot.closed_at >= phase.ends_at)
    frozen_at = session.scalar(select(func.min(Snapshot.made_at)).where(*of_this_close))
    return LateEntries(frozen_at if frozen_at is not None and frozen_at < allowance.until else None)
