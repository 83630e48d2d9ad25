"""Neighbours: a second competition with all that a rule could take for the first one's.

It has the same names (task, phases, boards), two phases with other options and other gold, scores above all others, an
organiser and an annotator, a team that somebody left, two marks on a row, an open rescoring set, an official board, and
a limit that is used up. `tests/conftest.py` puts it into the databases of the rooms in ROOMS, before a test makes what
it needs: so ids of one table are not those of another, either.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Engine, Select, select

from app.base.db import writing
from app.boards.marks import mark_row
from app.boards.snapshots import freeze_due
from app.competitions.find import find_competition, find_phase_task
from app.models import Competition, Role, RowStatus, ScoringRun, Submission, Team, User
from app.people.roles import grant_role
from app.rescoring.sets import start_rescoring
from app.submissions.accept import accept_submission
from app.teams.membership import leave_team
from tests import world
from tests.competitions.embargo import add_phase
from tests.world import DAY, HOUR, NOW, PHASE, TASK

NEIGHBOURS, LATER_PHASE = "neighbours", "post"
#: The number of the first rescoring set that a test starts: sets are numbered over all competitions.
FIRST_SET = 2
#: Where quotas, boards, marks, gold, roles, rescoring and official boards are tested.
ROOMS = (
    "tests/boards/",
    "tests/competitions/",
    "tests/gold/",
    "tests/people/test_roles.py",
    "tests/rescoring/",
    "tests/submissions/",
    "tests/teams/",
    "tests/web/boards/",
    "tests/web/gold/",
    "tests/web/rescoring/",
    "tests/workers/test_sealed_gold.py",
    "tests/workers/test_keys.py",
)


def is_in_rich_world(nodeid: str) -> bool:
    """Whether this test finds neighbours in its database."""
    return nodeid.startswith(ROOMS)


def own(table: type[Any]) -> Select[Any]:
    """The rows of a table that are not the neighbours': competitions, boards, teams, members, submissions, runs."""
    neighbours = select(Competition.id).where(Competition.name == NEIGHBOURS)
    if table is Competition:
        return select(table).where(table.name != NEIGHBOURS)
    if table is ScoringRun:
        rows = select(table).join(Submission, Submission.id == ScoringRun.submission_id).join(Team)
    else:
        rows = select(table).join(Team) if table is Submission else select(table)
    place = Team if table in (Submission, ScoringRun) else table
    return rows.where(place.competition_id.not_in(neighbours))


def add_neighbours(engine: Engine) -> None:
    """All of it; its phase `evaluation` closed long ago, its phase `post` is open."""
    start, close = NOW - 9 * DAY, NOW - 3 * DAY
    world.add_competition(engine, name=NEIGHBOURS, per_day=1, total=2, starts_at=start, ends_at=close, gold="other.csv")
    add_phase(
        engine,
        LATER_PHASE,
        competition=NEIGHBOURS,
        starts_at=close,
        gold="third.csv",
        submissions_per_day=1,
    )
    _ask_otherwise(engine)
    gus, lea, nina, anton = (world.add_user(engine, name) for name in ("gus", "lea", "nina", "anton"))
    world.add_team(engine, gus, lea, name="Gusts", competition=NEIGHBOURS)
    by_lea = _enter(engine, lea, PHASE, start + HOUR, 0.98)
    _leave(engine, lea, start + 2 * HOUR)
    _enter(engine, gus, PHASE, start + DAY, 0.99)
    _enter(engine, gus, LATER_PHASE, NOW - 12 * HOUR, 0.97)
    with writing(engine) as session:
        neighbours = find_competition(session, NEIGHBOURS)
        grant_role(session, neighbours, nina, Role.ORGANISER, NOW - 9 * DAY)
        grant_role(session, neighbours, anton, Role.ANNOTATOR, NOW - 9 * DAY)
        evaluation = find_phase_task(session, NEIGHBOURS, PHASE, TASK)
        freeze_due(session, close + HOUR)
        of_team_and_submission: tuple[dict[str, Any], ...] = ({"team": "Gusts"}, {"submission_id": by_lea})
        for whose in of_team_and_submission:
            mark_row(session, evaluation, status=RowStatus.UNRANKED, note="next door", actor=nina, now=close, **whose)
        start_rescoring(session, neighbours, [PHASE], note="Labels were wrong.", user=nina, now=NOW - DAY)


def _enter(engine: Engine, user: User, phase: str, at: datetime, value: float) -> UUID:
    """A scored submission; its id."""
    with writing(engine) as session:
        accepted = accept_submission(
            session,
            user=user,
            phase_task=find_phase_task(session, NEIGHBOURS, phase, TASK),
            upload=world.upload_of(f"{user.username} {phase}"),
            now=at,
        )
    world.score(engine, accepted.run_id, value, value)
    return accepted.submission.id


def _ask_otherwise(engine: Engine) -> None:
    with writing(engine) as session:
        find_phase_task(session, NEIGHBOURS, LATER_PHASE, TASK).options = {"languages": ["PT"]}


def _leave(engine: Engine, user: User, at: datetime) -> None:
    with writing(engine) as session:
        leave_team(session, find_competition(session, NEIGHBOURS), user, at)
