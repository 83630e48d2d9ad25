"""Neighbours: a second competition with all that a rule could take for the first one's.

It has the same names (task, phases, boards), two phases with other options and other gold, scores above all others, an
organiser and an annotator, a team that somebody left, two marks on a row, an open rescoring set, an official board, and
a limit that is used up. And a phase that has gone before in the test's own competition, with other options, gold and
limits, and an entry above all others. `tests/conftest.py` puts all this into the databases of the rooms in ROOMS,
before a test makes what it needs: so ids of one table are not those of another, either.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Engine, Select, select

from app.base.db import writing
from app.boards.freezing import freeze_due
from app.boards.marks import mark_row
from app.competitions.find import find_competition, find_phase_task
from app.models import Competition, Phase, Role, RowStatus, ScoringRun, Submission, Team, TeamMember, User
from app.people.roles import grant_role
from app.rescoring.sets import start_rescoring
from app.submissions.accept import accept_submission
from app.teams.membership import leave_team
from tests import world
from tests.competitions.embargo import add_phase
from tests.world import DAY, EARLIER_PHASE, HOUR, NOW, PHASE, PREPARED, TASK

NEIGHBOURS, LATER_PHASE = "neighbours", "post"
#: Who took part in the phase that went before in a test's own competition.
EARLIER_TEAM, EARLIER_USER = "Early Birds", "earl"
#: What is prepared and left alone.
LEFT_ALONE = "left-alone"
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
    neighbours = select(Competition.id).where(Competition.name.in_((NEIGHBOURS, PREPARED, LEFT_ALONE)))
    if table is Competition:
        return select(table).where(table.id.not_in(neighbours))
    if table is ScoringRun:
        rows = select(table).join(Submission, Submission.id == ScoringRun.submission_id).join(Submission.team)
    else:
        rows = select(table).join(table.team) if table in (Submission, TeamMember) else select(table)
    place = Team if table in (Submission, ScoringRun) else table
    if table is Phase:
        rows = rows.where(Phase.name != EARLIER_PHASE)
    if Team in (table, place) or table is TeamMember:
        rows = rows.where(Team.name != EARLIER_TEAM)
    return rows.where(place.competition_id.not_in(neighbours))


def leave_alone_what_is_prepared(engine: Engine) -> None:
    """The test's own competition is to have no phase but those that the test makes: its phases are what it counts."""
    with writing(engine) as session:
        find_competition(session, PREPARED).name = LEFT_ALONE


def add_neighbours(engine: Engine) -> None:
    """All of it."""
    _add_competition_beside(engine)
    _prepare_competition(engine)


def _prepare_competition(engine: Engine) -> None:
    """What becomes the test's own competition with its first phase: another one closed long ago, with other options,
    gold and limits, and a team above all others."""
    start, close = NOW - 9 * DAY, NOW - 3 * DAY
    world.add_competition(engine, name=PREPARED, per_day=1, total=2, starts_at=start, ends_at=close, gold="early.csv")
    with writing(engine) as session:
        asked = find_phase_task(session, PREPARED, PHASE, TASK)
        asked.options = {"languages": ["GL"]}
        asked.phase.name, asked.phase.title, asked.phase.position = EARLIER_PHASE, EARLIER_PHASE.capitalize(), 9
        asked.phase.has_snapshot = False
    earl = world.add_user(engine, EARLIER_USER)
    world.add_team(engine, earl, name=EARLIER_TEAM, competition=PREPARED)
    _enter(engine, earl, EARLIER_PHASE, start + HOUR, 0.96, competition=PREPARED)
    with writing(engine) as session:
        leave_team(session, find_competition(session, PREPARED), earl, start + 2 * HOUR)


def _add_competition_beside(engine: Engine) -> None:
    """Its phase `evaluation` closed long ago, its phase `post` is open."""
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


def _enter(
    engine: Engine, user: User, phase: str, at: datetime, value: float, *, competition: str = NEIGHBOURS
) -> UUID:
    """A scored submission; its id."""
    with writing(engine) as session:
        accepted = accept_submission(
            session,
            user=user,
            phase_task=find_phase_task(session, competition, phase, TASK),
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
