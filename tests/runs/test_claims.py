"""A run's life: one claim, one set of scores, nothing from who lost the claim. The sweep: test_runs_sweep."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from sqlalchemy import Engine, func, select, update
from sqlalchemy.exc import SQLAlchemyError

from app.base.db import reading, writing
from app.models import TERMINAL, CompetitionTask, PhaseTask, RunStatus, ScoreRow
from app.runs.claims import Claim, renew_lease
from app.runs.outcomes import RunResult, record_failure, record_rejection, record_scores
from app.runs.report import read_report, scores_of_report
from app.submissions.accept import Accepted
from evergold.scoring.errors import Problem
from evergold.scoring.task import Score
from tests.rich_world import fresh
from tests.runs.queued import sweep
from tests.threads import in_threads
from tests.world import (
    NOW,
    ONE_SHOT,
    SECOND,
    ZERO_SHOT,
    add_competition,
    add_user,
    board_version_number,
    claim,
    fail,
    finish,
    reject,
    score,
    scores_of,
    submit,
    sure,
    the_run,
)

pytestmark = pytest.mark.both

LEASE = timedelta(seconds=60)


def renew(engine: Engine, held: Claim, now: datetime) -> bool:
    with writing(engine) as session:
        return renew_lease(session, held, lease_seconds=60, now=now)


def score_rows(engine: Engine, run_id: int) -> int:
    with reading(engine) as session:
        return session.scalars(select(func.count()).where(ScoreRow.run_id == run_id)).one()


# ------------------------------------------------------------------------------------------------------------ claims


def test_a_claim_brings_all_that_scoring_needs(engine: Engine, accepted: Accepted) -> None:
    held = sure(claim(engine, accepted.run_id))
    assert (held.run_id, held.attempt) == (accepted.run_id, 1)
    assert (held.submission_id, held.sha256) == (accepted.submission.id, accepted.submission.sha256)
    assert (held.task_type, held.options) == ("idiom-detection", {"languages": ["EN", "PT"]})
    assert (held.gold, held.items_sha256) == ("gold.csv", None)
    run = the_run(engine, accepted.run_id)
    assert (run.status, run.worker, run.attempts) == (RunStatus.RUNNING, "worker:1", 1)
    assert (run.started_at, run.lease_expires_at) == (NOW, NOW + LEASE)


def test_a_phase_may_set_some_options_otherwise_than_its_task(engine: Engine, accepted: Accepted) -> None:
    with writing(engine) as session:
        session.execute(update(PhaseTask).values(options={"languages": ["GL"]}))
        session.execute(update(CompetitionTask).values(options={"languages": ["EN"], "labels": ["0", "1", "2"]}))
    assert sure(claim(engine, accepted.run_id)).options == {"languages": ["GL"], "labels": ["0", "1", "2"]}


def test_a_run_is_claimed_once(engine: Engine, accepted: Accepted) -> None:
    assert claim(engine, accepted.run_id) is not None
    assert claim(engine, accepted.run_id) is None


def test_an_unknown_run_cannot_be_claimed(engine: Engine) -> None:
    """A message from a broker that outlived its database."""
    assert claim(engine, 4711) is None


def test_ten_threads_claim_one_run_and_one_gets_it(engine: Engine, accepted: Accepted) -> None:
    claims = in_threads(10, lambda _: claim(engine, accepted.run_id))
    assert sum(held is not None for held in claims) == 1
    assert the_run(engine, accepted.run_id).attempts == 1


def test_ten_threads_share_ten_runs_without_a_double(engine: Engine) -> None:
    add_competition(engine)
    ada = add_user(engine, "ada")
    runs = [submit(engine, ada, content=str(n)).run_id for n in range(10)]
    # Each thread begins elsewhere and tries them all.
    held = in_threads(10, lambda n: [run for run in runs[n:] + runs[:n] if claim(engine, run)])
    assert sorted(run for theirs in held for run in theirs) == runs


@pytest.mark.parametrize("end", [score, reject, fail])
def test_a_finished_run_stays_finished(engine: Engine, accepted: Accepted, end: object) -> None:
    if end is score:
        score(engine, accepted.run_id, 0.5)
    elif end is reject:
        reject(engine, accepted.run_id)
    else:
        fail(engine, accepted.run_id)
    before = the_run(engine, accepted.run_id)
    assert before.status in TERMINAL
    assert claim(engine, accepted.run_id) is None
    assert sweep(engine, NOW + timedelta(days=365)) == []
    after = the_run(engine, accepted.run_id)
    assert (after.status, after.finished_at, after.claim_token) == (before.status, NOW, None)


# -------------------------------------------------------------------------------------------------------------- leases


def test_a_renewed_lease_keeps_the_run(engine: Engine, accepted: Accepted) -> None:
    held = sure(claim(engine, accepted.run_id))
    for minutes in (1, 2, 3):
        now = NOW + timedelta(minutes=minutes) - SECOND
        assert renew(engine, held, now)
        assert sweep(engine, now + SECOND) == []
    assert the_run(engine, accepted.run_id).status == RunStatus.RUNNING


def test_a_lease_ends_at_its_moment_not_before(engine: Engine, accepted: Accepted) -> None:
    claim(engine, accepted.run_id)
    assert sweep(engine, NOW + LEASE - SECOND) == []
    assert the_run(engine, accepted.run_id).status == RunStatus.RUNNING
    assert sweep(engine, NOW + LEASE) == [accepted.run_id]
    run = the_run(engine, accepted.run_id)
    assert (run.status, run.claim_token, run.lease_expires_at, run.attempts) == (RunStatus.QUEUED, None, None, 1)


def test_a_lost_lease_cannot_be_renewed(engine: Engine, accepted: Accepted) -> None:
    late = sure(claim(engine, accepted.run_id))
    sweep(engine, NOW + LEASE)
    assert not renew(engine, late, NOW + LEASE)
    second = sure(claim(engine, accepted.run_id, NOW + LEASE))
    assert not renew(engine, late, NOW + LEASE)
    assert renew(engine, second, NOW + LEASE)


# ------------------------------------------------------------------------------------------------------------- outcomes


def test_scores_status_and_board_version_come_together(engine: Engine, accepted: Accepted) -> None:
    held = sure(claim(engine, accepted.run_id))
    warning = Problem("extra-column", "the column Comment is not used", line=1, severity="warning")
    given = [*scores_of(ZERO_SHOT, 0.75), *scores_of(ONE_SHOT, None), *scores_of("zero_shot/en", 0.5)]
    with writing(engine) as session:
        assert record_scores(
            session,
            held,
            RunResult(
                scores=given,
                columns=frozenset({("macro_f1", ZERO_SHOT), ("macro_f1", ONE_SHOT)}),
                task_version=7,
                warnings=[warning],
                aggregates={"confusion": [[1, 0], [0, 1]]},
            ),
            now=NOW + SECOND,
        )
    run = the_run(engine, accepted.run_id)
    assert (run.status, run.finished_at, run.task_version) == (RunStatus.SCORED, NOW + SECOND, 7)
    assert (run.claim_token, run.lease_expires_at) == (None, None)
    assert run.problems == [
        {
            "code": "extra-column",
            "message": "the column Comment is not used",
            "file": None,
            "line": 1,
            "column": None,
            "text": None,
            "lines": 1,
            "severity": "warning",
            "sentence": "line 1: the column Comment is not used",
        }
    ]
    with reading(engine) as session:
        rows = session.scalars(fresh(ScoreRow).order_by(ScoreRow.id)).all()
    assert [(row.metric, row.split, row.value, row.reason) for row in rows] == [
        ("macro_f1", ZERO_SHOT, 0.75, None),
        ("macro_f1", ONE_SHOT, None, "not entered"),
    ], "only the columns that boards may show become rows"
    assert run.report is not None
    assert scores_of_report(run.report) == given, "the report holds them all"
    assert read_report(run.report)["aggregates"] == {"confusion": [[1, 0], [0, 1]]}
    assert board_version_number(engine) == 1


def test_a_score_keeps_every_bit(engine: Engine, accepted: Accepted) -> None:
    value = 0.1 + 0.2  # 0.30000000000000004
    score(engine, accepted.run_id, value)
    with reading(engine) as session:
        row = session.scalars(fresh(ScoreRow).where(ScoreRow.metric == "macro_f1", ScoreRow.split == ZERO_SHOT)).one()
    assert row.value == value


def test_a_rejection_keeps_the_problems_and_moves_no_board(engine: Engine, accepted: Accepted) -> None:
    reject(engine, accepted.run_id)
    run = the_run(engine, accepted.run_id)
    assert (run.status, run.problems_omitted, run.failure) == (RunStatus.REJECTED, 2, None)
    assert [problem["sentence"] for problem in run.problems] == ["line 14: id 203 appears twice, first on line 9"]
    assert board_version_number(engine) == 0
    assert score_rows(engine, accepted.run_id) == 0


def test_a_failure_goes_back_to_the_queue_until_the_last_attempt(engine: Engine, accepted: Accepted) -> None:
    for attempt in (1, 2):
        fail(engine, accepted.run_id, attempts=3)
        run = the_run(engine, accepted.run_id)
        assert (run.status, run.attempts, run.failure) == (RunStatus.QUEUED, attempt, "Broken")
        assert (run.claim_token, run.finished_at, run.sent_at) == (None, None, None)
    fail(engine, accepted.run_id, attempts=3)
    run = the_run(engine, accepted.run_id)
    assert (run.status, run.attempts, run.finished_at) == (RunStatus.FAILED, 3, NOW)
    assert board_version_number(engine) == 0


def test_what_is_recorded_twice_is_recorded_once(engine: Engine, accepted: Accepted) -> None:
    """Crash between record and acknowledge: the message comes again, or the worker tries again."""
    held = sure(claim(engine, accepted.run_id))
    assert finish(engine, held, scores_of(ZERO_SHOT, 0.5))
    assert not finish(engine, held, scores_of(ZERO_SHOT, 0.9))
    assert claim(engine, accepted.run_id) is None
    assert score_rows(engine, accepted.run_id) == 2
    assert board_version_number(engine) == 1


def test_ten_threads_that_hold_one_claim_record_it_once(engine: Engine, accepted: Accepted) -> None:
    held = sure(claim(engine, accepted.run_id))
    recorded = in_threads(10, lambda n: finish(engine, held, scores_of(ZERO_SHOT, n / 10)))
    assert sorted(recorded) == 9 * [False] + [True]
    assert score_rows(engine, accepted.run_id) == 2
    assert board_version_number(engine) == 1


def test_a_late_worker_is_not_heard(engine: Engine, accepted: Accepted) -> None:
    late = sure(claim(engine, accepted.run_id))
    sweep(engine, NOW + LEASE)
    problem = Problem("bad-value", "2 is not a label")
    with writing(engine) as session:
        assert not record_rejection(session, late, problems=[problem], omitted=0, now=NOW)
        assert not record_failure(session, late, error="late", attempts=3, now=NOW)
    assert not finish(engine, late, scores_of(ZERO_SHOT, 0.9)), "swept, and not yet claimed again"
    second = sure(claim(engine, accepted.run_id, NOW + LEASE))
    assert not finish(engine, late, scores_of(ZERO_SHOT, 0.9)), "claimed by another"
    assert finish(engine, second, scores_of(ZERO_SHOT, 0.5))
    assert not finish(engine, late, scores_of(ZERO_SHOT, 0.9)), "scored by another"
    with reading(engine) as session:
        assert [row.value for row in session.scalars(fresh(ScoreRow).where(ScoreRow.metric == "macro_f1"))] == [0.5]
    assert (the_run(engine, accepted.run_id).failure, board_version_number(engine)) == (None, 1)


def test_sweep_and_late_record_at_the_same_moment_have_one_winner(engine: Engine, accepted: Accepted) -> None:
    held = sure(claim(engine, accepted.run_id))

    def race(number: int) -> object:
        return finish(engine, held, scores_of(ZERO_SHOT, 0.5)) if number else sweep(engine, NOW + LEASE)

    swept, recorded = in_threads(2, race)
    assert recorded == (swept == [])
    assert the_run(engine, accepted.run_id).status == (RunStatus.SCORED if recorded else RunStatus.QUEUED)
    assert score_rows(engine, accepted.run_id) == (2 if recorded else 0)


def test_a_record_that_breaks_half_way_changes_nothing(engine: Engine, accepted: Accepted) -> None:
    held = sure(claim(engine, accepted.run_id))
    twice = [*scores_of(ZERO_SHOT, 0.5), *scores_of(ZERO_SHOT, 0.5)]  # two rows of one name: the table refuses
    with pytest.raises(SQLAlchemyError):
        finish(engine, held, twice)
    run = the_run(engine, accepted.run_id)
    assert (run.status, run.report, run.finished_at) == (RunStatus.RUNNING, None, None)
    assert (score_rows(engine, accepted.run_id), board_version_number(engine)) == (0, 0)
    assert finish(engine, held, scores_of(ZERO_SHOT, 0.5)), "the claim is still good"


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_a_report_never_holds_what_is_not_a_number(engine: Engine, accepted: Accepted, value: float) -> None:
    held = sure(claim(engine, accepted.run_id))
    with pytest.raises(ValueError, match="JSON"), writing(engine) as session:
        record_scores(
            session,
            held,
            RunResult(
                scores=[],
                columns=frozenset(),
                task_version=1,
                aggregates={"mean": value},
            ),
            now=NOW,
        )
    with pytest.raises(ValueError, match="finite"):
        Score("macro_f1", ZERO_SHOT, value, None, "s")
