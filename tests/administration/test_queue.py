"""The queue as administrators see it: every place separately, the narrowest hold first, and failed runs once more."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

import pytest
from sqlalchemy import Engine

from app.administration.operations_views import QueueOut
from app.administration.queue import hold_scoring, queue_now, resume_scoring, run_again, target_at
from app.base.config import get_settings
from app.base.db import reading, writing
from app.base.errors import Forbidden
from app.models import RunStatus, User
from app.people.act import Act
from app.submissions.accept import Sender
from app.submissions.validations import FileToCheck, accept_validation
from tests.beside import add_other_task, submit_other
from tests.rescoring.rescored import start
from tests.rich_world import NEIGHBOURS, OTHER_TASK
from tests.runs.presence import announce
from tests.world import (
    COMPETITION,
    HOUR,
    NOW,
    PHASE,
    SECOND,
    TASK,
    add_competition,
    claim,
    fail,
    score,
    submit,
    the_phase_task,
    the_run,
    upload_of,
)

ELSEWHERE = "elsewhere"


@pytest.fixture
def engine(sqlite_engine: Engine) -> Engine:
    return sqlite_engine


@pytest.fixture
def ada(people: list[User]) -> User:
    return people[0]


def queue(engine: Engine, now: datetime = NOW) -> QueueOut:
    with reading(engine) as session:
        return queue_now(session, get_settings(), now)


def pause(engine: Engine, place: str, host: str = "") -> None:
    with writing(engine) as session:
        hold_scoring(Act(session, None, NOW, get_settings()), target_at(session, place, host), f"As to '{place}'.")


def resume(engine: Engine, place: str, host: str = "") -> None:
    with writing(engine) as session:
        resume_scoring(Act(session, None, NOW, get_settings()), target_at(session, place, host))


def check(engine: Engine, user: User, now: datetime) -> UUID:
    with writing(engine) as session:
        asked = the_phase_task(session)
        return accept_validation(session, asked, Sender(user, now), FileToCheck(upload_of("x"))).validation.id


def why(engine: Engine) -> dict[str, str]:
    """Return the reason by place."""
    return {f"{one.competition}/{one.task}": one.why for one in queue(engine).waiting}


def test_what_waits_is_counted_by_place_kind_and_reason_the_oldest_first(engine: Engine, ada: User) -> None:
    add_other_task(engine)
    add_competition(engine, name=ELSEWHERE)
    announce(engine, "worker:1", "cpu", now=NOW + 4 * HOUR)
    score(engine, submit(engine, ada, content="scored").run_id, 0.5)
    start(engine, f"{PHASE}/{TASK}", now=NOW + 5 * HOUR)
    for minute in (3, 1):
        submit(engine, ada, NOW + minute * HOUR, content=f"file {minute}")
    submit_other(engine, ada)
    submit(engine, ada, NOW + 2 * HOUR, competition=ELSEWHERE)
    tried = submit(engine, ada, NOW + 4 * HOUR, content="tried").run_id
    fail(engine, tried, attempts=3, now=NOW + 4 * HOUR)
    check(engine, ada, NOW + 6 * HOUR)
    found = queue(engine, NOW + 4 * HOUR)
    waiting = [
        (one.competition, one.task, one.kind, one.count, one.oldest_at - NOW, one.waits_for) for one in found.waiting
    ]
    assert waiting == [
        (COMPETITION, OTHER_TASK, "submission", 1, 0 * HOUR, "turn"),
        (COMPETITION, TASK, "submission", 2, 1 * HOUR, "turn"),
        (ELSEWHERE, TASK, "submission", 1, 2 * HOUR, "turn"),
        (COMPETITION, TASK, "submission", 1, 4 * HOUR, "retry"),
        (COMPETITION, TASK, "rescoring", 1, 5 * HOUR, "turn"),
        (COMPETITION, TASK, "validation", 1, 6 * HOUR, "turn"),
    ]
    assert {one.phase for one in found.waiting} == {PHASE}
    assert (found.running, found.failed) == ([], 0)


def test_the_narrowest_hold_is_the_reason_and_holds_nothing_beside_it(engine: Engine, ada: User) -> None:
    add_other_task(engine)
    add_competition(engine, name=ELSEWHERE)
    submit(engine, ada)
    submit_other(engine, ada)
    submit(engine, ada, competition=ELSEWHERE)
    announce(engine, "worker:1", "cpu")
    mine, beside, elsewhere = f"{COMPETITION}/{TASK}", f"{COMPETITION}/{OTHER_TASK}", f"{ELSEWHERE}/{TASK}"
    free = "It waits for its turn."
    said = {place: f"As to '{place}'." for place in ("", COMPETITION, mine, NEIGHBOURS)}
    held: list[tuple[str, dict[str, str]]] = [
        (NEIGHBOURS, {mine: free, beside: free, elsewhere: free}),
        ("", {mine: said[""], beside: said[""], elsewhere: said[""]}),
        (COMPETITION, {mine: said[COMPETITION], beside: said[COMPETITION], elsewhere: said[""]}),
        (mine, {mine: said[mine], beside: said[COMPETITION], elsewhere: said[""]}),
    ]
    for place, reasons in held:
        pause(engine, place)
        found = {at: text.partition(": ")[2] or text for at, text in why(engine).items()}
        assert found == reasons, place
    assert [(one.place, one.host) for one in queue(engine).holds] == [
        (NEIGHBOURS, None),
        (COMPETITION, None),
        ("", None),
        (mine, None),
    ], "those of one moment by their keys"
    resume(engine, "")
    assert why(engine)[elsewhere] == free


def test_while_one_machine_is_drained_another_takes_its_work(engine: Engine, ada: User) -> None:
    submit(engine, ada)
    announce(engine, "worker:1", "cpu", now=NOW + SECOND)
    pause(engine, "", "another")
    assert [one.waits_for for one in queue(engine).waiting] == ["turn"]
    [worker] = queue(engine).workers
    assert (worker.name, worker.host, worker.is_drained) == ("worker:1", "box", False)
    assert (worker.started_at, worker.seen_at) == (NOW, NOW + SECOND)
    pause(engine, "", "box")
    assert [one.why for one in queue(engine).waiting] == ["Every machine with workers is drained."]
    assert [one.is_drained for one in queue(engine).workers] == [True]


def test_what_runs_is_listed_with_its_own_names_since_the_longest_first(engine: Engine, people: list[User]) -> None:
    ada, bob = people[:2]
    add_other_task(engine)
    late, early = submit_other(engine, bob), submit(engine, ada, NOW - SECOND)
    submit(engine, ada, content="waits")
    claim(engine, late.run_id, NOW + SECOND)
    claim(engine, early.run_id, NOW)
    found = [
        (one.run_id, one.submission_id, one.team, one.competition, one.phase, one.task, one.started_at)
        for one in queue(engine).running
    ]
    assert found == [
        (early.run_id, str(early.submission.id), "Ada", COMPETITION, PHASE, TASK, NOW),
        (late.run_id, str(late.submission.id), "Bob", COMPETITION, PHASE, OTHER_TASK, NOW + SECOND),
    ]


def test_failed_runs_are_queued_again_those_named_or_all(engine: Engine, people: list[User]) -> None:
    runs = [submit(engine, user).run_id for user in people[:3]]
    for run_id in runs:
        fail(engine, run_id)
    with writing(engine) as session:
        assert run_again(Act(session, None, NOW, get_settings()), [runs[1]]) == 1
    assert [the_run(engine, run_id).status for run_id in runs] == [
        RunStatus.FAILED,
        RunStatus.QUEUED,
        RunStatus.FAILED,
    ]
    assert queue(engine).failed == 2
    with writing(engine) as session:
        assert run_again(Act(session, None, NOW, get_settings()), []) == 2
    assert queue(engine).failed == 0
    with writing(engine) as session, pytest.raises(Forbidden):
        run_again(Act(session, people[0], NOW, get_settings()), [])
