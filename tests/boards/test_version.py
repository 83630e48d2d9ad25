"""Boards for different viewers, and a version that changes exactly when a board does."""

from __future__ import annotations

import pytest
from sqlalchemy import Engine, update

from app.base.db import reading, writing
from app.boards.leaderboard import LeaderboardRow, count_entries
from app.competitions.visibility import View
from app.models import BoardShown, ScoreRow, TeamKind, User
from app.runs.sweep import requeue_lost_runs
from app.standings.check import START
from tests.boards.places import board, enter, shown, version
from tests.world import (
    HOUR,
    NOW,
    ONE_SHOT,
    ZERO_SHOT,
    add_competition,
    add_team,
    claim,
    fail,
    finish,
    reject,
    score,
    scores_of,
    submit,
    sure,
    the_phase_task,
)
from workers.sweep import check_standings

pytestmark = pytest.mark.both

# ------------------------------------------------------------------------------------------------------------- viewers


def ids(rows: tuple[LeaderboardRow, ...]) -> list[tuple[str, bool, bool]]:
    return [(row.team, row.is_mine, row.submission_id is not None) for row in rows]


def test_only_members_see_which_submission_a_row_is(engine: Engine, people: list[User]) -> None:
    ada, bob, cat, _ = people
    add_team(engine, ada, cat, name="Both")
    enter(engine, ada, 0.9)
    enter(engine, bob, 0.5)
    assert ids(board(engine).rows) == [("Both", False, False), ("Bob", False, False)]
    assert ids(board(engine, viewer=cat).rows) == [("Both", True, True), ("Bob", False, False)]
    assert ids(board(engine, viewer=bob).rows) == [("Both", False, False), ("Bob", True, True)]


def test_a_baseline_stands_with_its_last_file_even_where_teams_stand_with_their_best(
    engine: Engine, people: list[User]
) -> None:
    ada, bob, *_ = people
    add_team(engine, bob, name="Majority", kind=TeamKind.BASELINE)
    enter(engine, bob, 0.9)
    enter(engine, bob, 0.2, minute=1)
    enter(engine, ada, 0.5, minute=2)
    enter(engine, ada, 0.3, minute=3)
    assert shown(engine) == [(1, "Ada", 0.5), (None, "Majority", 0.2)]


def test_a_list_of_boards_counts_teams_not_files_and_no_baselines(engine: Engine, people: list[User]) -> None:
    ada, bob, organiser, dan = people
    add_team(engine, organiser, name="Majority class", kind=TeamKind.BASELINE)
    enter(engine, ada, 0.9)
    enter(engine, ada, 0.8, minute=1)
    enter(engine, bob, 0.8)
    enter(engine, organiser, 0.5)
    submit(engine, dan)
    with reading(engine) as session:
        phase_task = the_phase_task(session).id
        assert count_entries(session, {phase_task: View()}) == {phase_task: 2}
        assert count_entries(session, {phase_task: View(board=BoardShown.HIDDEN)}) == {}
        assert count_entries(session, {}) == {}


# ------------------------------------------------------------------------------------------------------------- version


def test_the_version_changes_exactly_when_the_board_may(engine: Engine, people: list[User]) -> None:
    ada, bob = people[:2]
    seen = [version(engine)]

    def changed() -> bool:
        seen.append(version(engine))
        assert board(engine).version == seen[-1]
        return seen[-1] != seen[-2]

    waiting, late = submit(engine, ada).run_id, submit(engine, ada, content="late").run_id
    assert not changed(), "accepting"
    reject(engine, submit(engine, bob, content="bad").run_id)
    fail(engine, submit(engine, bob, content="unlucky").run_id)
    assert not changed(), "rejecting, failing"
    held = sure(claim(engine, late))
    with writing(engine) as session:
        requeue_lost_runs(session, attempts=3, now=NOW + HOUR)
    assert not changed(), "claiming, sweeping"
    finish(engine, held, scores_of(ZERO_SHOT, 0.9))
    assert not changed(), "a late worker's result"
    score(engine, waiting, 0.5)
    assert changed(), "scoring"
    score(engine, late, 0.4)
    assert changed(), "scoring another, although this team's row stays"
    assert not changed()
    assert len(set(seen)) == 3, "no version comes back"


def test_boards_and_competitions_have_versions_of_their_own(engine: Engine, people: list[User]) -> None:
    assert version(engine, "zero-shot") != version(engine, "one-shot")


def test_another_phase_task_moves_no_other_board(engine: Engine, people: list[User]) -> None:
    add_competition(engine, name="other")
    before = version(engine)
    score(engine, submit(engine, people[0], competition="other").run_id, 0.5)
    assert version(engine) == before
    assert shown(engine) == []


def test_a_board_is_derived_and_never_out_of_date(engine: Engine, people: list[User]) -> None:
    """Check that scores never change once they are recorded; the sweep would notice one written by hand."""
    enter(engine, people[0], 0.5)
    with writing(engine) as session:
        macro_f1 = (ScoreRow.metric == "macro_f1", ScoreRow.split == ZERO_SHOT)
        session.execute(update(ScoreRow).where(*macro_f1).values(value=0.25))
    check_standings(engine, START)
    assert shown(engine) == [(1, "Ada", 0.25)]


def test_settings_do_not_mix(engine: Engine, people: list[User]) -> None:
    """Check that a column is a metric and a split: neither alone selects a score."""
    enter(engine, people[0], 0.5, 0.9)
    assert [[cell.value for cell in row.cells] for row in board(engine, "zero-shot").rows] == [[0.5, 0.25]]
    assert [[cell.value for cell in row.cells] for row in board(engine, "one-shot").rows] == [[0.9, 0.45]]
    assert board(engine, "one-shot").columns[0].split == ONE_SHOT
