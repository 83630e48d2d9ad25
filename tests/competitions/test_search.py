"""Search by words: competitions, their tasks and boards, and teams as far as boards show them under their names."""

from __future__ import annotations

from datetime import datetime

import pytest
from sqlalchemy import Engine

from app.base.db import reading, writing
from app.competitions.find import find_competition
from app.competitions.search import MOST_HITS, MOST_TEAMS, search, search_teams
from app.competitions.visibility import Viewer
from app.models import Competition, Right, TeamKind, User
from tests.beside import add_other_task, enter_other, one_right_each
from tests.competitions.embargo import add_phase, enter, hide
from tests.rich_world import NEIGHBOURS
from tests.world import COMPETITION, DAY, NOW, add_competition, add_team, add_user, reject, score, submit

CLOSE = NOW + DAY


@pytest.fixture
def here(sqlite_engine: Engine) -> Engine:
    """Return a competition in which `evaluation` has two tasks and closes tomorrow, `post` is open for ever and has
    one.
    """
    add_competition(sqlite_engine)
    add_other_task(sqlite_engine)
    add_phase(sqlite_engine, "post", starts_at=NOW)
    with writing(sqlite_engine) as session:
        found = find_competition(session, COMPETITION)
        found.title, found.summary = "Idioms in context", "Which sentences mean what they say?"
        found.tasks[0].title, found.boards[-1].title = "Détection", "Far away"
    return sqlite_engine


def hits(engine: Engine, words: str, now: datetime = NOW) -> list[str]:
    """Return what is found, from the outside in: `idioms/detection/evaluation/zero-shot`."""
    with reading(engine) as session:
        found = search([find_competition(session, name) for name in (COMPETITION, NEIGHBOURS)], words, now)
    places = []
    for one in found:
        names = [part.name for part in (one.competition, one.task, one.phase, one.board) if part is not None]
        assert one.kind == {1: "competition", 2: "task", 4: "board"}[len(names)]
        places.append("/".join(names))
    return places


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("context", [COMPETITION]),
        ("SENTENCES idioms", [COMPETITION]),
        ("sentences detection", ["idioms/detection"]),
        ("detection", [f"{name}/detection" for name in (COMPETITION, NEIGHBOURS)]),
        ("far", ["idioms/similarity/evaluation/far", "neighbours/similarity/post/far"]),
        ("far away", ["idioms/similarity/evaluation/far"]),
        ("far context", ["idioms/similarity/evaluation/far"]),
        ("far nowhere", []),
        ("", []),
        ("  ", []),
    ],
)
def test_a_part_is_found_by_a_word_of_its_own_and_others_of_its_competition(
    here: Engine, words: str, found: list[str]
) -> None:
    without_boards = [one for one in hits(here, words) if one.count("/") != 3 or "far" in words]
    assert without_boards == found


def test_a_board_is_that_of_the_phase_that_matters_now_or_else_of_the_last_that_has_it(here: Engine) -> None:
    here_alone = "context zero-shot"
    assert hits(here, here_alone) == ["idioms/detection/evaluation/zero-shot"]
    assert hits(here, here_alone, CLOSE) == ["idioms/detection/post/zero-shot"]
    assert hits(here, "context far", CLOSE) == ["idioms/similarity/evaluation/far"]


def test_so_many_are_found_and_no_more() -> None:
    many = [Competition(name=f"c-{n}", title="Idioms", phases=[], tasks=[], boards=[]) for n in range(MOST_HITS + 1)]
    assert [one.competition.name for one in search(many, "idioms", NOW)] == [one.name for one in many[:MOST_HITS]]


# -------------------------------------------------------------------------------------------------------------- teams


def teams(engine: Engine, words: str, viewer: User | None = None, *places: str) -> list[tuple[str, str]]:
    with reading(engine) as session:
        competitions = [find_competition(session, name) for name in places or (COMPETITION, NEIGHBOURS)]
        found = search_teams(session, competitions, words, Viewer(viewer, NOW))
    return [(one.competition.name, one.team) for one in found]


@pytest.fixture
def people(here: Engine) -> dict[str, User]:
    """Teams whose names have `Heron`: one on boards of both tasks, one of the other task alone, and others on none."""
    found = {name: add_user(here, name) for name in ("ada", "bob", "cat", "dan")}
    for name, team in (("bob", "Zebra Heron"), ("ada", "Early Heron"), ("cat", "Heron Cat"), ("dan", "Heron Dan")):
        add_team(here, found[name], name=team)
    enter(here, found["ada"], 0.5)
    enter_other(here, found["ada"], 0.4)
    enter_other(here, found["bob"], 0.6)
    reject(here, submit(here, found["cat"]).run_id)
    baseline = add_user(here, "zeros")
    add_team(here, baseline, name="Baseline Heron", kind=TeamKind.BASELINE)
    score(here, submit(here, baseline).run_id, 0.1)
    return found


def test_a_team_is_found_where_it_has_a_score_and_once(here: Engine, people: dict[str, User]) -> None:
    assert teams(here, "heron") == [(COMPETITION, "Early Heron"), (COMPETITION, "Zebra Heron")]
    assert teams(here, "HERON zeb") == [(COMPETITION, "Zebra Heron")]
    assert teams(here, "heron nothing") == teams(here, "") == teams(here, "%") == teams(here, "her_n") == []
    assert teams(here, "gusts") == [(NEIGHBOURS, "Gusts")]
    assert teams(here, "gusts", None, COMPETITION) == teams(here, "heron", None, NEIGHBOURS) == []


def test_a_team_is_found_if_a_board_that_it_is_on_shows_its_name(here: Engine, people: dict[str, User]) -> None:
    early, zebra = (COMPETITION, "Early Heron"), (COMPETITION, "Zebra Heron")
    of_right = {right: user for right, user in one_right_each(here).items()}
    with writing(here) as session:
        phase = find_competition(session, COMPETITION).phases[0]
        other = next(one for one in phase.phase_tasks if one.task.name != "detection")
        other.visibility = {"board": "ranks_only"}
    assert teams(here, "heron") == [early, zebra], "ranks have names beside them"
    for hidden in ({"names_from": "close"}, {"board": "hidden"}):
        with writing(here) as session:
            phase = find_competition(session, COMPETITION).phases[0]
            next(one for one in phase.phase_tasks if one.task.name != "detection").visibility = hidden
        assert teams(here, "heron") == teams(here, "heron", people["bob"]) == [early]
        for right, user in of_right.items():
            assert teams(here, "heron", user) == ([early, zebra] if right is Right.SUBMISSIONS else [early])
    hide(here, board="hidden")
    assert teams(here, "heron") == []


def test_so_many_teams_are_found_and_no_more(here: Engine) -> None:
    names = [f"Heron {number:02}" for number in range(MOST_TEAMS + 1)]
    for number, name in enumerate(reversed(names)):
        user = add_user(here, f"user-{number}")
        add_team(here, user, name=name)
        enter(here, user, 0.5, minute=number)
    assert [team for _, team in teams(here, "heron")] == names[:MOST_TEAMS]
