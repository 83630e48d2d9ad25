"""A team's rows on all boards are those that the boards show its reader, and nothing reveals any other."""

from __future__ import annotations

from datetime import datetime

import pytest
from sqlalchemy import Engine

from app.base.config import get_settings
from app.base.db import reading, writing
from app.base.errors import NotFound
from app.boards.team_rows import team_rows
from app.competitions.find import find_board, find_competition
from app.competitions.visibility import SeenAs, Viewer
from app.models import Right, Role, RowStatus, TeamKind, User
from app.people.act import UserAct
from app.people.rights import grant_role
from app.teams.membership import rename_team
from tests import world
from tests.beside import one_right_each
from tests.boards.marks import mark
from tests.competitions.embargo import add_phase, enter, freeze, hide
from tests.world import COMPETITION, DAY, HOUR, NOW, PHASE

Place = tuple[str, str, int | None, float | None]


def places(
    engine: Engine, name: str, viewer: User | None = None, now: datetime = NOW + HOUR, seen_as: SeenAs | None = None
) -> list[Place] | None:
    """Return phase, board, rank and score of each row; None: there is no such team, for this viewer."""
    with reading(engine) as session:
        competition = find_competition(session, COMPETITION)
        try:
            rows = team_rows(session, competition, name, Viewer(viewer, now, seen_as))
        except NotFound:
            return None
    return [(one.phase.name, one.board.name, one.row.rank, one.score.value) for one in rows]


@pytest.fixture
def entered(engine: Engine, people: list[User]) -> list[User]:
    """ada 0.7 and bob 0.6 in the evaluation, ada 0.5 in the practice that is open, too."""
    ada, bob = people[:2]
    add_phase(engine, "practice", starts_at=NOW - DAY)
    enter(engine, ada, 0.7)
    enter(engine, bob, 0.6, minute=1)
    enter(engine, ada, 0.5, phase="practice", minute=2)
    return people


def test_a_team_has_its_rows_of_all_phases_and_boards(engine: Engine, entered: list[User]) -> None:
    found = places(engine, "Ada")
    assert found is not None
    assert [one for one in found if one[1] == "zero-shot"] == [
        (PHASE, "zero-shot", 1, 0.7),
        ("practice", "zero-shot", 1, 0.5),
    ]
    assert places(engine, "Bob") == [(PHASE, "zero-shot", 2, 0.6)]


def test_a_hidden_board_has_no_row_of_anybody_but_for_organisers(engine: Engine, entered: list[User]) -> None:
    hide(engine, board="hidden")
    assert places(engine, "Ada") == [("practice", "zero-shot", 1, 0.5)]
    assert places(engine, "Bob") is None, "as if there were no such team"
    assert places(engine, "Bob", entered[1]) == [], "its own members know that it is there"
    olga = world.add_user(engine, "olga")
    with writing(engine) as session:
        competition = find_competition(session, COMPETITION)
        grant_role(session, competition, session.get_one(User, olga.id), Role.ORGANISER, NOW)
    assert places(engine, "Bob", olga) == [(PHASE, "zero-shot", 2, 0.6)]
    assert places(engine, "Bob", olga, seen_as=SeenAs.PARTICIPANT) is None
    assert places(engine, "Nobody", olga) is None
    world.add_team(engine, entered[2], name="Cats")
    assert places(engine, "Cats", olga) == [], "on no board: organisers know it all the same"
    assert places(engine, "Cats", olga, seen_as=SeenAs.PUBLIC) is None


def test_a_board_of_ranks_alone_tells_no_score(engine: Engine, entered: list[User]) -> None:
    hide(engine, board="ranks_only")
    assert places(engine, "Bob") == [(PHASE, "zero-shot", 2, None)]


def test_where_names_are_hidden_a_team_is_not_found_by_its_own(engine: Engine, entered: list[User]) -> None:
    hide(engine, names_from=NOW + DAY)
    assert places(engine, "Bob") is None
    assert places(engine, "Ada") == [("practice", "zero-shot", 1, 0.5)], "its neutral name is not joined to this one"
    assert places(engine, "Bob", entered[1]) == [(PHASE, "zero-shot", 2, 0.6)], "one's own"


def test_a_row_that_organisers_hid_is_for_its_own_team(engine: Engine, entered: list[User]) -> None:
    mark(engine, "Bob", RowStatus.HIDDEN)
    assert places(engine, "Bob") is None
    assert places(engine, "Bob", entered[1]) is not None


def test_a_phase_to_come_and_a_team_that_is_not_there_tell_nothing(engine: Engine, entered: list[User]) -> None:
    assert places(engine, "Cat") is None, "registered, and never scored"
    assert places(engine, "bob") is None, "names are what they are"


def test_a_name_that_official_results_alone_have_leads_to_them(engine: Engine, entered: list[User]) -> None:
    """The team has another name since; a second one of the same name on a live board goes before."""
    ada, bob = entered[:2]
    with writing(engine) as session:
        competition = find_competition(session, COMPETITION)
        find_board(competition, PHASE, "zero-shot")[0].ends_at = NOW + DAY
        competition.teams = {"rename_until": (NOW + 9 * DAY).isoformat()}
    assert freeze(engine, NOW + DAY + HOUR)
    later = NOW + DAY + 2 * HOUR
    with writing(engine) as session:
        rename_team(
            UserAct(session, session.get_one(User, bob.id), later, get_settings()),
            find_competition(session, COMPETITION),
            "Robert",
        )
    with reading(engine) as session:
        competition = find_competition(session, COMPETITION)
        old, new = (team_rows(session, competition, name, Viewer(None, later)) for name in ("Bob", "Robert"))
        assert [(one.official, one.row.rank, one.of, one.score.value, one.renamed_to) for one in old] == [
            (1, 2, 2, 0.6, "Robert")
        ]
        assert [(one.official, one.renamed_to) for one in new] == [(None, "")]
    hide(engine, board="hidden")
    assert places(engine, "Bob", now=later) is None, "official or not, hidden is hidden"
    hide(engine, board="public", names_from=later + HOUR)
    assert places(engine, "Bob", now=later) is None


@pytest.mark.parametrize("right", list(Right))
def test_who_sees_what_teams_sent_knows_a_team_without_rows_and_none_next_door(
    engine: Engine, entered: list[User], right: Right
) -> None:
    world.add_team(engine, entered[2], name="Cats")
    user = one_right_each(engine)[right]
    assert places(engine, "Cats", user) == ([] if right is Right.SUBMISSIONS else None)
    assert places(engine, "Gusts", user) is None


def test_baselines_have_pages_too(engine: Engine, entered: list[User]) -> None:
    bot = world.add_user(engine, "bot")
    world.add_team(engine, bot, name="Majority", kind=TeamKind.BASELINE)
    enter(engine, bot, 0.4)
    assert places(engine, "Majority") == [(PHASE, "zero-shot", None, 0.4)]
