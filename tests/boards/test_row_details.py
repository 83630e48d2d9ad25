"""Details of a row: who may open them, what scored it and against which gold, for the public and for its team."""

from __future__ import annotations

import pytest
from sqlalchemy import Engine, delete

from app.base.db import reading, writing
from app.boards.leaderboard import entry_sources, whole_board
from app.boards.statistics import Statistics, statistics_document
from app.competitions.find import find_board, find_competition
from app.models import Board, BoardStatistics, PhaseTask, Snapshot, User
from evergold.scoring.tasks.idiom_detection import TASK as DETECTION
from tests.competitions.embargo import MINUTE, declare, enter, freeze, hide, look
from tests.world import COMPETITION, HOUR, NOW, PHASE, add_competition, add_user, the_phase_task


@pytest.fixture
def people(sqlite_engine: Engine) -> list[User]:
    add_competition(sqlite_engine, per_day=None)
    return [add_user(sqlite_engine, name) for name in ("ada", "bob")]


def test_a_public_row_names_its_submission_to_all_and_opens_for_its_team(
    sqlite_engine: Engine, people: list[User]
) -> None:
    sent = enter(sqlite_engine, people[0], 0.5, method="BERT")
    for viewer, opens in ((None, False), (people[1], False), (people[0], True)):
        (row,) = look(sqlite_engine, viewer).rows
        assert (row.page_id, row.submission_id, row.is_mine) == (sent, sent if opens else None, opens)
        assert (row.entries, row.achieved_at, row.method, row.team_id) == (1, NOW, "BERT", None)
        assert row.task_version == DETECTION.version
        assert row.run_id is not None
        assert not row.is_outdated


def test_of_a_hidden_board_nothing_stands_behind_a_row(sqlite_engine: Engine, people: list[User]) -> None:
    enter(sqlite_engine, people[0], 0.5)
    replace_gold(sqlite_engine)
    hide(sqlite_engine, board="ranks_only")
    for viewer in (None, people[0]):
        (row,) = look(sqlite_engine, viewer).rows
        assert (row.page_id, row.run_id, row.entries, row.achieved_at) == (None, None, None, None)
        assert (row.task_version, row.commitment, row.card, row.is_outdated) == (None, None, None, False)


def replace_gold(engine: Engine) -> None:
    with writing(engine) as session:
        the_phase_task(session).gold = "gold-v2.csv"


def test_rows_that_were_scored_against_older_gold_say_so(sqlite_engine: Engine, people: list[User]) -> None:
    enter(sqlite_engine, people[0], 0.5)
    replace_gold(sqlite_engine)
    enter(sqlite_engine, people[1], 0.25)
    assert [(row.team, row.is_outdated) for row in look(sqlite_engine).rows] == [("Ada", True), ("Bob", False)]


def test_a_board_that_was_declared_after_the_freeze_is_frozen_too(sqlite_engine: Engine, people: list[User]) -> None:
    enter(sqlite_engine, people[0], 0.5, 0.5)
    declare(sqlite_engine, ends_at=NOW + HOUR)
    assert freeze(sqlite_engine, NOW + 3 * HOUR) == 2
    with writing(sqlite_engine) as session:
        _, board = find_board(find_competition(session, COMPETITION), PHASE, "zero-shot")
        session.execute(delete(Snapshot).where(Snapshot.board_id == board.id))
    assert freeze(sqlite_engine, NOW + 4 * HOUR) == 1


def test_statistics_are_of_the_board_as_it_is_now(sqlite_engine: Engine, people: list[User]) -> None:
    enter(sqlite_engine, people[0], 0.5)
    with writing(sqlite_engine) as session:
        phase, board = find_board(find_competition(session, COMPETITION), PHASE, "zero-shot")
        place = (the_phase_task(session).id, board.id)
        for phase_task_id in (place[0] - 1, place[0]):
            if session.get(PhaseTask, phase_task_id) and session.get(Board, board.id):
                document = statistics_document(Statistics(f"of {phase_task_id - place[0]}"))
                session.add(BoardStatistics(phase_task_id=phase_task_id, board_id=board.id, document=document))
    with reading(sqlite_engine) as session:
        phase, board = find_board(find_competition(session, COMPETITION), PHASE, "zero-shot")
        sources = entry_sources(session, phase, board)
        now, then = (whole_board(session, board, sources, until=until) for until in (None, NOW + MINUTE))
    assert now.statistics is not None
    assert now.statistics.key == "of 0"
    assert then.statistics is None, "nobody computed them for the board as it was then"
