"""The declared private part of a task's items in a phase: which items, and when its scores are shown.

Its scores are stored separately (`app.runs.private_scores`); `app.competitions.visibility` decides who sees them when.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evergold.scoring.halves import Division


def division_of(declared: Mapping[str, Any]) -> Division | None:
    """Return how the items are divided; None if they are not. declared: `PhaseTask.private_part`."""
    return Division(float(declared["share"]), str(declared["seed"])) if declared else None


def scored_by(declared: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the settings that affect scores: all but the moment from which they are shown."""
    return {name: value for name, value in declared.items() if name != "shown_from"}
