"""How many languages a team sent: a column of its own on boards of tasks whose languages are each team's choice."""

from __future__ import annotations

from typing import Any

import pytest

from app.competitions.columns import BoardColumn, visible_columns
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
