"""Shared by tests of rescoring: sealed gold with versions, teams with scores, and short calls to make a set."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Engine, select

from app.base.config import get_settings
from app.base.db import reading, writing
from app.competitions.find import find_competition
from app.models import PhaseTask, Rescoring, ScoringRun
from app.people.act import Act
from app.rescoring.difference import Difference, difference_of
from app.rescoring.pace import advance_rescorings
from app.rescoring.publishing import publish_rescoring
from app.rescoring.sets import Progress, drop_rescoring, find_rescoring, progress_of, start_rescoring
from tests import world
from tests.world import COMPETITION, EARLIER_PHASE, NOW, score

NOTE = "Items 12 and 40 had the wrong label."


def start(engine: Engine, *places: str, note: str = NOTE, now: datetime = NOW, **more: Any) -> int:
    """Start a set and return its id; without a place, it covers all phases but the one before the test's own."""
    with writing(engine) as session:
        competition = find_competition(session, COMPETITION)
        places = places or tuple(phase.name for phase in competition.phases if phase.name != EARLIER_PHASE)
        return start_rescoring(Act(session, None, now, get_settings()), competition, places, note=note, **more).id


def publish(engine: Engine, number: int, now: datetime = NOW, *, tell_teams: bool = False) -> None:
    with writing(engine) as session:
        competition = find_competition(session, COMPETITION)
        publish_rescoring(Act(session, None, now, get_settings()), competition, number, tell_teams=tell_teams)


def drop(engine: Engine, number: int, now: datetime = NOW) -> None:
    with writing(engine) as session:
        drop_rescoring(Act(session, None, now, get_settings()), find_competition(session, COMPETITION), number)


def the_set(engine: Engine, number: int) -> Rescoring:
    with reading(engine) as session:
        return find_rescoring(session, find_competition(session, COMPETITION), number)


def progress(engine: Engine, number: int) -> Progress:
    with reading(engine) as session:
        return progress_of(session, find_rescoring(session, find_competition(session, COMPETITION), number))


def difference(engine: Engine, number: int) -> Difference:
    with reading(engine) as session:
        return difference_of(session, find_rescoring(session, find_competition(session, COMPETITION), number))


def look_after(engine: Engine, now: datetime = NOW) -> int:
    """Do what the sweep does for sets; return how many were found to be ready."""
    with writing(engine) as session:
        return advance_rescorings(session, get_settings(), now)


def runs_of(engine: Engine, number: int) -> dict[Any, int]:
    """Return the set's run of each submission."""
    with reading(engine) as session:
        wanted = select(ScoringRun.submission_id, ScoringRun.id).where(ScoringRun.rescoring_id == number)
        return {submission_id: run_id for submission_id, run_id in session.execute(wanted)}


def score_set(engine: Engine, number: int, values: Mapping[Any, float | None]) -> None:
    """Let a worker score the set's run of each of these submissions with this zero-shot score."""
    runs = runs_of(engine, number)
    for submission_id, value in values.items():
        score(engine, runs[submission_id], value)


def current_of(engine: Engine, submission_id: Any) -> ScoringRun:
    with reading(engine) as session:
        wanted = select(ScoringRun).where(ScoringRun.submission_id == submission_id, ScoringRun.is_current)
        return session.scalars(wanted).one()


def set_options(engine: Engine, options: Mapping[str, Any]) -> None:
    """Set options, as `apply` does after an organiser changed those of the task in the phase."""
    with writing(engine) as session:
        world.the_phase_task(session).options = dict(options)


def name_gold(engine: Engine, gold: str) -> None:
    """Name another plain gold, as `apply` does after an organiser changed it."""
    with writing(engine) as session:
        for phase_task in session.scalars(select(PhaseTask)):
            phase_task.gold = gold
