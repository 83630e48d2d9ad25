"""Against climbing on noise: the Ladder on boards, and alerts about teams that take small steps again and again."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from sqlalchemy import Engine, select, update

from app.base.config import get_settings
from app.base.db import reading, writing
from app.base.storage import FolderStorage, store_upload
from app.competitions.find import find_competition
from app.competitions.visibility import declared_of
from app.models import (
    ClimbingAlert,
    CompetitionRole,
    EntryRule,
    LineChange,
    OutgoingMail,
    OwnScores,
    Phase,
    Role,
    Slices,
    User,
)
from app.submissions.climbing import SMALL_STEPS, Climber, climbing_teams
from tests.beside import add_other_task, submit_other
from tests.boards.places import board, enter, shown
from tests.rich_world import NEIGHBOURS
from tests.world import (
    COMPETITION,
    NOW,
    PHASE,
    TASK,
    add_competition,
    add_user,
    reject,
    score,
    submissions_here,
    submit,
    the_phase_task,
)
from workers.climbing import watch_climbing

LINES = [f"{number},EN,zero_shot,0" for number in range(100)]


def file_with(*changed: int) -> str:
    """A hundred lines, some of them changed."""
    return "\n".join(f"{line}!" if at in changed else line for at, line in enumerate(LINES))


def send(engine: Engine, user: User, content: str, minute: int, *, is_scored: bool = True) -> None:
    stored = store_upload([content.encode()], FolderStorage(get_settings().storage_dir), 10**6)
    run_id = submit(engine, user, NOW + timedelta(minutes=minute), stored=stored).run_id
    score(engine, run_id, 0.5) if is_scored else reject(engine, run_id)


@pytest.fixture
def ada(engine: Engine) -> User:
    add_competition(engine, per_day=None)
    return add_user(engine, "ada")


# ------------------------------------------------------------------------------------------------------------ ladder


def ladder_of(engine: Engine, step: float) -> None:
    with writing(engine) as session:
        session.execute(update(Phase).values(entry_rule=EntryRule.LADDER, ladder_step=step))


def test_a_ladder_tells_records_in_steps(engine: Engine, ada: User) -> None:
    # step 0.01: 0.614 is told as 0.61; 0.619 beats that by 0.009 only; 0.6201 by more, and is told as 0.62
    ladder_of(engine, 0.01)
    for minute, (value, told) in enumerate([(0.614, 0.61), (0.619, 0.61), (0.5, 0.61), (0.6201, 0.62)]):
        enter(engine, ada, value, minute=minute)
        assert shown(engine) == [(1, "Ada", told)]


def test_a_ladder_shows_nothing_but_what_ranks_and_no_own_scores(engine: Engine, ada: User) -> None:
    ladder_of(engine, 0.01)
    enter(engine, ada, 0.614)
    assert [column.metric for column in board(engine, viewer=ada).columns] == ["macro_f1"]
    with reading(engine) as session:
        asked = the_phase_task(session)
        declared = declared_of(session.get_one(Phase, asked.phase_id), asked)
    assert (declared.own_scores, declared.slices) == (OwnScores.NEVER, Slices.NONE)


def test_a_team_without_a_defined_score_stands_on_a_ladder_without_a_rank(engine: Engine, ada: User) -> None:
    ladder_of(engine, 0.01)
    enter(engine, ada, None, one_shot=0.5)
    assert shown(engine, "one-shot") == [(1, "Ada", 0.5)]


# ------------------------------------------------------------------------------------------------------------ alerts


def climb(engine: Engine, user: User, times: int) -> None:
    """A first file, and then `times` more, each with one line changed against the one before."""
    for minute in range(times + 1):
        send(engine, user, file_with(*range(minute)), minute)
        watch_climbing(engine, NOW + timedelta(minutes=minute))


def send_other(engine: Engine, user: User, content: str, now: datetime = NOW) -> None:
    """Submit to the other task of the phase."""
    store_upload([content.encode()], FolderStorage(get_settings().storage_dir), 10**6)
    score(engine, submit_other(engine, user, content, now).run_id, 0.5)


def test_each_team_climbs_in_each_task_by_itself(sqlite_engine: Engine) -> None:
    """Check that files sent in between, to the other task or in another team, do not count as the file before."""
    add_competition(sqlite_engine, per_day=None)
    add_other_task(sqlite_engine)
    ada, bob = add_user(sqlite_engine, "ada"), add_user(sqlite_engine, "bob")
    add_user(sqlite_engine, "root", is_administrator=True)
    told = []
    for minute in range(2 * SMALL_STEPS):
        now = NOW + timedelta(minutes=minute)
        send(sqlite_engine, ada, file_with(*range(minute)), minute)
        send_other(sqlite_engine, ada, f"{minute}\n" * 100)
        send(sqlite_engine, bob, file_with(*range(50, 100 - minute)), minute)
        if minute < 3:
            send_other(sqlite_engine, bob, f"{minute} {minute}\n" * 100)
        told.append(watch_climbing(sqlite_engine, now))
    assert told == [2 * (minute == SMALL_STEPS) for minute in range(2 * SMALL_STEPS)]
    with reading(sqlite_engine) as session:
        found = climbing_teams(session, find_competition(session, COMPETITION))
        assert climbing_teams(session, find_competition(session, NEIGHBOURS)) == []
    at, steps = NOW + timedelta(minutes=SMALL_STEPS), 2 * SMALL_STEPS - 1
    assert found == [Climber(team, PHASE, TASK, steps, steps + 1, at) for team in ("Ada", "Bob")]


def test_organisers_are_told_of_each_task_that_a_team_climbs_in(engine: Engine, ada: User) -> None:
    add_other_task(engine)
    add_user(engine, "root", is_administrator=True)
    climb(engine, ada, SMALL_STEPS)
    assert len(mails(engine)) == 1
    for step in range(SMALL_STEPS + 1):
        send_other(engine, ada, file_with(*range(step)), NOW + timedelta(minutes=step))
        watch_climbing(engine, NOW + timedelta(hours=1))
    assert len(mails(engine)) == 2


def climbers(engine: Engine) -> list[tuple[str, int, int]]:
    with reading(engine) as session:
        found = climbing_teams(session, find_competition(session, COMPETITION))
    return [(one.team, one.small_steps, one.submissions) for one in found]


def mails(engine: Engine) -> list[OutgoingMail]:
    with reading(engine) as session:
        return list(session.scalars(select(OutgoingMail)))


def test_organisers_are_told_once_of_a_team_that_takes_small_steps(engine: Engine, ada: User) -> None:
    olga = add_user(engine, "olga")
    add_user(engine, "root", is_administrator=True)
    with writing(engine) as session:
        competition = find_competition(session, COMPETITION)
        session.add(
            CompetitionRole(
                competition_id=competition.id,
                user_id=olga.id,
                role=Role.ORGANISER,
                rights="submissions",
                granted_at=NOW,
            )
        )
    climb(engine, ada, SMALL_STEPS - 1)
    assert (climbers(engine), mails(engine)) == ([], [])
    for minute in (SMALL_STEPS, SMALL_STEPS + 1):
        send(engine, ada, file_with(*range(minute)), minute)
        watch_climbing(engine, NOW)
    assert climbers(engine) == [("Ada", SMALL_STEPS + 1, SMALL_STEPS + 2)]
    (mail,) = mails(engine)
    assert mail.recipient == olga.email
    assert f"{SMALL_STEPS} of {SMALL_STEPS + 1} submissions of the team Ada changed no more than one line" in mail.body
    with reading(engine) as session:
        assert session.scalars(select(ClimbingAlert.times)).all() == [SMALL_STEPS]


def test_administrators_are_told_where_there_is_no_organiser(engine: Engine, ada: User) -> None:
    root = add_user(engine, "root", is_administrator=True)
    climb(engine, ada, SMALL_STEPS)
    assert [mail.recipient for mail in mails(engine)] == [root.email]


def test_large_changes_equal_files_and_rejected_ones_are_no_small_steps(engine: Engine, ada: User) -> None:
    for minute in range(SMALL_STEPS + 2):
        send(engine, ada, file_with(*range(3 * minute)), 3 * minute)  # three lines of a hundred: more than 2 %
        send(engine, ada, file_with(*range(3 * minute)), 3 * minute + 1)  # the same file again
        send(engine, ada, file_with(0), 3 * minute + 2, is_scored=False)
    watch_climbing(engine, NOW)
    assert climbers(engine) == []


def test_a_change_is_measured_against_the_file_before_and_only_once(engine: Engine, ada: User) -> None:
    send(engine, ada, file_with(), 0)
    send(engine, ada, file_with(1, 2), 1)
    for _ in range(2):
        watch_climbing(engine, NOW)
    with reading(engine) as session:
        rows = session.scalars(select(LineChange).where(LineChange.submission_id.in_(submissions_here()))).all()
    assert sorted((row.changed is not None, row.changed, row.of_lines) for row in rows) == [
        (False, None, None),
        (True, 2, 100),
    ]
