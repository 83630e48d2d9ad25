"""All pictures of a board for one viewer, in the order of the page, or one picture."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy.orm import Session

from app.base.errors import NotFound
from app.boards.pictures.comparisons import forest, pairs
from app.boards.pictures.languages import categories, profile
from app.boards.pictures.over_time import daily, progress
from app.boards.pictures.planes import plane
from app.boards.pictures.seen import Seen
from app.boards.pictures.spread import distribution
from app.charts.picture import Picture


def pictures_of(
    session: Session, seen: Seen | None, *, split: str | None = None, teams: Sequence[str] = ()
) -> list[Picture]:
    """List the pictures.

    split: of the scatter.
    teams: those to show in the profile; the categories show the first one with a report.
    """
    scatter = plane(session, seen, split) if seen is not None else None
    if split is not None and scatter is None:
        raise NotFound("This board has no picture with splits.")
    if seen is None:
        return []
    made = [
        forest(seen),
        pairs(seen),
        progress(seen),
        distribution(seen),
        scatter,
        profile(seen, teams),
        categories(session, seen, teams),
        daily(seen),
    ]
    return [picture for picture in made if picture is not None]


def find_picture(pictures: Sequence[Picture], name: str) -> Picture:
    """Return the picture with this name; raises NotFound, which does not reveal why the picture is missing."""
    found = next((picture for picture in pictures if picture.name == name), None)
    if found is None:
        known = ", ".join(f"'{picture.name}'" for picture in pictures) or "none"
        raise NotFound(f"This board has no such picture; it has {known}.")
    return found
