"""The declared private part of a task's items in a phase: its items, and when its scores are shown.

Its scores are stored separately (`app.runs.private_scores`); `app.competitions.visibility` decides on access to them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evergold.scoring.halves import Division


def division_of(declared: Mapping[str, Any]) -> Division | None:
    """Return the division of the items; None if they are not divided. declared: `PhaseTask.private_part`."""
    return Division(float(declared["share"]), str(declared["seed"])) if declared else None


def scored_by(declared: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the settings that affect scores: all except the time from which they are shown."""
    return {name: value for name, value in declared.items() if name != "shown_from"}
