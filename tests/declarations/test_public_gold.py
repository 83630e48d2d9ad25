"""`gold_is_public`: warnings of check, what apply reports and deletes, how it is set on the server."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from app.base.db import reading
from app.base.errors import InvalidForm
from app.declarations.check import check_phases
from app.models import ScoringRun
from evergold.scoring.task import ItemResult
from tests.declarations.applying import WHAT, phase_task, submit
from tests.declarations.competition_folder import Competition, make_competition
from tests.declarations.place import Place, noted, said
from tests.world import claim, finish, scores_of, sure

NAME = "phases.evaluation.tasks.detection.gold_is_public"
EVALUATION, PRACTICE = "            gold: demo/evaluation.csv\n", "            gold: demo/practice.csv\n"
PUBLIC = "            gold_is_public: true\n"


@pytest.fixture
def demo(tmp_path: Path) -> Competition:
    return make_competition(tmp_path)


# --------------------------------------------------------------------------------------------------------------- check


def test_public_gold_of_practice_is_no_matter(demo: Competition) -> None:
    demo.change(PRACTICE, PRACTICE + PUBLIC)
    assert demo.said() == [], "practice never ends, and has its own gold"


def test_a_contest_that_goes_on_with_public_gold_is_asked_about(demo: Competition) -> None:
    demo.change(EVALUATION, EVALUATION + PUBLIC)
    assert demo.said() == [], "without a limit to what one may try, it is no contest"
    demo.change("        entry: last\n", "        entry: last\n        limits: {total: 5}\n")
    assert demo.said() == [
        "40 warning: teams of 'evaluation' see which items they got right while the phase is open: is its gold really "
        "public?"
    ]
    later = datetime(2026, 8, 1, tzinfo=UTC)
    assert [one.message for one in check_phases(demo.phases, now=later) if "really public" in one.message] == []


def test_a_limit_of_the_task_alone_counts_as_well(demo: Competition) -> None:
    demo.change(EVALUATION, EVALUATION + PUBLIC + "            limits: {total: 5}\n")
    assert ["really public" in line for line in demo.said()] == [True]


@pytest.mark.parametrize(
    ("gold", "items", "told"),
    [
        ("demo/evaluation.csv", "practice.csv", True),
        ("demo/practice.csv", "items.csv", True),
        ("sealed", "practice.csv", False),
    ],
)
def test_gold_that_another_open_phase_hides_is_asked_about(
    demo: Competition, gold: str, items: str, told: bool
) -> None:
    demo.change(PRACTICE, f"            gold: {gold}\n{PUBLIC}")
    demo.change("            items: practice.csv\n", f"            items: {items}\n")
    if gold == "sealed":
        demo.change("gold: demo/evaluation.csv", "gold: sealed")
    found = [line for line in demo.said() if "does not declare it public" in line]
    expected = (
        "30 warning: the phase 'evaluation' uses this gold for 'detection' as well, and does not declare it public"
    )
    assert found == ([expected] if told else [])


def test_only_yes_or_no_is_an_answer(demo: Competition) -> None:
    demo.change(PRACTICE, PRACTICE + "            gold_is_public: 'yes'\n")
    assert [line.split(": ")[0] for line in demo.said()] == ["30 error"]


# --------------------------------------------------------------------------------------------------------------- apply


def test_apply_says_what_changed_and_raises_the_boards_version(place: Place) -> None:
    """Check that a cached board is requested again: it shows more digits, and ranks by them."""
    assert phase_task(place.engine, "evaluation").gold_is_public is False
    before = phase_task(place.engine, "evaluation").board_version
    place.folder.change(EVALUATION, EVALUATION + PUBLIC)
    changes = place.apply()
    assert said(changes) == [
        "changed per_day of phase 'evaluation' of 'demo' from 5 to none",
        "changed total of phase 'evaluation' of 'demo' from 50 to none",
        f"changed gold_is_public of {WHAT} from False to True",
    ]
    found = phase_task(place.engine, "evaluation")
    assert (found.gold_is_public, found.board_version) == (True, before + 1)
    assert said(place.apply()) == []


def scored_with_items(place: Place) -> int:
    run_id = submit(place.engine)
    results = [ItemResult("1", ("zero_shot/en",), "0", "1", is_right=False)]
    assert finish(place.engine, sure(claim(place.engine, run_id)), scores_of("zero_shot/all", 0.5), items=results)
    return run_id


def kept(place: Place) -> int:
    with reading(place.engine) as session:
        return len(session.scalars(select(ScoringRun.id).where(ScoringRun.item_results.is_not(None))).all())


def test_whoever_took_part_before_is_told_of_rescoring(place: Place) -> None:
    submit(place.engine)
    outcome = place.edit({NAME: True}, preview=True)
    assert any("already show their items once they are rescored" in line for line in noted(outcome.changes))
    assert [effect.what for effect in outcome.effects] == [
        [
            "submissions a day: without a limit, before 5",
            "submissions in total: without a limit, before 50",
            "slices shown: all, before ranked",
            "intervals, rank ranges and p are shown at once",
            "decimals shown: all, before 4",
            "teams see which items they got right",
            "its boards may look different",
        ]
    ]


def test_taking_it_back_forgets_what_was_kept(place: Place) -> None:
    place.edit({NAME: True})
    scored_with_items(place)
    assert kept(place) == 1
    preview = place.edit({NAME: None}, preview=True)
    assert f"deleted the item results of 1 run of {WHAT}" in " ".join(said(preview.changes))
    assert kept(place) == 1, "a preview changes nothing"
    outcome = place.edit({NAME: False})
    assert said(outcome.changes) == said(preview.changes)
    (effect,) = outcome.effects
    assert effect.what[2:] == [
        "slices shown: ranked, before all",
        "intervals, rank ranges and p are hidden from now on",
        "decimals shown: 4, before all",
        "teams no longer see single items",
        "its boards may look different",
    ]
    assert kept(place) == 0


# ----------------------------------------------------------------------------------------------------------- on server


@pytest.mark.parametrize(("value", "expected"), [(True, True), ("true", True), ("false", False), (False, False)])
def test_it_is_set_in_forms_and_by_programs(place: Place, value: Any, expected: bool) -> None:
    place.edit({NAME: value})
    assert phase_task(place.engine, "evaluation").gold_is_public is expected
    place.edit({NAME: None})
    assert phase_task(place.engine, "evaluation").gold_is_public is False


@pytest.mark.parametrize("value", ["maybe", "True", 1])
def test_anything_else_is_refused_at_its_field(place: Place, value: Any) -> None:
    with pytest.raises(InvalidForm) as refused:
        place.edit({NAME: value})
    assert list(refused.value.details["fields"]) == [NAME]
