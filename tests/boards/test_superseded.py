"""Official boards whose phase's end was moved: each stays at its address, under its own embargo, and names its
successor.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest
from sqlalchemy import Engine, select

from app.base.config import get_settings
from app.base.db import reading, writing
from app.base.errors import NotFound
from app.boards.freezing import AFTER_CLOSE
from app.boards.leaderboard import Leaderboard
from app.boards.snapshots import Successor, find_official, list_snapshots, official_board, successor_of
from app.competitions.allowances import LateEntries, list_allowances, take_back
from app.competitions.find import find_board, find_competition
from app.competitions.visibility import Viewer
from app.models import OutgoingMail, PhaseTask, User
from app.people.act import Act
from tests.competitions.allowing import allow
from tests.competitions.embargo import INSTANT, add_phase, declare, enter, freeze, hide, look, rows
from tests.world import COMPETITION, DAY, HOUR, NOW, PHASE, add_team, add_user

pytestmark = pytest.mark.both

CLOSE = NOW + HOUR
DUE = CLOSE + AFTER_CLOSE


@pytest.fixture
def closing(engine: Engine, people: list[User]) -> Engine:
    """Ada 0.8 and Bob 0.5 in a phase that ends in an hour, whose board is hidden until then."""
    declare(engine, entry_rule="last", ends_at=CLOSE)
    hide(engine, board="hidden", public_from="close")
    enter(engine, people[0], 0.8)
    enter(engine, people[1], 0.5)
    return engine


@pytest.fixture
def root(engine: Engine) -> User:
    return add_user(engine, "root", is_administrator=True)


def official(
    engine: Engine, now: datetime, number: int | None = None, viewer: User | None = None, *, phase: str = PHASE
) -> Leaderboard:
    with reading(engine) as session:
        place = find_board(find_competition(session, COMPETITION), phase, "zero-shot")
        snapshot = find_official(session, *place, number, Viewer(viewer, now)).snapshot
        return official_board(session, snapshot, Viewer(viewer, now))


def numbers(engine: Engine, now: datetime, viewer: User | None = None) -> list[int]:
    with reading(engine) as session:
        place = find_board(find_competition(session, COMPETITION), PHASE, "zero-shot")
        return [one.number for one in list_snapshots(session, *place, Viewer(viewer, now))]


def successor(engine: Engine, now: datetime, number: int, viewer: User | None = None) -> Successor | None:
    with reading(engine) as session:
        place = find_board(find_competition(session, COMPETITION), PHASE, "zero-shot")
        listed = list_snapshots(session, *place, Viewer(viewer, now))
        return successor_of(listed[number - 1], listed, place[0])


# ------------------------------------------------------------------------------------------------------- the address


def test_a_frozen_board_stays_when_the_end_is_moved_later(closing: Engine, people: list[User]) -> None:
    freeze(closing, DUE)
    before = official(closing, DUE, 1)
    declare(closing, ends_at=CLOSE + DAY)
    later = DUE + HOUR
    assert look(closing, now=later).rows == (), "the live board is hidden again, until the new end"
    assert official(closing, later, 1).rows == before.rows
    enter(closing, people[2], 0.99, at=CLOSE + HOUR)
    assert official(closing, later).rows == before.rows
    assert look(closing, now=later).rows == ()


def test_it_stays_when_the_phase_has_no_end_any_more(closing: Engine) -> None:
    freeze(closing, DUE)
    declare(closing, ends_at=None)
    assert look(closing, now=DUE + 99 * DAY).rows == ()
    assert rows(official(closing, DUE + 99 * DAY, 1)) == [(1, "Ada", 0.8), (2, "Bob", 0.5)]


def test_the_private_part_of_a_frozen_board_stays_with_it(closing: Engine) -> None:
    with writing(closing) as session:
        for asked in session.scalars(select(PhaseTask)):
            asked.private_part = {"share": 0.5, "seed": "s", "shown_from": "close"}
    freeze(closing, DUE)
    declare(closing, ends_at=CLOSE + DAY)
    assert numbers(closing, DUE + HOUR) == [1]
    assert not look(closing, now=DUE + HOUR).view.private


def test_names_that_were_shown_at_the_close_stay_on_it(closing: Engine) -> None:
    hide(closing, names_from="close")
    freeze(closing, DUE)
    declare(closing, ends_at=CLOSE + DAY)
    assert [row.team[:5] for row in look(closing, now=DUE + HOUR).rows] == ["Team ", "Team "]
    assert [row.team for row in official(closing, DUE + HOUR, 1).rows] == ["Ada", "Bob"]


def test_rows_carried_over_stay_when_the_end_of_their_phase_is_moved(closing: Engine, people: list[User]) -> None:
    add_phase(closing, "post", starts_at=CLOSE, ends_at=CLOSE + HOUR, carry_over=PHASE)
    enter(closing, people[2], 0.7, phase="post", at=CLOSE)
    freeze(closing, DUE + HOUR)
    declare(closing, ends_at=CLOSE + 9 * DAY)
    later = DUE + 2 * HOUR
    assert [row.team for row in look(closing, now=later, phase="post").rows] == ["Cat"]
    assert [row.team for row in official(closing, later, phase="post").rows] == ["Ada", "Cat", "Bob"]


# ------------------------------------------------------------------------------------------------------- the embargo


def test_an_embargo_until_a_date_holds_for_what_is_superseded(closing: Engine, root: User) -> None:
    hide(closing, board="hidden", public_from=CLOSE + 9 * DAY)
    freeze(closing, DUE)
    declare(closing, ends_at=CLOSE + DAY)
    freeze(closing, DUE + DAY)
    lifted = CLOSE + 9 * DAY
    assert numbers(closing, lifted - INSTANT) == []
    assert numbers(closing, lifted - INSTANT, root) == numbers(closing, lifted) == [1, 2]


def test_what_organisers_hide_afterwards_is_hidden(closing: Engine, root: User) -> None:
    freeze(closing, DUE)
    declare(closing, ends_at=CLOSE + DAY)
    hide(closing, board="hidden")
    with pytest.raises(NotFound):
        official(closing, DUE + HOUR, 1)
    assert numbers(closing, DUE + HOUR, root) == [1]


def test_nobody_learns_of_a_successor_that_is_hidden(closing: Engine, root: User) -> None:
    freeze(closing, DUE)
    declare(closing, ends_at=CLOSE + DAY)
    freeze(closing, DUE + DAY)
    early = CLOSE + DAY - INSTANT  # what was frozen later is not shown before its own close, whatever the clock says
    assert numbers(closing, early) == [1]
    found = successor(closing, early, 1)
    assert found is not None
    assert found.snapshot is None


# ------------------------------------------------------------------------------------------------------ the successor


def test_what_nothing_came_after_has_no_successor(closing: Engine) -> None:
    freeze(closing, DUE)
    assert successor(closing, DUE, 1) is None
    declare(closing, ends_at=CLOSE - HOUR / 2)
    assert successor(closing, DUE, 1) is None, "moved into the past, the end makes no other"


def test_while_the_phase_is_open_again_the_live_board_supersedes_it(closing: Engine) -> None:
    freeze(closing, DUE)
    declare(closing, ends_at=CLOSE + DAY)
    found = successor(closing, DUE, 1)
    assert found == Successor(None, CLOSE + DAY)
    declare(closing, ends_at=None)
    assert successor(closing, DUE, 1) == Successor(None, None)


def test_several_supersessions_chain(closing: Engine) -> None:
    for day in range(3):
        declare(closing, ends_at=CLOSE + day * DAY)
        freeze(closing, DUE + day * DAY)
    now = DUE + 9 * DAY
    found = [successor(closing, now, number) for number in (1, 2, 3)]
    assert [one.snapshot.number if one and one.snapshot else None for one in found] == [2, 3, None]
    assert [one.newest.number if one and one.newest else None for one in found] == [3, 3, None]
    assert found[2] is None


# -------------------------------------------------------------------------------------------------- late entries


@pytest.fixture
def late_team(closing: Engine, people: list[User]) -> User:
    """Cat, with a team of her own that may send until an hour after the close."""
    add_team(closing, people[2], name="Cats")
    return people[2]


LATER = CLOSE + HOUR


def test_freezing_waits_for_a_team_whose_late_entries_are_ranked(closing: Engine, late_team: User) -> None:
    allow(closing, "Cats", until=LATER, is_ranked=True)
    assert freeze(closing, DUE) == 0
    enter(closing, late_team, 0.99, at=LATER - INSTANT)
    assert freeze(closing, LATER + AFTER_CLOSE - INSTANT) == 0
    assert freeze(closing, LATER + AFTER_CLOSE) == 2
    assert rows(official(closing, LATER + AFTER_CLOSE))[0] == (1, "Cats", 0.99)
    with reading(closing) as session:
        [granted] = list_allowances(session, find_competition(session, COMPETITION))
    assert granted.late is not None
    assert granted.late.count


@pytest.mark.parametrize("more", [{"until": LATER}, {"extra_total": 2}, {"extra_total": 2, "is_ranked": True}])
def test_it_waits_for_nothing_else_that_a_team_is_allowed(
    closing: Engine, late_team: User, more: dict[str, Any]
) -> None:
    allow(closing, "Cats", **more)
    assert freeze(closing, DUE) == 2


def test_an_extension_that_outlasts_the_freeze_warns_where_it_is_made(closing: Engine, late_team: User) -> None:
    allow(closing, "Cats", until=LATER)
    words = (
        "The official results are frozen after the phase closes, Sat 10 Jan 2026, 01:00 AoE (10 Jan, 13:00 UTC), "
        "before this extension ends: late entries without rank are not in them."
    )
    with reading(closing) as session:
        [granted] = list_allowances(session, find_competition(session, COMPETITION))
        mail = session.scalars(select(OutgoingMail.body)).all()[-1]
    assert granted.late is not None
    assert (granted.late.words, granted.late.count, words in mail) == (words, False, True)
    freeze(closing, DUE)
    with reading(closing) as session:
        [granted] = list_allowances(session, find_competition(session, COMPETITION))
    assert granted.late == LateEntries(DUE)


def test_an_allowance_that_is_taken_back_is_not_waited_for(closing: Engine, late_team: User) -> None:
    allowance_id = allow(closing, "Cats", until=LATER, is_ranked=True)
    with writing(closing) as session:
        take_back(Act(session, None, CLOSE, get_settings()), find_competition(session, COMPETITION), allowance_id)
    assert freeze(closing, DUE) == 2


def test_an_allowance_that_comes_after_the_freeze_says_that_it_does_not_count(closing: Engine, late_team: User) -> None:
    freeze(closing, DUE)
    allow(closing, "Cats", until=LATER, is_ranked=True, now=DUE)
    with reading(closing) as session:
        [granted] = list_allowances(session, find_competition(session, COMPETITION))
        mail = session.scalars(select(OutgoingMail.body)).all()[-1]
    assert granted.late is not None
    assert not granted.late.count
    assert granted.late.words == (
        "Late entries do not count in the official results, which were frozen on 10 Jan 2026, 13:01 UTC."
    )
    assert granted.late.words in mail
    enter(closing, late_team, 0.99, at=DUE + HOUR / 2)
    assert freeze(closing, LATER + AFTER_CLOSE) == 0
    assert rows(official(closing, LATER + AFTER_CLOSE))[0] == (1, "Ada", 0.8)
