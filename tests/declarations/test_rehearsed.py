"""The rehearsal of a draft: one baseline in a team's place, seen by all in each span of a phase."""

from __future__ import annotations

import pytest
from sqlalchemy import Engine

from app.base.db import reading
from app.competitions.find import find_competition
from app.declarations.setup.rehearsal import TEST_TEAM, SpanSeen, rehearsed
from app.models import TeamKind, User
from tests.beside import add_other_task, enter_other
from tests.competitions.embargo import add_phase, declare, enter
from tests.rich_world import leave_alone_what_is_prepared
from tests.world import DAY, NOW, PHASE, SHOWN_WHOLE, add_competition, add_team, add_user

OPEN, CLOSED = "While it is open", "After it has closed"
WHO = ("Readers", "The team", "Organisers")


@pytest.fixture
def root(sqlite_engine: Engine) -> User:
    """Return two baselines in `evaluation` and its other task, one in `practice`, which never ends."""
    leave_alone_what_is_prepared(sqlite_engine)
    add_competition(sqlite_engine, ends_at=NOW + DAY)
    add_other_task(sqlite_engine)
    add_phase(sqlite_engine, "practice", starts_at=NOW - DAY)
    hidden = {**SHOWN_WHOLE, "board": "hidden", "public_from": "close", "own_scores": "after_close"}
    declare(sqlite_engine, visibility=hidden)
    for number, name in enumerate(("Zeros", "Ones")):
        user = add_user(sqlite_engine, name.lower())
        add_team(sqlite_engine, user, name=name, kind=TeamKind.BASELINE)
        enter(sqlite_engine, user, 0.2 + number / 10, minute=number)
        enter_other(sqlite_engine, user, 0.4 + number / 10)
        if name == "Zeros":
            enter(sqlite_engine, user, 0.7, phase="practice")
    return add_user(sqlite_engine, "root", is_administrator=True)


def seen(engine: Engine, root: User, baseline: str) -> list[SpanSeen]:
    with reading(engine) as session:
        return list(rehearsed(session, find_competition(session, "idioms"), root, baseline))


def test_each_board_is_seen_in_each_span_of_its_phase(sqlite_engine: Engine, root: User) -> None:
    spans = seen(sqlite_engine, root, "Ones")
    ours = [PHASE, "zero-shot"], [PHASE, "one-shot"], [PHASE, "near"], [PHASE, "far"]
    theirs = ["practice", "zero-shot"], ["practice", "one-shot"]
    told = [([one.phase.name, one.board.name], one.title) for one in spans]
    assert told == [(place, title) for place in ours for title in (OPEN, CLOSED)] + [(place, OPEN) for place in theirs]
    assert {tuple(view.who for view in one.seen) for one in spans} == {WHO}


def test_the_baseline_stands_in_a_teams_place_and_others_as_they_are(sqlite_engine: Engine, root: User) -> None:
    def rows(span: SpanSeen) -> list[list[tuple[str, str, int | None]]]:
        return [[(row.team, row.kind, row.rank) for row in view.leaderboard.rows] for view in span.seen]

    while_open, closed, *_ = seen(sqlite_engine, root, "Ones")
    both = [(TEST_TEAM, "team", 1), ("Zeros", "baseline", None)]
    assert rows(while_open) == [[], [], both]
    assert rows(closed) == [both, both, both]
    assert [view.sees_own_scores for view in while_open.seen] == [False, False, True]
    assert [view.sees_own_scores for view in closed.seen] == [True, True, True]
    assert [view.leaderboard.rows[0].is_mine for view in closed.seen] == [False, True, False]
    assert closed.seen[0].leaderboard.rows[0].achieved_at == closed.phase.starts_at, "when it comes tells nothing"
    practice = seen(sqlite_engine, root, "Ones")[-2]
    assert rows(practice) == [[("Zeros", "baseline", None)]] * 3, "it was not entered there"


def test_a_team_of_the_name_is_no_baseline(sqlite_engine: Engine, root: User) -> None:
    user = add_user(sqlite_engine, "eve")
    add_team(sqlite_engine, user, name="Twos")
    enter(sqlite_engine, user, 0.9, minute=5)
    closed = seen(sqlite_engine, root, "Twos")[1]
    assert [(row.team, row.kind) for row in closed.seen[0].leaderboard.rows][0] == ("Twos", "team")
