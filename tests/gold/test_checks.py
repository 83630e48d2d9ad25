"""A worker's verdict on a version of gold: counted, requested again in time, final only once, and about that version
only.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import Engine

from app.base.db import reading, writing
from app.gold.checks import (
    PROBLEMS_SHOWN,
    RESEND,
    ask_for_check,
    begin_check,
    leave_check_to_others,
    note_failed_check,
    record_invalid_gold,
    record_valid_gold,
    unanswered_checks,
)
from app.gold.versions import GoldUnusable, newest_in_use, publish_gold
from app.models import AuditEntry, GoldCheck, GoldVersion, NewsKind, WebhookDelivery
from evergold.scoring.errors import Problem
from tests.news.hooked import hook
from tests.receiver import Receiver
from tests.rich_rows import add_gold
from tests.rich_world import NEIGHBOURS, fresh
from tests.world import COMPETITION, NOW, PHASE, SECOND, TASK, add_competition, add_user, the_phase_task

SHORT = timedelta(microseconds=1)


def put(engine: Engine, **values: Any) -> int:
    """Add the next version of the test's own gold, which waits for a worker; return its id."""
    add_gold(engine, COMPETITION, PHASE, TASK, NOW, in_use=False)
    with writing(engine) as session:
        version = session.scalars(fresh(GoldVersion).order_by(GoldVersion.id.desc()).limit(1)).one()
        version.check_state, version.check_sent_at = GoldCheck.WAITING, NOW
        for name, value in values.items():
            setattr(version, name, value)
        return version.id


@pytest.fixture
def version(sqlite_engine: Engine) -> int:
    """Return a version that is used as soon as it is found right."""
    add_competition(sqlite_engine)
    return put(sqlite_engine, publish_when_valid=True)


def the(engine: Engine, version_id: int) -> GoldVersion:
    with reading(engine) as session:
        return session.get_one(GoldVersion, version_id)


def test_attempts_are_counted_and_the_last_one_gives_up(sqlite_engine: Engine, version: int) -> None:
    for _ in range(2):
        with writing(sqlite_engine) as session:
            assert begin_check(session, version, attempts=2, now=NOW) is not None
    with writing(sqlite_engine) as session:
        assert begin_check(session, version, attempts=2, now=NOW) is None
    found = the(sqlite_engine, version)
    assert (found.check_state, found.problems[0]["code"]) == (GoldCheck.INVALID, "not-checked")
    assert "its worker was lost 2 times" in found.problems[0]["message"]


def test_a_worker_that_lacks_something_costs_no_attempt_while_it_waits(sqlite_engine: Engine, version: int) -> None:
    other = put(sqlite_engine)
    with writing(sqlite_engine) as session:
        begin_check(session, version, attempts=2, now=NOW)
        leave_check_to_others(session, version, "no key")
    assert the(sqlite_engine, other).check_failure is None
    assert (the(sqlite_engine, version).check_attempts, the(sqlite_engine, version).check_failure) == (0, "no key")
    with writing(sqlite_engine) as session:
        record_valid_gold(session, version, NOW)
        leave_check_to_others(session, version, "no key")
    assert (the(sqlite_engine, version).check_attempts, the(sqlite_engine, version).check_failure) == (0, None)


def test_a_fault_of_ours_is_told_and_after_the_last_attempt_final(sqlite_engine: Engine, version: int) -> None:
    for state in (GoldCheck.WAITING, GoldCheck.INVALID):
        with writing(sqlite_engine) as session:
            begin_check(session, version, attempts=2, now=NOW)
            note_failed_check(session, version, "Broken", attempts=2, now=NOW)
        assert the(sqlite_engine, version).check_state == state


def test_what_was_checked_is_neither_begun_again_nor_spoiled_by_a_late_fault(
    sqlite_engine: Engine, version: int
) -> None:
    with writing(sqlite_engine) as session:
        assert begin_check(session, version, attempts=2, now=NOW) is not None
        record_valid_gold(session, version, NOW)
        assert begin_check(session, version, attempts=2, now=NOW) is None
        note_failed_check(session, version, "Broken", attempts=1, now=NOW)
    found = the(sqlite_engine, version)
    assert (found.check_state, found.check_attempts, found.check_failure) == (GoldCheck.VALID, 1, None)


def test_a_worker_that_has_begun_is_not_told_again_before_its_time(sqlite_engine: Engine, version: int) -> None:
    with writing(sqlite_engine) as session:
        begin_check(session, version, attempts=2, now=NOW + RESEND)
        assert unanswered_checks(session, NOW + RESEND + SECOND) == []
        assert unanswered_checks(session, NOW + 2 * RESEND) == [version]


def test_whoever_put_it_has_put_it_in_use_and_webhooks_hear_of_the_check_once(
    sqlite_engine: Engine, version: int
) -> None:
    ada = add_user(sqlite_engine, "ada", is_administrator=True)
    own = hook(sqlite_engine, ada, Receiver(), NewsKind.GOLD_CHECKED)
    hook(sqlite_engine, ada, Receiver(), NewsKind.GOLD_CHECKED, competition=NEIGHBOURS)
    with writing(sqlite_engine) as session:
        session.get_one(GoldVersion, version).created_by_id = ada.id
    with writing(sqlite_engine) as session:
        for _ in range(2):
            record_valid_gold(session, version, NOW)
    with reading(sqlite_engine) as session:
        put = session.scalars(fresh(AuditEntry).where(AuditEntry.action == "gold.publish")).one()
        told = session.scalars(fresh(WebhookDelivery)).all()
    assert (put.actor, put.subject) == ("ada", f"gold {COMPETITION}/{PHASE}/{TASK}")
    assert [(one.webhook_id, one.about["gold"]) for one in told] == [(own, version)]


def test_workers_are_told_again_of_what_waits_after_its_time(sqlite_engine: Engine, version: int) -> None:
    ended = put(sqlite_engine, check_state=GoldCheck.VALID)
    with writing(sqlite_engine) as session:
        assert unanswered_checks(session, NOW + RESEND - SHORT) == []
        assert unanswered_checks(session, NOW + RESEND) == [version]
        assert unanswered_checks(session, NOW + RESEND + SECOND) == [], "they were told"
    assert the(sqlite_engine, ended).check_sent_at == NOW


def test_problems_are_shown_up_to_a_number_and_the_others_counted(sqlite_engine: Engine, version: int) -> None:
    problems = [Problem("bad-label", f"label {number}") for number in range(PROBLEMS_SHOWN + 3)]
    with writing(sqlite_engine) as session:
        assert record_invalid_gold(session, version, problems, 4, NOW)
        assert not record_invalid_gold(session, version, problems[:1], 0, NOW), "that was said"
    found = the(sqlite_engine, version)
    assert (len(found.problems), found.problems_omitted) == (PROBLEMS_SHOWN, 3 + 4)


def test_few_problems_leave_nothing_out(sqlite_engine: Engine, version: int) -> None:
    with writing(sqlite_engine) as session:
        record_invalid_gold(session, version, [Problem("bad-label", "one")], 0, NOW)
    assert (len(the(sqlite_engine, version).problems), the(sqlite_engine, version).problems_omitted) == (1, 0)


def test_what_was_found_right_is_in_use_unless_a_newer_one_is(sqlite_engine: Engine, version: int) -> None:
    """Check that the first version's id, which is greater than the number of the second, is not taken for one."""
    second = put(sqlite_engine, publish_when_valid=True)
    with writing(sqlite_engine) as session:
        assert record_valid_gold(session, second, NOW) is not None
        assert newest_in_use(session, the_phase_task(session)) == 2
        assert record_valid_gold(session, version, NOW) is None
    assert the(sqlite_engine, version).published_at is None
    assert the(sqlite_engine, version).check_state == GoldCheck.VALID


def test_what_was_only_prepared_stays_so(sqlite_engine: Engine, version: int) -> None:
    prepared = put(sqlite_engine)
    with writing(sqlite_engine) as session:
        assert record_valid_gold(session, prepared, NOW) is None
    assert the(sqlite_engine, prepared).published_at is None


def test_what_waits_is_used_later_and_what_is_wrong_never(sqlite_engine: Engine, version: int) -> None:
    waiting, wrong = put(sqlite_engine), put(sqlite_engine)
    with writing(sqlite_engine) as session:
        assert not publish_gold(session, the_phase_task(session), 2, user=None, now=NOW)
        record_invalid_gold(session, wrong, [Problem("bad-label", "one")], 0, NOW)
    assert (the(sqlite_engine, waiting).publish_when_valid, the(sqlite_engine, waiting).published_at) == (True, None)
    with writing(sqlite_engine) as session, pytest.raises(GoldUnusable, match="Version 3"):
        publish_gold(session, the_phase_task(session), 3, user=None, now=NOW)


def test_who_asks_for_another_check_begins_anew_with_that_version(sqlite_engine: Engine, version: int) -> None:
    other = put(sqlite_engine)
    with writing(sqlite_engine) as session:
        for one in (version, other):
            record_invalid_gold(session, one, [Problem("bad-label", "one")], 0, NOW)
        assert ask_for_check(session, the_phase_task(session), 2, None, NOW + SECOND).id == other
    asked = the(sqlite_engine, other)
    assert (asked.check_state, asked.check_attempts, asked.check_sent_at) == (GoldCheck.WAITING, 0, NOW + SECOND)
    assert the(sqlite_engine, version).check_state == GoldCheck.INVALID
