"""Workers that are present or forgotten, and why a run waits: organisers see more of this than teams."""

from __future__ import annotations

import dataclasses
from datetime import datetime, timedelta

import pytest
from sqlalchemy import Engine, func, select, update

from app.base.db import reading, writing
from app.models import CompetitionTask, ScoringRun, SelfCheck, User
from app.runs.workers import (
    SILENT_SECONDS,
    Waiting,
    forget_silent_workers,
    live_workers,
    queue_position,
    retire_worker,
    unserved_task_types,
    waiting_for_worker,
    waiting_notice,
)
from evergold.scoring.tasks import TASKS
from tests.beside import add_other_task, submit_other
from tests.rescoring.rescored import start
from tests.runs.presence import announce
from tests.world import (
    HOUR,
    NOW,
    PHASE,
    SECOND,
    add_competition,
    add_user,
    claim,
    score,
    submit,
    the_phase_task,
    the_run,
)

SILENCE = timedelta(seconds=SILENT_SECONDS)
TYPE = "idiom-detection"


@pytest.fixture
def ada(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> User:
    """Return somebody who may submit to a task that needs torch."""
    monkeypatch.setitem(TASKS, TYPE, dataclasses.replace(TASKS[TYPE], needs_gpu=True))
    add_competition(engine, per_day=None)
    return add_user(engine, "ada")


def names(engine: Engine, now: datetime) -> list[str]:
    with reading(engine) as session:
        return [worker.name for worker in live_workers(session, now)]


def waiting(engine: Engine, run_id: int, now: datetime = NOW) -> Waiting | None:
    with reading(engine) as session:
        return waiting_for_worker(session, session.get_one(ScoringRun, run_id), TYPE, now)


# ---------------------------------------------------------------------------------------------------------- presence


def test_a_worker_lives_as_long_as_it_is_heard(engine: Engine) -> None:
    announce(engine, "b", "cpu")
    announce(engine, "a", "cpu", now=NOW + SECOND)
    assert names(engine, NOW + SILENCE - SECOND) == ["a", "b"]
    assert names(engine, NOW + SILENCE) == ["a"], "the end of the time does not count"
    announce(engine, "b", "cpu", now=NOW + SILENCE)
    assert names(engine, NOW + SILENCE) == ["a", "b"]


def test_the_silent_are_forgotten_and_those_that_end_at_once(engine: Engine) -> None:
    for name in ("a", "b", "c"):
        announce(engine, name, "cpu", now=NOW + (name == "c") * SECOND)
    with writing(engine) as session:
        retire_worker(session, "a")
    assert names(engine, NOW) == ["b", "c"]
    with writing(engine) as session:
        assert forget_silent_workers(session, NOW + SILENCE) == 1
    assert names(engine, NOW) == ["c"]


# ----------------------------------------------------------------------------------------------------------- waiting


def test_a_run_that_no_worker_can_take_waits_since_it_was_sent(engine: Engine, ada: User) -> None:
    run_id = submit(engine, ada, NOW).run_id
    found = waiting(engine, run_id, NOW + SECOND)
    assert found == Waiting(NOW, ("No worker is running.",))
    since = "10 Jan 2026, 12:00 UTC"
    assert found.words == f"Your file has arrived and has been waiting for a worker with torch since {since}."


def test_it_does_not_wait_while_somebody_listens_or_when_it_is_taken(engine: Engine, ada: User) -> None:
    run_id = submit(engine, ada, NOW).run_id
    announce(engine, "gpu", "gpu")
    assert waiting(engine, run_id, NOW + SECOND) is None
    assert waiting(engine, run_id, NOW + SILENCE) is not None, "that one is silent by now"
    claim(engine, run_id, NOW)
    assert waiting(engine, run_id, NOW + SILENCE) is None


def test_tasks_without_torch_wait_for_their_turn_only(
    engine: Engine, ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = submit(engine, ada, NOW).run_id
    monkeypatch.setitem(TASKS, TYPE, dataclasses.replace(TASKS[TYPE], needs_gpu=False))
    assert waiting(engine, run_id) is None


def test_a_page_says_since_when_this_task_waits(engine: Engine, ada: User) -> None:
    """Check that another task's waiting does not count, nor a set's run next to the one that counts."""

    def notice() -> str:
        with reading(engine) as session:
            return waiting_notice(session, the_phase_task(session), TYPE, NOW)

    add_other_task(engine)
    submit_other(engine, ada)
    scored = submit(engine, ada, NOW - HOUR)
    score(engine, scored.run_id, 0.5)
    start(engine, PHASE)
    assert notice() == ""
    submit(engine, ada, NOW + HOUR, content="a second one")
    submit(engine, ada, NOW + 2 * HOUR, content="a third one")
    assert notice() == "Scoring for this task is delayed since 10 Jan 2026, 13:00 UTC; nothing is lost."


def test_organisers_learn_which_worker_is_missing(engine: Engine, ada: User) -> None:
    run_id = submit(engine, ada, NOW).run_id
    announce(engine, "lean", "cpu")
    found = waiting(engine, run_id)
    assert found is not None
    assert "`evergold worker --queues gpu` starts one" in found.reasons[0]


def test_organisers_learn_what_was_refused_and_who_is_still_checking(engine: Engine, ada: User) -> None:
    run_id = submit(engine, ada, NOW).run_id
    announce(engine, "lean", "cpu")
    announce(
        engine, "odd", "cpu", self_check=SelfCheck.REFUSED, words=("bertscore all is 0.5, not 0.7.", "So is macro.")
    )
    announce(engine, "young", self_check=SelfCheck.RUNNING)
    found = waiting(engine, run_id)
    assert found is not None
    assert found.reasons == (
        "Worker odd refused its self-check: bertscore all is 0.5, not 0.7.",
        "Worker odd refused its self-check: So is macro.",
        "Worker young is checking itself.",
    )
    assert "0.5" not in found.words


def test_a_run_that_was_put_back_waits_and_organisers_learn_what_is_lacking(engine: Engine, ada: User) -> None:
    run_id = submit(engine, ada, NOW).run_id
    announce(engine, "gpu", "gpu")
    with writing(engine) as session:
        session.execute(update(ScoringRun).values(failure="gpu:1 cannot score it: no model"))
    found = waiting(engine, run_id)
    assert found is not None
    assert found.reasons == ("gpu:1 cannot score it: no model",)
    with writing(engine) as session:
        session.execute(update(ScoringRun).values(attempts=1))
    assert waiting(engine, run_id) is None, "that was a failure of an attempt: it is only queued again"


# ----------------------------------------------------------------------------------------------------------- queues


def test_types_whose_queue_nobody_listens_to_are_unheard(engine: Engine, ada: User) -> None:
    def unserved(now: datetime) -> frozenset[str]:
        with reading(engine) as session:
            return unserved_task_types(session, now)

    assert unserved(NOW) == {TYPE, "mwe-paraphrase", "text-generation"}
    announce(engine, "lean", "cpu")
    assert unserved(NOW) == {TYPE, "mwe-paraphrase", "text-generation"}
    announce(engine, "able", "cpu", "gpu")
    assert unserved(NOW) == frozenset()
    assert unserved(NOW + SILENCE) == {TYPE, "mwe-paraphrase", "text-generation"}


def test_each_queue_has_a_line_of_its_own(engine: Engine, ada: User, monkeypatch: pytest.MonkeyPatch) -> None:
    """Check that runs that wait for a GPU do not block those that any worker can take."""
    first, second = (submit(engine, ada, NOW, content=text).run_id for text in ("one", "two"))
    with reading(engine) as session:
        assert [queue_position(session, the_run(engine, run_id), TYPE) for run_id in (first, second)] == [1, 2]
    add_competition(engine, name="other", per_day=None)
    with writing(engine) as session:
        newest = select(func.max(CompetitionTask.id)).scalar_subquery()
        session.execute(update(CompetitionTask).where(CompetitionTask.id == newest).values(task_type="table"))
    third = submit(engine, ada, NOW, competition="other").run_id
    with reading(engine) as session:
        assert queue_position(session, the_run(engine, third), "table") == 1
        assert queue_position(session, the_run(engine, second), TYPE) == 2
