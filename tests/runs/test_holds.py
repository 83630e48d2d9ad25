"""Scoring that is held: nothing is claimed or announced meanwhile, all of it afterwards, and those who wait are
notified.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from sqlalchemy import Engine, select

from app.base.db import reading, writing
from app.base.errors import InvalidForm, NotFound
from app.competitions.find import find_competition, find_phase_task
from app.models import AuditEntry, PhaseTask, ScoringRun, User
from app.runs.claims import claim_next_upload, next_turn
from app.runs.holds import Target, hold, hold_of, hold_of_run, is_drained, lift, list_holds
from app.runs.sweep import mark_sent, requeue_lost_runs
from app.runs.workers import waiting_for_worker, waiting_notice
from tests.beside import add_other_task, submit_other
from tests.rich_world import NEIGHBOURS, OTHER_TASK
from tests.world import COMPETITION, NOW, PHASE, submit, the_phase_task

pytestmark = pytest.mark.both

MINUTE = timedelta(minutes=1)

Pick = Callable[[PhaseTask], Target]
TARGETS: dict[str, Pick] = {
    "server": lambda _: Target(),
    "competition": lambda phase_task: Target(phase_task.phase.competition),
    "task": lambda phase_task: Target(phase_task.phase.competition, phase_task.task),
    "machine": lambda _: Target(host="here"),
}


def pause(engine: Engine, pick: Pick, reason: str = "The gold is wrong.") -> None:
    with writing(engine) as session:
        hold(session, pick(the_phase_task(session)), reason, actor=None, now=NOW)


def resume(engine: Engine, pick: Pick) -> None:
    with writing(engine) as session:
        lift(session, pick(the_phase_task(session)), actor=None, now=NOW)


def claimed(engine: Engine, host: str = "here") -> int | None:
    with writing(engine) as session:
        found = claim_next_upload(session, needs_gpu=False, worker="w", lease_seconds=60, now=NOW + MINUTE, host=host)
        return found.run_id if found else None


def announced(engine: Engine) -> list[int]:
    with writing(engine) as session:
        found = [run_id for run_id, _ in requeue_lost_runs(session, attempts=3, now=NOW + MINUTE)]
        mark_sent(session, found, NOW + MINUTE)
        return found


@pytest.mark.parametrize("what", TARGETS)
def test_what_is_held_is_neither_claimed_nor_announced_until_it_is_lifted(
    engine: Engine, people: list[User], what: str
) -> None:
    run = submit(engine, people[0]).run_id
    assert run in announced(engine)
    pause(engine, TARGETS[what])
    assert claimed(engine) is None
    with reading(engine) as session:
        assert next_turn(session, needs_gpu=False, now=NOW + MINUTE, host="here") is None
    assert (run in announced(engine)) is (what == "machine")  # others may take it
    resume(engine, TARGETS[what])
    assert run in announced(engine)
    assert claimed(engine) == run


def test_another_machine_takes_what_a_drained_one_leaves(engine: Engine, people: list[User]) -> None:
    run = submit(engine, people[0]).run_id
    pause(engine, TARGETS["machine"])
    with reading(engine) as session:
        assert is_drained(session, "here")
        assert not is_drained(session, "there")
    assert claimed(engine, "there") == run


def test_a_hold_next_door_or_of_the_other_task_holds_nothing_here(engine: Engine, people: list[User]) -> None:
    add_other_task(engine)
    mine, other = submit(engine, people[0]).run_id, submit_other(engine, people[1]).run_id
    with writing(engine) as session:
        beside = find_phase_task(session, COMPETITION, PHASE, OTHER_TASK)
        for target in (Target(find_competition(session, NEIGHBOURS)), Target(beside.phase.competition, beside.task)):
            hold(session, target, "Elsewhere.", actor=None, now=NOW)
    assert announced(engine) == [mine]
    assert (claimed(engine), claimed(engine)) == (mine, None)
    with reading(engine) as session:
        held = hold_of_run(session, session.get_one(ScoringRun, other))
        assert held is not None
        assert hold_of_run(session, session.get_one(ScoringRun, mine)) is None


def test_of_several_holds_the_narrowest_is_named(engine: Engine, people: list[User]) -> None:
    run_id = submit(engine, people[0]).run_id
    for what in ("server", "competition", "task"):
        pause(engine, TARGETS[what], f"Held: {what}.")
        with reading(engine) as session:
            asked = the_phase_task(session)
            by_task = hold_of(session, asked, asked.phase.competition_id)
            by_run = hold_of_run(session, session.get_one(ScoringRun, run_id))
            assert [one and one.reason for one in (by_task, by_run)] == [f"Held: {what}."] * 2


def test_a_claimed_run_goes_on(engine: Engine, people: list[User]) -> None:
    run = submit(engine, people[0]).run_id
    assert claimed(engine) == run
    pause(engine, TARGETS["server"])
    with reading(engine) as session:
        assert session.get_one(ScoringRun, run).status == "running"


def test_those_who_wait_are_told(engine: Engine, people: list[User]) -> None:
    run_id = submit(engine, people[0]).run_id
    pause(engine, TARGETS["task"])
    with reading(engine) as session:
        phase_task = session.scalars(select(PhaseTask).where(PhaseTask.id == _id(engine))).one()  # without its phase
        run = session.get_one(ScoringRun, run_id)
        waiting = waiting_for_worker(session, run, "idiom-detection", NOW + timedelta(hours=1))
        notice = waiting_notice(session, phase_task, "idiom-detection", NOW)
        assert waiting is not None
        assert waiting.words.endswith("waiting for scoring to be resumed since 10 Jan 2026, 12:00 UTC.")
        assert waiting.reasons == ("Paused: The gold is wrong.",)
        assert notice == "Scoring is paused since 10 Jan 2026, 12:00 UTC; nothing is lost."


def test_each_target_is_held_once_and_each_deed_is_recorded(engine: Engine, people: list[User]) -> None:
    for _ in range(2):
        pause(engine, TARGETS["server"])
        pause(engine, TARGETS["machine"])
    with reading(engine) as session:
        assert [one.target for one in list_holds(session)] == ["server", "workers here"]
    resume(engine, TARGETS["server"])
    with pytest.raises(NotFound):
        resume(engine, TARGETS["server"])
    with pytest.raises(InvalidForm):
        pause(engine, TARGETS["server"], " ")
    with reading(engine) as session:
        deeds = session.scalars(select(AuditEntry.action).order_by(AuditEntry.id)).all()
        assert deeds[-3:] == ["scoring.pause", "worker.drain", "scoring.resume"]


def _id(engine: Engine) -> int:
    with reading(engine) as session:
        return the_phase_task(session).id
