"""A board as one viewer may see it: rows, names, columns, digits, order, and a version that reveals no more than it."""

from __future__ import annotations

import pytest
from sqlalchemy import Engine

from app.base.db import writing
from app.boards.statistics import Statistics, statistics_document
from app.boards.view import neutral_name
from app.competitions.find import find_board, find_competition, find_phase_task
from app.competitions.visibility import SeenAs
from app.models import BoardShown, BoardStatistics, HistoricRow, RowStatus, TeamKind, User
from tests.boards.marks import mark
from tests.competitions.embargo import INSTANT, add_phase, declare, enter, hide, look, rows
from tests.sealed import PLACE, make_key, seal_gold
from tests.world import COMPETITION, DAY, HOUR, NOW, PHASE, TASK, ZERO_SHOT, add_team, add_user

BOTH = (PLACE, f"{COMPETITION}/post/{TASK}")

REVEAL = NOW + HOUR


@pytest.fixture
def root(engine: Engine) -> User:
    return add_user(engine, "root", is_administrator=True)


def add_historic(engine: Engine, team: str, value: float) -> None:
    with writing(engine) as session:
        phase, board = find_board(find_competition(session, COMPETITION), PHASE, "zero-shot")
        scores = {f"macro_f1 {ZERO_SHOT}": value}
        session.add(HistoricRow(phase_id=phase.id, board_id=board.id, team=team, scores=scores, source="A paper"))


# -------------------------------------------------------------------------------------------------------------- hidden


def test_a_hidden_board_has_nothing_until_its_moment(engine: Engine, people: list[User], root: User) -> None:
    ada, bob = people[:2]
    enter(engine, ada, 0.9)
    enter(engine, bob, 0.5)
    add_historic(engine, "Paper", 0.7)
    hide(engine, board="hidden", public_from=REVEAL)
    for viewer in (None, ada):
        assert look(engine, viewer).rows == ()
        assert look(engine, viewer, REVEAL - INSTANT).rows == ()
        assert [row.team for row in look(engine, viewer, REVEAL).rows] == ["Ada", "Paper", "Bob"]
    assert len(look(engine, root).rows) == 3
    assert look(engine, root, seen_as=SeenAs.PARTICIPANT).rows == ()


def test_statistics_are_withheld_where_digits_are(engine: Engine, people: list[User], root: User) -> None:
    enter(engine, people[0], 0.9)
    with writing(engine) as session:
        _, board = find_board(find_competition(session, COMPETITION), PHASE, "zero-shot")
        place = find_phase_task(session, COMPETITION, PHASE, TASK)
        document = statistics_document(Statistics("computed in some way"))
        session.add(BoardStatistics(phase_task_id=place.id, board_id=board.id, document=document))
    hide(engine, precision=2)
    assert (look(engine).statistics, look(engine, root).statistics) == ("withheld", "pending")


def test_the_version_of_a_hidden_board_does_not_count(engine: Engine, people: list[User], root: User) -> None:
    hide(engine, board="hidden", public_from=REVEAL)
    before, organisers = look(engine).version, look(engine, root).version
    enter(engine, people[0], 0.9)
    assert look(engine).version == before
    assert look(engine, root).version != organisers
    assert look(engine, now=REVEAL - INSTANT).version == before
    assert look(engine, now=REVEAL).version != before
    assert look(engine, board="one-shot").version != before, "of another board"


# ------------------------------------------------------------------------------------------------------------ compared


def test_rows_are_compared_where_two_have_a_page(engine: Engine, people: list[User]) -> None:
    """No row has a page if only ranks are shown."""
    enter(engine, people[0], 0.9)
    assert not look(engine).can_compare
    enter(engine, people[1], 0.5)
    assert look(engine).can_compare
    hide(engine, board="ranks_only", public_from=REVEAL)
    assert not look(engine).can_compare
    assert look(engine, now=REVEAL).can_compare


# --------------------------------------------------------------------------------------------------------- ranks alone


def test_ranks_alone_tell_no_score_no_date_and_no_number_of_entries(engine: Engine, people: list[User]) -> None:
    ada, bob, cat, organiser = people
    enter(engine, ada, 0.5, minute=1)
    enter(engine, bob, 0.9, minute=2)
    enter(engine, bob, 0.7, minute=3)
    enter(engine, cat, 0.5, minute=0)
    add_team(engine, organiser, name="Majority", kind=TeamKind.BASELINE)
    enter(engine, organiser, 0.6)
    add_historic(engine, "Paper", 0.7)
    hide(engine, board="ranks_only", public_from=REVEAL)
    found = look(engine)
    assert [(row.rank, row.team) for row in found.rows] == [
        (1, "Bob"),
        (2, "Ada"),
        (2, "Cat"),
        (None, "Majority"),
        (None, "Paper"),
    ]
    assert {cell.value for row in found.rows for cell in row.cells} == {None}
    assert {cell.reason for row in found.rows for cell in row.cells} == {
        "hidden until Sat 10 Jan 2026, 01:00 AoE (10 Jan, 13:00 UTC)"
    }
    assert {(row.achieved_at, row.entries, row.run_id, row.team_id) for row in found.rows} == {(None, None, None, None)}
    assert rows(look(engine, now=REVEAL))[0] == (1, "Bob", 0.9)


def test_ranks_alone_do_not_say_which_of_its_files_a_team_stands_with(engine: Engine, people: list[User]) -> None:
    ada = people[0]
    enter(engine, ada, 0.5)
    best = enter(engine, ada, 0.9, minute=1)
    enter(engine, ada, 0.7, minute=2)
    hide(engine, board="ranks_only", own_scores="never")
    (row,) = look(engine, ada).rows
    assert (row.is_mine, row.submission_id) == (True, None)
    hide(engine, board="ranks_only")
    assert look(engine, ada).rows[0].submission_id == best


def test_the_version_of_ranks_changes_only_with_what_is_shown(engine: Engine, people: list[User]) -> None:
    ada, bob = people[:2]
    enter(engine, ada, 0.5)
    enter(engine, bob, 0.9)
    hide(engine, board="ranks_only", public_from=REVEAL)
    before = look(engine).version
    enter(engine, ada, 0.7, minute=1)
    assert look(engine).version == before, "a better score, the same rank"
    enter(engine, ada, 0.95, minute=2)
    assert look(engine).version != before


# --------------------------------------------------------------------------------------------------------------- names


def test_neutral_names_until_their_moment(engine: Engine, people: list[User], root: User) -> None:
    ada, bob = people[:2]
    enter(engine, ada, 0.9, method="Ada's own system")
    enter(engine, bob, 0.5)
    add_historic(engine, "Paper", 0.7)
    hide(engine, names_from=REVEAL)
    first, paper, second = look(engine).rows
    assert first.team.startswith("Team ")
    assert second.team.startswith("Team ")
    assert first.team != second.team
    assert (first.method, paper.team) == ("", "Paper")
    assert [row.team for row in look(engine, now=REVEAL).rows] == ["Ada", "Paper", "Bob"]
    assert [row.team for row in look(engine, root).rows] == ["Ada", "Paper", "Bob"]
    assert [row.team for row in look(engine, ada).rows] == ["Ada", "Paper", second.team], "one's own name is no secret"
    assert look(engine, ada).rows[0].method == "Ada's own system"


@pytest.mark.both
def test_equal_ranks_stand_in_the_order_of_neutral_names(engine: Engine, people: list[User]) -> None:
    for user in people:
        enter(engine, user, 0.5)
    hide(engine, names_from=REVEAL)
    shown = [row.team for row in look(engine).rows]
    assert shown == sorted(shown)
    mine = look(engine, people[0]).rows
    neutral = [row.team for row in mine if not row.is_mine]
    assert neutral == [name for name in shown if name in neutral], "the same order for everybody"
    assert [row.is_mine for row in mine].index(True) == shown.index((set(shown) - set(neutral)).pop())


def test_baselines_keep_their_names(engine: Engine, people: list[User]) -> None:
    add_team(engine, people[3], name="Majority", kind=TeamKind.BASELINE)
    enter(engine, people[3], 0.5)
    hide(engine, names_from=REVEAL)
    assert [row.team for row in look(engine).rows] == ["Majority"]


def test_neutral_names_of_another_phase_are_others(engine: Engine, people: list[User]) -> None:
    add_phase(engine, "second", starts_at=NOW - DAY, visibility={"names_from": "close"})
    hide(engine, names_from=REVEAL)
    ada = people[0]
    enter(engine, ada, 0.5)
    enter(engine, ada, 0.5, phase="second")
    assert look(engine).rows[0].team != look(engine, phase="second").rows[0].team
    assert neutral_name("salt", 1, 2) != neutral_name("salt", 2, 1)


# -------------------------------------------------------------------------------------------------- digits, and slices


@pytest.mark.both
def test_what_looks_equal_shares_a_rank_in_the_order_of_names(engine: Engine, people: list[User], root: User) -> None:
    """Check that to two decimals 0.704 and 0.701 are 0.70; 0.709 is 0.71."""
    ada, bob, cat, dan = people
    for user, value in ((ada, 0.701), (bob, 0.709), (cat, 0.704), (dan, 0.5)):
        enter(engine, user, value, minute=people.index(user))
    assert rows(look(engine)) == [(1, "Bob", 0.709), (2, "Cat", 0.704), (3, "Ada", 0.701), (4, "Dan", 0.5)]
    hide(engine, precision=2)
    expected = [(1, "Bob", 0.71), (2, "Ada", 0.7), (2, "Cat", 0.7), (4, "Dan", 0.5)]
    assert rows(look(engine)) == expected
    organisers = rows(look(engine, root))
    assert [row[:2] for row in organisers] == [row[:2] for row in expected], "official ranks are the same for all"
    assert [row[2] for row in organisers] == [0.709, 0.701, 0.704, 0.5]


def test_which_of_two_equal_looking_files_is_better_is_not_told(engine: Engine, people: list[User]) -> None:
    """Check it, since otherwise the date and the link of one's own row would reveal the answer, digit by digit."""
    ada = people[0]
    earlier = enter(engine, ada, 0.701)
    enter(engine, ada, 0.704, minute=1)
    hide(engine, precision=2)
    (row,) = look(engine, ada).rows
    assert (row.submission_id, row.achieved_at) == (earlier, NOW)


def test_columns_show_no_more_decimals_than_there_are(engine: Engine, people: list[User]) -> None:
    """A percentage with one decimal is a fraction with three; what is rounded once is not rounded again."""
    enter(engine, people[0], 0.70449)
    with writing(engine) as session:
        board = find_board(find_competition(session, COMPETITION), PHASE, "zero-shot")[1]
        first, second = board.columns
        board.columns = [{**first, "percent": True, "decimals": 1}, {**second, "decimals": 2}]
    hide(engine, precision=4)
    found = look(engine)
    assert [(column.percent, column.decimals) for column in found.columns] == [(True, 1), (False, 2)]
    assert [cell.value for cell in found.rows[0].cells] == [0.704, 0.35]  # accuracy is half of it, 0.352245
    hide(engine, precision=2)
    found = look(engine)
    assert [column.decimals for column in found.columns] == [0, 2]
    assert [cell.value for cell in found.rows[0].cells] == [0.7, 0.35]


def test_without_slices_only_the_ranking_column_is_there(engine: Engine, people: list[User], root: User) -> None:
    enter(engine, people[0], 0.5)
    hide(engine, slices="none")
    found = look(engine)
    assert ([column.metric for column in found.columns], found.rank_by) == (["macro_f1"], 0)
    assert [len(row.cells) for row in found.rows] == [1]
    assert found.rows[0].run_id is None
    assert [column.metric for column in look(engine, root).columns] == ["macro_f1", "accuracy"]
    hide(engine, slices="columns")
    assert [column.metric for column in look(engine).columns] == ["macro_f1", "accuracy"]
    assert look(engine).rows[0].run_id is None
    hide(engine)
    assert look(engine).rows[0].run_id is not None


def test_settings_change_the_version_at_once(engine: Engine, people: list[User]) -> None:
    enter(engine, people[0], 0.5)
    seen = {look(engine).version}
    for visibility in ({"precision": 2}, {"slices": "none"}, {"names_from": REVEAL}, {"board": "ranks_only"}, {}):
        hide(engine, **visibility)
        seen.add(look(engine).version)
    assert len(seen) == 6


# ------------------------------------------------------------------------------------------------------ carrying over


@pytest.fixture
def post(engine: Engine, people: list[User]) -> Engine:
    """The evaluation is over, and its entries carried over: Ada 0.7 and then 0.6 (the last counts), Bob 0.5."""
    ada, bob = people[:2]
    declare(engine, entry_rule="last", ends_at=NOW + HOUR)
    enter(engine, ada, 0.7)
    enter(engine, ada, 0.6, minute=1)
    enter(engine, bob, 0.5)
    add_phase(engine, "post", starts_at=NOW + HOUR, carry_over=PHASE)
    return engine


def test_entries_of_the_earlier_phase_stand_beside_new_ones(post: Engine, people: list[User]) -> None:
    cat = people[2]
    enter(post, people[1], 0.65, phase="post", at=NOW + HOUR)
    enter(post, cat, 0.9, phase="post", at=NOW + HOUR)
    found = look(post, phase="post", now=NOW + HOUR)
    assert [(*row, one.carried_from) for row, one in zip(rows(found), found.rows, strict=True)] == [
        (1, "Cat", 0.9, None),
        (2, "Bob", 0.65, None),
        (3, "Ada", 0.6, PHASE),
        (4, "Bob", 0.5, PHASE),
    ]


def test_the_version_follows_both_phases(post: Engine, people: list[User]) -> None:
    before = look(post, phase="post").version
    enter(post, people[2], 0.8)
    assert look(post, phase="post").version != before


def test_an_embargo_holds_for_what_is_carried_over(post: Engine, people: list[User], root: User) -> None:
    """The post-evaluation may begin before the results of the evaluation are announced."""
    enter(post, people[2], 0.9, phase="post", at=NOW + HOUR)
    hide(post, board="hidden", public_from=NOW + DAY)
    before = look(post, phase="post", now=NOW + DAY - INSTANT)
    assert rows(before) == [(1, "Cat", 0.9)]
    assert len(look(post, root, phase="post").rows) == 3
    after = look(post, phase="post", now=NOW + DAY)
    assert rows(after) == [(1, "Cat", 0.9), (2, "Ada", 0.6), (3, "Bob", 0.5)]
    assert after.version != before.version
    hide(post, board="ranks_only")
    assert rows(look(post, phase="post")) == [(1, "Cat", 0.9)]


def test_names_digits_and_slices_of_the_earlier_phase_hold_too(post: Engine, people: list[User]) -> None:
    enter(post, people[2], 0.912, phase="post", at=NOW + HOUR)
    hide(post, names_from="close", precision=1, slices="none")
    declare(post, ends_at=None)
    found = look(post, phase="post")
    names = [row.team for row in found.rows]
    assert (names[0], [name[:5] for name in names[1:]]) == ("Cat", ["Team ", "Team "])
    assert [row.cells[0].value for row in found.rows] == [0.9, 0.6, 0.5]
    assert [row.cells[1].reason for row in found.rows] == [None, "not shown", "not shown"]


@pytest.mark.parametrize("differs", ["gold", "gold_version", "options", "nothing there yet"])
def test_what_was_asked_otherwise_is_not_carried_over(post: Engine, differs: str) -> None:
    values = {
        "gold": "other.csv",
        "gold_version": "2",
        "options": {"languages": ["en"]},
        "nothing there yet": None,
    }
    with writing(post) as session:
        asked = find_phase_task(session, COMPETITION, "post", TASK)
        setattr(asked, "gold" if differs == "nothing there yet" else differs, values[differs])
    assert look(post, phase="post").rows == ()


@pytest.fixture
def sealed_for_both(engine: Engine, people: list[User]) -> Engine:
    """Evaluation and post share one sealed gold; Ada's 0.7 is carried over."""
    add_phase(engine, "post", starts_at=NOW - HOUR, carry_over=PHASE)
    make_key(engine)
    seal_gold(engine, b"gold", places=BOTH)
    enter(engine, people[0], 0.7)
    assert [row.carried_from for row in look(engine, phase="post").rows] == [PHASE]
    return engine


def test_a_row_names_the_sealed_gold_that_it_was_scored_against(engine: Engine, people: list[User]) -> None:
    make_key(engine)
    version = seal_gold(engine, b"gold")
    for user in people[:2]:
        enter(engine, user, 0.7)
    mark(engine, "Bob", RowStatus.DISQUALIFIED, "two accounts")
    assert [row.commitment for row in look(engine).rows] == [version.commitment, None]


def test_scores_are_not_carried_over_to_a_phase_with_other_sealed_gold(sealed_for_both: Engine) -> None:
    """Check two that the declaration both calls `sealed`: only the commitments distinguish them."""
    seal_gold(sealed_for_both, b"gold of its own", places=BOTH[1:], publish=True)
    assert look(sealed_for_both, phase="post").rows == ()
    assert len(look(sealed_for_both).rows) == 1


def test_scores_against_gold_that_both_phases_have_replaced_are_not_carried_over(sealed_for_both: Engine) -> None:
    seal_gold(sealed_for_both, b"better gold", places=BOTH, publish=True)
    assert look(sealed_for_both, phase="post").rows == ()
    assert [row.is_outdated for row in look(sealed_for_both).rows] == [True], "where it was submitted it stands, marked"


def test_of_entries_against_two_golds_the_one_against_gold_in_use_is_carried_over(
    sealed_for_both: Engine, people: list[User]
) -> None:
    seal_gold(sealed_for_both, b"better gold", places=BOTH, publish=True)
    enter(sealed_for_both, people[0], 0.6, minute=1)
    assert rows(look(sealed_for_both, phase="post")) == [(1, "Ada", 0.6)]
    assert rows(look(sealed_for_both)) == [(1, "Ada", 0.7)], "where they were submitted, the best of both"


def test_a_task_may_have_another_entry_rule_than_its_phase(engine: Engine, people: list[User]) -> None:
    with writing(engine) as session:
        find_phase_task(session, COMPETITION, PHASE, TASK).entry = {"entry": "last"}
    for minute, value in enumerate((0.9, 0.4)):
        enter(engine, people[0], value, minute=minute)
    assert rows(look(engine)) == [(1, "Ada", 0.4)]


def test_a_phase_that_carries_itself_over_shows_each_entry_once(engine: Engine, people: list[User]) -> None:
    declare(engine, carry_over=PHASE)
    enter(engine, people[0], 0.7)
    assert rows(look(engine)) == [(1, "Ada", 0.7)]


def test_a_baseline_that_both_phases_have_stands_once(post: Engine, people: list[User]) -> None:
    add_team(post, people[3], name="Majority", kind=TeamKind.BASELINE)
    enter(post, people[3], 0.4)
    carried = [(row.team, row.carried_from) for row in look(post, phase="post").rows]
    assert carried[-1] == ("Majority", PHASE)
    enter(post, people[3], 0.4, phase="post", at=NOW + HOUR)
    found = [(row.team, row.carried_from) for row in look(post, phase="post").rows]
    assert [one for one in found if one[0] == "Majority"] == [("Majority", None)]


def test_a_public_board_is_unchanged_by_what_nobody_declared(engine: Engine, people: list[User]) -> None:
    enter(engine, people[0], 0.123456789)
    found = look(engine)
    assert (found.view.board, found.precision, found.rows[0].cells[0].value) == (BoardShown.PUBLIC, None, 0.123456789)
