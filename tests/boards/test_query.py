"""Boards with a query: sorted, searched, filtered, and only by what is shown."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from app.boards.query import BoardQuery, QueriedBoard, apply_query, read_query, since_moment
from app.boards.rows import Cell, Leaderboard, LeaderboardRow
from app.competitions.columns import BoardColumn
from app.models import EntryRule

AT = datetime(2026, 1, 10, 12, tzinfo=UTC)


def column(metric: str, split: str, *, higher_is_better: bool = True) -> BoardColumn:
    return BoardColumn(metric, split, f"{metric} {split}", 4, False, higher_is_better, "")


COLUMNS = (
    column("f1", "macro"),
    column("f1", "pt"),
    column("f1", "fr/seen"),
    column("errors", "macro", higher_is_better=False),
    column("languages", "macro"),
)


def row(team: str, *values: float | None, rank: int | None = None, kind: Any = "team", **more: Any) -> LeaderboardRow:
    cells = tuple(Cell(value, None if value is not None else "not computed", None) for value in values)
    return LeaderboardRow(rank, team, kind, cells, more.pop("at", AT), more.pop("method", ""), 1, **more)


BOARD = Leaderboard(
    columns=COLUMNS,
    rank_by=0,
    rows=(
        row("Łukasz & Zoë", 0.9, 0.2, 0.3, 0.5, 2, rank=1, method="XLM-R large", at=AT + timedelta(days=2)),
        row("ada", 0.8, None, 0.1, 0.1, 1, rank=2, track="open", is_mine=True),
        row("Majority", 0.7, 0.4, 0.3, 0.4, 2, kind="baseline"),
        row("Ünal", 0.6, 0.4, 0.2, 0.2, 2, rank=3, track="closed", at=AT + timedelta(days=1)),
        row("A Paper", 0.5, None, None, None, None, kind="historic", at=None),
    ),
    version="1",
    entry_rule=EntryRule.BEST,
)


def asked(query: str = "", board: Leaderboard = BOARD) -> QueriedBoard:
    pairs = [tuple(pair.split("=", 1)) for pair in query.split("&") if pair]
    return apply_query(board, read_query([(n, v) for n, v in pairs]), languages=("pt", "fr"), tracks=("open", "closed"))


def teams(found: QueriedBoard) -> list[str]:
    return [row.team for row in found.board.rows]


ALL = ["Łukasz & Zoë", "ada", "Majority", "Ünal", "A Paper"]


def test_nothing_asked_is_the_board_as_it_is() -> None:
    found = asked()
    assert found.board == BOARD
    assert (found.sort, found.order, found.is_ranked, found.problems) == ("rank", "asc", True, {})


# -------------------------------------------------------------------------------------------------------------- sorting


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        # equal values by name (a before m before ü), undefined ones below, whichever the order
        ("sort=f1 pt", ["Majority", "Ünal", "Łukasz & Zoë", "A Paper", "ada"]),
        ("sort=f1 pt&order=asc", ["Łukasz & Zoë", "Majority", "Ünal", "A Paper", "ada"]),
        ("sort=errors macro", ["ada", "Ünal", "Majority", "Łukasz & Zoë", "A Paper"]),  # lower is better
        ("sort=errors macro&order=desc", ["Łukasz & Zoë", "Majority", "Ünal", "ada", "A Paper"]),
        ("sort=team", ["A Paper", "ada", "Majority", "Ünal", "Łukasz & Zoë"]),
        ("sort=rank&order=desc", ["Ünal", "ada", "Łukasz & Zoë", "A Paper", "Majority"]),
        ("sort=date", ["Łukasz & Zoë", "Ünal", "ada", "Majority", "A Paper"]),
        ("sort=rank", ALL),
    ],
)
def test_rows_are_sorted(query: str, expected: list[str]) -> None:
    assert teams(asked(query)) == expected


def test_ranks_stay_those_of_the_board() -> None:
    assert {row.team: row.rank for row in asked("sort=f1 pt&kind=team").board.rows} == {
        "Łukasz & Zoë": 1,
        "ada": 2,
        "Ünal": 3,
    }


def test_an_order_never_tells_hidden_digits() -> None:
    """Check that scores that are rounded alike are sorted by name, in both directions."""
    shown = replace(BOARD, rows=(row("Bob", 0.7), row("Ann", 0.7)), columns=COLUMNS[:1])
    assert teams(asked("sort=f1 macro", shown)) == teams(asked("sort=f1 macro&order=asc", shown)) == ["Ann", "Bob"]


# ------------------------------------------------------------------------------------------------- searching, filtering


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("q=unal", ["Ünal"]),
        ("q=ZOE", ["Łukasz & Zoë"]),
        ("q=xlm large", ["Łukasz & Zoë"]),  # words, in teams and methods
        ("q=large ada", []),
        ("track=open", ["ada"]),
        ("kind=baseline&kind=historic", ["Majority", "A Paper"]),
        ("kind=team&kind=baseline&kind=historic", ALL),
        ("team=ADA", ["ada"]),
        ("mine=yes", ["ada"]),
        ("mine=no", ALL),
        ("q=a&kind=team&sort=team", ["ada", "Ünal", "Łukasz & Zoë"]),
    ],
)
def test_rows_are_found(query: str, expected: list[str]) -> None:
    assert teams(asked(query)) == expected


@pytest.mark.parametrize(
    ("query", "splits"),
    [
        ("language=pt", ["macro", "pt", "macro"]),
        ("category=seen", ["macro", "fr/seen", "macro"]),
        ("language=pt&category=seen", ["macro", "macro"]),
        ("language=pt&language=fr", ["macro", "pt", "fr/seen", "macro"]),
        ("column=f1 pt&column=languages macro", ["macro", "pt", "macro"]),
    ],
)
def test_columns_are_left_out_but_never_the_one_that_ranks(query: str, splits: list[str]) -> None:
    found = asked(query).board
    assert [column.split for column in found.columns] == splits
    assert [column.metric for column in found.columns][-1] == "languages"
    assert found.columns[found.rank_by] == COLUMNS[0]
    assert all(len(row.cells) == len(splits) for row in found.rows)
    assert [row.cells[found.rank_by].value for row in found.rows] == [0.9, 0.8, 0.7, 0.6, 0.5]


def test_a_column_that_is_left_out_still_sorts() -> None:
    assert teams(asked("sort=f1 pt&language=fr"))[0] == "Majority"


# ------------------------------------------------------------------------------------------------------------- problems


@pytest.mark.parametrize(
    ("query", "problem"),
    [
        ("sort=zzz", {"sort": "This board has no column 'zzz'."}),
        ("sort=f1 pr", {"sort": "This board has no column 'f1 pr'; did you mean 'f1 pt'?"}),
        ("order=up", {"order": "This board has no order 'up'."}),
        ("track=secret", {"track": "This board has no track 'secret'."}),
        ("kind=robot", {"kind": "This board has no kind of row 'robot'."}),
        ("team=Nobody", {"team": "This board has no row of 'Nobody'."}),
        ("delta=Nobody", {"delta": "This board has no row of 'Nobody'."}),
        ("column=f1 xx", {"column": "This board has no column 'f1 xx'; did you mean 'f1 pt'?"}),
        ("language=xx", {"language": "This board has no column for the language 'xx'."}),
        ("since=yesterday", {"since": "'yesterday' is not a date such as 2026-01-31."}),
    ],
)
def test_what_is_not_there_is_said_and_left_out(query: str, problem: dict[str, str]) -> None:
    found = asked(query)
    assert found.problems == problem
    assert found.board == BOARD


def test_a_name_that_is_not_shown_is_like_one_that_never_was() -> None:
    hidden = replace(BOARD, rows=(row("Team 7", 0.9),), columns=COLUMNS[:1])
    told = [
        asked(f"team={name}", hidden).problems["team"].replace(name, "X") for name in ("Ada Lovelace", "Nobody At All")
    ]
    assert told[0] == told[1]


# ---------------------------------------------------------------------------------------------------------- addresses


def test_equal_questions_have_equal_addresses() -> None:
    one = read_query([("q", "  a   b "), ("kind", "team"), ("kind", "baseline"), ("sort", "f1 pt"), ("utm", "1")])
    two = read_query([("kind", "baseline"), ("sort", "f1 pt"), ("kind", "team"), ("q", "a b"), ("order", "")])
    assert one == two
    assert one.pairs() == [("sort", "f1 pt"), ("q", "a b"), ("kind", "baseline"), ("kind", "team")]
    assert BoardQuery().pairs() == []


def test_texts_are_bounded() -> None:
    assert len(read_query([("q", "x" * 10_000)]).q) == 120


@pytest.mark.parametrize("since", ["", "2026", "2026-02-30", "nul\0"])
def test_only_days_are_days(since: str) -> None:
    assert since_moment(BoardQuery(since=since)) is None


def test_a_day_begins_at_midnight_utc() -> None:
    assert since_moment(BoardQuery(since="2026-01-31")) == datetime(2026, 1, 31, tzinfo=UTC)
