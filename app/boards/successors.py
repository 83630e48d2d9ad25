"""Results that supersede an official board: a later official one, or the live board while the phase is open again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from app.models import Phase, Snapshot


@dataclass(frozen=True, slots=True)
class Official:
    """An official board with its successor, None while it is the latest."""

    snapshot: Snapshot
    successor: Successor | None


@dataclass(frozen=True, slots=True)
class Successor:
    """The results that replace an official board.

    snapshot: the next official board; None if the live board supersedes it so far.
    closes_at: the new end of the phase if it will be frozen then; None if it has no end, or nothing is due.
    newest: the last of a chain.
    """

    snapshot: Snapshot | None
    closes_at: datetime | None = None
    newest: Snapshot | None = None

    @property
    def key(self) -> str:
        """Key that is equal for equal successors, for versions and tags."""
        moment = self.closes_at.isoformat() if self.closes_at else ""
        return f"by{self.snapshot.number if self.snapshot else moment}.{self.newest.number if self.newest else ''}"

    @property
    def name(self) -> str:
        """The superseding results in a sentence: "official results no. 2 of 2026-02-03"."""
        if self.snapshot is None:
            return "the live board"
        return f"official results no. {self.snapshot.number} of {self.snapshot.closed_at.date().isoformat()}"


def successor_of(snapshot: Snapshot, listed: Sequence[Snapshot], phase: Phase) -> Successor | None:
    """Return the successor of the board, or None while it is the latest.

    listed: the official boards of the same place that the viewer may see, by number.
    """
    later = [one for one in listed if one.number > snapshot.number]
    if later:
        return Successor(later[0], newest=later[-1])
    return Successor(None, phase.ends_at) if is_open_again(snapshot.closed_at, phase.ends_at) else None


def is_open_again(closed_at: datetime, ends_at: datetime | None) -> bool:
    """Return whether a phase goes on after the close at which its results were frozen. ends_at: its end now."""
    return ends_at is None or ends_at > closed_at


def with_successors(listed: Sequence[Snapshot], phase: Phase) -> list[Official]:
    """Return the official boards of a place, each with its own successor."""
    return [Official(one, successor_of(one, listed, phase)) for one in listed]
