"""`evergold apply` and sealed gold: a phases.yaml that knows nothing of what was sealed does not take it away."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import Engine

from app.gold.versions import SEALED_NAME
from tests.declarations.applying import WHAT, apply, made, phase_task
from tests.declarations.competition_folder import Competition, make_competition
from tests.declarations.place import END, EVEN_LATER, LATER, Place
from tests.sealed import make_key, seal_gold

PLACE = "demo/evaluation/detection"
DECLARED = "            gold: demo/evaluation.csv\n"


@pytest.fixture
def demo(tmp_path: Path) -> Competition:
    return make_competition(tmp_path / "demo")


def seal(engine: Engine) -> None:
    make_key(engine)
    seal_gold(engine, b"gold", places=[PLACE])


def test_a_phase_without_a_gold_name_keeps_what_was_sealed(engine: Engine, demo: Competition) -> None:
    demo.change(DECLARED, "")
    apply(engine, demo)
    assert phase_task(engine, "evaluation").gold is None
    seal(engine)
    assert phase_task(engine, "evaluation").gold == SEALED_NAME
    assert "took away" not in " ".join(made(apply(engine, demo)))
    assert phase_task(engine, "evaluation").gold == SEALED_NAME


def test_sealed_may_be_declared_before_there_is_any(engine: Engine, demo: Competition) -> None:
    """Uploads wait for it, as they do where nothing is declared."""
    demo.change(DECLARED, "            gold: sealed\n")
    assert f"added task {WHAT}, no gold yet: submissions are refused until it is there" in made(apply(engine, demo))
    assert phase_task(engine, "evaluation").gold is None
    seal(engine)
    apply(engine, demo)
    assert phase_task(engine, "evaluation").gold == SEALED_NAME


def test_taking_the_name_of_plain_gold_away_leaves_what_was_sealed(engine: Engine, demo: Competition) -> None:
    apply(engine, demo)
    seal(engine)
    assert phase_task(engine, "evaluation").gold == "demo/evaluation.csv"
    demo.change(DECLARED, "")
    apply(engine, demo)
    assert phase_task(engine, "evaluation").gold == SEALED_NAME


def test_baselines_that_waited_for_gold_are_scored_after_the_next_apply(engine: Engine, demo: Competition) -> None:
    demo.change(DECLARED, "")
    assert [change.run_id for change in apply(engine, demo) if change.run_id] == []
    seal(engine)
    assert len([change.run_id for change in apply(engine, demo) if change.run_id]) == 1


def test_an_edit_on_the_server_does_not_miss_gold_that_was_sealed(engine: Engine, demo: Competition) -> None:
    demo.change(DECLARED, "")
    apply(engine, demo)
    place = Place(engine, demo)
    [warning] = place.edit({END: LATER}).warnings
    assert warning.startswith("'detection' has no gold in phase 'evaluation'")
    seal(engine)
    assert place.edit({END: EVEN_LATER}).warnings == []
