"""Query plans of boards: SQLite uses the cached standings, and never everything that was ever sent or scored."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from sqlalchemy import Engine, delete, select

from app.base.db import reading, writing
from app.boards.leaderboard import build_leaderboard, count_entries
from app.competitions.find import find_board, find_competition
from app.competitions.visibility import View, Viewer
from app.models import KeptBoard, Standing, User
from app.standings.choose import rules_of
from app.standings.tries import RunFilter, scored_runs
from tests.cards.writing import write
from tests.competitions.embargo import enter, look
from tests.plans import plan, statements, walks
from tests.world import COMPETITION, NOW, PHASE, the_phase_task


@pytest.fixture(autouse=True)
def _on_sqlite(engine: Engine) -> None:
    if engine.dialect.name != "sqlite":
        pytest.skip("PostgreSQL decides by its statistics")


def test_a_board_is_made_of_its_standings_alone(engine: Engine, people: list[User]) -> None:
    enter(engine, people[0], 0.5, method="SVM")
    enter(engine, people[1], 0.5, method="BERT")
    write(engine, enter(engine, people[2], 0.5, method="LSTM"), people[2], method="LSTM, bidirectional")
    with statements(engine) as asked:
        methods = {row.method for row in look(engine).rows}
    assert methods == {"SVM", "BERT", "LSTM, bidirectional"}
    assert walks(engine, asked) == []
    assert not [statement for statement, _ in asked if re.search(r"(FROM|JOIN) (runs|submissions|scores)\b", statement)]


def test_of_a_board_that_is_not_kept_runs_are_found_by_their_ids(engine: Engine, people: list[User]) -> None:
    enter(engine, people[0], 0.5)
    with writing(engine) as session:
        session.execute(delete(KeptBoard))
    with statements(engine) as asked:
        look(engine)
    of_runs = [plan(engine, *one) for one in asked if "json_each" in one[0] and "FROM runs" in one[0]]
    assert len(of_runs) == 1, "what is shown of them"
    assert "SEARCH runs USING INTEGER PRIMARY KEY (rowid=?)" in of_runs[0]


def test_a_board_of_the_day_before_looks_at_those_who_submitted_since(engine: Engine, people: list[User]) -> None:
    for minute in range(3):
        enter(engine, people[minute % 2], 0.5, minute=minute)
    with reading(engine) as session, statements(engine) as asked:
        place = find_board(find_competition(session, COMPETITION), PHASE, "zero-shot")
        build_leaderboard(session, *place, Viewer(None, NOW), until=NOW + timedelta(minutes=2))
    assert walks(engine, asked) == []
    (again,) = (plan(engine, *one) for one in asked if "likely(runs.status" in one[0])
    assert any("team_id=? AND phase_task_id=? AND submitted_at<?" in step for step in again)


def test_tries_of_some_teams_are_not_looked_for_among_all(engine: Engine, people: list[User]) -> None:
    for number, who in enumerate(people[:2]):
        enter(engine, who, 0.5, minute=number)
    with reading(engine) as session, statements(engine) as asked:
        phase, board = find_board(find_competition(session, COMPETITION), PHASE, "zero-shot")
        phase_task = the_phase_task(session)
        rules = rules_of(phase, phase_task, board)
        assert rules is not None
        teams = frozenset(session.scalars(select(Standing.team_id)))
        assert len(scored_runs(session, phase_task.id, [rules], RunFilter(teams=teams))[rules]) == 2
    steps = plan(engine, *asked[-1])
    assert any("team_id=? AND phase_task_id=?" in step for step in steps), steps


def test_counting_teams_looks_at_no_submission(engine: Engine, people: list[User]) -> None:
    enter(engine, people[0], 0.5)
    with reading(engine) as session, statements(engine) as asked:
        phase_task = the_phase_task(session)
        assert count_entries(session, {phase_task.id: View()}) == {phase_task.id: 1}
    assert walks(engine, asked) == []
    steps = plan(engine, *asked[-1])
    assert any("SEARCH tallies USING INDEX" in step and "phase_task_id=?" in step for step in steps)
    assert not [step for step in steps if "submissions" in step]
