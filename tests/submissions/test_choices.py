"""Entries that teams choose: which submission counts where, until when, and who is right when several choose."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import Engine, func, select

from app.base.db import reading, writing
from app.base.errors import Forbidden, NotFound
from app.models import EntryChoice, TeamKind, User
from app.submissions.choices import NoChoice, choose_entry, withdraw_choice
from tests.competitions.embargo import INSTANT, declare, enter, freeze, hide, look, rows
from tests.threads import in_threads
from tests.world import DAY, HOUR, NOW, add_team, add_user, answer_to, reject, submit

CLOSE = NOW + DAY


@pytest.fixture
def choosing(engine: Engine, people: list[User]) -> Engine:
    """The phase lets teams choose; without a choice the last counts."""
    declare(engine, entry_rule="chosen")
    return engine


def choose(
    engine: Engine, submission_id: UUID, user: User, now: Any = NOW + HOUR, board: str | None = None
) -> list[str]:
    with writing(engine) as session:
        return choose_entry(session, submission_id, user, now, board=board)


def withdraw(engine: Engine, submission_id: UUID, user: User, now: Any = NOW + HOUR) -> None:
    with writing(engine) as session:
        withdraw_choice(session, submission_id, user, now)


def choices(engine: Engine) -> int:
    with reading(engine) as session:
        return session.scalars(select(func.count()).select_from(EntryChoice)).one()


# -------------------------------------------------------------------------------------------------------- what it does


def test_without_a_choice_the_last_or_the_best_counts_as_declared(choosing: Engine, people: list[User]) -> None:
    ada = people[0]
    for minute, value in enumerate((0.5, 0.9, 0.7)):
        enter(choosing, ada, value, minute=minute)
    assert rows(look(choosing)) == [(1, "Ada", 0.7)]
    declare(choosing, without_choice="best")
    assert rows(look(choosing)) == [(1, "Ada", 0.9)]


def test_a_choice_counts_and_can_be_changed_and_withdrawn(choosing: Engine, people: list[User]) -> None:
    ada, bob = people[:2]
    first, second, _ = (enter(choosing, ada, value, minute=minute) for minute, value in enumerate((0.5, 0.9, 0.7)))
    enter(choosing, bob, 0.6)
    seen = [look(choosing).version]
    assert choose(choosing, first, ada) == ["zero-shot"]
    assert rows(look(choosing)) == [(1, "Bob", 0.6), (2, "Ada", 0.5)]
    seen.append(look(choosing).version)
    choose(choosing, second, ada)
    assert rows(look(choosing)) == [(1, "Ada", 0.9), (2, "Bob", 0.6)]
    seen.append(look(choosing).version)
    withdraw(choosing, first, ada)
    assert rows(look(choosing))[0] == (1, "Ada", 0.9), "it was not chosen any more"
    withdraw(choosing, second, ada)
    assert rows(look(choosing))[0] == (1, "Ada", 0.7)
    seen.append(look(choosing).version)
    assert len(set(seen)) == 4
    assert choices(choosing) == 0


def test_a_choice_is_for_the_boards_whose_setting_was_entered(choosing: Engine, people: list[User]) -> None:
    ada = people[0]
    both = enter(choosing, ada, 0.5, 0.5)
    only = enter(choosing, ada, None, 0.9, minute=1)
    enter(choosing, ada, 0.7, 0.7, minute=2)
    assert choose(choosing, both, ada) == ["zero-shot", "one-shot"]
    assert choose(choosing, only, ada) == ["one-shot"], "the choice for zero-shot stays as it was"
    assert rows(look(choosing)) == [(1, "Ada", 0.5)]
    assert rows(look(choosing, board="one-shot")) == [(1, "Ada", 0.9)]
    assert choose(choosing, both, ada, board="one-shot") == ["one-shot"]
    assert rows(look(choosing, board="one-shot")) == [(1, "Ada", 0.5)]
    with pytest.raises(NotFound, match="it can be on 'one-shot'"):
        choose(choosing, only, ada, board="zero-shot")


def test_teams_choose_for_themselves_alone(choosing: Engine, people: list[User]) -> None:
    ada, bob = people[:2]
    mine = enter(choosing, ada, 0.5)
    enter(choosing, ada, 0.9, minute=1)
    enter(choosing, bob, 0.1)
    choose(choosing, mine, ada)
    assert rows(look(choosing)) == [(1, "Ada", 0.5), (2, "Bob", 0.1)]
    with pytest.raises(NotFound):
        choose(choosing, mine, bob)
    with pytest.raises(Forbidden, match="Only the team can choose"):
        choose(choosing, mine, add_user(choosing, "root", is_administrator=True))


def test_choosing_needs_no_look_at_the_scores(choosing: Engine, people: list[User]) -> None:
    """Under an embargo teams know what they sent, not what it scored."""
    ada = people[0]
    first = enter(choosing, ada, 0.5)
    enter(choosing, ada, 0.9, minute=1)
    hide(choosing, board="hidden", public_from="close", own_scores="never")
    assert choose(choosing, first, ada) == ["zero-shot"]
    assert rows(look(choosing, now=CLOSE)) == [(1, "Ada", 0.5)]


# ------------------------------------------------------------------------------------------------------------ refusals


@pytest.mark.parametrize("rule", ["best", "last", "all"])
def test_where_teams_do_not_choose_they_are_told(engine: Engine, people: list[User], rule: str) -> None:
    declare(engine, entry_rule=rule)
    mine = enter(engine, people[0], 0.5)
    with pytest.raises(NoChoice, match="teams do not choose"):
        choose(engine, mine, people[0])
    assert choices(engine) == 0


@pytest.mark.parametrize("until", [None, NOW + 2 * HOUR])
def test_choosing_ends_at_its_moment_or_with_the_phase(choosing: Engine, people: list[User], until: Any) -> None:
    ada = people[0]
    declare(choosing, choose_until=until)
    mine = enter(choosing, ada, 0.5)
    end = until or CLOSE
    choose(choosing, mine, ada, end - INSTANT)
    for refused in (choose, withdraw):
        with pytest.raises(NoChoice, match=r"Teams could choose until \w{3} 1\d Jan 2026, \d\d:00 AoE"):
            refused(choosing, mine, ada, end)
    assert choices(choosing) == 1


def test_only_what_was_scored_can_be_chosen(choosing: Engine, people: list[User]) -> None:
    ada = people[0]
    waiting = submit(choosing, ada, content="waiting").submission
    bad = submit(choosing, ada, content="bad")
    reject(choosing, bad.run_id)
    for submission, state in ((waiting, "queued"), (bad.submission, "rejected")):
        with pytest.raises(NoChoice, match=f"this one is {state}"):
            choose(choosing, submission.id, ada)


def test_baselines_stand_with_their_last_file_or_the_best_as_ever(choosing: Engine, people: list[User]) -> None:
    add_team(choosing, people[3], name="Majority", kind=TeamKind.BASELINE)
    enter(choosing, people[3], 0.9)
    enter(choosing, people[3], 0.2, minute=1)
    declare(choosing, without_choice="best")
    assert rows(look(choosing)) == [(None, "Majority", 0.2)]


# --------------------------------------------------------------------------------------------------------------- races


@pytest.mark.both
def test_of_members_who_choose_at_once_exactly_one_is_right(choosing: Engine, people: list[User]) -> None:
    """Six members choose six files at the same moment, each for both boards: both boards have one, and the same."""
    members = [*people, *(add_user(choosing, name) for name in ("eve", "fay"))]
    add_team(choosing, *members, name="Six")
    sent = [enter(choosing, user, 0.1 * n, 0.1 * n, minute=n) for n, user in enumerate(members, start=1)]
    answers = in_threads(6, lambda n: answer_to(lambda: choose(choosing, sent[n], members[n])))
    assert answers == ["accepted"] * 6
    assert choices(choosing) == 2
    with reading(choosing) as session:
        assert len(set(session.scalars(select(EntryChoice.submission_id)))) == 1
    (first,), (second,) = look(choosing).rows, look(choosing, board="one-shot").rows
    assert first.cells[0].value == second.cells[0].value


@pytest.mark.both
def test_choosing_and_withdrawing_at_once_leaves_all_or_nothing(choosing: Engine, people: list[User]) -> None:
    ada = people[0]
    mine = enter(choosing, ada, 0.5, 0.5)

    def act(number: int) -> None:
        (choose if number % 2 else withdraw)(choosing, mine, ada)

    in_threads(8, act)
    assert choices(choosing) in (0, 2)


def test_a_choice_at_the_last_moment_is_in_the_official_results(choosing: Engine, people: list[User]) -> None:
    ada = people[0]
    first = enter(choosing, ada, 0.5)
    enter(choosing, ada, 0.9, minute=1)
    choose(choosing, first, ada, CLOSE - INSTANT)
    assert freeze(choosing, CLOSE + HOUR) == 2
    assert rows(look(choosing, now=CLOSE)) == [(1, "Ada", 0.5)]
