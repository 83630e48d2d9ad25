"""A board's intervals and pairs in pictures: exactly where the board shows them, and only of the visible rows."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import Engine, select

from app.base.db import reading, writing
from app.boards.pictures import comparisons
from app.boards.rows import Interval
from app.boards.statistics import Statistics, statistics_document
from app.boards.statistics_work import record_statistics
from app.charts.picture import Picture
from app.models import Board, EntryRule, ScoringRun, TeamKind, User
from evergold.scoring.resampling.pairs import Difference
from tests import world
from tests.boards.marks import HIDDEN, UNRANKED, mark
from tests.boards.test_pictures import drawn
from tests.competitions.embargo import declare, enter, hide
from tests.world import the_phase_task

#: By who the two are, the p of their pair, before Holm's correction.
P = {("ada", "bob"): 0.2, ("ada", "cat"): 0.01, ("bob", "cat"): 0.02}
VALUES = {"ada": 0.8, "bob": 0.7, "cat": 0.5}


@pytest.fixture
def engine(sqlite_engine: Engine) -> Engine:
    """Return an SQLite database: nothing here depends on the kind."""
    return sqlite_engine


@pytest.fixture
def runs(engine: Engine, people: list[User]) -> dict[str, int]:
    """Ada 0.8, Bob 0.7, Cat 0.5, with intervals of 0.1 to each side, compared."""
    sent = {name: enter(engine, user, VALUES[name]) for name, user in zip(VALUES, people, strict=False)}
    with reading(engine) as session:
        ids = {run.submission_id: run.id for run in session.scalars(select(ScoringRun))}
    found = {name: ids[submission] for name, submission in sent.items()}
    keep(engine, found)
    return found


def keep(engine: Engine, runs: dict[str, int]) -> None:
    pairs = {}
    for (one, other), p in P.items():
        first, second = sorted((one, other), key=lambda name: runs[name])
        low, high = VALUES[first], VALUES[second]
        pairs[runs[first], runs[second]] = Difference(low, high, high - low, None, None, p, 0, 10_000, 0.95, "paired:1")
    intervals = {
        run: {("macro_f1", "zero_shot/all"): Interval(VALUES[name] - 0.1, VALUES[name] + 0.1, 0.95, "jackknife")}
        for name, run in runs.items()
    }
    document = statistics_document(Statistics("key", frozenset(runs.values()), intervals, pairs))
    with writing(engine) as session:
        boards = list(session.scalars(select(Board.id)))
        record_statistics(session, the_phase_task(session).id, "0", {board: document for board in boards})


def cells(picture: Picture) -> dict[Any, Any]:
    """Return, by row and column, what the row is to the column, and p."""
    return {(at.y, at.x): (one.look, at.value) for one in picture.series for at in one.points}


def test_a_row_of_the_matrix_says_whom_it_beats_with_p_corrected(engine: Engine, runs: dict[str, int]) -> None:
    """Check Holm: 0.01 · 3 = 0.03, 0.02 · 2 = 0.04, 0.2 · 1 = 0.2. At 5 % the first two are significant."""
    found = drawn(engine)["pairs"]
    told = {key: (what, pytest.approx(p)) for key, (what, p) in {
        ("Ada", "Bob"): ("same", 0.2), ("Bob", "Ada"): ("same", 0.2),
        ("Ada", "Cat"): ("better", 0.03), ("Cat", "Ada"): ("worse", 0.03),
        ("Bob", "Cat"): ("better", 0.04), ("Cat", "Bob"): ("worse", 0.04),
    }.items()}  # fmt: skip
    assert cells(found) == told
    assert found.table.rows == (
        ("1. Ada", "", "0.2000", "> 0.0300"),
        ("2. Bob", "0.2000", "", "> 0.0400"),
        ("3. Cat", "< 0.0300", "< 0.0400", ""),
    )
    assert found.summary == "2 of 3 pairs of 3 systems differ significantly."


def test_the_forest_has_what_the_board_has(engine: Engine, runs: dict[str, int]) -> None:
    found = drawn(engine)["forest"]
    points: list[Any] = [point for one in found.series for point in one.points]
    assert [(one.label, one.x, one.low, one.high, one.rank, one.cluster) for one in points] == [
        ("Ada", 0.8, pytest.approx(0.7), pytest.approx(0.9), "1–2", 1),
        ("Bob", 0.7, pytest.approx(0.6), pytest.approx(0.8), "1–2", 1),
        ("Cat", 0.5, pytest.approx(0.4), pytest.approx(0.6), "3", 2),
    ]
    assert found.summary == "Ada and Bob may be first. The board falls into 2 clusters."
    assert found.table.rows[0] == ("Ada", "1–2", "0.8000", "0.7000", "0.9000")


def test_baselines_are_rules_and_rows(engine: Engine, runs: dict[str, int]) -> None:
    bot = world.add_user(engine, "bot")
    world.add_team(engine, bot, name="Majority", kind=TeamKind.BASELINE)
    enter(engine, bot, 0.6)
    found = drawn(engine)["forest"]
    assert [(line.label, line.value) for line in found.lines] == [("Baseline: Majority", 0.6)]
    assert found.y.categories == ("Ada", "Bob", "Majority", "Cat")


@pytest.mark.parametrize("shown", [{"board": "hidden"}, {"board": "ranks_only"}, {"precision": 2}])
def test_they_are_shown_where_the_board_tells_intervals(
    engine: Engine, runs: dict[str, int], shown: dict[str, Any]
) -> None:
    assert {"forest", "pairs"} <= drawn(engine).keys()
    hide(engine, **shown)
    assert not {"forest", "pairs"} & drawn(engine).keys()


@pytest.mark.parametrize("slices", ["none", "ranked", "columns"])
def test_where_some_scores_are_shown_they_appear_with_the_close(
    engine: Engine, runs: dict[str, int], slices: str
) -> None:
    hide(engine, slices=slices)
    assert not {"forest", "pairs"} & drawn(engine).keys()
    declare(engine, ends_at=world.NOW)
    assert {"forest", "pairs"} <= drawn(engine).keys()


def test_a_ladder_has_neither(engine: Engine, runs: dict[str, int]) -> None:
    declare(engine, entry_rule=EntryRule.LADDER, ladder_step=0.01)
    assert not {"forest", "pairs"} & drawn(engine).keys()


def test_a_hidden_row_is_in_no_pair_and_in_no_correction(engine: Engine, runs: dict[str, int]) -> None:
    """Check that without Cat a single pair is left, whose p stays 0.2."""
    mark(engine, "Cat", HIDDEN)
    found = drawn(engine)
    assert cells(found["pairs"]) == {("Ada", "Bob"): ("same", 0.2), ("Bob", "Ada"): ("same", 0.2)}
    assert "Cat" not in repr(found)


def test_a_row_without_a_rank_is_in_no_pair_but_in_the_correction(engine: Engine, runs: dict[str, int]) -> None:
    """Check three compared pairs: Ada's and Cat's 0.01 counts three times, though Bob's row has no rank."""
    mark(engine, "Bob", UNRANKED, "sent by mail")
    found = drawn(engine)
    assert cells(found["pairs"]) == {
        ("Ada", "Cat"): ("better", pytest.approx(0.03)),
        ("Cat", "Ada"): ("worse", pytest.approx(0.03)),
    }


def test_of_a_long_board_the_first_are_drawn_and_the_readers_own(
    engine: Engine, runs: dict[str, int], people: list[User], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(comparisons, "MOST_ROWS", 1)
    monkeypatch.setattr(comparisons, "MOST_SYSTEMS", 1)
    found = drawn(engine, people[2])
    assert found["forest"].y.categories == found["pairs"].y.categories == ("Ada", "Cat")
    assert (found["forest"].left_out, found["pairs"].left_out) == (1, 1)
    assert cells(found["pairs"])["Ada", "Cat"] == ("better", pytest.approx(0.03)), (
        "corrected for all pairs all the same"
    )
