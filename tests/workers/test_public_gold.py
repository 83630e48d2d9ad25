"""Results of single items are stored in clear for runs under public gold, and never for any other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, select, update

from app.base.db import reading, writing
from app.gold.sealing import list_as_public
from app.models import PhaseTask, RunStatus, ScoringRun, User
from app.runs.report import forget_results, results_of
from evergold.scoring.task import ItemResult
from evergold.scoring.tasks import TASKS
from tests.rescoring.rescored import publish, start
from tests.workers.files import PREDICTION, upload
from tests.workers.test_score import REPEATED, change_task, values
from tests.world import the_phase_task, the_run
from workers.score import score_submission

pytestmark = pytest.mark.usefixtures("public_gold")

EN = ("zero_shot/en",)
#: GOLD is 0, 0, 1, 1, and PREDICTION is 0, 1, 1, 1; one_shot was not entered.
RESULTS = [
    ItemResult("1", EN, "0", "0", is_right=True),
    ItemResult("2", EN, "0", "1", is_right=False),
    ItemResult("3", EN, "1", "1", is_right=True),
    ItemResult("4", EN, "1", "1", is_right=True),
]


@pytest.fixture
def public_gold(workplace: Path) -> None:
    """Set up plain gold that the operator of the workers calls public, too."""
    list_as_public(workplace / "gold", ["gold.csv"])


def declare(engine: Engine, *, public: bool) -> None:
    with writing(engine) as session:
        session.execute(update(PhaseTask).values(gold_is_public=public))


def scored(engine: Engine, ada: User, content: str = PREDICTION) -> int:
    run_id = upload(engine, ada, content)
    score_submission(run_id)
    assert the_run(engine, run_id).status == RunStatus.SCORED, the_run(engine, run_id).failure
    return run_id


def shown(engine: Engine, run_id: int) -> list[ItemResult] | None:
    with reading(engine) as session:
        return results_of(session, run_id)


def kept(engine: Engine) -> list[bytes]:
    """Return the stored results of all runs, whatever is declared."""
    with reading(engine) as session:
        found = session.scalars(select(ScoringRun.item_results).where(ScoringRun.item_results.is_not(None)))
        return [packed for packed in found if packed is not None]


def test_a_run_under_public_gold_says_what_every_item_came_to(engine: Engine, ada: User) -> None:
    declare(engine, public=True)
    assert shown(engine, scored(engine, ada)) == RESULTS


def test_a_run_under_hidden_gold_keeps_nothing_and_never_asks(
    engine: Engine, ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: Any) -> Any:
        raise AssertionError("nobody may ask for single items")

    change_task(monkeypatch, item_results=never)
    run_id = scored(engine, ada)
    assert kept(engine) == []
    declare(engine, public=True)
    assert shown(engine, run_id) is None, "what was scored before has none"


def test_the_same_scores_with_and_without_items(engine: Engine, ada: User) -> None:
    without = values(engine, scored(engine, ada))
    declare(engine, public=True)
    assert values(engine, scored(engine, ada)) == without


def test_gold_that_is_hidden_while_it_is_scored_leaves_nothing(
    engine: Engine, ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = TASKS["idiom-detection"].item_results
    assert right is not None

    def meanwhile(*arguments: Any) -> Any:
        declare(engine, public=False)
        return right(*arguments)

    change_task(monkeypatch, item_results=meanwhile)
    declare(engine, public=True)
    scored(engine, ada)
    assert kept(engine) == []


def test_what_is_kept_is_not_shown_while_gold_is_hidden(engine: Engine, ada: User) -> None:
    declare(engine, public=True)
    run_id = scored(engine, ada)
    declare(engine, public=False)
    assert len(kept(engine)) == 1
    assert shown(engine, run_id) is None


def test_what_is_kept_can_be_forgotten(engine: Engine, ada: User) -> None:
    declare(engine, public=True)
    run_id = scored(engine, ada)
    with writing(engine) as session:
        here = the_phase_task(session).id
        assert forget_results(session, here + 1) == 0
        assert forget_results(session, here) == 1
        assert forget_results(session, here) == 0
    assert kept(engine) == []
    assert the_run(engine, run_id).report is not None


def test_a_rejected_file_has_no_items(engine: Engine, ada: User) -> None:
    declare(engine, public=True)
    run_id = upload(engine, ada, REPEATED)
    score_submission(run_id)
    assert the_run(engine, run_id).status == RunStatus.REJECTED
    assert kept(engine) == []


def test_a_task_type_that_says_nothing_of_items_is_scored_all_the_same(
    engine: Engine, ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    change_task(monkeypatch, item_results=None)
    declare(engine, public=True)
    assert shown(engine, scored(engine, ada)) is None


def test_items_come_from_the_outcomes_where_scores_are_dear(
    engine: Engine, ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check that one scoring yields scores, outcomes and items: the encoder is not used again."""
    usual = TASKS["idiom-detection"]
    asked: list[str] = []

    def at_once(*given: Any) -> Any:
        asked.append("scores")
        return usual.score(*given), {"of": "the scores"}

    def from_outcomes(gold: Any, prediction: Any, options: Any, outcomes: Any) -> list[ItemResult]:
        asked.append(f"items of {outcomes}")
        return RESULTS[:1]

    change_task(monkeypatch, item_results=None, score_with_outcomes=at_once, item_results_from_outcomes=from_outcomes)
    declare(engine, public=True)
    assert shown(engine, scored(engine, ada)) == RESULTS[:1]
    assert asked == ["scores", "items of {'of': 'the scores'}"]


def test_rescoring_makes_up_for_runs_from_before(engine: Engine, ada: User) -> None:
    before = scored(engine, ada)
    declare(engine, public=True)
    number = start(engine)
    with reading(engine) as session:
        run_id = session.scalars(select(ScoringRun.id).where(ScoringRun.rescoring_id == number)).one()
    score_submission(run_id)
    publish(engine, number)
    assert the_run(engine, run_id).is_current
    assert not the_run(engine, before).is_current
    assert shown(engine, run_id) == RESULTS
