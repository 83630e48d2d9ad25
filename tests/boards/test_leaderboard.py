"""Boards: who is on them, in which order, with which rank."""

from __future__ import annotations

import dataclasses
from datetime import timedelta

import pytest
from sqlalchemy import Engine

from app.base.db import writing
from app.competitions.find import find_board, find_competition
from app.models import EntryRule, HistoricRow, ScoringRun, TeamKind, User
from evergold.scoring.task import Metric
from evergold.scoring.tasks import TASKS
from tests.boards.places import board, enter, shown
from tests.world import (
    COMPETITION,
    HOUR,
    NOW,
    PHASE,
    SECOND,
    ZERO_SHOT,
    add_competition,
    add_team,
    add_user,
    claim,
    fail,
    finish,
    reject,
    score,
    scores_of,
    submit,
    sure,
)

pytestmark = pytest.mark.both

# ---------------------------------------------------------------------------------------------------------- ranking


def test_an_empty_board_has_columns_and_no_rows(engine: Engine) -> None:
    add_competition(engine)
    empty = board(engine)
    assert empty.rows == ()
    assert [(column.metric, column.split, column.title) for column in empty.columns] == [
        ("macro_f1", ZERO_SHOT, "F1"),
        ("accuracy", ZERO_SHOT, "Accuracy"),
    ]
    assert all(column.higher_is_better for column in empty.columns)
    assert (empty.rank_by, empty.entry_rule) == (0, EntryRule.BEST)


def test_the_best_score_stands_at_the_top(engine: Engine, people: list[User]) -> None:
    for user, value in zip(people, (0.5, 0.9, 0.7, 0.6), strict=True):
        enter(engine, user, value)
    assert shown(engine) == [(1, "Bob", 0.9), (2, "Cat", 0.7), (3, "Dan", 0.6), (4, "Ada", 0.5)]


def test_a_row_says_what_pages_need(engine: Engine, people: list[User]) -> None:
    accepted = submit(engine, people[0], NOW + HOUR, method="BERT")
    score(engine, accepted.run_id, 0.5)
    (row,) = board(engine).rows
    assert (row.kind, row.method, row.achieved_at, row.entries, row.source) == ("team", "BERT", NOW + HOUR, 1, None)
    assert [(cell.value, cell.reason) for cell in row.cells] == [(0.5, None), (0.25, None)]
    assert row.cells[0].signature == f"idiom-detection:1|macro_f1|{ZERO_SHOT}"


def test_equal_scores_share_a_rank_and_the_earlier_stands_first(engine: Engine, people: list[User]) -> None:
    ada, bob, cat, dan = people
    enter(engine, ada, 0.5, minute=3)
    enter(engine, bob, 0.7, minute=2)
    enter(engine, cat, 0.7, minute=1)
    enter(engine, dan, 0.7, minute=4)
    assert shown(engine) == [(1, "Cat", 0.7), (1, "Bob", 0.7), (1, "Dan", 0.7), (4, "Ada", 0.5)]


def test_where_all_digits_are_shown_twelve_decimals_rank(engine: Engine, people: list[User]) -> None:
    """Check that differences beyond twelve decimals are rounding noise: of one score, summed in two orders."""
    ada, bob, cat = people[:3]
    enter(engine, ada, 0.3)
    enter(engine, bob, 0.1 + 0.2, minute=1)  # 0.30000000000000004
    enter(engine, cat, 0.300000000002, minute=2)
    assert [(rank, team) for rank, team, _ in shown(engine)] == [(1, "Cat"), (2, "Ada"), (2, "Bob")]


def test_zero_is_a_score_like_any_other(engine: Engine, people: list[User]) -> None:
    ada, bob, cat = people[:3]
    enter(engine, ada, 0.0)
    enter(engine, bob, 0.1)
    enter(engine, cat, -0.5)
    assert shown(engine) == [(1, "Bob", 0.1), (2, "Ada", 0.0), (3, "Cat", -0.5)]


def test_lower_is_better_turns_the_board_round(
    engine: Engine, people: list[User], monkeypatch: pytest.MonkeyPatch
) -> None:
    task = TASKS["idiom-detection"]
    error_rate = Metric("macro_f1", "Errors", "The share of wrong labels.", higher_is_better=False)
    metrics = {**task.metrics, "macro_f1": error_rate}
    monkeypatch.setitem(TASKS, task.name, dataclasses.replace(task, metrics=metrics))
    ada, bob, cat = people[:3]
    enter(engine, ada, 0.5)
    enter(engine, ada, 0.2, minute=1)
    enter(engine, bob, 0.3)
    enter(engine, cat, 0.2)
    assert shown(engine) == [(1, "Cat", 0.2), (1, "Ada", 0.2), (3, "Bob", 0.3)]
    assert [column.higher_is_better for column in board(engine).columns] == [False, True]


# ---------------------------------------------------------------------------------------- undefined, and not entered


def test_an_undefined_score_never_ranks(engine: Engine, people: list[User]) -> None:
    ada, bob = people[:2]
    undefined = sure(claim(engine, submit(engine, ada).run_id))
    finish(engine, undefined, scores_of(ZERO_SHOT, None, reason="the prediction is constant"))
    enter(engine, bob, -0.9)
    assert shown(engine) == [(1, "Bob", -0.9), (None, "Ada", None)]
    assert board(engine).rows[1].cells[0].reason == "the prediction is constant"


def test_a_team_that_did_not_enter_a_setting_is_not_on_its_board(engine: Engine, people: list[User]) -> None:
    ada, bob = people[:2]
    enter(engine, ada, 0.5, None)
    enter(engine, bob, 0.6, 0.4)
    assert shown(engine, "zero-shot") == [(1, "Bob", 0.6), (2, "Ada", 0.5)]
    assert shown(engine, "one-shot") == [(1, "Bob", 0.4)]


def test_of_several_files_the_one_that_entered_a_setting_counts_there(engine: Engine, people: list[User]) -> None:
    ada = people[0]
    enter(engine, ada, 0.5, None, minute=0)
    enter(engine, ada, None, 0.8, minute=1)
    assert shown(engine, "zero-shot") == [(1, "Ada", 0.5)]
    assert shown(engine, "one-shot") == [(1, "Ada", 0.8)]
    assert board(engine).rows[0].entries == 1


def test_a_column_that_was_never_computed_is_empty_and_says_so(engine: Engine, people: list[User]) -> None:
    """Check a column that the organiser added after these runs."""
    enter(engine, people[0], 0.5)
    extra = {"metric": "accuracy", "split": "zero_shot/gl", "title": "GL", "decimals": 2, "percent": True}
    with writing(engine) as session:
        found = find_board(find_competition(session, COMPETITION), PHASE, "zero-shot")[1]
        found.columns = [*found.columns, extra]
    (row,) = board(engine).rows
    assert (row.rank, row.cells[2].value, row.cells[2].reason) == (1, None, "not computed")


@pytest.mark.parametrize("outcome", ["queued", "running", "rejected", "failed"])
def test_only_scored_submissions_stand_on_a_board(engine: Engine, people: list[User], outcome: str) -> None:
    ada = people[0]
    enter(engine, ada, 0.5)
    run_id = submit(engine, ada, NOW + SECOND, content=outcome).run_id
    if outcome == "running":
        claim(engine, run_id)
    elif outcome == "rejected":
        reject(engine, run_id)
    elif outcome == "failed":
        fail(engine, run_id)
    (row,) = board(engine).rows
    assert (row.cells[0].value, row.entries) == (0.5, 1)


def test_a_run_that_is_not_current_is_not_shown(engine: Engine) -> None:
    """Check that a rescoring next to the current run stays invisible until it is published."""
    add_competition(engine, entry_rule=EntryRule.ALL)
    accepted = submit(engine, add_user(engine, "ada"))
    score(engine, accepted.run_id, 0.5)
    with writing(engine) as session:
        old = session.get_one(ScoringRun, accepted.run_id)
        new = ScoringRun(submission_id=old.submission_id, is_current=False, gold="gold-2.csv", queued_at=NOW)
        session.add(new)
    score(engine, new.id, 0.9)
    assert shown(engine) == [(1, "Ada", 0.5)]


# ------------------------------------------------------------------------------------------------------------- rules


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (EntryRule.BEST, [(1, "Ada", 0.8), (2, "Bob", 0.6)]),
        (EntryRule.LAST, [(1, "Bob", 0.6), (2, "Ada", 0.3)]),
        (EntryRule.ALL, [(1, "Ada", 0.8), (2, "Bob", 0.6), (3, "Ada", 0.5), (4, "Ada", 0.3)]),
    ],
)
def test_the_phase_says_which_submissions_stand(
    engine: Engine, rule: EntryRule, expected: list[tuple[int, str, float]]
) -> None:
    add_competition(engine, entry_rule=rule)
    ada, bob = add_user(engine, "ada"), add_user(engine, "bob")
    for minute, value in enumerate((0.5, 0.8, 0.3)):
        enter(engine, ada, value, minute=minute)
    enter(engine, bob, 0.6)
    assert shown(engine) == expected
    assert {row.team: row.entries for row in board(engine).rows} == {"Ada": 3, "Bob": 1}


def test_of_two_equal_bests_the_earlier_stands(engine: Engine, people: list[User]) -> None:
    ada = people[0]
    for minute, value in enumerate((0.5, 0.8, 0.8)):
        enter(engine, ada, value, minute=minute)
    assert board(engine).rows[0].achieved_at == NOW + timedelta(minutes=1)


def test_best_prefers_any_defined_score(engine: Engine, people: list[User]) -> None:
    ada = people[0]
    undefined = sure(claim(engine, submit(engine, ada, content="constant").run_id))
    finish(engine, undefined, scores_of(ZERO_SHOT, None, reason="the prediction is constant"))
    enter(engine, ada, -0.3, minute=1)
    assert shown(engine) == [(1, "Ada", -0.3)]


def test_last_is_the_last_that_was_sent_not_the_last_that_was_scored(engine: Engine) -> None:
    add_competition(engine, entry_rule=EntryRule.LAST)
    ada = add_user(engine, "ada")
    first, second = (submit(engine, ada, NOW + n * SECOND, content=str(n)).run_id for n in (0, 1))
    score(engine, second, 0.2)
    score(engine, first, 0.9)
    assert shown(engine) == [(1, "Ada", 0.2)]


# -------------------------------------------------------------------------------------------- baselines and history


def test_a_baseline_stands_in_its_place_without_a_rank(engine: Engine, people: list[User]) -> None:
    ada, bob, organiser = people[:3]
    add_team(engine, organiser, name="Majority class", kind=TeamKind.BASELINE)
    enter(engine, ada, 0.4)
    enter(engine, bob, 0.8)
    enter(engine, organiser, 0.6)
    assert shown(engine) == [(1, "Bob", 0.8), (None, "Majority class", 0.6), (2, "Ada", 0.4)]
    assert [row.kind for row in board(engine).rows] == ["team", "baseline", "team"]


def add_historic(engine: Engine, team: str, value: float | None, board_name: str = "zero-shot") -> None:
    with writing(engine) as session:
        phase, found = find_board(find_competition(session, COMPETITION), PHASE, board_name)
        scores = {} if value is None else {f"macro_f1 {ZERO_SHOT}": value}
        session.add(
            HistoricRow(phase_id=phase.id, board_id=found.id, team=team, scores=scores, source="Results of 2022")
        )


def test_historic_rows_stand_in_their_place_marked_and_without_a_rank(engine: Engine, people: list[User]) -> None:
    ada, bob = people[:2]
    enter(engine, ada, 0.4)
    enter(engine, bob, 0.8)
    add_historic(engine, "HIT", 0.9)
    add_historic(engine, "NER4ID", 0.8)
    add_historic(engine, "unpublished", None)
    assert shown(engine) == [
        (None, "HIT", 0.9),
        (1, "Bob", 0.8),
        (None, "NER4ID", 0.8),
        (2, "Ada", 0.4),
        (None, "unpublished", None),
    ]
    historic = board(engine).rows[0]
    assert (historic.kind, historic.source, historic.submission_id) == ("historic", "Results of 2022", None)
    assert [(cell.value, cell.reason, cell.signature) for cell in historic.cells] == [
        (0.9, None, None),
        (None, "not published", None),
    ]
    assert shown(engine, "one-shot") == []
