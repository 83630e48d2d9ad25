"""Runs whose statistics are due: the current ones of one task, each with the team's own runs before it."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import Engine, select, update

from app.base.db import reading, writing
from app.boards.run_statistics import DueRun, StatisticsOfRun, due_runs, record_run_statistics, run_statistics_of
from app.models import ScoringRun, SealedFile, SealedKind, Submission, User
from tests.beside import add_old_run, add_other_task, enter_other
from tests.competitions.embargo import enter
from tests.world import NOW, the_phase_task


@pytest.fixture
def runs(sqlite_engine: Engine, people: list[User]) -> dict[str, int]:
    """Ada's three runs with one of Bob's between, of which each has replaced another; hers for the other task. All
    have outcomes, and were scored by version 1."""
    add_other_task(sqlite_engine)
    ada, bob = people[:2]
    sent = {
        "first": enter(sqlite_engine, ada, 0.5),
        "bob": enter(sqlite_engine, bob, 0.6, minute=1),
        "second": enter(sqlite_engine, ada, 0.7, minute=2),
        "third": enter(sqlite_engine, ada, 0.8, minute=3),
        "other": enter_other(sqlite_engine, ada, 0.9),
    }
    for one in sent.values():
        add_old_run(sqlite_engine, one, 0.1)
    with writing(sqlite_engine) as session:
        outcomes = SealedFile(kind=SealedKind.OUTCOMES, sha256="9" * 64, size_bytes=1, sealed_at=NOW)
        session.add(outcomes)
        session.flush()
        theirs = ScoringRun.submission_id.in_(sent.values())
        session.execute(update(ScoringRun).where(theirs).values(outcomes_id=outcomes.id, task_version=1))
    with reading(sqlite_engine) as session:
        current = select(ScoringRun.submission_id, ScoringRun.id).where(ScoringRun.is_current)
        ids = {submission_id: run_id for submission_id, run_id in session.execute(current)}
    return {name: ids[submission_id] for name, submission_id in sent.items()}


def due(engine: Engine) -> list[DueRun]:
    with reading(engine) as session:
        return due_runs(session, the_phase_task(session).id, 1, lambda gold: f"key of {gold}")


def change(engine: Engine, run_id: int, **values: Any) -> None:
    with writing(engine) as session:
        session.execute(update(ScoringRun).where(ScoringRun.id == run_id).values(**values))


def before(found: list[DueRun]) -> dict[int, tuple[int, ...]]:
    return {one.run_id: one.before for one in found}


def test_each_current_run_is_compared_with_those_of_its_team_before_it(
    sqlite_engine: Engine, runs: dict[str, int]
) -> None:
    found = due(sqlite_engine)
    assert [one.run_id for one in found] == [runs[name] for name in ("third", "second", "bob", "first")]
    assert before(found) == {
        runs["third"]: (runs["second"], runs["first"]),
        runs["second"]: (runs["first"],),
        runs["bob"]: (),
        runs["first"]: (),
    }
    assert {(one.gold, one.key) for one in found} == {("gold.csv", "key of gold.csv")}


def test_what_is_known_is_due_no_more_until_its_key_or_the_runs_before_change(
    sqlite_engine: Engine, runs: dict[str, int]
) -> None:
    with writing(sqlite_engine) as session:
        known = {one.run_id: StatisticsOfRun(one.key, one.before) for one in due(sqlite_engine)}
        known[runs["bob"]] = StatisticsOfRun("an older key")
        known[runs["third"]] = StatisticsOfRun("key of gold.csv", (runs["second"],))
        record_run_statistics(session, known)
    assert [one.run_id for one in due(sqlite_engine)] == [runs["third"], runs["bob"]]
    with reading(sqlite_engine) as session:
        assert run_statistics_of(session, [runs["bob"], runs["other"]]) == {
            runs["bob"]: StatisticsOfRun("an older key")
        }
    with writing(sqlite_engine) as session:
        record_run_statistics(session, {runs["bob"]: StatisticsOfRun("key of gold.csv")})
    assert [one.run_id for one in due(sqlite_engine)] == [runs["third"]]


def test_runs_without_outcomes_of_another_version_or_gold_and_withdrawn_ones_are_left_out(
    sqlite_engine: Engine, runs: dict[str, int]
) -> None:
    change(sqlite_engine, runs["first"], outcomes_id=None)
    change(sqlite_engine, runs["bob"], task_version=2)
    change(sqlite_engine, runs["second"], gold="older.csv")
    assert before(due(sqlite_engine)) == {runs["third"]: (), runs["second"]: ()}, "no two rest on the same gold"
    with writing(sqlite_engine) as session:
        withdrawn = session.get_one(ScoringRun, runs["third"]).submission_id
        session.execute(update(Submission).where(Submission.id == withdrawn).values(withdrawn_at=NOW))
    assert before(due(sqlite_engine)) == {runs["second"]: ()}
