"""The organiser's desk: what came in, what waits, who has nothing that counts, and what comes next."""

from __future__ import annotations

from datetime import datetime
from typing import Any

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
from app.competitions.visibility import View
from app.models import BoardShown, Phase, PhaseTask, Slices, Submission, TeamKind
from app.teams.find import new_team_for
from tests.beside import add_old_run, add_other_task, enter_other, submit_other
from tests.competitions.embargo import MINUTE, add_phase, enter
from tests.rich_world import OTHER_BOARDS, OTHER_TASK
from tests.world import (
    COMPETITION,
    DAY,
    EARLIER_PHASE,
    HOUR,
    NOW,
    PHASE,
    SECOND,
    SHOWN_WHOLE,
    TASK,
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


def test_each_task_of_each_phase_is_counted_for_itself(engine: Engine) -> None:
    """A run that another one has replaced counts nowhere."""
    add_competition(engine, per_day=None)
    add_other_task(engine)
    add_phase(engine, "practice", starts_at=NOW - 9 * DAY, position=-1)
    ada = add_user(engine, "ada")
    sent = submit(engine, ada)
    reject(engine, sent.run_id)
    add_old_run(engine, sent.submission.id, 0.9)
    enter_other(engine, ada, 0.5)
    later = submit_other(engine, ada, "waits")
    enter(engine, ada, 0.5, phase="practice", at=NOW - DAY)
    enter(engine, ada, 0.6, phase="practice", at=NOW - DAY + SECOND)
    found = today(engine)
    told = [(one.phase.name, one.phase_task.task.name, one.states, one.waiting) for one in found]
    assert told == [
        ("practice", TASK, {"scored": 1}, 0),
        (PHASE, TASK, {"rejected": 1}, 0),
        (PHASE, OTHER_TASK, {"scored": 1, "queued": 1}, 1),
    ]
    assert (found[1].scored, found[1].rejected, found[2].scored, found[2].received) == (0, 1, 1, 2)
    assert found[2].waiting_since == later.submission.submitted_at
    assert [found[2].waits_long(NOW + minutes * MINUTE) for minutes in (5, 5.1)] == [False, True]


def test_a_team_is_missing_in_each_phase_in_which_it_has_nothing_that_counts(engine: Engine) -> None:
    """Another phase's submissions, a withdrawn one, and a run that was replaced help nobody; any task of it does."""
    add_competition(engine, per_day=None)
    add_other_task(engine)
    add_phase(engine, "practice", starts_at=NOW - DAY, position=-1)
    people = {name: add_user(engine, name) for name in ("ada", "bob", "cat", "dan")}
    for name, user in people.items():
        add_team(engine, user, name=name.capitalize())
    add_team(engine, name="Nobody")
    enter(engine, people["ada"], 0.5, phase="practice")
    withdrawn = enter(engine, people["bob"], 0.5)
    enter_other(engine, people["cat"], 0.5)
    sent = submit(engine, people["dan"])
    reject(engine, sent.run_id)
    add_old_run(engine, sent.submission.id, 0.9)
    with writing(engine) as session:
        session.get_one(Submission, withdrawn).withdrawn_at = NOW
    practice, evaluation = missing(engine)
    assert (practice.phase.name, practice.tried, practice.silent) == ("practice", (), ("Bob", "Cat", "Dan"))
    assert (evaluation.phase.name, evaluation.tried, evaluation.silent) == (PHASE, ("Bob", "Dan"), ("Ada",))


def test_what_is_restricted_is_said_of_each_task_with_its_own_boards(engine: Engine) -> None:
    add_competition(engine)
    add_other_task(engine, visibility={"names_from": "close"})
    with writing(engine) as session:
        find_competition(session, COMPETITION).phases[1].visibility = dict(SHOWN_WHOLE)
    with reading(engine) as session:
        found = embargoes(session, find_competition(session, COMPETITION), NOW)
    told = [
        (one.phase.name, one.phase_task.task.name, one.state, one.is_restricted, [board.name for board in one.boards])
        for one in found
    ]
    assert told == [
        (PHASE, TASK, "open", False, ["zero-shot", "one-shot"]),
        (PHASE, OTHER_TASK, "open", True, list(OTHER_BOARDS)),
        (EARLIER_PHASE, TASK, "closed", False, ["zero-shot", "one-shot"]),
    ]


@pytest.mark.parametrize(
    ("changed", "is_restricted"),
    [
        ({}, False),
        ({"board": BoardShown.RANKS_ONLY}, True),
        ({"names": False}, True),
        ({"own_scores": False}, True),
        ({"slices": Slices.COLUMNS}, True),
        ({"has_statistics": False}, True),
    ],
)
def test_whatever_is_held_back_is_a_restriction(changed: dict[str, Any], is_restricted: bool) -> None:
    embargo = Embargo(Phase(), "open", PhaseTask(), View(**changed), ())
    assert embargo.is_restricted is is_restricted


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
