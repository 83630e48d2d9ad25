"""Declared limits: the task's take precedence over the phase's, and an extension is added."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime

import pytest
from sqlalchemy import Engine

from app.base.db import reading
from app.competitions.limits import Quota, declared_limits, quota
from app.models import Phase, PhaseTask
from app.teams.find import find_team
from tests.competitions.allowing import allow
from tests.competitions.embargo import declare
from tests.world import add_competition, add_user, submit, the_phase_task

LIMITS = ("per_day", "per_week", "per_month", "total", "rejected_per_hour", "upload_bytes")


def phase() -> Phase:
    return Phase(
        submissions_per_day=1,
        submissions_per_week=2,
        submissions_per_month=3,
        submissions_total=4,
        rejected_per_hour=5,
        upload_limit_bytes=6,
    )


@pytest.mark.parametrize("name", LIMITS)
def test_a_limit_of_the_task_goes_before_that_of_the_phase_and_leaves_the_others(name: str) -> None:
    declared = dict(zip(LIMITS, range(1, 7), strict=True))
    assert asdict(declared_limits(phase())) == declared
    assert asdict(declared_limits(phase(), PhaseTask(limits={}))) == declared
    assert asdict(declared_limits(phase(), PhaseTask(limits={name: 9}))) == {**declared, name: 9}


def test_a_task_may_have_no_limit_where_its_phase_has_one() -> None:
    assert declared_limits(phase(), PhaseTask(limits={"per_day": None})).per_day is None


@pytest.mark.parametrize(
    ("left", "span"),
    [
        ((0, 0, 0, 1), "month"),
        ((0, 0, 1, 1), "week"),
        ((0, 1, 0, 0), "phase"),
        ((1, 0, 1, 1), "week"),
        ((2, 1, 1, 1), "week"),
        ((1, 1, 1, 1), "day"),
    ],
)
def test_of_limits_the_tightest_is_told_and_of_those_that_are_reached_the_one_that_lasts_longest(
    left: tuple[int, int, int, int], span: str
) -> None:
    day, week, month, phase = left
    found = Quota(
        used_today=5 - day,
        per_day=5,
        used_week=5 - week,
        per_week=5,
        used_month=5 - month,
        per_month=5,
        used_total=5 - phase,
        total=5,
        rejected_last_hour=0,
        rejected_per_hour=60,
        day_ends_at=datetime(2026, 1, 12, tzinfo=UTC),
    )
    assert found.tightest is not None
    assert (found.tightest.span, found.remaining, found.is_used_up) == (span, min(left), 0 in left)


@pytest.mark.parametrize(
    ("declared", "allowed"),
    [
        ({"day": 1, "week": 2, "month": 3, "phase": 4}, {"day": 11, "week": 102, "month": 103, "phase": 104}),
        ({"month": 3}, {"month": 103}),
        ({}, {}),
    ],
)
def test_what_a_team_is_allowed_comes_on_top_of_each_limit_that_there_is(
    sqlite_engine: Engine, declared: dict[str, int], allowed: dict[str, int]
) -> None:
    """Check that more in all is more in every longer stretch, too; where there is no limit, nothing is added."""
    add_competition(sqlite_engine, per_day=declared.get("day"), total=declared.get("phase"))
    declare(
        sqlite_engine,
        submissions_per_week=declared.get("week"),
        submissions_per_month=declared.get("month"),
    )
    ada = add_user(sqlite_engine, "ada")
    sunday = datetime(2026, 1, 11, 11, 59, tzinfo=UTC)
    submit(sqlite_engine, ada, sunday)
    allow(sqlite_engine, extra_per_day=10, extra_total=100)
    with reading(sqlite_engine) as session:
        phase_task = the_phase_task(session)
        team = find_team(session, ada, phase_task.phase.competition_id)
        found = quota(session, team, phase_task, sunday)
    assert {one.span: one.limit for one in found.windows} == allowed
    assert {one.span: one.used for one in found.windows} == dict.fromkeys(declared, 1)
    ends = {one.span: one.ends_at for one in found.windows}
    monday, february = datetime(2026, 1, 12, tzinfo=UTC), datetime(2026, 2, 1, tzinfo=UTC)
    assert ends == {span: {"day": monday, "week": monday, "month": february}.get(span) for span in declared}
