"""Rankings across tasks: hand-computed means, ties, weights, what is missing, and what a reader may see of them."""

from __future__ import annotations

from fractions import Fraction

import pytest
from sqlalchemy import Engine

from app.base.db import reading, writing
from app.boards.rankings import (
    RankedBoard,
    Ranking,
    RankingTable,
    build_ranking,
    find_ranking,
    rank_across,
)
from app.boards.rows import Cell, Leaderboard, LeaderboardRow
from app.competitions.columns import BoardColumn
from app.competitions.find import find_competition
from app.competitions.visibility import SeenAs, Viewer
from app.models import Board, EntryRule, MissingEntry, RankingBy, User
from tests.beside import add_other_task, enter_other
from tests.competitions.embargo import declare, enter
from tests.world import COMPETITION, NOW, PHASE, add_user

F1 = BoardColumn("macro_f1", "all", "F1", 4, False, True, "")


def board(*rows: tuple[int | None, str, float | None]) -> Leaderboard:
    """Return a board of (rank, team, score)."""
    made = tuple(
        LeaderboardRow(rank, team, "team", (Cell(score, None, None),), None, "", 1) for rank, team, score in rows
    )
    return Leaderboard((F1,), 0, made, "1", EntryRule.BEST)


def ranking(
    by: RankingBy = RankingBy.MEAN_RANK, missing: MissingEntry = MissingEntry.LEFT_OUT, *weights: str
) -> Ranking:
    boards = tuple(RankedBoard(Board(title=weight), Fraction(weight)) for weight in weights or ("1", "1"))
    return Ranking("overall", "Overall", "", by, missing, boards)


def ranks(table: RankingTable) -> list[tuple[int, str, Fraction]]:
    return [(row.rank, row.team, row.mean) for row in table.rows]


FIRST = board((1, "Ada", 0.9), (2, "Bob", 0.8), (3, "Cat", 0.1))
SECOND = board((1, "Cat", 0.7), (2, "Bob", 0.6), (3, "Ada", 0.5))


def test_the_mean_of_ranks_ties_share_a_rank() -> None:
    # Ada (1+3)/2 = 2, Bob (2+2)/2 = 2, Cat (3+1)/2 = 2
    assert ranks(rank_across(ranking(), [FIRST, SECOND])) == [(1, team, Fraction(2)) for team in ("Ada", "Bob", "Cat")]


def test_weights_are_as_they_are_written() -> None:
    # weights 2 and 1: Ada (2*1+3)/3 = 5/3, Bob (2*2+2)/3 = 2, Cat (2*3+1)/3 = 7/3
    table = rank_across(ranking(RankingBy.MEAN_RANK, MissingEntry.LEFT_OUT, "2", "1"), [FIRST, SECOND])
    assert ranks(table) == [(1, "Ada", Fraction(5, 3)), (2, "Bob", Fraction(2)), (3, "Cat", Fraction(7, 3))]


def test_sums_are_exact_where_floats_would_break_a_tie() -> None:
    # Three boards, weights 0.1, 0.2, 0.3: with ranks (1, 1, 2) and (2, 2, 1) both means are 0.9 / 0.6; in floats
    # 0.1 + 0.2 + 0.3 * 2 and 0.1 * 2 + 0.2 * 2 + 0.3 differ in their last digit.
    ahead, behind = ((1, "Ada", 0.9), (2, "Bob", 0.8)), ((1, "Bob", 0.9), (2, "Ada", 0.8))
    asked = ranking(RankingBy.MEAN_RANK, MissingEntry.LEFT_OUT, "0.1", "0.2", "0.3")
    assert 0.1 + 0.2 + 0.3 * 2 != 0.1 * 2 + 0.2 * 2 + 0.3
    assert ranks(rank_across(asked, [board(*ahead), board(*ahead), board(*behind)])) == [
        (1, "Ada", Fraction(3, 2)),
        (1, "Bob", Fraction(3, 2)),
    ]


def test_the_mean_of_scores_the_highest_first() -> None:
    # in eighths: Ada (7/8 + 1/8)/2 = 1/2, Bob (6/8 + 4/8)/2 = 5/8
    boards = [board((1, "Ada", 0.875), (2, "Bob", 0.75)), board((1, "Bob", 0.5), (2, "Ada", 0.125))]
    assert ranks(rank_across(ranking(RankingBy.MEAN_SCORE), boards)) == [
        (1, "Bob", Fraction(5, 8)),
        (2, "Ada", Fraction(1, 2)),
    ]


SHORT = board((1, "Bob", 0.5), (2, "Ada", 0.25), (None, "Cat", 0.9))


def test_who_has_no_rank_on_a_board_is_left_out_by_default_and_counted() -> None:
    table = rank_across(ranking(), [FIRST, SHORT])
    assert ([row.team for row in table.rows], table.left_out) == (["Ada", "Bob"], 1)


def test_a_missing_rank_is_the_one_behind_the_last() -> None:
    # Cat: rank 3 on the first, none on the second, where two have one: (3 + 3)/2 = 3
    table = rank_across(ranking(RankingBy.MEAN_RANK, MissingEntry.WORST), [FIRST, SHORT])
    assert ranks(table) == [(1, "Ada", Fraction(3, 2)), (1, "Bob", Fraction(3, 2)), (3, "Cat", Fraction(3))]
    assert [one.rank for one in table.rows[2].standings] == [3, None]


@pytest.mark.parametrize(
    ("missing", "mean"), [(MissingEntry.WORST, Fraction(1, 4)), (MissingEntry.ZERO, Fraction(1, 8))]
)
def test_a_missing_score_is_the_lowest_or_nothing(missing: MissingEntry, mean: Fraction) -> None:
    # Cat has 1/4 on the first; on the second nothing, where the lowest is 1/4: (1/4 + 1/4)/2 or (1/4 + 0)/2
    boards = [board((1, "Ada", 0.5), (2, "Bob", 0.5), (3, "Cat", 0.25)), SHORT]
    table = rank_across(ranking(RankingBy.MEAN_SCORE, missing), boards)
    assert {row.team: row.mean for row in table.rows}["Cat"] == mean


def test_of_several_rows_of_a_team_the_best_counts() -> None:
    several = board((1, "Bob", 0.9), (2, "Bob", 0.8), (3, "Ada", 0.1))
    assert ranks(rank_across(ranking(), [several, FIRST])) == [(1, "Bob", Fraction(3, 2)), (2, "Ada", Fraction(2))]


def test_where_teams_have_several_rows_a_missing_rank_is_behind_all_of_these() -> None:
    # Cat: rank 3 on the first, none on the second, where three rows have one: (3 + 4)/2
    several = board((1, "Bob", 0.9), (2, "Bob", 0.8), (3, "Ada", 0.1))
    table = rank_across(ranking(RankingBy.MEAN_RANK, MissingEntry.WORST), [FIRST, several])
    assert ranks(table)[-1] == (3, "Cat", Fraction(7, 2))


# ------------------------------------------------------------------------------------------------------- who sees what


@pytest.fixture
def entered(engine: Engine, people: list[User]) -> User:
    ada, bob = people[:2]
    enter(engine, ada, 0.5)
    enter(engine, bob, 0.7)
    return ada


def seen_by(engine: Engine, viewer: User | None, by: str, *boards: str, seen_as: SeenAs | None = None) -> RankingTable:
    """Return the ranking as this viewer sees it. boards: those that it covers, by default only the first task's."""
    with writing(engine) as session:
        parts = [{"board": name} for name in boards or ("zero-shot",)]
        find_competition(session, COMPETITION).rankings = [{"name": "all", "title": "All", "by": by, "boards": parts}]
    with reading(engine) as session:
        competition = find_competition(session, COMPETITION)
        phase = next(one for one in competition.phases if one.name == PHASE)
        return build_ranking(session, phase, find_ranking(competition, phase, "all"), Viewer(viewer, NOW, seen_as))


def test_it_shows_what_its_boards_show_and_no_more(engine: Engine, entered: User) -> None:
    root = add_user(engine, "root", is_administrator=True)
    assert [row.team for row in seen_by(engine, None, "mean_score").rows] == ["Bob", "Ada"]
    declare(engine, visibility={"board": "ranks_only"})
    assert [row.team for row in seen_by(engine, None, "mean_rank").rows] == ["Bob", "Ada"]
    assert seen_by(engine, entered, "mean_score").rows == ()
    assert seen_by(engine, entered, "mean_score").hidden == ("zero-shot",)
    declare(engine, visibility={"board": "hidden"})
    assert seen_by(engine, entered, "mean_rank").rows == ()
    assert [row.team for row in seen_by(engine, root, "mean_score").rows] == ["Bob", "Ada"]


@pytest.mark.parametrize("boards", [("zero-shot", "near"), ("near", "zero-shot")])
def test_what_is_hidden_of_one_task_is_hidden_in_a_ranking_over_two(
    engine: Engine, entered: User, boards: tuple[str, ...]
) -> None:
    add_other_task(engine, visibility={"board": "ranks_only"})
    enter_other(engine, entered, 0.9)
    ranked = seen_by(engine, None, "mean_rank", *boards)
    assert ([row.team for row in ranked.rows], ranked.hidden, ranked.left_out) == (["Ada"], (), 1)
    by_score = seen_by(engine, entered, "mean_score", *boards)
    assert (by_score.rows, by_score.hidden) == ((), ("near",))


@pytest.mark.parametrize("seen_as", list(SeenAs))
def test_organisers_who_look_as_others_see_no_more_of_a_ranking_than_these(
    engine: Engine, entered: User, seen_as: SeenAs
) -> None:
    root = add_user(engine, "root", is_administrator=True)
    declare(engine, visibility={"board": "hidden"})
    table = seen_by(engine, root, "mean_rank", seen_as=seen_as)
    assert (table.rows, table.hidden) == ((), ("zero-shot",))
    declare(engine, visibility={"names_from": "close"})
    named = [row.team for row in seen_by(engine, root, "mean_rank").rows]
    unnamed = [row.team for row in seen_by(engine, root, "mean_rank", seen_as=seen_as).rows]
    assert (named, [name[:5] for name in unnamed]) == (["Bob", "Ada"], ["Team ", "Team "])


def test_who_looks_as_somebody_not_logged_in_has_no_row_of_their_own(engine: Engine, entered: User) -> None:
    of_own = {
        seen_as: [row.is_mine for row in seen_by(engine, entered, "mean_rank", seen_as=seen_as).rows]
        for seen_as in (None, *SeenAs)
    }
    assert of_own == {
        None: [False, True],
        SeenAs.PARTICIPANT: [False, True],
        SeenAs.PUBLIC: [False, False],
    }
