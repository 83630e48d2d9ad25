"""The neighbours that many tests have are really there, and are as rich as `tests.rich_world` says."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Engine, func, select

from app.base.db import reading
from app.competitions.find import find_competition, find_phase_task
from app.competitions.limits import declared_limits
from app.models import CompetitionRole, FormerMember, Rescoring, RescoringState, Role, RowMark, Snapshot, Submission
from tests.rich_world import ALONE, LATER_PHASE, NEIGHBOURS, ROOMS, add_neighbours, is_in_rich_world
from tests.world import COMPETITION, EARLIER_PHASE, PHASE, TASK, add_competition

ROOT = Path(__file__).resolve().parent.parent


def test_neighbours_have_everything_that_could_be_taken_for_ones_own(sqlite_engine: Engine) -> None:
    add_neighbours(sqlite_engine)
    with reading(sqlite_engine) as session:
        neighbours = find_competition(session, NEIGHBOURS)
        first, later = (find_phase_task(session, NEIGHBOURS, phase, TASK) for phase in (PHASE, LATER_PHASE))
        assert first.gold != later.gold
        assert first.options != later.options
        roles = set(
            session.scalars(select(CompetitionRole.role).where(CompetitionRole.competition_id == neighbours.id))
        )
        assert roles == {Role.ORGANISER, Role.ANNOTATOR}
        of_first = session.scalars(select(RowMark.submission_id).where(RowMark.phase_task_id == first.id)).all()
        assert {one is None for one in of_first} == {True, False}
        states = session.scalars(select(Rescoring.state).order_by(Rescoring.id)).all()
        assert states == [RescoringState.PUBLISHED, RescoringState.OPEN]
        counted = {table: session.scalars(select(func.count()).select_from(table)).one() for table in TABLES}
    assert counted == {FormerMember: 2, Snapshot: 6, Submission: 12}


TABLES: tuple[type[FormerMember] | type[Snapshot] | type[Submission], ...] = (FormerMember, Snapshot, Submission)


def test_a_phase_has_gone_before_in_the_competition_that_a_test_makes(sqlite_engine: Engine) -> None:
    """It asks the same task with other options, other gold and other limits, and has an entry above all others."""
    add_neighbours(sqlite_engine)
    add_competition(sqlite_engine, options={"languages": ["EN"]})
    with reading(sqlite_engine) as session:
        own, earlier = (find_phase_task(session, COMPETITION, phase, TASK) for phase in (PHASE, EARLIER_PHASE))
        assert own.task_id == earlier.task_id
        assert own.options_of(own.task) != earlier.options_of(earlier.task)
        assert (own.gold, earlier.gold) == ("gold.csv", "early.csv")
        assert declared_limits(own.phase, own) != declared_limits(earlier.phase, earlier)
        of_earlier = session.scalars(select(Submission).where(Submission.phase_task_id == earlier.id)).all()
    assert len(of_earlier) == 1


def test_the_rooms_with_neighbours_are_there() -> None:
    assert [name for name in ROOMS if not (ROOT / name).exists()] == []
    assert is_in_rich_world("tests/boards/test_marks.py::test_x")
    assert not is_in_rich_world("tests/base/test_times.py::test_x")
    assert not is_in_rich_world("tests/operations/test_backup.py::test_x")
    assert [name for name in ALONE if not (ROOT / name).exists()] == []
