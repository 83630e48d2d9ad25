"""A team's runs on a board: scores, changes, ranks then and now, which run counts, and what each viewer sees."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

import pytest
from sqlalchemy import Engine

from app.base.db import reading, writing
from app.competitions.find import find_board, find_competition
from app.competitions.visibility import Viewer
from app.feedback.scores import own_scores_of_all
from app.feedback.standings import RunStanding, standings_of_all, standings_of_one
from app.models import EntryRule, RowStatus, TeamKind, User
from app.standings import check
from app.submissions.choices import choose_entry
from app.submissions.find import get_submission
from tests import world
from tests.beside import add_old_run, add_other_task, enter_other
from tests.boards.marks import mark
from tests.competitions.embargo import declare, enter, hide
from tests.rich_world import OTHER_BOARDS
from tests.world import COMPETITION, HOUR, NOW, PHASE


def told(engine: Engine, viewer: User, submission: UUID, now: datetime = NOW + HOUR) -> RunStanding:
    """Return the standing of one run on the first board."""
    with reading(engine) as session:
        found = standings_of_one(session, get_submission(session, submission, viewer), Viewer(viewer, now))
    return next(one for one in found if one.board.name == "zero-shot")


def ranks(one: RunStanding) -> tuple[int | None, int | None, int | None, int | None]:
    return one.ranks.before, one.ranks.then, one.ranks.now, one.ranks.of


@pytest.fixture
def runs(engine: Engine, people: list[User]) -> dict[str, UUID]:
    """ada: 0.5, then 0.7, then 0.6; bob 0.65 and cat 0.55 between; a baseline of 0.4 before all."""
    ada, bob, cat = people[:3]
    bot = world.add_user(engine, "bot")
    world.add_team(engine, bot, name="Majority", kind=TeamKind.BASELINE)
    enter(engine, bot, 0.4)
    found = {"first": enter(engine, ada, 0.5, minute=1)}
    enter(engine, bob, 0.65, minute=2)
    enter(engine, cat, 0.55, minute=3)
    found["second"] = enter(engine, ada, 0.7, minute=4)
    found["third"] = enter(engine, ada, 0.6, minute=5)
    return found


def test_ranks_then_are_those_of_the_moment_and_now_those_of_today(
    engine: Engine, people: list[User], runs: dict[str, UUID]
) -> None:
    ada = people[0]
    assert ranks(told(engine, ada, runs["first"])) == (None, 1, 3, 3)  # alone then; behind 0.65 and 0.55 today
    second = told(engine, ada, runs["second"])
    assert ranks(second) == (3, 1, 1, 3)
    assert second.ranks.up == 2
    assert ranks(told(engine, ada, runs["third"])) == (1, 1, 2, 3)  # the best still counted: no rank was lost


def test_ranks_of_then_are_told_as_far_back_as_few_tries_reach(
    engine: Engine, people: list[User], runs: dict[str, UUID], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check, "TRIES_AT_MOST", 3)
    assert ranks(told(engine, people[0], runs["second"])) == (3, 1, 1, 3), "only ada did anything since: three tries"
    assert ranks(told(engine, people[0], runs["first"])) == (None, None, 3, 3), "bob and cat, too"


def test_changes_are_to_the_run_before_the_best_other_the_baseline_and_the_next_above(
    engine: Engine, people: list[User], runs: dict[str, UUID]
) -> None:
    first, second, third = (told(engine, people[0], runs[name]) for name in ("first", "second", "third"))
    assert first.change is None
    assert [second.change, third.change] == pytest.approx([0.2, -0.1])
    assert [first.to_best, second.to_best] == pytest.approx([-0.2, 0.1])
    assert second.to_baseline == pytest.approx(0.3)
    assert second.ahead is None, "nobody is above the first"
    assert first.ahead is not None
    assert first.ahead.team == "Cat", "bob is farther above"
    assert first.ahead.delta == pytest.approx(0.05)
    assert third.ahead is not None
    assert third.ahead.team == "Bob"
    assert third.ahead.delta == pytest.approx(0.05)


def test_a_run_that_another_one_replaced_is_neither_the_best_nor_the_one_before(
    engine: Engine, people: list[User], runs: dict[str, UUID]
) -> None:
    for submission in runs.values():
        add_old_run(engine, submission, 0.95)
    first, second, third = (told(engine, people[0], runs[name]) for name in ("first", "second", "third"))
    assert first.change is None
    assert [second.change, third.change] == pytest.approx([0.2, -0.1])
    assert [one.to_best for one in (first, second, third)] == pytest.approx([-0.2, 0.1, -0.1])


def test_whether_a_team_has_chosen_is_said_with_the_rule_that_holds_without(
    engine: Engine, people: list[User], runs: dict[str, UUID]
) -> None:
    declare(engine, entry_rule=EntryRule.CHOSEN, without_choice=EntryRule.LAST)
    assert told(engine, people[0], runs["first"]).why == "latest submission, as you have not chosen"
    with writing(engine) as session:
        choose_entry(session, runs["first"], people[0], NOW, board="zero-shot")
    found = {name: told(engine, people[0], submission) for name, submission in runs.items()}
    assert {name: (one.counts, one.why) for name, one in found.items()} == {
        "first": (True, "your choice"),
        "second": (False, "your choice"),
        "third": (False, "your choice"),
    }


def test_a_run_is_told_by_the_column_that_ranks_whichever_it_is(
    engine: Engine, people: list[User], runs: dict[str, UUID]
) -> None:
    """The second column of the board: an accuracy is half of the macro F1."""
    with writing(engine) as session:
        find_board(find_competition(session, COMPETITION), PHASE, "zero-shot")[1].rank_metric = "accuracy"
    second = told(engine, people[0], runs["second"])
    assert (second.column.metric, second.score.metric, second.score.value) == ("accuracy", "accuracy", 0.35)
    assert [second.change, second.to_best, second.to_baseline] == pytest.approx([0.1, 0.05, 0.15])
    assert ranks(second) == (3, 1, 1, 3)
    first = told(engine, people[0], runs["first"])
    assert first.ahead is not None
    assert first.ahead.team == "Cat"
    assert first.ahead.delta == pytest.approx(0.025)


@pytest.mark.parametrize(
    ("rule", "counting", "why"),
    [(EntryRule.BEST, "second", "best submission"), (EntryRule.LAST, "third", "latest submission")],
)
def test_the_run_that_counts_is_the_one_on_the_board_and_says_why(
    engine: Engine, people: list[User], runs: dict[str, UUID], rule: EntryRule, counting: str, why: str
) -> None:
    declare(engine, entry_rule=rule)
    found = {name: told(engine, people[0], submission) for name, submission in runs.items()}
    assert {name for name, one in found.items() if one.counts} == {counting}
    assert {one.why for one in found.values()} == {why}


def test_where_the_newest_counts_a_worse_run_costs_ranks(
    engine: Engine, people: list[User], runs: dict[str, UUID]
) -> None:
    declare(engine, entry_rule=EntryRule.LAST)
    third = told(engine, people[0], runs["third"])
    assert ranks(third) == (1, 2, 2, 3)
    assert third.ranks.up == -1


def test_lists_leave_out_the_ranks_of_then_and_nothing_else(
    engine: Engine, people: list[User], runs: dict[str, UUID]
) -> None:
    ada = people[0]
    with reading(engine) as session:
        listed = [get_submission(session, one, ada) for one in runs.values()]
        own = own_scores_of_all(session, listed, Viewer(ada, NOW + HOUR))
        found = standings_of_all(session, listed, own, Viewer(ada, NOW + HOUR))
    for submission in runs.values():
        whole = told(engine, ada, submission)
        listed_one = found[submission][0]
        assert (listed_one.ranks.then, listed_one.ranks.before) == (None, None)
        assert (listed_one.ranks.now, listed_one.change, listed_one.to_best, listed_one.counts) == (
            whole.ranks.now,
            whole.change,
            whole.to_best,
            whole.counts,
        )


def test_a_hidden_board_tells_no_rank_and_nothing_of_others(
    engine: Engine, people: list[User], runs: dict[str, UUID]
) -> None:
    hide(engine, board="hidden")
    third = told(engine, people[0], runs["third"])
    assert third.score.value == 0.6, "own scores are shown"
    assert third.change == pytest.approx(-0.1)
    assert ranks(third) == (None, None, None, None)
    assert (third.to_baseline, third.ahead, third.counts) == (None, None, None)


def test_a_board_of_ranks_alone_tells_the_rank_it_shows(
    engine: Engine, people: list[User], runs: dict[str, UUID]
) -> None:
    hide(engine, board="ranks_only")
    second, third = told(engine, people[0], runs["second"]), told(engine, people[0], runs["third"])
    assert (ranks(second), ranks(third)) == ((None, None, 1, 3), (None, None, None, None))
    assert (third.to_baseline, third.ahead) == (None, None)


def test_where_every_run_counts_ranks_alone_do_not_tell_which_row_is_whose(
    engine: Engine, people: list[User], runs: dict[str, UUID]
) -> None:
    declare(engine, entry_rule=EntryRule.ALL, visibility={"board": "ranks_only"})
    assert [told(engine, people[0], one).ranks.now for one in runs.values()] == [None] * 3


def test_where_every_run_counts_a_run_is_ranked_among_all_with_the_teams_own(
    engine: Engine, people: list[User], runs: dict[str, UUID]
) -> None:
    declare(engine, entry_rule=EntryRule.ALL)
    found = [told(engine, people[0], runs[name]).ranks for name in ("first", "second", "third")]
    assert [(one.before, one.then) for one in found] == [(None, 1), (3, 1), (1, 3)], "bob's 0.65 and ada's 0.7 above"


def test_a_run_stands_on_the_boards_of_its_own_task(engine: Engine, people: list[User], runs: dict[str, UUID]) -> None:
    add_other_task(engine)
    other = enter_other(engine, people[0], 0.9)
    with reading(engine) as session:
        found = {
            name: [
                one.board.name
                for one in standings_of_one(
                    session, get_submission(session, sent, people[0]), Viewer(people[0], NOW + HOUR)
                )
            ]
            for name, sent in (("here", runs["second"]), ("other", other))
        }
    assert found == {"here": ["zero-shot"], "other": list(OTHER_BOARDS)}


def test_nothing_is_told_where_teams_do_not_see_their_scores(
    engine: Engine, people: list[User], runs: dict[str, UUID]
) -> None:
    hide(engine, board="ranks_only", own_scores="never")
    with reading(engine) as session:
        submission = get_submission(session, runs["second"], people[0])
        assert standings_of_one(session, submission, Viewer(people[0], NOW + HOUR)) == []


def test_values_are_told_with_the_digits_of_the_phase(
    engine: Engine, people: list[User], runs: dict[str, UUID]
) -> None:
    hide(engine, precision=1)
    first, third = told(engine, people[0], runs["first"]), told(engine, people[0], runs["third"])
    assert third.score.value == 0.6
    assert third.ranks.now == 2, "beside cat's 0.55, which looks like 0.6"
    assert third.ahead is not None
    assert third.ahead.delta == pytest.approx(0.1), "bob's 0.65 looks like 0.7"
    assert first.to_best == pytest.approx(-0.2)


def test_who_is_unranked_has_no_rank(engine: Engine, people: list[User], runs: dict[str, UUID]) -> None:
    mark(engine, "Ada", RowStatus.UNRANKED, "used additional data")
    assert ranks(told(engine, people[0], runs["second"])) == (None, None, None, None)
