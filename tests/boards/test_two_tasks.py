"""A phase with two tasks: data of one task never affect the other."""

from __future__ import annotations

import pytest
from sqlalchemy import Engine

from app.base.db import reading, writing
from app.boards.activity import Activity, activity_of
from app.boards.documents import describe_team
from app.boards.leaderboard import build_leaderboard, count_entries, entry_sources, has_ladder, whole_sight
from app.boards.side_by_side import build_results
from app.boards.snapshots import find_official, official_board
from app.boards.statistics_work import versions_of
from app.boards.team_rows import team_rows
from app.competitions.find import find_board, find_competition, find_phase_task
from app.competitions.visibility import Viewer, views_of
from app.models import EntryRule, PhaseTask, User
from tests.beside import add_other_task, enter_other
from tests.boards.marks import HIDDEN, mark
from tests.competitions.embargo import add_phase, declare, enter, freeze, look, rows
from tests.rich_world import CARRYING, EMBARGOED, LATER_PHASE, NEIGHBOURS, OTHER_TASK
from tests.world import COMPETITION, DAY, EARLIER_PHASE, HOUR, NOW, ONE_SHOT, PHASE, TASK, board_version_number


def activity(engine: Engine, phase: str, *tasks: str) -> Activity:
    """Return the activity of the neighbours' tasks in this phase, as everybody sees it."""
    with reading(engine) as session:
        asked = [find_phase_task(session, NEIGHBOURS, phase, task) for task in tasks]
        return activity_of(session, views_of(session, asked, Viewer(None, NOW)))


@pytest.mark.parametrize(
    ("phase", "tasks", "expected"),
    [
        (PHASE, (TASK, OTHER_TASK), Activity(teams=1, runs=2)),
        (PHASE, (OTHER_TASK,), Activity(teams=1, runs=None)),
        (LATER_PHASE, (TASK, OTHER_TASK), Activity(teams=1, runs=1)),
        (EMBARGOED, (TASK,), Activity(teams=None, runs=None)),
        (CARRYING, (TASK,), Activity(teams=2, runs=2)),
    ],
)
def test_a_phase_counts_the_runs_of_its_public_tasks_alone(
    sqlite_engine: Engine, phase: str, tasks: tuple[str, ...], expected: Activity
) -> None:
    """Gusts has two runs of the public task, and one of that which shows ranks alone."""
    assert activity(sqlite_engine, phase, *tasks) == expected


def of_board(engine: Engine, name: str, competition: str = COMPETITION) -> list[tuple[int | None, str]]:
    with reading(engine) as session:
        found = find_board(find_competition(session, competition), PHASE, name)
        return [(row.rank, row.team) for row in build_leaderboard(session, *found, Viewer(None, NOW)).rows]


def test_boards_of_one_task_show_no_run_of_the_other(sqlite_engine: Engine, people: list[User]) -> None:
    add_other_task(sqlite_engine)
    enter(sqlite_engine, people[0], 0.5, 0.5)
    enter_other(sqlite_engine, people[1], 0.9)
    assert rows(look(sqlite_engine)) == [(1, "Ada", 0.5)]
    assert of_board(sqlite_engine, "near") == of_board(sqlite_engine, "far") == [(1, "Bob")]
    assert of_board(sqlite_engine, "near", NEIGHBOURS) == [(1, "Gusts")]


def test_a_mark_on_one_task_leaves_the_team_on_the_other(sqlite_engine: Engine, people: list[User]) -> None:
    add_other_task(sqlite_engine)
    enter(sqlite_engine, people[0], 0.5, 0.5)
    enter_other(sqlite_engine, people[0], 0.9)
    mark(sqlite_engine, "Ada", HIDDEN)
    assert rows(look(sqlite_engine)) == []
    assert of_board(sqlite_engine, "near") == [(1, "Ada")]


def test_a_score_of_one_task_leaves_the_versions_of_the_other(sqlite_engine: Engine, people: list[User]) -> None:
    add_other_task(sqlite_engine)
    before = board_version_number(sqlite_engine)
    enter_other(sqlite_engine, people[0], 0.9)
    assert board_version_number(sqlite_engine) == before


@pytest.fixture
def carried(sqlite_engine: Engine, people: list[User]) -> Engine:
    """Add a later phase with both tasks that carries over the first one's entries: Ada's and Bob's to one task each,
    Cat's to both.
    """
    add_other_task(sqlite_engine)
    add_phase(sqlite_engine, "post", starts_at=NOW - DAY, carry_over=PHASE, ends_at=NOW + 2 * DAY)
    with writing(sqlite_engine) as session:
        post = find_phase_task(session, COMPETITION, "post", TASK).phase_id
        other = find_phase_task(session, COMPETITION, PHASE, OTHER_TASK).task_id
        session.add(PhaseTask(phase_id=post, task_id=other, gold="similar.csv"))
    enter(sqlite_engine, people[0], 0.5, 0.4)
    enter_other(sqlite_engine, people[1], 0.9)
    enter(sqlite_engine, people[2], 0.3, 0.2)
    enter_other(sqlite_engine, people[2], 0.8)
    return sqlite_engine


def test_statistics_belong_to_versions_of_the_phase_that_is_carried_over_here(carried: Engine) -> None:
    """Not of one of its name next door."""
    with writing(carried) as session:
        for phase in find_competition(session, NEIGHBOURS).phases:
            if phase.name == LATER_PHASE:
                phase.carry_over = PHASE
    with reading(carried) as session:
        own = {phase: find_phase_task(session, COMPETITION, phase, TASK) for phase in (PHASE, "post")}
        versions = {phase: str(one.board_version) for phase, one in own.items()}
        assert versions_of(session, own["post"].id) == f"{versions['post']}-{versions[PHASE]}"
        assert versions_of(session, own[PHASE].id) == versions[PHASE]
        theirs = find_phase_task(session, NEIGHBOURS, PHASE, TASK)
        assert str(theirs.board_version) != versions[PHASE], "else nothing could tell them apart"
        door = find_phase_task(session, NEIGHBOURS, LATER_PHASE, TASK)
        assert versions_of(session, door.id) == f"{door.board_version}-{theirs.board_version}"


def test_what_the_carried_phase_hides_is_hidden_where_its_entries_stand(carried: Engine) -> None:
    """A Ladder, whose comparisons would tell scores, and digits that no official rank may tell either."""

    def seen() -> list[tuple[bool, int | None]]:
        with reading(carried) as session:
            competition = find_competition(session, COMPETITION)
            asked = [entry_sources(session, *find_board(competition, phase, "zero-shot")) for phase in ("post", PHASE)]
            return [(has_ladder(one), whole_sight(session, one).own.view.ranks_by) for one in asked]

    whole = seen()
    assert [ladder for ladder, _ in whole] == [False, False]
    declare(carried, entry_rule=EntryRule.LADDER, ladder_step=0.01, visibility={"precision": 2})
    after = seen()
    assert [ladder for ladder, _ in after] == [True, True]
    assert after[0][1] == after[1][1] != whole[0][1], "of the phase that is carried over"
    declare(carried, entry_rule=EntryRule.BEST, ladder_step=None, visibility={"precision": "full"})
    declare(carried, phase="post", entry_rule=EntryRule.LADDER, ladder_step=0.01)
    assert [ladder for ladder, _ in seen()] == [True, False]


def test_a_further_score_is_left_out_where_the_carried_phase_does_not_show_it(carried: Engine) -> None:
    further = ("accuracy", ONE_SHOT)  # by which no board ranks

    def has_it(phase: str) -> bool:
        with reading(carried) as session:
            place = find_board(find_competition(session, COMPETITION), phase, "zero-shot")
            columns = build_leaderboard(session, *place, Viewer(None, NOW), more=[further]).columns
        return further in [(column.metric, column.split) for column in columns]

    assert [has_it(phase) for phase in ("post", PHASE)] == [True, True]
    declare(carried, phase="post", visibility={"slices": "none"})
    assert [has_it(phase) for phase in ("post", PHASE)] == [False, True]
    declare(carried, phase="post", visibility={})
    declare(carried, visibility={"slices": "none"})
    assert [has_it(phase) for phase in ("post", PHASE)] == [False, False]


LATER = {"zero-shot": ["Ada", "Cat"], "one-shot": ["Ada", "Cat"], "near": ["Bob", "Cat"], "far": ["Bob", "Cat"]}


def test_entries_are_carried_over_to_the_boards_of_their_own_task(carried: Engine) -> None:
    shown = {name: [row.team for row in look(carried, phase="post", board=name).rows] for name in LATER}
    assert shown == LATER
    assert [row.carried_from for row in look(carried, phase="post", board="near").rows] == [PHASE, PHASE]
    assert freeze(carried, NOW + 3 * DAY) == 4, "nobody submitted to the later phase"


def test_frozen_boards_keep_what_was_carried_over_to_their_own_task(carried: Engine, people: list[User]) -> None:
    enter(carried, people[3], 0.1, 0.1, phase="post")
    declare(carried, ends_at=NOW + HOUR)
    assert freeze(carried, NOW + 3 * DAY) == 6
    with writing(carried) as session:  # of the other task alone
        find_phase_task(session, COMPETITION, PHASE, OTHER_TASK).visibility = {"board": "hidden"}
    official = {}
    with reading(carried) as session:
        for name in ("zero-shot", "one-shot"):
            place = find_board(find_competition(session, COMPETITION), "post", name)
            viewer = Viewer(None, NOW + 3 * DAY)
            snapshot = find_official(session, *place, None, viewer).snapshot
            official[name] = [(row.rank, row.team) for row in official_board(session, snapshot, viewer).rows]
    assert official == dict.fromkeys(("zero-shot", "one-shot"), [(1, "Ada"), (2, "Cat"), (3, "Dan")])


def test_lists_count_the_teams_of_each_task_and_results_have_a_table_each(carried: Engine) -> None:
    with reading(carried) as session:
        here = find_competition(session, COMPETITION)
        tasks = [find_phase_task(session, COMPETITION, PHASE, name) for name in (TASK, OTHER_TASK)]
        views = views_of(session, tasks, Viewer(None, NOW))
        assert count_entries(session, views) == {tasks[0].id: 2, tasks[1].id: 2}
        found = {
            one.name: build_results(session, here, one, Viewer(None, NOW)) for one in (task.task for task in tasks)
        }
        columns = {
            name: [(column.phase.name, column.board.name) for column in results.columns]
            for name, results in found.items()
        }
    assert columns[OTHER_TASK] == [(PHASE, "near"), (PHASE, "far"), ("post", "near"), ("post", "far")]
    assert {place for place in columns[TASK] if place[0] != EARLIER_PHASE} == {
        (phase, board) for phase in (PHASE, "post") for board in ("zero-shot", "one-shot")
    }
    assert [row.team for row in found[OTHER_TASK].rows] == ["Bob", "Cat"]


def test_a_team_has_its_rows_of_both_tasks_each_with_its_task(carried: Engine) -> None:
    with reading(carried) as session:
        here = find_competition(session, COMPETITION)
        rows_of_cat = team_rows(session, here, "Cat", Viewer(None, NOW))
        told = describe_team(here, "Cat", rows_of_cat, [])
    assert [(one.phase, one.board, one.task, one.row.rank, one.ranked) for one in told.rows] == [
        (phase, board, task, 2, 2)
        for phase in (PHASE, "post")
        for board, task in (("zero-shot", TASK), ("one-shot", TASK), ("near", OTHER_TASK), ("far", OTHER_TASK))
    ]
    assert told.rows[-1].page.endswith("/idioms/phases/post/boards/far")


def test_statistics_of_a_task_are_due_with_the_boards_of_that_task_alone(carried: Engine, people: list[User]) -> None:
    def versions() -> dict[tuple[str, str], str | None]:
        with reading(carried) as session:
            places = [(phase, task) for phase in (PHASE, "post") for task in (TASK, OTHER_TASK)]
            ids = {place: find_phase_task(session, COMPETITION, *place).id for place in places}
            return {place: versions_of(session, key) for place, key in ids.items()}

    before = versions()
    enter_other(carried, people[0], 0.7)
    changed = {place for place, version in versions().items() if version != before[place]}
    assert changed == {(PHASE, OTHER_TASK), ("post", OTHER_TASK)}


def test_a_phase_that_has_ended_is_frozen_with_the_boards_of_both_tasks(
    sqlite_engine: Engine, people: list[User]
) -> None:
    add_other_task(sqlite_engine)
    enter(sqlite_engine, people[0], 0.5, 0.5)
    enter_other(sqlite_engine, people[1], 0.9)
    assert freeze(sqlite_engine, NOW + 2 * DAY) == 4
