"""Aids next to the forms of a blueprint: a calendar of its phases, and presets for who sees what, and when."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from markupsafe import Markup

from app.competitions.calendar import calendar_of
from app.declarations.blueprints import schemas, stories
from app.declarations.blueprints.stories import dates_of
from app.declarations.revisions.documents import Document
from app.web.http.context import Server


def calendar_aid(server: Server, document: Document) -> dict[str, Any]:
    """Return a calendar of the phases, and the titles of phases without valid dates."""
    dates, undated = dates_of(document)
    calendar = calendar_of(dates, server.clock())
    wide, narrow = (calendar.wide, calendar.narrow) if calendar else ("", "")
    drawn = {"wide": Markup(wide), "narrow": Markup(narrow)}  # noqa: S704 - escaped by ElementTree
    return {"calendar": calendar, "undated": undated, **drawn}


def visibility_aid(document: Document, steps: schemas.Steps) -> dict[str, Any]:
    """Return the presets, the current one, and what each shows when; empty values for forms of other parts."""
    place = phase_of_visibility(steps)
    phase = schemas.part_at(document, steps[:2]) if place is not None else None
    if not isinstance(phase, dict):
        return {"stories": [], "story": None, "own_mixture": None}
    kept = phase.get("visibility")
    declared: Mapping[str, Any] = kept if isinstance(kept, dict) else {}
    divided = stories.is_phase_divided(document, phase)
    story = stories.story_of(declared, is_divided=divided)
    shown = [
        (one, stories.seen_when(phase, {**declared, **one.keys}, is_divided=one.divides(divided)))
        for one in stories.STORIES
    ]
    own = stories.seen_when(phase, declared, is_divided=divided) if story is None else None
    return {"stories": shown, "story": story.name if story else stories.OWN, "own_mixture": own}


def with_story_sent(document: Document, steps: schemas.Steps, before: Document, form: Mapping[str, str]) -> Document:
    """Return the document with the preset chosen in the form.

    document: with the form's values; before: without them. A newly chosen preset sets its keys; an unchanged preset, or
    a custom combination, keeps those of the form.
    """
    place = phase_of_visibility(steps)
    if place is None:
        return document
    declared = schemas.part_at(before, steps)
    phase = schemas.part_at(before, steps[:2])
    divided = isinstance(phase, dict) and stories.is_phase_divided(before, phase)
    story = stories.story_of(declared if isinstance(declared, dict) else {}, is_divided=divided)
    chosen = form.get("story", "")
    return document if chosen == (story.name if story else stories.OWN) else stories.with_story(document, place, chosen)


def phase_of_visibility(steps: schemas.Steps) -> int | None:
    """Return the index of the phase whose visibility settings these steps lead to, or None."""
    is_there = len(steps) == 3 and steps[0] == "phases" and schemas.is_position(steps[1]) and steps[2] == "visibility"
    return int(steps[1]) if is_there else None
