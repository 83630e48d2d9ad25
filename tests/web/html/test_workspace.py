"""The tabs of a competition's pages: each leads to the phase, task and board that the page is about."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

import pytest
from sqlalchemy import Engine, delete
from sqlalchemy.orm import Session

from app.base.db import reading, writing
from app.competitions.find import find_board, find_competition, find_phase_task
from app.competitions.visibility import Viewer
from app.models import Competition, Halt, PhaseTask, Stage, User
from app.web.html.words import life_words
from app.web.html.workspace import Place, Workspace, workspace_of, workspace_of_task
from tests import beside, world
from tests.competitions.allowing import allow
from tests.competitions.embargo import add_phase, declare
from tests.rich_world import OTHER_BOARDS, OTHER_TASK
from tests.world import COMPETITION, DAY, EARLIER_PHASE, HOUR, NOW, PHASE, TASK

HERE = f"/competitions/{COMPETITION}"


@pytest.fixture
def engine(sqlite_engine: Engine) -> Engine:
    """Return a database with two tasks in a phase; another phase has ended."""
    world.add_competition(sqlite_engine)
    beside.add_other_task(sqlite_engine)
    return sqlite_engine


def seen(
    engine: Engine,
    of: Callable[[Session, Competition], Place] = lambda *_: Place(),
    user: User | None = None,
    now: datetime = NOW,
) -> dict[str, str]:
    """Return the target of each tab, by its title."""
    with reading(engine) as session:
        here = find_competition(session, COMPETITION)
        return addresses(workspace_of(session, here, Viewer(user, now), "data", of(session, here)))


def addresses(workspace: Workspace) -> dict[str, str]:
    return {tab.title: tab.address for tab in workspace.tabs}


def task_of(phase: str, task: str) -> Callable[[Session, Competition], Place]:
    def found(session: Session, competition: Competition) -> Place:
        phase_task = find_phase_task(session, COMPETITION, phase, task)
        return Place(next(one for one in competition.phases if one.name == phase), phase_task.task)

    return found


def board_of(phase: str, board: str) -> Callable[[Session, Competition], Place]:
    def found(session: Session, competition: Competition) -> Place:
        there, wanted = find_board(competition, phase, board)
        return Place(there, None, wanted)

    return found


@pytest.mark.parametrize(("task", "board"), [(TASK, "zero-shot"), (OTHER_TASK, OTHER_BOARDS[0])])
def test_a_page_of_a_task_leads_to_its_own_board_and_upload(engine: Engine, task: str, board: str) -> None:
    found = seen(engine, task_of(PHASE, task))
    assert found["Submit"] == f"{HERE}/phases/{PHASE}/tasks/{task}/submit"
    assert found["Leaderboard"] == f"{HERE}/phases/{PHASE}/boards/{board}"
    assert found["Pictures"].startswith(f"{HERE}/phases/{PHASE}/boards/{board}")


@pytest.mark.parametrize(("board", "task"), [("one-shot", TASK), (OTHER_BOARDS[1], OTHER_TASK)])
def test_a_page_of_a_board_leads_to_an_upload_to_its_task(engine: Engine, board: str, task: str) -> None:
    found = seen(engine, board_of(PHASE, board))
    assert found["Leaderboard"] == f"{HERE}/phases/{PHASE}/boards/{board}"
    assert found["Submit"] == f"{HERE}/phases/{PHASE}/tasks/{task}/submit"


def test_a_page_of_a_phase_that_ended_keeps_its_boards_and_leads_to_an_upload_that_is_open(engine: Engine) -> None:
    found = seen(engine, task_of(EARLIER_PHASE, TASK))
    assert found["Leaderboard"] == f"{HERE}/phases/{EARLIER_PHASE}/boards/zero-shot"
    assert found["Submit"] == f"{HERE}/phases/{PHASE}/tasks/{TASK}/submit"


def test_of_two_open_phases_a_page_leads_to_an_upload_to_its_own(engine: Engine) -> None:
    add_phase(engine, "other", starts_at=NOW - HOUR, ends_at=NOW + 9 * DAY)
    for phase in (PHASE, "other"):
        assert seen(engine, task_of(phase, TASK))["Submit"] == f"{HERE}/phases/{phase}/tasks/{TASK}/submit"


def test_a_page_of_what_was_sent_is_of_the_phase_it_was_sent_to(engine: Engine) -> None:
    with reading(engine) as session:
        for phase in (EARLIER_PHASE, PHASE):
            phase_task = find_phase_task(session, COMPETITION, phase, TASK)
            found = workspace_of_task(session, phase_task, Viewer(None, NOW), "runs")
            assert found.phase is not None
            assert found.phase.name == phase
            assert addresses(found)["Leaderboard"] == f"{HERE}/phases/{phase}/boards/zero-shot"


def test_where_nothing_is_open_a_team_with_a_later_close_is_led_to_its_own_phase(engine: Engine) -> None:
    ada, bob = (world.add_user(engine, name) for name in ("ada", "bob"))
    add_phase(engine, "last", starts_at=NOW - DAY, ends_at=NOW + HOUR)
    declare(engine, ends_at=NOW + 2 * HOUR)
    for user in (ada, bob):
        world.submit(engine, user)
    allow(engine, phase="last", until=NOW + 5 * DAY, reason="Ill.")
    after = NOW + 3 * HOUR
    assert seen(engine, user=ada, now=after)["Submit"] == f"{HERE}/phases/last/tasks/{TASK}/submit"
    assert "Submit" not in seen(engine, user=bob, now=after)
    assert "Submit" not in seen(engine, now=after)


def test_a_phase_without_tasks_has_neither_board_nor_pictures(engine: Engine) -> None:
    add_phase(engine, "empty", starts_at=NOW)
    with writing(engine) as session:
        session.execute(delete(PhaseTask).where(PhaseTask.phase.has(name="empty")))

    def empty(_: Session, competition: Competition) -> Place:
        return Place(next(one for one in competition.phases if one.name == "empty"))

    assert not {"Leaderboard", "Pictures"} & seen(engine, empty).keys()


def test_the_tab_of_ones_runs_counts_them(engine: Engine) -> None:
    ada = world.add_user(engine, "ada")
    world.submit(engine, ada)
    with reading(engine) as session:
        here = find_competition(session, COMPETITION)
        found = workspace_of(session, here, Viewer(ada, NOW), "runs")
    assert [(tab.title, tab.count) for tab in found.tabs if tab.count] == [("My submissions", "1")]
    assert [tab.name for tab in found.tabs if tab.is_current] == ["runs"]


def test_organisers_alone_have_a_desk_and_who_is_logged_in_has_runs(engine: Engine) -> None:
    ada, root = world.add_user(engine, "ada"), world.add_user(engine, "root", is_administrator=True)
    found = [seen(engine, user=user) for user in (root, ada, None)]
    assert [one.get("Desk") for one in found] == [f"{HERE}/desk", None, None]
    assert [one.get("My submissions") for one in found] == [f"{HERE}/runs", f"{HERE}/runs", None]


@pytest.mark.parametrize(
    ("stage", "halt", "words"),
    [
        (Stage.DRAFT, Halt.NONE, "draft"),
        (Stage.PRIVATE, Halt.PAUSED, "private, paused"),
        (Stage.PUBLISHED, Halt.ARCHIVED, "published, archived"),
    ],
)
def test_a_competitions_life_is_said_in_a_word_or_two(engine: Engine, stage: Stage, halt: Halt, words: str) -> None:
    with writing(engine) as session:
        here = find_competition(session, COMPETITION)
        here.stage, here.halt = stage, halt
        assert life_words(here) == words
