"""Readers of the log of the organisers' program: those who see submissions, and a team for the parts shown
of its own.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import Engine, update

from app.base.db import reading, writing
from app.base.errors import NotFound
from app.base.packing import packed
from app.competitions.find import find_competition
from app.competitions.visibility import SeenAs, Viewer
from app.feedback.program_logs import NoProgramLog, find_program_log
from app.models import CompetitionTask, Right, Role, ScoringRun, User
from app.people.rights import grant_role
from evergold.scoring.program.options import Audience
from tests.beside import add_old_run, one_right_each
from tests.competitions.embargo import enter, hide
from tests.world import COMPETITION, NOW, the_phase_task

LOG = {"exit_code": 0, "stdout": "for teams", "stderr": "for organisers"}
OLD = {"exit_code": 1, "stdout": "of the run before", "stderr": "of the run before"}
OPTIONS: dict[str, Any] = {
    "metrics": [{"name": "f1", "title": "F1"}],
    "shown": {"stdout": Audience.TEAMS, "stderr": Audience.ORGANISERS},
}


@pytest.fixture
def engine(sqlite_engine: Engine) -> Engine:
    return sqlite_engine


@pytest.fixture
def sent(engine: Engine, people: list[User]) -> UUID:
    """Ada's submission, scored by a program; its run has replaced another one."""
    submission_id: UUID = enter(engine, people[0], 0.5)
    add_old_run(engine, submission_id, 0.1)
    with writing(engine) as session:
        for is_current, log in ((True, LOG), (False, OLD)):
            theirs = ScoringRun.submission_id == submission_id, ScoringRun.is_current.is_(is_current)
            session.execute(update(ScoringRun).where(*theirs).values(program_log=packed(log)))
        task = session.get_one(CompetitionTask, the_phase_task(session).task_id)
        task.task_type, task.options = "program", OPTIONS
    return submission_id


def told(engine: Engine, submission_id: UUID, user: User, seen_as: SeenAs | None = None) -> tuple[Any, Any] | str:
    """Return stdout and stderr, or why there is nothing."""
    with reading(engine) as session:
        try:
            log = find_program_log(session, submission_id, Viewer(user, NOW, seen_as))
        except NoProgramLog:
            return "There is no log of an organisers' program"
        except NotFound:
            return "no such submission"
    return log.stdout, log.stderr


def test_organisers_read_all_with_the_right_to_submissions_alone(engine: Engine, sent: UUID) -> None:
    found = {right: told(engine, sent, user) for right, user in one_right_each(engine).items()}
    whole = ("for teams", "for organisers")
    assert found == {right: whole if right is Right.SUBMISSIONS else "no such submission" for right in Right}


def test_an_organiser_of_another_right_reads_of_their_own_team_what_teams_read(
    engine: Engine, sent: UUID, people: list[User]
) -> None:
    with writing(engine) as session:
        here = find_competition(session, COMPETITION)
        grant_role(session, here, people[0], Role.ORGANISER, NOW, rights=[Right.GOLD])
    assert told(engine, sent, people[0]) == ("for teams", None)


def test_a_team_reads_what_it_is_shown_while_it_sees_its_scores(engine: Engine, sent: UUID, people: list[User]) -> None:
    assert told(engine, sent, people[0]) == ("for teams", None)
    assert told(engine, sent, people[1]) == "no such submission"
    hide(engine, own_scores="never")
    assert told(engine, sent, people[0]) == "There is no log of an organisers' program"


def test_there_is_no_log_where_no_program_scores(engine: Engine, sent: UUID, people: list[User]) -> None:
    with writing(engine) as session:
        task = session.get_one(CompetitionTask, the_phase_task(session).task_id)
        task.task_type, task.options = "idiom-detection", {}
    assert told(engine, sent, people[0]) == "There is no log of an organisers' program"
