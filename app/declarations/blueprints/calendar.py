"""Calendar of a blueprint's phases, as far as their dates are valid already."""

from __future__ import annotations

from app.base.times import parse_moment
from app.competitions.calendar import Dates
from app.declarations.revisions.documents import Document


def dates_of(document: Document) -> tuple[list[Dates], list[str]]:
    """Return the phases that can be drawn, in the order of the document, and the titles of the others."""
    found: list[Dates] = []
    others: list[str] = []
    phases = document.get("phases")
    for place, phase in enumerate(phases if isinstance(phases, list) else ()):
        said = phase if isinstance(phase, dict) else {}
        title = str(said.get("title") or said.get("name") or f"Phase {place + 1}")
        try:
            start = parse_moment(said.get("start"))
            end = parse_moment(said["end"]) if said.get("end") not in (None, "") else None
        except ValueError:
            others.append(title)
            continue
        if end is not None and end <= start:
            others.append(title)
        else:
            found.append(Dates(title, start, end))
    return found, others
