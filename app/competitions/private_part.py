"""The private part of a task's items in a phase, as it was declared: which items, and from when its scores are shown.

What is scored of it lies apart (`app.runs.private_scores`); who sees it, and when, `app.competitions.visibility` says.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evergold.scoring.halves import Division


def division_of(declared: Mapping[str, Any]) -> Division | None:
    """How the items are divided; None where they are not. declared: `PhaseTask.private_part`."""
    return Division(float(declared["share"]), str(declared["seed"])) if declared else None


def scored_by(declared: Mapping[str, Any]) -> Mapping[str, Any]:
    """What scores rest on: all but the moment from which they are shown."""
    return {name: value for name, value in declared.items() if name != "shown_from"}
