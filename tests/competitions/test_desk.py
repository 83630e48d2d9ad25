"""The organiser's desk: what came in, what waits, who has nothing that counts, and what comes next."""

from __future__ import annotations

from datetime import datetime

import pytest
from sqlalchemy import Engine

from app.base.db import reading, writing
from app.competitions.desk import (
    Embargo,
    MissingTeams,
    Moment,
    TaskToday,
    embargoes,
    missing_teams,
    next_moments,
    tasks_today,
)
from app.competitions.find import find_competition
from app.models import BoardShown, TeamKind
from app.teams.find import new_team_for
from tests.world import (
    COMPETITION,
    DAY,
    EARLIER_PHASE,
    HOUR,
    NOW,
    SECOND,
    SHOWN_WHOLE,
    add_competition,
    add_team,
    add_user,
    claim,
    fail,
    reject,
    score,
    submit,
    the_phase_task,
)


def today(engine: Engine, now: datetime = NOW) -> list[TaskToday]:
    with reading(engine) as session:
        return tasks_today(session, find_competition(session, COMPETITION), now)


def missing(engine: Engine, now: datetime = NOW) -> list[MissingTeams]:
    with reading(engine) as session:
        return missing_teams(session, find_competition(session, COMPETITION), now)


def test_nothing_came_in_and_nothing_waits(engine: Engine) -> None:
    add_competition(engine)
    assert today(engine) == []
    (only,) = missing(engine)
    assert (only.tried, only.silent) == ((), ())


def test_the_day_is_counted_by_state_and_what_waits_whenever_it_came(engine: Engine) -> None:
    add_competition(engine, per_day=None, starts_at=NOW - 9 * DAY)
    ada, bob = add_user(engine, "ada"), add_user(engine, "bob")
    old = submit(engine, ada, NOW - 3 * DAY)
    score(engine, submit(engine, ada, NOW - 2 * DAY, content="a").run_id, 0.5)
    score(engine, submit(engine, ada, NOW - HOUR, content="b").run_id, 0.5)
    reject(engine, submit(engine, bob, NOW - HOUR, content="c").run_id)
    fail(engine, submit(engine, bob, NOW - HOUR, content="d").run_id)
    running = submit(engine, bob, NOW - SECOND, content="e")
    claim(engine, running.run_id)
    (only,) = today(engine)
    assert only.states == {"scored": 1, "rejected": 1, "failed": 1, "running": 1}
    assert (only.received, only.waiting) == (4, 2), "the one of three days ago did not come today, but waits"
    assert only.waiting_since == old.submission.submitted_at
    assert only.waits_long(NOW)


def test_what_runs_does_not_wait_for_long(engine: Engine) -> None:
    add_competition(engine)
    run = submit(engine, add_user(engine, "ada"), NOW - HOUR)
    claim(engine, run.run_id)
    (only,) = today(engine)
    assert (only.waiting, only.waiting_since, only.waits_long(NOW)) == (1, None, False)


def test_teams_without_a_valid_submission_are_named_by_what_they_did(engine: Engine) -> None:
    add_competition(engine, per_day=None)
    ada, bob, eve, zoe = (add_user(engine, name) for name in ("ada", "bob", "eve", "zoe"))
    score(engine, submit(engine, ada).run_id, 0.5)
    reject(engine, submit(engine, bob, content="a").run_id)
    submit(engine, zoe, content="b")  # still waits: it may yet be valid
    with writing(engine) as session:
        new_team_for(session, eve, find_competition(session, COMPETITION).id, NOW)
    add_team(engine, name="Baseline", kind=TeamKind.BASELINE)
    (only,) = missing(engine)
    assert (only.tried, only.silent) == (("Bob",), ("Eve",))
    score(engine, submit(engine, bob, content="c").run_id, 0.1)
    (only,) = missing(engine)
    assert (only.tried, only.silent) == ((), ("Eve",))
    assert missing(engine, NOW + DAY) == [], "nobody is late for a phase that is over"


@pytest.mark.both
def test_dates_that_are_ahead_come_in_order(engine: Engine) -> None:
    add_competition(engine, starts_at=NOW - DAY, ends_at=NOW + DAY)
    with writing(engine) as session:
        phase = the_phase_task(session).phase
        phase.visibility = {**SHOWN_WHOLE, "public_from": (NOW + 2 * DAY).isoformat(), "names_from": "close"}
    with reading(engine) as session:
        found = find_competition(session, COMPETITION)
        assert next_moments(found, NOW) == [
            Moment(NOW + DAY, "Evaluation closes"),
            Moment(NOW + DAY, "Evaluation, Detection: teams get their names"),
            Moment(NOW + 2 * DAY, "Evaluation, Detection: boards become public"),
        ]
        assert [moment.what for moment in next_moments(found, NOW - 2 * DAY)][0] == "Evaluation opens"
        assert next_moments(found, NOW + 2 * DAY) == [], "a moment that is now is not ahead"


def test_what_participants_see_is_said_of_every_board(engine: Engine) -> None:
    add_competition(engine)

    def seen(now: datetime) -> Embargo:
        with reading(engine) as session:
            first, earlier = embargoes(session, find_competition(session, COMPETITION), now)
            assert earlier.phase.name == EARLIER_PHASE
            return first

    assert seen(NOW).view.board is BoardShown.PUBLIC
    assert [board.name for board in seen(NOW).boards] == ["zero-shot", "one-shot"]
    with writing(engine) as session:
        the_phase_task(session).phase.visibility = {**SHOWN_WHOLE, "public_from": "close"}
    assert seen(NOW).view.board is BoardShown.HIDDEN
    assert seen(NOW + DAY).view.board is BoardShown.PUBLIC
