"""`private_part`: what check refuses, what apply stores and reports, how it is set on the server."""

from __future__ import annotations

import pytest
from sqlalchemy import Engine

from app.declarations.edits.fields import Value
from tests.declarations.applying import made, noted, phase_task
from tests.declarations.place import Place

GOLD = "            gold: demo/evaluation.csv\n"
PRACTICE = "            gold: demo/practice.csv\n"
SEED = "a seed that nobody knows"
PART = f"            private_part: {{share: 0.7, seed: {SEED}}}\n"
NAME = "phases.evaluation.tasks.detection.private_part"


def test_it_is_applied_and_may_be_shown_with_the_close(place: Place, sqlite_engine: Engine) -> None:
    place.folder.change(GOLD, GOLD + PART)
    place.apply()
    assert phase_task(sqlite_engine, "evaluation").private_part == {"share": 0.7, "seed": SEED, "shown_from": "close"}
    assert phase_task(sqlite_engine, "practice").private_part == {}


@pytest.mark.parametrize(
    ("under", "lines", "expected"),
    [
        (GOLD, "private_part: {share: 1, seed: a seed that nobody knows}", "must be below 1"),
        (GOLD, "private_part: {share: 0.5, seed: too short}", "has fewer than 16 characters"),
        (GOLD, "private_part: {share: 0.5}", "needs the key 'seed'"),
        (PRACTICE, "private_part: {share: 0.5, seed: a seed that nobody knows}", "has no end: set 'shown_from'"),
        (
            PRACTICE,
            "private_part: {share: 0.5, seed: a seed that nobody knows, shown_from: close}",
            "'shown_from' is 'close', but the phase 'practice' has no end",
        ),
        (
            GOLD,
            "private_part: {share: 0.5, seed: a seed that nobody knows, shown_from: 2026-05-01 00:00 UTC}",
            "'shown_from' is not after the start of the phase",
        ),
        (
            GOLD,
            "private_part: {share: 0.5, seed: a seed that nobody knows, shown_from: 2026-06-01 00:00 UTC}",
            "teams can still submit when they see the scores of the private part",
        ),
        (
            GOLD,
            "gold_is_public: true\n            private_part: {share: 0.5, seed: a seed that nobody knows}",
            "public gold cannot have a private part",
        ),
        (
            GOLD,
            "entry: ladder\n            ladder_step: 0.1\n"
            "            private_part: {share: 0.5, seed: a seed that nobody knows}",
            "a Ladder shows only a team's record",
        ),
    ],
)
def test_what_contradicts_itself_is_told(place: Place, under: str, lines: str, expected: str) -> None:
    place.folder.change(under, f"{under}            {lines}\n")
    assert any(expected in finding for finding in place.folder.said()), place.folder.said()


def test_a_task_type_that_cannot_be_divided_is_told(place: Place) -> None:
    place.folder.change("type: idiom-detection", "type: idiomaticity-probing")
    place.folder.change(GOLD, GOLD + PART)
    said = place.folder.said()
    assert any(
        "'idiomaticity-probing' cannot score a part of its items, so it cannot have a private part" in one
        for one in said
    )


def test_no_sentence_repeats_the_seed_and_scores_stay(demo_with_scores: Place) -> None:
    changes = demo_with_scores.apply()
    assert all(SEED not in str(change) for change in changes)
    assert any("changed private_part of" in one for one in made(changes))
    assert any("until they are rescored with the new private part" in one for one in noted(changes))


@pytest.fixture
def demo_with_scores(place: Place) -> Place:
    """The baseline was submitted; then items are divided."""
    place.apply()
    place.folder.change(GOLD, GOLD + PART)
    return place


def test_it_is_set_on_the_server(place: Place, sqlite_engine: Engine) -> None:
    place.apply()
    values: dict[str, Value] = {
        f"{NAME}.share": 0.5,
        f"{NAME}.seed": SEED,
        f"{NAME}.shown_from": "2026-08-01 00:00 UTC",
    }
    place.edit(values)
    kept = phase_task(sqlite_engine, "evaluation").private_part
    assert kept == {"share": 0.5, "seed": SEED, "shown_from": "2026-08-01T00:00:00Z"}
    effects = place.edit({f"{NAME}.shown_from": "close"}, preview=True).effects
    assert any("the private part of the items is shown from" in str(effect) for effect in effects)
