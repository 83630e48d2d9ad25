"""Statistics of every run, on a board or not: its certainty, and whether it is better than its team's run before it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import Engine, select

from app.base.db import reading
from app.boards import run_statistics as kept_statistics
from app.boards.run_statistics import StatisticsOfRun, run_statistics_of
from app.boards.statistics_work import QUIET
from app.competitions.visibility import Viewer
from app.feedback.standings import RunStanding, standings_of_one
from app.models import EntryRule, RunStatistics, StatisticsWork, TeamKind, User
from app.submissions.find import get_submission
from tests.boards.marks import HIDDEN, mark
from tests.competitions.embargo import declare, hide
from tests.workers.test_board_statistics import _worker, computed, count, due, enter, here
from tests.world import NOW, SECOND, ZERO_SHOT, add_team, add_user, the_run
from workers import board_statistics
from workers.keys import key_file

__all__ = ["_worker"]
MINUTE = timedelta(minutes=1)
SCORE = ("macro_f1", ZERO_SHOT)


def kept(engine: Engine) -> dict[int, StatisticsOfRun]:
    with reading(engine) as session:
        return run_statistics_of(session, list(session.scalars(select(RunStatistics.run_id))))


def standing(engine: Engine, run_id: int, viewer: User) -> RunStanding:
    """Return the standing on the first board."""
    with reading(engine) as session:
        submission = get_submission(session, the_run(engine, run_id).submission_id, viewer)
        found = standings_of_one(session, submission, Viewer(viewer, NOW))
    return next(one for one in found if one.board.name == "zero-shot")


@pytest.fixture
def three(engine: Engine, ada: User) -> list[int]:
    """Ada's runs: a third wrong, two wrong (one of each class), another two wrong."""
    wrong = (range(0, 60, 3), (0, 1), (2, 3))
    return [enter(engine, ada, items, NOW + number * SECOND) for number, items in enumerate(wrong)]


def test_a_run_is_tested_against_the_one_before(engine: Engine, ada: User, three: list[int]) -> None:
    """First to second: 20 items for the better and 2 for the worse but for item 0, wrong in both: of 2^20 ways to swap
    next to none is as far apart. Second to third: four items, two each way: they come to the same score, p is 1."""
    assert computed(engine)
    first, second, third = (standing(engine, run, ada) for run in three)
    assert (first.change_test, first.interval is not None) == (None, True)
    better = second.change_test
    assert better is not None
    assert better.difference == pytest.approx(second.change) == pytest.approx(58 / 60 - 40 / 60)
    assert better.low is not None
    assert better.high is not None
    assert 0 < better.low < better.difference < better.high < 1
    assert (better.is_significant, better.p < 0.01, better.corrected) == (True, True, None)
    same = third.change_test
    assert same is not None
    assert (same.difference, same.p, same.is_significant) == (0.0, 1.0, False)


def test_only_what_is_new_is_computed_and_the_same_as_at_once(
    engine: Engine, ada: User, three: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    computed(engine)
    before = kept(engine)
    asked: list[tuple[int, int]] = []
    count(monkeypatch, asked, [])
    new = enter(engine, ada, (4,), NOW + MINUTE)
    assert computed(engine)
    assert len([pair for pair in asked if pair[1] == 3]) == 3, "its own pairs, among four runs"
    after = kept(engine)
    assert {run: after[run] for run in before} == before
    assert {other for other, _ in after[new].differences} == set(three)


def test_long_histories_are_compared_with_the_last_ones_and_piece_by_piece(
    engine: Engine, ada: User, three: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_statistics, "COMPARED_BEFORE", 1)
    monkeypatch.setattr(board_statistics, "RUNS_AT_A_TIME", 2)
    computed(engine)
    assert {run: one.before for run, one in kept(engine).items()} == {three[2]: (three[1],), three[1]: (three[0],)}
    assert due(engine, NOW + QUIET) == [], "its statistics changed the board just now"
    assert due(engine, NOW + 2 * QUIET) == [here(engine)], "the rest is left for the next time"
    computed(engine)
    assert kept(engine)[three[0]].before == ()
    with reading(engine) as session:
        work = session.get_one(StatisticsWork, here(engine))
    assert (work.computed_for is not None, work.attempts) == (True, 0)


def test_a_run_without_outcomes_has_none_and_is_no_reason_to_look_again(engine: Engine, ada: User) -> None:
    enter(engine, ada, (0, 1))
    aside = key_file().rename(key_file().with_name("aside"))
    bare = enter(engine, ada, (2,), NOW + SECOND)
    aside.rename(key_file())
    last = enter(engine, ada, (3,), NOW + MINUTE)
    computed(engine)
    assert bare not in kept(engine)
    assert standing(engine, last, ada).change_test is None, "the one before has no outcomes"
    assert due(engine, NOW + timedelta(hours=1)) == []


@pytest.mark.parametrize(
    "visibility", [{"precision": 3}, {"own_scores": "never"}, {"board": "hidden", "own_scores": "after_close"}]
)
def test_teams_are_told_where_they_see_all_digits_of_their_scores(
    engine: Engine, ada: User, three: list[int], visibility: dict[str, Any]
) -> None:
    computed(engine)
    hide(engine, **visibility)
    with reading(engine) as session:
        found = standings_of_one(
            session, get_submission(session, the_run(engine, three[1]).submission_id, ada), Viewer(ada, NOW)
        )
    assert [(one.interval, one.change_test, one.rivals) for one in found] == [(None, None, None)] * len(found)


def test_a_hidden_board_hides_no_interval_of_a_team_that_sees_its_scores(
    engine: Engine, ada: User, three: list[int]
) -> None:
    computed(engine)
    hide(engine, board="hidden")
    second = standing(engine, three[1], ada)
    assert (second.interval is not None, second.change_test is not None, second.rivals) == (True, True, None)


def test_nothing_is_kept_or_told_of_runs_on_a_ladder(engine: Engine, ada: User, three: list[int]) -> None:
    declare(engine, entry_rule=EntryRule.LADDER, ladder_step=0.01)
    computed(engine)
    assert kept(engine) == {}


def test_a_run_that_counts_says_who_is_told_apart_from_it(engine: Engine, ada: User, three: list[int]) -> None:
    """Check Ada with two wrong: Bea, with another two, does not differ significantly; Cem's third and the baseline's
    half do.
    """
    bot = add_user(engine, "bot")
    add_team(engine, bot, name="Majority", kind=TeamKind.BASELINE)
    enter(engine, bot, range(0, 60, 2))
    enter(engine, add_user(engine, "bea"), (4, 5))
    cem = enter(engine, add_user(engine, "cem"), range(0, 60, 3))
    assert standing(engine, three[1], ada).rivals is None, "there are no statistics yet"
    computed(engine)
    rivals = standing(engine, three[1], ada).rivals
    assert rivals is not None
    assert (rivals.baseline, rivals.is_above_baseline, rivals.alike) == ("Majority", True, ("Bea",))
    assert (rivals.ahead, rivals.behind, rivals.is_pending) == (0, 1, False)
    assert rivals.baseline_test is not None
    assert rivals.baseline_test.p < 0.01
    assert standing(engine, three[0], ada).rivals is None, "it stands nowhere"
    mark(engine, the_run(engine, cem).submission_id, HIDDEN)
    computed(engine, NOW + SECOND)
    rivals = standing(engine, three[1], ada).rivals
    assert rivals is not None
    assert (rivals.behind, rivals.alike) == (0, ("Bea",))
