"""Names that organisers hid are hidden on frozen boards, too: those of their own competition, and only while hidden."""

from __future__ import annotations

from datetime import datetime

import pytest
from sqlalchemy import Engine, select

from app.base.db import reading, writing
from app.boards.hidden_names import hidden_names
from app.boards.snapshots import find_official, official_board
from app.competitions.find import find_board, find_competition
from app.competitions.visibility import Viewer
from app.models import HiddenText, Team, TextKind, User
from tests.competitions.embargo import declare, enter, freeze
from tests.rich_world import NEIGHBOURS
from tests.world import COMPETITION, DAY, HOUR, NOW, PHASE

LATER = NOW + DAY


@pytest.fixture
def frozen(sqlite_engine: Engine, people: list[User]) -> Engine:
    """Ada's Crow before Bob's Owl, on an official board."""
    declare(sqlite_engine, ends_at=NOW + HOUR)
    enter(sqlite_engine, people[0], 0.9, system="Crow", method="secret")
    enter(sqlite_engine, people[1], 0.5, system="Owl")
    assert freeze(sqlite_engine, LATER) == 2
    return sqlite_engine


def names(engine: Engine) -> list[tuple[str, str, str]]:
    """Team, system and method of each row."""
    with reading(engine) as session:
        place = find_board(find_competition(session, COMPETITION), PHASE, "zero-shot")
        board = official_board(
            session, find_official(session, *place, None, Viewer(None, LATER)).snapshot, Viewer(None, LATER)
        )
        return [(row.team, row.system, row.method) for row in board.rows]


def add_hidden(
    engine: Engine,
    kind: TextKind,
    was: str,
    *,
    team: str = "Ada",
    competition: str = COMPETITION,
    shown_at: datetime | None = None,
) -> None:
    with writing(engine) as session:
        here = find_competition(session, competition).id
        team_id = session.scalars(select(Team.id).where(Team.competition_id == here, Team.name == team)).one()
        hidden = HiddenText(
            competition_id=here, kind=kind, subject_id=team_id + len(was), team_id=team_id, reason="Rude."
        )
        hidden.places, hidden.hidden_at, hidden.hidden_by = [["table", 1, "name", was, f"Hidden {kind}"]], NOW, "olga"
        hidden.shown_at = shown_at
        session.add(hidden)


USUAL = [("Ada", "Crow", "secret"), ("Bob", "Owl", "")]


def test_a_hidden_name_of_a_team_is_replaced_in_its_own_rows(frozen: Engine) -> None:
    assert names(frozen) == USUAL
    add_hidden(frozen, TextKind.TEAM, "Ada")
    assert names(frozen) == [("Hidden team", "Crow", "secret"), USUAL[1]]


def test_a_hidden_system_is_replaced_with_what_is_said_of_it(frozen: Engine) -> None:
    add_hidden(frozen, TextKind.SYSTEM, "Crow")
    add_hidden(frozen, TextKind.SYSTEM, "Owl")
    assert names(frozen) == [("Ada", "Hidden system", ""), USUAL[1]], "Bob's is another Owl"


def test_the_names_of_a_namesake_next_door_hide_nothing_here(frozen: Engine) -> None:
    add_hidden(frozen, TextKind.TEAM, "Ada", competition=NEIGHBOURS)
    add_hidden(frozen, TextKind.SYSTEM, "Crow", competition=NEIGHBOURS)
    assert names(frozen) == USUAL
    with reading(frozen) as session:
        assert (
            hidden_names(session, find_board(find_competition(session, COMPETITION), PHASE, "zero-shot")[0]).key == ""
        )


def test_other_texts_are_no_names(frozen: Engine) -> None:
    add_hidden(frozen, TextKind.QUESTION, "Ada")
    assert names(frozen) == USUAL


def test_what_is_shown_again_is_shown_on_boards_that_were_frozen_meanwhile(
    sqlite_engine: Engine, people: list[User]
) -> None:
    """Check the document, which kept the words that replaced the name."""
    declare(sqlite_engine, ends_at=NOW + HOUR)
    enter(sqlite_engine, people[0], 0.9, system="Crow")
    with writing(sqlite_engine) as session:
        here = find_competition(session, COMPETITION).id
        session.scalars(select(Team).where(Team.competition_id == here, Team.name == "Ada")).one().name = "Hidden team"
    freeze(sqlite_engine, LATER)
    assert names(sqlite_engine) == [("Hidden team", "Crow", "")]
    add_hidden(sqlite_engine, TextKind.TEAM, "Ada", team="Hidden team", shown_at=LATER)
    assert names(sqlite_engine) == [("Ada", "Crow", "")]
