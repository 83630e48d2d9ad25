"""The neighbours that many tests have are really there, and are as rich as `tests.rich_world` says."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Engine, func, select

from app.base.db import reading
from app.competitions.find import find_competition, find_phase_task
from app.models import CompetitionRole, FormerMember, Rescoring, RescoringState, Role, RowMark, Snapshot, Submission
from tests.rich_world import LATER_PHASE, NEIGHBOURS, ROOMS, add_neighbours, is_in_rich_world
from tests.world import PHASE, TASK

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
        assert session.scalars(select(Rescoring.state)).all() == [RescoringState.OPEN]
        counted = {table: session.scalars(select(func.count()).select_from(table)).one() for table in TABLES}
    assert counted == {FormerMember: 1, Snapshot: 2, Submission: 3}


TABLES: tuple[type[FormerMember] | type[Snapshot] | type[Submission], ...] = (FormerMember, Snapshot, Submission)


def test_the_rooms_with_neighbours_are_there() -> None:
    assert [name for name in ROOMS if not (ROOT / name).exists()] == []
    assert is_in_rich_world("tests/boards/test_marks.py::test_x")
    assert not is_in_rich_world("tests/runs/test_claims.py::test_x")
