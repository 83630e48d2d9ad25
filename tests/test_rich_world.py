"""The neighbours that many tests have exist, and are as rich as `tests.rich_world` describes."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Engine, func, select

from app.base.config import get_settings
from app.base.db import reading, writing
from app.boards.freezing import freeze_due
from app.boards.statistics_work import statistics_due
from app.competitions.find import find_competition, find_phase_task
from app.competitions.limits import declared_limits
from app.gold.versions import list_gold
from app.models import (
    CompetitionRole,
    FormerMember,
    PhaseTask,
    Rescoring,
    RescoringState,
    Role,
    RowMark,
    RunStatus,
    ScoringRun,
    Snapshot,
    Submission,
    Team,
    User,
)
from app.people.rights import rights_of
from app.rescoring.pace import advance_rescorings
from app.standings.check import check_task
from tests.rich_world import (
    ALONE,
    CARRYING,
    DIVIDED,
    EMBARGOED,
    LATER_PHASE,
    NAMESAKES,
    NEIGHBOURS,
    ONE_RIGHT,
    OTHER_BOARDS,
    OTHER_TASK,
    ROOMS,
    add_neighbours,
    fresh,
    is_in_rich_world,
)
from tests.world import COMPETITION, DAY, EARLIER_PHASE, NOW, PHASE, TASK, add_competition, add_user

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
    """Check that the earlier phase has the same task with other options, gold and limits, and an entry above all
    others.
    """
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


def test_the_neighbours_have_two_of_everything_that_a_rule_could_mix_up(sqlite_engine: Engine) -> None:
    add_neighbours(sqlite_engine)
    with reading(sqlite_engine) as session:
        neighbours = find_competition(session, NEIGHBOURS)
        evaluation = find_phase_task(session, NEIGHBOURS, PHASE, TASK)
        assert {board.name for board in neighbours.boards} == {"zero-shot", "one-shot", *OTHER_BOARDS}
        other = find_phase_task(session, NEIGHBOURS, PHASE, OTHER_TASK)
        assert (other.phase_id, other.visibility["board"]) == (evaluation.phase_id, "ranks_only")
        phases = {phase.name: phase for phase in neighbours.phases}
        assert phases[EMBARGOED].visibility["board"] == "hidden"
        assert phases[CARRYING].carry_over == EMBARGOED
        divided = find_phase_task(session, NEIGHBOURS, DIVIDED, TASK)
        assert divided.private_part["share"] == 0.5
        assert [version.number for version in list_gold(session, evaluation)] == [1, 2]
        teams = set(session.scalars(select(Team.name).where(Team.competition_id == neighbours.id)))
        assert teams == {"Gusts", *NAMESAKES}
        for right, username in ONE_RIGHT.items():
            user = session.scalars(select(User).where(User.username == username)).one()
            assert rights_of(session, user, neighbours) == {right}
        replaced = session.scalars(select(ScoringRun).where(ScoringRun.replaced_id.is_not(None))).all()
        assert len(replaced) == 2
        assert all(run.is_current for run in replaced)


def test_the_neighbours_rest(sqlite_engine: Engine) -> None:
    """Check it, since otherwise tests of waiting things would find theirs."""
    add_neighbours(sqlite_engine)
    with writing(sqlite_engine) as session:
        waiting = (RunStatus.QUEUED, RunStatus.RUNNING, RunStatus.FAILED)
        assert session.scalars(select(ScoringRun).where(ScoringRun.status.in_(waiting))).all() == []
        assert statistics_due(session, NOW + DAY, attempts=3) == []
        assert freeze_due(session, NOW) == []
        assert advance_rescorings(session, get_settings(), NOW) == 0
        for phase_task_id in session.scalars(select(PhaseTask.id)).all():
            assert check_task(session, phase_task_id) == []


def test_rows_of_a_test_are_told_from_the_neighbours(sqlite_engine: Engine) -> None:
    add_neighbours(sqlite_engine)
    with reading(sqlite_engine) as session:
        assert session.scalars(fresh(User)).all() == []
    add_user(sqlite_engine, "ada")
    with reading(sqlite_engine) as session:
        assert [user.username for user in session.scalars(fresh(User))] == ["ada"]
