"""Neighbours: a second competition with all that a rule could take for the first one's.

It has the same names (tasks, phases, boards, teams, a round, a system) and everything that can be there twice: a phase
with two tasks and boards of their own, one of which shows ranks alone; a phase under embargo and one that carries its
entries over; a phase with a private part; gold that was corrected, by a set that was published, and another set that is
open; organisers with one right each, an annotator, a team that somebody left, two marks, an official board, a limit
that is used up, announcements, questions, a card. Its scores are above all others. In the test's own competition
another phase has gone before, with other options, gold and limits, and an entry above all others.

`tests/conftest.py` puts all this into the databases of the rooms in ROOMS before a test makes what it needs: so ids of
one table are not those of another, either. It rests: no sweep and no worker finds anything to do in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import Any, TypeVar
from uuid import UUID

from sqlalchemy import Engine, Select, event, func, select, update
from sqlalchemy.orm import Session

from app.base.config import get_settings
from app.base.db import Base, reading, writing
from app.boards.freezing import freeze_due
from app.boards.marks import mark_row
from app.boards.statistics_work import versions_of
from app.competitions.find import find_competition, find_phase_task
from app.models import (
    BoardShown,
    Competition,
    CompetitionTask,
    Phase,
    PhaseTask,
    Rescoring,
    Right,
    Role,
    RowStatus,
    ScoringRun,
    StatisticsWork,
    Submission,
    Team,
    TeamMember,
    User,
)
from app.people.act import Act, UserAct
from app.people.rights import grant_role
from app.rescoring.publishing import publish_rescoring
from app.rescoring.sets import start_rescoring
from app.submissions.accept import Sender, SubmissionForm, accept_submission
from app.teams.membership import leave_team
from evergold.scoring.task import Score
from tests import rich_rows, world
from tests.competitions.embargo import add_phase
from tests.world import DAY, EARLIER_PHASE, HOUR, NOW, PHASE, PREPARED, TASK

T = TypeVar("T", bound=Base)

#: When the neighbours' first phase was open.
START, CLOSE = NOW - 9 * DAY, NOW - 3 * DAY
NEIGHBOURS, LATER_PHASE = "neighbours", "post"
#: Its second task, which two of its phases ask, and the boards of that.
OTHER_TASK, OTHER_BOARDS = "similarity", ("near", "far")
#: Its board is hidden until tomorrow; the other one carries its entries over. DIVIDED has a private part.
EMBARGOED, CARRYING, DIVIDED = "embargoed", "carrying", "divided"
#: Who may do everything in it.
ORGANISER = "nina"
#: Who may do one thing alone in it, by the right.
ONE_RIGHT = {right: f"{right.value}-only" for right in Right}
#: Teams that it has by the names of a test's own.
NAMESAKES = ("Ada", "Bob")
#: Who took part in the phase that went before in a test's own competition.
EARLIER_TEAM, EARLIER_USER = "Early Birds", "earl"
#: What is prepared and left alone.
LEFT_ALONE = "left-alone"
#: Tables whose ids people read, or nobody does: they are counted from 1.
COUNTED = ("announcements", "allowances", "questions", "rescorings", "scores", "standings")
#: Where the ids of all others begin: so none is a position, a number, or an id of another table.
FIRST_IDS = {
    table.name: 1_000 * place
    for place, table in enumerate(Base.metadata.sorted_tables, start=1)
    if table.autoincrement_column is not None and table.name not in COUNTED
}
#: The number of the first rescoring set that a test starts: sets are numbered over all competitions.
FIRST_SET = 3
#: The ids of the first question, announcement and allowance that a test makes.
FIRST_QUESTION, FIRST_ANNOUNCEMENT, FIRST_ALLOWANCE = 4, 3, 2
#: Rooms with a database.
ROOMS = (
    "tests/administration/",
    "tests/boards/",
    "tests/cards/",
    "tests/competitions/",
    "tests/declarations/",
    "tests/feedback/",
    "tests/gold/",
    "tests/importers/",
    "tests/judging/",
    "tests/messages/",
    "tests/moderation/",
    "tests/news/",
    "tests/operations/",
    "tests/people/",
    "tests/privacy/",
    "tests/rescoring/",
    "tests/runs/",
    "tests/standings/",
    "tests/submissions/",
    "tests/teams/",
    "tests/web/",
    "tests/webhooks/",
    "tests/workers/",
)
#: Modules of these rooms in which a database is compared as a whole, or has to be empty, each with the reason.
ALONE = {
    "tests/operations/test_backup.py": "every file that a row names must be in storage, and the neighbours have none",
    "tests/operations/test_storage_move.py": "as above",
    "tests/operations/test_health.py": "numbers of the whole server",
    "tests/people/test_audit.py": "the log as a whole",
    "tests/web/competitions/test_life.py": "only what nobody has submitted to goes back to a draft",
    "tests/web/test_accessibility.py": "it visits pages by their numbers, and every page as it is when it is full",
    "tests/web/test_directions.py": "everything that has a name gets another one",
    "tests/web/test_pages.py": "the first page of a server with one competition, and with none",
    "tests/web/test_several_machines.py": "a server of its own, in processes of their own",
}


def is_in_rich_world(nodeid: str) -> bool:
    """Return whether this test finds neighbours in its database."""
    return nodeid.startswith(ROOMS) and not nodeid.startswith(tuple(ALONE))


def own(table: type[Any]) -> Select[Any]:
    """Return the query for the rows of a table that are not the neighbours': competitions, boards, teams, members,
    submissions, runs.
    """
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


def fresh(table: type[T]) -> Select[T]:
    """Return the query for the rows of a table that a test has made: those after the neighbours' rows."""
    return select(table).where(table.__table__.columns.id > _last.get(table.__tablename__, 0))


#: The highest id of each table's rows when the neighbours were there.
_last: dict[str, int] = {}


def last_run(engine: Engine) -> int:
    """Return the id of the run that a test made last."""
    with reading(engine) as session:
        return session.scalars(fresh(ScoringRun).order_by(ScoringRun.id.desc()).limit(1)).one().id


def leave_alone_what_is_prepared(engine: Engine) -> None:
    """Leave the prepared competition alone, so that the test's own competition has only the phases that
    the test makes.
    """
    with writing(engine) as session:
        find_competition(session, PREPARED).name = LEFT_ALONE


def add_neighbours(engine: Engine) -> None:
    """Add all neighbours."""
    with _ids_apart(engine):
        _add_competition_beside(engine)
        _prepare_competition(engine)
        _let_rest(engine)
    with reading(engine) as session:
        for table in Base.metadata.sorted_tables:
            if table.autoincrement_column is not None and "id" in table.columns:
                _last[table.name] = session.scalar(select(func.max(table.columns.id))) or 0


@contextmanager
def _ids_apart(engine: Engine) -> Iterator[None]:
    """Give the first row of each table its id of FIRST_IDS, from which the database counts on."""
    if engine.dialect.name == "postgresql":
        with engine.begin() as connection:
            for name, first in FIRST_IDS.items():
                connection.execute(select(func.setval(func.pg_get_serial_sequence(name, "id"), first - 1)))
        yield
        return
    left = dict(FIRST_IDS)

    def give_first_ids(session: Session, *_: object) -> None:
        for row in session.new:
            if row.__tablename__ in left:
                row.id = left.pop(row.__tablename__)

    event.listen(Session, "before_flush", give_first_ids)
    try:
        yield
    finally:
        event.remove(Session, "before_flush", give_first_ids)


def _apart(engine: Engine, run_id: int) -> int:
    """Return the id of a run, moved to FIRST_IDS if it is the first: runs are not made by a flush."""
    if run_id != 1:
        return run_id
    with writing(engine) as session:
        session.execute(update(ScoringRun).values(id=FIRST_IDS[ScoringRun.__tablename__]))
    return FIRST_IDS[ScoringRun.__tablename__]


def _let_rest(engine: Engine) -> None:
    """Mark the neighbours' statistics as computed, so that no worker looks at them."""
    with writing(engine) as session:
        for phase_task_id in session.scalars(select(PhaseTask.id)).all():
            versions = versions_of(session, phase_task_id)
            work = StatisticsWork(phase_task_id=phase_task_id, seen=versions, seen_at=NOW - DAY, attempts=0)
            work.computed_for = versions
            session.add(work)


def _prepare_competition(engine: Engine) -> None:
    """Prepare what becomes the test's own competition, with its first phase: one that closed long ago, with other
    options, gold and limits, and a team above all others.
    """
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
        leave_team(UserAct(session, earl, start + 2 * HOUR, get_settings()), find_competition(session, PREPARED))


def _add_competition_beside(engine: Engine) -> None:
    """Add a second competition, whose phase `evaluation` has closed and whose phase `post` is open."""
    world.add_competition(engine, name=NEIGHBOURS, per_day=1, total=2, starts_at=START, ends_at=CLOSE, gold="other.csv")
    add_phase(engine, LATER_PHASE, competition=NEIGHBOURS, starts_at=CLOSE, gold="third.csv", submissions_per_day=1)
    _add_second_task(engine)
    _ask_otherwise(engine)
    rich_rows.add_gold(engine, NEIGHBOURS, PHASE, TASK, START)
    gus, lea, nina, anton = (world.add_user(engine, name) for name in ("gus", "lea", ORGANISER, "anton"))
    world.add_team(engine, gus, lea, name="Gusts", competition=NEIGHBOURS)
    by_lea = _enter(engine, lea, PHASE, START + HOUR, 0.98)
    _leave(engine, lea, START + 2 * HOUR)
    by_gus = _enter(engine, gus, PHASE, START + DAY, 0.99, system="mBERT")
    _enter(engine, gus, LATER_PHASE, NOW - 12 * HOUR, 0.97)
    _enter(engine, gus, PHASE, START + DAY, 0.95, task=OTHER_TASK)
    _add_phases_of_several_kinds(engine, gus)
    with writing(engine) as session:
        neighbours = find_competition(session, NEIGHBOURS)
        grant_role(session, neighbours, nina, Role.ORGANISER, NOW - 9 * DAY)
        grant_role(session, neighbours, anton, Role.ANNOTATOR, NOW - 9 * DAY)
        evaluation = find_phase_task(session, NEIGHBOURS, PHASE, TASK)
        freeze_due(session, NOW - HOUR)
        of_team_and_submission: tuple[dict[str, Any], ...] = ({"team": "Gusts"}, {"submission_id": by_lea})
        for whose in of_team_and_submission:
            mark_row(
                Act(session, nina, CLOSE, get_settings()),
                evaluation,
                status=RowStatus.UNRANKED,
                note="next door",
                **whose,
            )
    _appoint_organisers_with_one_right(engine)
    _correct_gold(engine, nina, {by_lea: 0.96, by_gus: 0.99})
    _leave_a_set_open(engine, nina, {by_lea: 0.91, by_gus: 0.92})
    rich_rows.add_rest(engine, find(engine, NEIGHBOURS), gus=gus, nina=nina, anton=anton, submission_id=by_gus)


def find(engine: Engine, name: str) -> Competition:
    with reading(engine) as session:
        return find_competition(session, name)


def _add_second_task(engine: Engine) -> None:
    """Add a second task to both of the phases so far, with boards of its own; in the first one it shows only ranks."""
    with writing(engine) as session:
        neighbours = find_competition(session, NEIGHBOURS)
        task = CompetitionTask(
            competition_id=neighbours.id,
            name=OTHER_TASK,
            task_type="idiom-detection",
            title="Similarity",
            options={"languages": ["GL"]},
            position=1,
        )
        session.add(task)
        session.flush()
        for position, (name, split) in enumerate(zip(OTHER_BOARDS, (world.ZERO_SHOT, world.ONE_SHOT), strict=True)):
            session.add(world.board_of(neighbours, task, name, split, 2 + position))
        for phase in neighbours.phases:
            seen = {"board": BoardShown.RANKS_ONLY, "precision": 2} if phase.name == PHASE else {}
            session.add(PhaseTask(phase_id=phase.id, task_id=task.id, gold="similar.csv", visibility=seen))


def _add_phases_of_several_kinds(engine: Engine, gus: User) -> None:
    """Add a phase under embargo, one that carries over from it, and one with a private part; Ada and Bob of here take
    part.
    """
    middle = NOW - 6 * DAY
    embargo = {"board": "hidden", "public_from": (NOW + DAY).isoformat(), "own_scores": "never"}
    ended: dict[str, Any] = {"starts_at": START, "ends_at": middle, "has_snapshot": False}
    add_phase(engine, EMBARGOED, competition=NEIGHBOURS, gold="secret.csv", visibility=embargo, position=2, **ended)
    add_phase(
        engine,
        CARRYING,
        competition=NEIGHBOURS,
        gold="secret.csv",
        starts_at=middle,
        ends_at=NOW - 2 * DAY,
        has_snapshot=False,
        carry_over=EMBARGOED,
        position=3,
    )
    add_phase(engine, DIVIDED, competition=NEIGHBOURS, gold="halves.csv", position=4, **ended)
    with writing(engine) as session:
        divided = find_phase_task(session, NEIGHBOURS, DIVIDED, TASK)
        divided.private_part = {"share": 0.5, "seed": "next door", "shown_from": (NOW + DAY).isoformat()}
    for number, name in enumerate(NAMESAKES):
        namesake = world.add_user(engine, f"{name.lower()}-next-door", name)
        for phase, at in ((EMBARGOED, START), (CARRYING, middle), (DIVIDED, START)):
            private = 0.7 + number / 10 if phase == DIVIDED else None
            _enter(engine, namesake, phase, at + HOUR, 0.94 - number / 10, private=private)
    _enter(engine, gus, EMBARGOED, START + HOUR, 0.93)


def _appoint_organisers_with_one_right(engine: Engine) -> None:
    for right, username in ONE_RIGHT.items():
        user = world.add_user(engine, username)
        with writing(engine) as session:
            grant_role(session, find_competition(session, NEIGHBOURS), user, Role.ORGANISER, START, rights=(right,))


def _correct_gold(engine: Engine, nina: User, values: Mapping[UUID, float]) -> None:
    """Add a second gold version, and a published set against it."""
    rich_rows.add_gold(engine, NEIGHBOURS, PHASE, TASK, NOW - 2 * DAY, in_use=False)
    number = _rescore(engine, nina, "Labels were wrong.", NOW - 2 * DAY, values)
    with writing(engine) as session:
        neighbours = find_competition(session, NEIGHBOURS)
        publish_rescoring(Act(session, nina, NOW - 2 * DAY, get_settings()), neighbours, number)


def _leave_a_set_open(engine: Engine, nina: User, values: Mapping[UUID, float]) -> None:
    """Leave a set open that is ready, and whose organisers have been notified."""
    number = _rescore(engine, nina, "Labels are to be looked at again.", NOW - DAY, values)
    with writing(engine) as session:
        session.get_one(Rescoring, number).told_at = NOW - DAY


def _rescore(engine: Engine, nina: User, note: str, now: datetime, values: Mapping[UUID, float]) -> int:
    """Add a set for the task of the first phase, scored; return its number."""
    with writing(engine) as session:
        neighbours = find_competition(session, NEIGHBOURS)
        number = start_rescoring(Act(session, nina, now, get_settings()), neighbours, [f"{PHASE}/{TASK}"], note=note).id
        made = select(ScoringRun.submission_id, ScoringRun.id).where(ScoringRun.rescoring_id == number)
        runs = session.execute(made).all()
    for submission_id, run_id in runs:
        world.score(engine, run_id, values[submission_id], values[submission_id])
    return number


def _enter(
    engine: Engine,
    user: User,
    phase: str,
    at: datetime,
    value: float,
    *,
    competition: str = NEIGHBOURS,
    task: str = TASK,
    private: float | None = None,
    system: str = "",
) -> UUID:
    """Add a scored submission; return its id. private: its score of the private part."""
    with writing(engine) as session:
        accepted = accept_submission(
            session,
            find_phase_task(session, competition, phase, task),
            world.upload_of(f"{user.username} {phase} {task}"),
            Sender(user, at),
            SubmissionForm(system=system, method=system and "Fine-tuned next door"),
        )
    held = world.sure(world.claim(engine, _apart(engine, accepted.run_id), at))
    of_private = None if private is None else _scores(private)
    assert world.finish(engine, held, _scores(value), at + world.SECOND, private=of_private)
    return accepted.submission.id


def _scores(value: float) -> list[Score]:
    return [*world.scores_of(world.ZERO_SHOT, value), *world.scores_of(world.ONE_SHOT, value)]


def _ask_otherwise(engine: Engine) -> None:
    with writing(engine) as session:
        find_phase_task(session, NEIGHBOURS, LATER_PHASE, TASK).options = {"languages": ["PT"]}


def _leave(engine: Engine, user: User, at: datetime) -> None:
    with writing(engine) as session:
        leave_team(UserAct(session, user, at, get_settings()), find_competition(session, NEIGHBOURS))
