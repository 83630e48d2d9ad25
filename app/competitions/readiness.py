"""The checklist before a competition is published: what teams need in order to take part."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.competitions.find import find_competition
from app.models import Competition, GoldCheck, GoldVersion, PhaseTask, PublicFile
from evergold.scoring.program.results import NAME as PROGRAM_TYPE

#: Task types whose submissions are the items with annotations added.
_ITEMS_SHOW_FORMAT = frozenset({"mwe-identification"})
#: The place where a point can be fixed; also the name of the step there.
Step = Literal["files", "metrics", "phases", "texts"]


@dataclass(frozen=True, slots=True)
class Point:
    """A point of the checklist. words: what is present, or what is missing; step: where it can be added;
    is_awaited: whether a worker will soon complete it.
    """

    name: Literal["items", "gold", "description", "dates", "example", "metric"]
    title: str
    is_there: bool
    words: str
    step: Step
    is_awaited: bool = False


class Place(NamedTuple):
    """A task in a phase, with the title of the phase."""

    title: str
    phase_task: PhaseTask


def readiness(session: Session, competition: Competition, now: datetime) -> list[Point]:
    """Return all points of the checklist, present or missing. competition: its parts need not be loaded."""
    found = find_competition(session, competition.name)
    places = [Place(phase.title, one) for phase in found.phases for one in phase.phase_tasks]
    phase_tasks = [place.phase_task for place in places]
    return [
        _items(places),
        _gold(session, places),
        _description(found),
        _dates(found, now),
        _example(session, places),
        _metric(found, phase_tasks),
    ]


def missing_points(session: Session, competition: Competition, now: datetime) -> list[Point]:
    """Return the points of the checklist that are missing."""
    return [point for point in readiness(session, competition, now) if not point.is_there]


def _reads_items(phase_task: PhaseTask) -> bool:
    """Return whether the task type checks files against blind items; an organisers' program uses its own format."""
    return phase_task.task.task_type != PROGRAM_TYPE


def _where(places: list[Place]) -> str:
    return ", ".join(dict.fromkeys(place.title for place in places))


def _items(places: list[Place]) -> Point:
    without = [one for one in places if one.phase_task.items_sha256 is None and _reads_items(one.phase_task)]
    words = f"No items for teams yet: {_where(without)}." if without else "Teams download them."
    return Point("items", "Items", bool(places) and not without, words, "files")


def _gold(session: Session, places: list[Place]) -> Point:
    without = [one for one in places if not one.phase_task.gold]
    if not without:
        is_sealed = all(one.phase_task.sealed_gold_is_public is not None for one in places)
        return Point(
            "gold", "Gold", bool(places), "Checked by a worker." if is_sealed else "The workers have the gold.", "files"
        )
    states = set(
        session.scalars(
            select(GoldVersion.check_state).where(GoldVersion.phase_task_id.in_([one.phase_task.id for one in without]))
        )
    )
    if GoldCheck.WAITING in states:
        words = "A worker is checking the gold."
    elif GoldCheck.INVALID in states:
        words = "It cannot be used: the gold page explains why."
    else:
        words = f"No gold yet: {_where(without)}."
    return Point("gold", "Gold", False, words, "files", is_awaited=GoldCheck.WAITING in states)


def _description(competition: Competition) -> Point:
    texts = [competition.description, *(task.description for task in competition.tasks)]
    is_there = any(text.strip() for text in texts)
    return Point(
        "description", "Description", is_there, "Written." if is_there else "Teams need to know what to do.", "texts"
    )


def _dates(competition: Competition, now: datetime) -> Point:
    """Return the point about dates; all phases may be over, as in a competition that was held elsewhere."""
    is_ahead = any(phase.ends_at is None or phase.ends_at > now for phase in competition.phases)
    words = (
        "A phase is open or upcoming." if is_ahead else "All phases are over." if competition.phases else "No phase."
    )
    return Point("dates", "Dates", bool(competition.phases), words, "phases")


def _example(session: Session, places: list[Place]) -> Point:
    """Return the point about a format example: a template made from the items, or items that show the format."""
    without = [place for place in places if not _shows_format(session, place.phase_task)]
    words = f"No example shows the format of a submission: {_where(without)}." if without else "Teams download it."
    return Point("example", "Format example", bool(places) and not without, words, "files")


def _shows_format(session: Session, phase_task: PhaseTask) -> bool:
    """Return whether there is a download besides the items, or the items show the format themselves.

    An organisers' program uses its own format.
    """
    if not _reads_items(phase_task):
        return True
    files = select(PublicFile.id).where(PublicFile.phase_task_id == phase_task.id)
    if phase_task.task.task_type not in _ITEMS_SHOW_FORMAT and phase_task.items_sha256 is not None:
        files = files.where(PublicFile.sha256 != phase_task.items_sha256)
    return session.scalar(files.limit(1)) is not None


def _metric(competition: Competition, phase_tasks: list[PhaseTask]) -> Point:
    ranked = {board.task_id for board in competition.boards if board.rank_metric}
    is_there = bool(phase_tasks) and all(one.task_id in ranked for one in phase_tasks)
    return Point(
        "metric", "Metric", is_there, "A board ranks by it." if is_there else "A task has no board.", "metrics"
    )
