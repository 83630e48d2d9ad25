"""Files that are only checked: they cost nothing, count nowhere, are their sender's alone, and are gone after a day."""

from __future__ import annotations

import os
from datetime import datetime, timedelta
from pathlib import Path
from uuid import UUID, uuid4

import pytest
from sqlalchemy import Engine, func, select

from app.base.db import reading, writing
from app.base.errors import GoldMissing, IdempotencyConflict, LimitReached, NotFound, PhaseNotOpen
from app.base.storage import FolderStorage, StoredFile, UploadWriter, check_name
from app.competitions.limits import quota
from app.models import ScoringRun, Submission, Team, User, Validation, ValidationStatus
from app.runs.validations import (
    CheckClaim,
    claim_validation,
    mark_check_sent,
    put_check_back,
    record_check_failure,
    record_invalid,
    record_valid,
    renew_check,
    requeue_lost_checks,
)
from app.submissions.accept import Sender
from app.submissions.validations import (
    AT_ONCE,
    KEPT,
    UNCOMMITTED,
    AcceptedValidation,
    FileToCheck,
    accept_validation,
    clear_check_files,
    forget_validations,
    get_validation,
)
from evergold.scoring.errors import Problem
from tests import world
from tests.rich_world import own
from tests.threads import in_threads
from tests.world import DAY, NOW, SECOND, add_competition, add_user, answer_to, the_phase_task, upload_of

MINUTE = timedelta(minutes=1)
#: A day after it the phase is still open.
START = NOW - timedelta(hours=2)
WRONG = Problem("duplicate-id", "id 203 appears twice, first on line 9", line=14)


@pytest.fixture
def ada(engine: Engine) -> User:
    add_competition(engine, per_day=1)
    return add_user(engine, "ada")


def ask(engine: Engine, user: User, content: str = "x", now: datetime = NOW, key: str | None = None) -> UUID:
    return accepted(engine, user, content, now, key).validation.id


def accepted(
    engine: Engine, user: User, content: str = "x", now: datetime = NOW, key: str | None = None
) -> AcceptedValidation:
    with writing(engine) as session:
        return accept_validation(
            session,
            the_phase_task(session),
            Sender(user, now, key),
            FileToCheck(upload_of(content), "folder/predictions.csv"),
        )


def claim(engine: Engine, validation_id: UUID, now: datetime = NOW) -> CheckClaim | None:
    with writing(engine) as session:
        return claim_validation(session, validation_id, worker="worker:1", lease_seconds=60, now=now)


def sure(held: CheckClaim | None) -> CheckClaim:
    assert held is not None
    return held


def end(engine: Engine, validation_id: UUID) -> None:
    held = sure(claim(engine, validation_id))
    with writing(engine) as session:
        assert record_invalid(session, held, problems=[WRONG], omitted=2, now=NOW)


def the(engine: Engine, validation_id: UUID) -> Validation:
    with reading(engine) as session:
        return session.get_one(Validation, validation_id)


def sweep(engine: Engine, now: datetime, attempts: int = 3) -> list[UUID]:
    with writing(engine) as session:
        return [found for found, _ in requeue_lost_checks(session, attempts=attempts, now=now)]


# -------------------------------------------------------------------------------------------------------- costs nothing


def test_a_check_leaves_no_trace_where_submissions_do(engine: Engine, ada: User) -> None:
    end(engine, ask(engine, ada))
    with reading(engine) as session:
        phase_task = the_phase_task(session)
        for table in (Submission, ScoringRun, Team):
            assert session.scalars(own(table)).all() == []
        assert quota(session, None, phase_task, NOW).remaining == 1
        assert phase_task.board_version == 0
    world.submit(engine, ada)  # the one submission of the day is still there


def test_a_used_up_quota_does_not_keep_from_checking(engine: Engine, ada: User) -> None:
    world.submit(engine, ada)
    assert answer_to(lambda: world.submit(engine, ada, content="y")) == "limit_reached"
    assert the(engine, ask(engine, ada)).status == ValidationStatus.QUEUED


@pytest.mark.parametrize(
    ("now", "error"), [(NOW - 2 * DAY, PhaseNotOpen), (NOW + DAY, PhaseNotOpen)], ids=["before", "after"]
)
def test_only_while_the_phase_is_open(engine: Engine, ada: User, now: datetime, error: type[Exception]) -> None:
    with pytest.raises(error):
        ask(engine, ada, now=now)


def test_not_before_there_is_gold(engine: Engine, ada: User) -> None:
    with writing(engine) as session:
        the_phase_task(session).gold = None
    with pytest.raises(GoldMissing):
        ask(engine, ada)


# ------------------------------------------------------------------------------------------------------------- bounded


def test_only_so_many_wait_at_a_time(engine: Engine, ada: User) -> None:
    waiting = [ask(engine, ada, f"file {number}") for number in range(AT_ONCE)]
    with pytest.raises(LimitReached) as refused:
        ask(engine, ada, "one more")
    assert (refused.value.details["used"], refused.value.details["limit"]) == (AT_ONCE, AT_ONCE)
    ask(engine, add_user(engine, "eve"), "somebody else's")
    end(engine, waiting[0])
    ask(engine, ada, "one more")


@pytest.mark.both
def test_many_at_one_moment_do_not_pass_the_bound_together(engine: Engine, ada: User) -> None:
    answers = in_threads(8, lambda number: answer_to(lambda: accepted(engine, ada, f"file {number}")))
    assert sorted(answers) == ["accepted"] * AT_ONCE + ["limit_reached"] * (8 - AT_ONCE)


@pytest.mark.both
def test_the_same_key_at_one_moment_is_one_check(engine: Engine, ada: User) -> None:
    found = in_threads(6, lambda _: accepted(engine, ada, key="form-1"))
    assert len({one.validation.id for one in found}) == 1
    assert sorted(one.created for one in found) == [False] * 5 + [True]


def test_a_key_is_for_one_file(engine: Engine, ada: User) -> None:
    first = ask(engine, ada, key="form-1")
    assert ask(engine, ada, key="form-1", now=NOW + DAY - SECOND) == first
    with pytest.raises(IdempotencyConflict):
        ask(engine, ada, "another file", key="form-1")
    assert ask(engine, add_user(engine, "eve"), "another file", key="form-1") != first


# --------------------------------------------------------------------------------------------------------- whose it is


def test_nobody_else_sees_it(engine: Engine, ada: User) -> None:
    validation_id = ask(engine, ada)
    with reading(engine) as session:
        assert get_validation(session, validation_id, ada, NOW).phase_task.phase.competition.name == world.COMPETITION
    root = add_user(engine, "root", is_administrator=True)
    for viewer in (None, add_user(engine, "eve"), root):
        with reading(engine) as session, pytest.raises(NotFound):
            get_validation(session, validation_id, viewer, NOW)


def test_after_a_day_nothing_is_left_of_it(engine: Engine, ada: User) -> None:
    old, young = ask(engine, ada, "old", key="k"), ask(engine, ada, "young", now=NOW + SECOND)
    later = NOW + KEPT
    with reading(engine) as session, pytest.raises(NotFound):
        get_validation(session, old, ada, later)  # at once, also while the sweep is late
    with writing(engine) as session:
        assert forget_validations(session, later) == 2, "and the neighbours'"
    with reading(engine) as session:
        assert session.scalars(select(Validation.id)).all() == [young]


def test_a_task_that_is_taken_back_takes_its_checks_along(engine: Engine, ada: User) -> None:
    ask(engine, ada)
    with writing(engine) as session:
        session.delete(the_phase_task(session))
    with reading(engine) as session:
        own = Validation.user_id == ada.id
        assert session.scalar(select(func.count()).select_from(Validation).where(own)) == 0


# --------------------------------------------------------------------------------------------------------------- files


def test_a_file_goes_when_its_check_has_ended(engine: Engine, ada: User, tmp_path: Path) -> None:
    waiting, ended = ask(engine, ada, "waiting"), ask(engine, ada, "ended")
    nobody_s, arriving = uuid4(), uuid4()
    for validation_id in (waiting, ended, nobody_s, arriving):
        store_check(tmp_path, validation_id)
    long_ago = (NOW - UNCOMMITTED - SECOND).timestamp()
    for validation_id in (waiting, nobody_s):
        os.utime(tmp_path / check_name(validation_id), (long_ago, long_ago))
    os.utime(tmp_path / check_name(arriving), (NOW.timestamp(), NOW.timestamp()))
    (tmp_path / "checks" / "somebody's notes").write_text("not ours")
    with writing(engine) as session:
        assert record_valid(session, sure(claim(engine, ended)), warnings=[], now=NOW)
    with writing(engine) as session:
        assert clear_check_files(session, FolderStorage(tmp_path), NOW) == 2
        assert clear_check_files(session, FolderStorage(tmp_path), NOW) == 0
    left = {path.name for path in (tmp_path / "checks").iterdir()}
    assert left == {str(waiting), str(arriving), "somebody's notes"}


def store_check(folder: Path, validation_id: UUID) -> None:
    writer = UploadWriter(FolderStorage(folder), 10**6, name=check_name(validation_id))
    writer.write(b"x")
    writer.finish()


def test_files_of_a_day_are_bounded_for_each_person(engine: Engine, ada: User) -> None:
    eve = add_user(engine, "eve")

    def send(user: User, size_bytes: int, now: datetime) -> str:
        upload = StoredFile(upload_of(str(now)).sha256, size_bytes)
        with writing(engine) as session:
            task = the_phase_task(session)
            accepted = accept_validation(session, task, Sender(user, now), FileToCheck(upload), bytes_per_day=100)
        with writing(engine) as session:
            record_valid(session, sure(claim(engine, accepted.validation.id, now)), warnings=[], now=now)
        return "accepted"

    assert [answer_to(lambda size=size: send(ada, size, START)) for size in (60, 41)] == ["accepted", "limit_reached"]  # type: ignore[misc]
    assert answer_to(lambda: send(eve, 100, START)) == "accepted", "another person has their own"
    assert answer_to(lambda: send(ada, 40, START + SECOND)) == "accepted", "to the byte"
    assert answer_to(lambda: send(ada, 1, START + KEPT - SECOND)) == "limit_reached"
    assert answer_to(lambda: send(ada, 60, START + KEPT)) == "accepted", "a day after the first"


# ------------------------------------------------------------------------------------------------------- with a worker


def test_a_claim_has_what_reading_needs(engine: Engine, ada: User) -> None:
    held = sure(claim(engine, ask(engine, ada)))
    assert (held.task_type, held.gold) == ("idiom-detection", "gold.csv")
    assert (held.items_sha256, held.sealed_gold) == (None, None)


@pytest.mark.both
def test_one_worker_has_it(engine: Engine, ada: User) -> None:
    validation_id = ask(engine, ada)
    held = in_threads(6, lambda _: claim(engine, validation_id))
    assert sum(one is not None for one in held) == 1


def test_the_answer_is_kept_with_its_problems(engine: Engine, ada: User) -> None:
    validation_id = ask(engine, ada)
    end(engine, validation_id)
    found = the(engine, validation_id)
    assert (found.status, found.problems_omitted) == (ValidationStatus.INVALID, 2)
    assert found.problems[0]["sentence"] == "line 14: id 203 appears twice, first on line 9"


def test_whoever_lost_the_claim_records_nothing(engine: Engine, ada: User) -> None:
    validation_id = ask(engine, ada)
    lost = sure(claim(engine, validation_id))
    assert sweep(engine, NOW + 2 * MINUTE) == [validation_id]
    held = sure(claim(engine, validation_id, NOW + 2 * MINUTE))
    with writing(engine) as session:
        assert not record_valid(session, lost, warnings=[], now=NOW)
        assert not renew_check(session, lost, lease_seconds=60, now=NOW)
        assert not put_check_back(session, lost, reason="lost", now=NOW)
        assert record_valid(session, held, warnings=[], now=NOW)
    assert the(engine, validation_id).status == ValidationStatus.VALID


def test_a_living_check_is_left_alone_by_the_sweep(engine: Engine, ada: User) -> None:
    validation_id = ask(engine, ada)
    held = sure(claim(engine, validation_id))
    with writing(engine) as session:
        assert renew_check(session, held, lease_seconds=60, now=NOW + MINUTE)
    assert sweep(engine, NOW + 2 * MINUTE - SECOND) == []
    assert the(engine, validation_id).status == ValidationStatus.RUNNING


def test_a_worker_that_is_lost_again_and_again_is_our_fault(engine: Engine, ada: User) -> None:
    validation_id = ask(engine, ada)
    for attempt in range(3):
        sure(claim(engine, validation_id, NOW + attempt * 2 * MINUTE))
        sweep(engine, NOW + (attempt + 1) * 2 * MINUTE)
    found = the(engine, validation_id)
    assert (found.status, found.attempts, found.failure) == (ValidationStatus.FAILED, 3, "its worker was lost 3 times")


def test_our_faults_are_tried_again(engine: Engine, ada: User) -> None:
    validation_id = ask(engine, ada)
    for expected in (ValidationStatus.QUEUED, ValidationStatus.FAILED):
        held = sure(claim(engine, validation_id))
        with writing(engine) as session:
            assert record_check_failure(session, held, error="Broken", attempts=2, now=NOW)
        assert the(engine, validation_id).status == expected


def test_a_lost_message_is_sent_again_and_not_too_often(engine: Engine, ada: User) -> None:
    validation_id = ask(engine, ada)
    assert sweep(engine, NOW + SECOND) == []
    assert sweep(engine, NOW + 11 * SECOND) == [validation_id]
    with writing(engine) as session:
        mark_check_sent(session, [validation_id], NOW + 11 * SECOND)
    assert sweep(engine, NOW + MINUTE) == []
    assert sweep(engine, NOW + 3 * MINUTE) == [validation_id]


def test_two_people_without_a_team_have_a_limit_of_checks_each(engine: Engine, ada: User) -> None:
    """Check that waiting checks of one person without a team do not count for another person without one."""
    eve = add_user(engine, "eve")
    for number in range(AT_ONCE):
        ask(engine, ada, f"file {number}")
    assert answer_to(lambda: ask(engine, ada, "one more")) == "limit_reached"
    assert answer_to(lambda: ask(engine, eve, "hers")) == "accepted"


def test_a_check_has_its_own_key_for_each_person(engine: Engine, ada: User) -> None:
    eve = add_user(engine, "eve")
    first = accepted(engine, ada, key="k")
    assert accepted(engine, eve, key="k").created
    again = accepted(engine, ada, key="k")
    assert (again.created, again.validation.id) == (False, first.validation.id)
