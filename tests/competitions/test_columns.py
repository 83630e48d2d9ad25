"""The number of languages that a team sent: a column of its own on boards of tasks whose languages each
team chooses.
"""

from __future__ import annotations

from typing import Any

import pytest

from app.competitions.columns import BoardColumn, further_columns, ranked_by, visible_columns
from app.competitions.ordering import difference_of, effective_decimals, goodness, sign_of
from app.models import Board, CompetitionTask
from app.web.html.words import format_score

F1 = {"metric": "mwe_f1", "split": "macro", "title": "F1", "decimals": 2, "percent": True}
COUNT = {"metric": "languages", "split": "macro", "title": "Corpora", "decimals": 0, "percent": False}


def shown(
    *columns: dict[str, Any], options: dict[str, Any], task_type: str = "mwe-identification"
) -> list[BoardColumn]:
    task = CompetitionTask(task_type=task_type, options={})
    return list(visible_columns(Board(task=task, columns=list(columns)), options))


def test_where_languages_are_declared_the_first_column_counts_them() -> None:
    columns = shown(F1, options={"languages": ["ga", "fr", "hi"]})
    assert [(c.metric, c.split, c.title, c.out_of) for c in columns] == [
        ("languages", "macro", "Languages", 3),
        ("mwe_f1", "macro", "F1", None),
    ]
    assert columns[0].higher_is_better
    assert format_score(2.0, columns[0]) == "2/3"


def test_a_column_that_the_organiser_placed_stays_where_it_is() -> None:
    columns = shown(COUNT, F1, options={"languages": ["ga", "fr"]})
    assert [(c.title, c.out_of) for c in columns] == [("Corpora", 2), ("F1", None)]


@pytest.mark.parametrize("options", [{}, {"languages": None}, {"languages": ["ga"]}, {"language": "ga"}])
def test_where_there_is_one_language_or_nobody_said_how_many_nothing_is_added(options: dict[str, Any]) -> None:
    assert [column.title for column in shown(F1, options=options)] == ["F1"]


def test_a_number_without_a_known_total_is_shown_as_it_is() -> None:
    (column,) = shown(COUNT, options={})
    assert format_score(2.0, column) == "2"


def test_task_types_that_ask_all_languages_have_no_such_column() -> None:
    f1 = {**F1, "metric": "macro_f1", "split": "zero_shot/all"}
    columns = shown(f1, options={"languages": ["en", "pt"]}, task_type="idiom-detection")
    assert [column.metric for column in columns] == ["macro_f1"]


def column(title: str, metric_title: str = "Macro F1", **more: Any) -> BoardColumn:
    usual: dict[str, Any] = {"decimals": 2, "percent": False, "higher_is_better": True, "description": ""}
    return BoardColumn("macro_f1", "all", title, **{**usual, **more}, metric_title=metric_title)


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ([column("All")], "Macro F1 · All"),
        ([column("Macro F1")], "Macro F1"),
        ([column("All", "")], "All"),
        ([column("All"), column("English")], "Macro F1, ranked by All"),
        ([column("All"), column("All", "Accuracy")], "Ranked by Macro F1 · All"),
        ([column("Macro F1"), column("English")], "Ranked by Macro F1"),
        ([column("All", ""), column("English", "")], "Ranked by All"),
    ],
)
def test_what_a_boards_numbers_are_is_said_once(columns: list[BoardColumn], said: str) -> None:
    assert ranked_by(columns, 0) == said
    if len(columns) > 1:
        assert ranked_by(columns[::-1], 1) == said


def test_scores_that_a_board_does_not_declare_follow_in_their_order() -> None:
    task = CompetitionTask(task_type="idiom-detection", options={})
    f1 = {"metric": "macro_f1", "split": "all", "title": "All", "decimals": 2, "percent": True}
    board = Board(task=task, columns=[f1])
    declared = visible_columns(board, {})
    found = further_columns(board, declared, [("accuracy", "all"), ("macro_f1", "all"), ("macro_f1", "en")])
    told = [(one.metric, one.split, one.title, one.decimals, one.percent) for one in found]
    assert told == [("accuracy", "all", "Accuracy", 4, False), ("macro_f1", "en", "Macro F1", 4, False)]


def test_better_values_stand_first_and_undefined_ones_last() -> None:
    values = [0.2, None, 0.9, -0.5]
    for better, ordered in ((True, [0.9, 0.2, -0.5, None]), (False, [-0.5, 0.2, 0.9, None])):
        sign = sign_of(column("All", higher_is_better=better))
        assert sorted(values, key=lambda value: goodness(value, sign)) == ordered


@pytest.mark.parametrize(
    ("precision", "expected"),
    [(None, None), (2, 2), (4, 4), (6, 4), (12, 12)],
)
def test_values_count_to_the_digits_that_are_shown(precision: int | None, expected: int | None) -> None:
    """A column of two decimals in percent shows four of the value."""
    assert effective_decimals(column("All", percent=True), precision) == expected
    assert effective_decimals(column("All", out_of=3), precision) is None


def test_a_difference_is_that_of_the_values_as_they_are_shown() -> None:
    assert difference_of(0.5555, 0.1111, 2) == 0.45
    assert difference_of(0.1111, 0.5555, 2) == -0.45
    assert difference_of(0.3, 0.1, None) == 0.2
    assert [difference_of(None, 0.1, 2), difference_of(0.1, None, 2)] == [None, None]
