"""`evergold apply` and sealed gold: a phases.yaml that knows nothing of what was sealed does not take it away."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import Engine, Select, select
from sqlalchemy.orm import Session

from app.base.db import reading, writing
from app.competitions.find import find_phase_task
from app.declarations.apply.baselines import submit_waiting_baselines
from app.gold.versions import SEALED_NAME, published_gold
from app.models import RunStatus, ScoringRun, Submission, Team
from tests.declarations.applying import WHAT, apply, made, phase_task
from tests.declarations.competition_folder import NOW, Competition, make_competition
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
    """Check that uploads wait for it, as where nothing is declared."""
    demo.change(DECLARED, "            gold: sealed\n")
    expected = f"added task {WHAT}, no gold yet: submissions are refused until gold is uploaded"
    assert expected in made(apply(engine, demo))
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


def test_baselines_are_scored_again_by_their_last_runs_alone(engine: Engine, demo: Competition) -> None:
    """Check that only the current run is replaced: what an earlier run had read is past."""
    demo.change(DECLARED, "")
    apply(engine, demo)
    seal(engine)
    apply(engine, demo)
    runs: list[int] = []
    for _ in range(2):
        with writing(engine) as session:
            current = session.scalars(own_runs().where(ScoringRun.is_current)).one()
            current.status, current.gold_version_id = RunStatus.SCORED, newest(session)
            runs.append(current.id)
        seal_gold(engine, b"other gold", places=[PLACE], publish=True)
        with writing(engine) as session:
            assert len(submit_waiting_baselines(session, find_phase_task(session, *PLACE.split("/")), NOW)) == 1
    with reading(engine) as session:
        found = session.scalars(own_runs().order_by(ScoringRun.id)).all()
        assert [one.replaced_id for one in found] == [None, *runs]
        assert [one.is_current for one in found] == [False, False, True]


def own_runs() -> Select[ScoringRun]:
    baselines = select(Submission.id).join(Team, Team.id == Submission.team_id).where(Team.name == "Majority")
    return select(ScoringRun).where(ScoringRun.submission_id.in_(baselines))


def newest(session: Session) -> int:
    place = find_phase_task(session, *PLACE.split("/"))
    return published_gold(session, place.phase_id, place.task_id)[-1].id
