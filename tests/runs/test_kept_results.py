"""Stored results of a run: each run's own, of its own task, and only for published sets those from before."""

from __future__ import annotations

import pytest
from sqlalchemy import Engine, select

from app.base.db import reading, writing
from app.models import PhaseTask, RunStatus, ScoringRun, User
from app.runs.outcomes import RunResult, record_scores
from app.runs.private_scores import private_scores
from app.runs.report import aggregates_of, forget_results, packed_results, results_of
from app.runs.rescored import rescorings_of
from evergold.scoring.task import ItemResult
from tests.beside import add_other_task, other_task_id, submit_other
from tests.rescoring.rescored import publish, runs_of, score_set, start
from tests.world import (
    HOUR,
    NOW,
    ONE_SHOT,
    PHASE,
    TASK,
    ZERO_SHOT,
    claim,
    finish,
    reject,
    score,
    scores_of,
    submit,
    sure,
    the_phase_task,
)


@pytest.fixture
def engine(sqlite_engine: Engine) -> Engine:
    return sqlite_engine


def item(name: str) -> ItemResult:
    return ItemResult(name, (ZERO_SHOT,), "1", "0", is_right=False)


def test_each_published_set_says_what_was_before_and_after_the_latest_first(engine: Engine, people: list[User]) -> None:
    """Check that an open set has no history yet, and that Bob's submission has its own."""
    ada, bob = people[:2]
    of_ada, of_bob = submit(engine, ada), submit(engine, bob)
    score(engine, of_ada.run_id, 0.5, 0.25)
    score(engine, of_bob.run_id, 0.9)
    for hours, value in ((1, 0.6), (2, 0.7)):
        number = start(engine, f"{PHASE}/{TASK}", note=f"After {hours}.", now=NOW + hours * HOUR, with_rejected=True)
        runs = runs_of(engine, number)
        score(engine, runs[of_ada.submission.id], value, 0.25)
        if hours == 1:
            reject(engine, runs[of_bob.submission.id])
        else:
            score(engine, runs[of_bob.submission.id], 0.8)
        publish(engine, number, NOW + hours * HOUR)
    score_set(engine, start(engine, f"{PHASE}/{TASK}"), {of_ada.submission.id: 0.1})
    with reading(engine) as session:
        found = rescorings_of(session, [of_ada.submission.id, of_bob.submission.id])
    told = {
        name: [
            (one.at, one.note, one.before, one.after, [(old.value, new.value) for old, new in one.changes])
            for one in found[accepted.submission.id]
        ]
        for name, accepted in (("ada", of_ada), ("bob", of_bob))
    }
    scored, rejected = RunStatus.SCORED, RunStatus.REJECTED
    assert told == {
        "ada": [
            (NOW + 2 * HOUR, "After 2.", scored, scored, [(0.6, 0.7), (0.3, 0.35)]),
            (NOW + HOUR, "After 1.", scored, scored, [(0.5, 0.6), (0.25, 0.3)]),
        ],
        "bob": [
            (NOW + 2 * HOUR, "After 2.", rejected, scored, []),
            (NOW + HOUR, "After 1.", scored, rejected, []),
        ],
    }


def test_private_scores_are_each_runs_own_and_of_columns_alone(engine: Engine, people: list[User]) -> None:
    runs = {}
    for user, value in zip(people[:3], (0.5, 0.75, None), strict=True):
        runs[user.username] = run_id = submit(engine, user).run_id
        private = [*scores_of(ZERO_SHOT, value), *scores_of("zero_shot/en", 0.1)] if value else []
        held = sure(claim(engine, run_id))
        with writing(engine) as session:
            assert record_scores(
                session,
                held,
                RunResult(
                    scores=scores_of(ZERO_SHOT, 0.9),
                    columns=frozenset({("macro_f1", ZERO_SHOT), ("macro_f1", ONE_SHOT)}),
                    task_version=1,
                    private_scores=private,
                ),
                now=NOW,
            )
    with reading(engine) as session:
        found = [
            (run_id, one.metric, one.split, one.value) for run_id, one in private_scores(session, [*runs.values()])
        ]
        assert found == [
            (runs["ada"], "macro_f1", ZERO_SHOT, 0.5),
            (runs["bob"], "macro_f1", ZERO_SHOT, 0.75),
        ]
        assert [run_id for run_id, _ in private_scores(session, [runs["bob"]])] == [runs["bob"]]


def test_results_of_items_are_forgotten_with_the_gold_of_their_own_task(engine: Engine, people: list[User]) -> None:
    add_other_task(engine, gold_is_public=True)
    with writing(engine) as session:
        the_phase_task(session).gold_is_public = True
    other = other_task_id(engine)
    runs = {"mine": submit(engine, people[0]).run_id, "other": submit_other(engine, people[0]).run_id}
    for name, run_id in runs.items():
        finish(engine, sure(claim(engine, run_id)), scores_of(ZERO_SHOT, 0.5), items=[item(name)])

    def shown() -> dict[str, list[str] | None]:
        with reading(engine) as session:
            found = {name: results_of(session, run_id) for name, run_id in runs.items()}
        return {name: None if one is None else [result.item for result in one] for name, one in found.items()}

    assert shown() == {"mine": ["mine"], "other": ["other"]}
    with writing(engine) as session:
        session.get_one(PhaseTask, other).gold_is_public = False
    assert shown() == {"mine": ["mine"], "other": None}, "stored, and not shown"
    with writing(engine) as session:
        assert forget_results(session, other) == 1
        assert forget_results(session, other) == 0
    with writing(engine) as session:
        session.get_one(PhaseTask, other).gold_is_public = True
    assert shown() == {"mine": ["mine"], "other": None}


def kept(engine: Engine, run_id: int) -> bytes | None:
    with reading(engine) as session:
        return session.scalar(select(ScoringRun.item_results).where(ScoringRun.id == run_id))


def test_results_of_items_are_kept_of_public_gold_alone(engine: Engine, people: list[User]) -> None:
    """Check a run of a set, too, which changes no board."""
    with writing(engine) as session:
        the_phase_task(session).gold_is_public = True
    sent = submit(engine, people[0])
    score(engine, sent.run_id, 0.5)
    of_set = runs_of(engine, start(engine, f"{PHASE}/{TASK}"))[sent.submission.id]
    finish(engine, sure(claim(engine, of_set)), scores_of(ZERO_SHOT, 0.5), items=[item("public")])
    assert kept(engine, of_set) == packed_results([item("public")])
    with writing(engine) as session:
        the_phase_task(session).gold_is_public = False
    hidden = submit(engine, people[1]).run_id
    finish(engine, sure(claim(engine, hidden)), scores_of(ZERO_SHOT, 0.5), items=[item("hidden")])
    assert kept(engine, hidden) is None


def test_gold_that_is_hidden_while_a_run_is_scored_leaves_nothing_of_its_items(
    engine: Engine, people: list[User]
) -> None:
    with writing(engine) as session:
        the_phase_task(session).gold_is_public = True
    held = sure(claim(engine, submit(engine, people[0]).run_id))
    assert held.gold_is_public
    with writing(engine) as session:
        the_phase_task(session).gold_is_public = False
    finish(engine, held, scores_of(ZERO_SHOT, 0.5), items=[item("hidden since")])
    assert kept(engine, held.run_id) is None


def test_aggregates_are_each_runs_own_with_as_many_digits_as_are_shown(engine: Engine, people: list[User]) -> None:
    runs = [submit(engine, user).run_id for user in people[:3]]
    for run_id, mean in zip(runs[:2], (0.123456, 0.654321), strict=True):
        with writing(engine) as session:
            assert record_scores(
                session,
                sure(claim(engine, run_id)),
                RunResult(
                    scores=scores_of(ZERO_SHOT, 0.5), columns=frozenset(), task_version=1, aggregates={"mean": mean}
                ),
                now=NOW,
            )
    with reading(engine) as session:
        assert aggregates_of(session, runs) == {runs[0]: {"mean": 0.123456}, runs[1]: {"mean": 0.654321}}
        assert aggregates_of(session, runs[1:], 2) == {runs[1]: {"mean": 0.65}}
