"""Names of teams and systems that organisers hid, for boards that were frozen with them.

On a live board the placeholder of a hidden name is treated like any name. An official board has the name in its
document, which never changes, so the name is replaced when the board is read; likewise a name that was hidden when the
board was frozen is restored if it is shown again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.base.db import once
from app.boards.rows import LeaderboardRow
from app.models import HiddenText, Phase, TextKind

#: The team's id (None for other kinds of rows) and its name in a frozen row.
_Name = tuple[int | None, str]


@dataclass(frozen=True, slots=True)
class HiddenNames:
    """Names to replace in the rows of a competition's frozen boards. key: changes if any of these names changes; "" if
    there are none.
    """

    key: str = ""
    teams: Mapping[int, str] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    systems: Mapping[_Name, str] = field(default_factory=dict)
    hidden_systems: frozenset[_Name] = frozenset()

    def in_row(self, row: LeaderboardRow) -> LeaderboardRow:
        """Return the row with the names that are visible now; published results keep their names."""
        if not self.key or row.kind == "historic":
            return row
        team = self.teams.get(row.team_id or 0) or self.names.get(row.team, row.team)
        place = (row.team_id, row.system)
        if place in self.hidden_systems:
            return row._replace(team=team, system=self.systems[place], card=None, method="")
        return row._replace(team=team, system=self.systems.get(place, row.system))


def hidden_names(session: Session, phase: Phase) -> HiddenNames:
    """Return the names in the phase's competition that are hidden now or were hidden before."""
    return once(session, ("hidden names", phase.competition_id), lambda: _read(session, phase.competition_id))


def _read(session: Session, competition_id: int) -> HiddenNames:
    query = (
        select(HiddenText)
        .where(
            HiddenText.competition_id == competition_id,
            HiddenText.kind.in_((TextKind.TEAM, TextKind.SYSTEM)),
            HiddenText.team_id.is_not(None),
        )
        .order_by(HiddenText.id)
    )
    teams: dict[int, str] = {}
    names: dict[str, str] = {}
    systems: dict[_Name, str] = {}
    hidden: set[_Name] = set()
    changes = []
    for one in session.scalars(query):
        is_hidden = one.shown_at is None
        original, instead = one.places[0][3:5]
        was, shown = (original, instead) if is_hidden else (instead, original)
        changes.append(f"{one.id}{'' if is_hidden else '+'}")
        if one.kind == TextKind.SYSTEM:
            systems[one.team_id, was] = shown
            if is_hidden:
                hidden.add((one.team_id, was))
            continue
        names[was] = shown
        if is_hidden and one.team_id is not None:
            teams[one.team_id] = instead
    return HiddenNames(".".join(changes), teams, names, systems, frozenset(hidden))
