"""Races at the moment of publishing: the result is exactly that of one of the possible orders."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from sqlalchemy import Engine, func, select
from sqlalchemy.orm import Session

from app.base.config import get_settings
from app.base.db import reading
from app.base.errors import EvergoldError
from app.competitions.find import find_competition
from app.models import Rescoring, RescoringState, RunStatus, ScoringRun, User
from app.people.act import Act
from app.rescoring.publishing import publish_rescoring
from app.rescoring.sets import list_rescorings
from app.runs.claims import Claim
from tests.competitions.embargo import MINUTE, enter, freeze, look, rows
from tests.rescoring.rescored import current_of, drop, look_after, progress, publish, runs_of, score_set, start, the_set
from tests.runs.queued import sweep
from tests.sealed import make_key, seal_gold, version_of
from tests.threads import in_threads
from tests.world import (
    COMPETITION,
    NOW,
    SECOND,
    add_competition,
    add_user,
    answer_to,
    claim,
    finish,
    scores_of,
    submissions_here,
    submit,
    sure,
    the_run,
)

pytestmark = pytest.mark.both

OLD, NEW = "zero_shot/all", 0.7


@pytest.fixture
def ada(engine: Engine) -> User:
    add_competition(engine, per_day=None)
    make_key(engine)
    seal_gold(engine, b"gold")
    return add_user(engine, "ada")


def ready(engine: Engine, ada: User) -> tuple[int, Any]:
    """A set that can be published, with one submission."""
    submission = enter(engine, ada, 0.4)
    seal_gold(engine, b"better gold")
    number = start(engine)
    score_set(engine, number, {submission: NEW})
    return number, submission


def current_runs(engine: Engine) -> dict[Any, int]:
    """Return how many current runs each submission has."""
    with reading(engine) as session:
        mine = ScoringRun.submission_id.in_(submissions_here())
        counted = select(ScoringRun.submission_id, func.count()).where(ScoringRun.is_current, mine)
        return {one: number for one, number in session.execute(counted.group_by(ScoringRun.submission_id))}


def answers(calls: list[Callable[[], object]]) -> list[str]:
    return in_threads(len(calls), lambda number: answer_to(calls[number]))


def test_of_publishes_at_once_one_is_done(engine: Engine, ada: User) -> None:
    number, submission = ready(engine, ada)
    told = answers([lambda: publish(engine, number)] * 5)
    assert sorted(told) == ["accepted", *["rescoring_ended"] * 4]
    assert current_runs(engine) == {submission: 1}
    assert current_of(engine, submission).rescoring_id == number


def test_published_or_dropped_but_not_both(engine: Engine, ada: User) -> None:
    number, submission = ready(engine, ada)
    told = answers([lambda: publish(engine, number), lambda: drop(engine, number)] * 2)
    assert sorted(told) == ["accepted", *["rescoring_ended"] * 3]
    is_published = the_set(engine, number).state == RescoringState.PUBLISHED
    assert (current_of(engine, submission).rescoring_id == number) == is_published


def test_of_sets_started_at_once_one_is_made(engine: Engine, ada: User) -> None:
    enter(engine, ada, 0.4)
    told = answers([lambda: start(engine)] * 5)
    assert sorted(told) == ["accepted", *["rescoring_open"] * 4]
    with reading(engine) as session:
        assert len(list_rescorings(session, find_competition(session, COMPETITION))) == 1


def test_an_upload_at_the_moment_of_publishing_is_scored_against_the_new_gold(engine: Engine, ada: User) -> None:
    number, _ = ready(engine, ada)
    users = [add_user(engine, name) for name in ("bob", "cat", "dan")]
    uploads = [lambda user=user: submit(engine, user, content=user.username) for user in users]
    assert answers([*uploads, lambda: publish(engine, number)]) == 4 * ["accepted"]
    with reading(engine) as session:
        waiting = session.scalars(
            select(ScoringRun.id).where(ScoringRun.status == RunStatus.QUEUED, ScoringRun.is_current)
        ).all()
    assert len(waiting) == 3
    for run_id in waiting:
        sure(claim(engine, run_id))
        assert version_of(engine, run_id) == 2


def finish_into(done: list[bool], engine: Engine, held: Claim) -> None:
    """Record scores; return whether they counted."""
    done.append(finish(engine, held, scores_of(OLD, 0.9)))


def test_a_worker_that_ends_at_the_moment_of_publishing_loses_nothing(engine: Engine, ada: User) -> None:
    """Either its scores come first, and the set has to wait for them; or they come late, and it is scored again."""
    for round_ in range(4):
        number, _ = ready(engine, ada)
        run_id = submit(engine, ada, content=f"late {round_}").run_id
        held = sure(claim(engine, run_id))
        done: list[bool] = []
        told = answers(
            [
                partial(finish_into, done, engine, held),
                partial(publish, engine, number),
            ]
        )
        run = the_run(engine, run_id)
        if told[1] == "accepted":
            assert (done, run.status, run.gold_version_id) == ([False], RunStatus.QUEUED, None)
            finish(engine, sure(claim(engine, run_id)), scores_of(OLD, 0.9))
        else:
            assert (told[1], done, run.status) == ("rescoring_not_ready", [True], RunStatus.SCORED)
            drop(engine, number)


def test_a_claim_at_the_moment_of_publishing_is_of_the_new_gold_or_void(engine: Engine, ada: User) -> None:
    number, _ = ready(engine, ada)
    run_ids = [submit(engine, ada, content=str(n)).run_id for n in range(4)]
    held: dict[int, Any] = {}
    claims = [lambda run_id=run_id: held.update({run_id: claim(engine, run_id)}) for run_id in run_ids]
    assert answers([*claims, lambda: publish(engine, number)]) == 5 * ["accepted"]
    for run_id in run_ids:
        is_recorded = finish(engine, sure(held[run_id]), scores_of(OLD, 0.9))
        assert not is_recorded or version_of(engine, run_id) == 2


def test_a_worker_of_the_set_and_its_drop(engine: Engine, ada: User) -> None:
    submission = enter(engine, ada, 0.4)
    number = start(engine)
    held = sure(claim(engine, runs_of(engine, number)[submission]))
    done: list[bool] = []
    told = answers([lambda: done.append(finish(engine, held, scores_of(OLD, 0.9))), lambda: drop(engine, number)])
    assert told == ["accepted", "accepted"]
    assert (submission in runs_of(engine, number)) == done[0]
    assert rows(look(engine)) == [(1, "Ada", 0.4)]


def test_sweeps_at_once_add_what_is_missing_once(engine: Engine, ada: User) -> None:
    number, _ = ready(engine, ada)
    enter(engine, ada, 0.5, minute=1)
    in_threads(4, lambda _: look_after(engine))
    found = progress(engine, number)
    assert (found.of, found.waiting, len(runs_of(engine, number))) == (2, 1, 2)


def test_freezing_and_publishing_at_once_leave_both_boards(engine: Engine, ada: User) -> None:
    number, _ = ready(engine, ada)
    told = answers([lambda: freeze(engine, NOW + 99 * MINUTE), lambda: publish(engine, number)])
    assert told == ["accepted", "accepted"]


def test_a_process_that_is_killed_while_it_publishes_leaves_a_set_that_can_be_published(
    engine: Engine, ada: User
) -> None:
    """Check that nothing is half done: everything is in the database, and a killed process is a
    transaction that ends.
    """
    number, submission = ready(engine, ada)
    before = look(engine)
    with Session(engine, expire_on_commit=False) as session:  # never commits
        competition = find_competition(session, COMPETITION)
        publish_rescoring(Act(session, None, NOW, get_settings()), competition, number)
        assert session.get_one(Rescoring, number).state == RescoringState.PUBLISHED
    assert look(engine) == before
    assert the_set(engine, number).state == RescoringState.OPEN
    publish(engine, number)
    assert rows(look(engine)) == [(1, "Ada", NEW)]
    assert current_of(engine, submission).rescoring_id == number


def test_a_worker_that_is_killed_costs_an_attempt_and_not_the_set(engine: Engine, ada: User) -> None:
    submission = enter(engine, ada, 0.4)
    number = start(engine)
    run_id = runs_of(engine, number)[submission]
    for attempt in (1, 2):
        assert sure(claim(engine, run_id, lease_seconds=1)).attempt == attempt
        assert sweep(engine, NOW + SECOND) == [], "what is announced is not for this part of the sweep"
        assert the_run(engine, run_id).status == RunStatus.QUEUED
    claim(engine, run_id, lease_seconds=1)
    sweep(engine, NOW + SECOND)
    assert (the_run(engine, run_id).status, progress(engine, number).failed) == (RunStatus.FAILED, 1)


def test_errors_of_a_race_are_ours_to_tell(engine: Engine, ada: User) -> None:
    """Check that no deadlock and no broken constraint reaches anybody: all of it at once, several times."""
    for round_ in range(3):
        number, submission = ready(engine, ada)
        others = [add_user(engine, f"user{round_}{n}") for n in range(2)]
        runs = [submit(engine, ada, content=f"{round_} {n}").run_id for n in range(2)]
        held = [claim(engine, run_id) for run_id in runs]
        unexpected: list[BaseException] = []

        def guarded(call: Callable[[], object], unexpected: list[BaseException] = unexpected) -> None:
            try:
                call()
            except EvergoldError:
                pass
            except BaseException as error:
                unexpected.append(error)

        calls: list[Callable[[], object]] = [
            partial(publish, engine, number),
            partial(publish, engine, number),
            partial(look_after, engine),
            partial(freeze, engine, NOW),
            *(partial(finish, engine, sure(claimed), scores_of(OLD, 0.5)) for claimed in held),
            *(partial(submit, engine, user, content=user.username) for user in others),
        ]
        in_threads(len(calls), lambda n: guarded(calls[n]))  # noqa: B023 - done before the next round
        assert unexpected == []
        assert set(current_runs(engine).values()) == {1}
        if the_set(engine, number).state == RescoringState.OPEN:
            drop(engine, number)
