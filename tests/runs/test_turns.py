"""The order of files: uploads before checks before rescoring, and teams one after the other."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from uuid import UUID

import pytest
from sqlalchemy import Engine, event, select, update
from sqlalchemy.orm import Session

from app.base.db import reading, writing
from app.models import CompetitionTask, RunStatus, ScoringRun, Submission, Team, User, Validation
from app.runs.claims import RESEND_SECONDS, claim_run, next_turn
from app.runs.outcomes import put_back, record_rejection
from app.runs.validations import claim_validation, put_check_back
from app.runs.workers import queue_position
from app.submissions.accept import Sender
from app.submissions.validations import FileToCheck, accept_validation
from evergold.scoring.tasks import TASKS
from tests.rich_world import own
from tests.threads import in_threads
from tests.world import NOW, SECOND, claim, fail, submit, sure, the_phase_task, the_run, upload_of

pytestmark = pytest.mark.both


def turn(engine: Engine, now: datetime = NOW, *, needs_gpu: bool = False) -> int | UUID | None:
    with reading(engine) as session:
        return next_turn(session, needs_gpu=needs_gpu, now=now)


def take_all(engine: Engine, moment: datetime = NOW) -> list[str]:
    """Return the owners of the files that are taken, one after the other, until none waits."""
    order = []
    while (run_id := turn(engine, moment)) is not None:
        assert isinstance(run_id, int)
        sure(claim(engine, run_id, moment))
        moment += SECOND
        with reading(engine) as session:
            team = select(Team.name).join(Submission, Submission.team_id == Team.id)
            order.append(
                session.scalars(
                    team.join(ScoringRun, ScoringRun.submission_id == Submission.id).where(ScoringRun.id == run_id)
                ).one()
            )
    return order


def files(engine: Engine, user: User, number: int, now: datetime = NOW) -> list[int]:
    return [submit(engine, user, now, content=f"{user.username} {n}").run_id for n in range(number)]


def check_of(engine: Engine, user: User, content: str, now: datetime = NOW) -> UUID:
    with writing(engine) as session:
        return accept_validation(
            session, the_phase_task(session), Sender(user, now), FileToCheck(upload_of(content))
        ).validation.id


def test_a_team_with_many_files_delays_another_by_one(engine: Engine, people: list[User]) -> None:
    ada, bob, cat, _ = people
    files(engine, ada, 60)
    files(engine, bob, 2, NOW + SECOND)
    files(engine, cat, 1, NOW + 2 * SECOND)
    order = take_all(engine)
    assert order[:6] == ["Ada", "Bob", "Cat", "Ada", "Bob", "Ada"]
    assert order[6:] == 57 * ["Ada"]


def test_who_comes_back_waits_for_one_file_however_long_the_line_is(engine: Engine, people: list[User]) -> None:
    ada, bob, *_ = people
    files(engine, ada, 5)
    for number in range(3):
        first = turn(engine)
        assert isinstance(first, int)
        sure(claim(engine, first, NOW + 2 * number * SECOND))
        late = submit(engine, bob, NOW + 2 * number * SECOND, content=f"bob {number}").run_id
        assert turn(engine) == late
        sure(claim(engine, late, NOW + (2 * number + 1) * SECOND))


def test_uploads_go_before_checks_and_these_before_rescoring(engine: Engine, people: list[User]) -> None:
    ada, bob, *_ = people
    (again,) = files(engine, ada, 1)
    with writing(engine) as session:
        session.execute(update(ScoringRun).where(ScoringRun.id == again).values(is_current=False))
    check, upload = check_of(engine, bob, "check"), submit(engine, bob, NOW + SECOND, content="b").run_id
    assert turn(engine) == upload
    sure(claim(engine, upload))
    assert turn(engine) == check
    with writing(engine) as session:
        assert claim_validation(session, check, worker="w", lease_seconds=60, now=NOW)
    assert turn(engine) == again
    sure(claim(engine, again))
    assert turn(engine) is None


def test_checks_of_one_person_delay_those_of_another_by_one(engine: Engine, people: list[User]) -> None:
    ada, bob, *_ = people
    first, second, third = (check_of(engine, ada, str(n)) for n in range(3))
    late = check_of(engine, bob, "bob", NOW + SECOND)
    order = []
    for number in range(4):
        check = turn(engine)
        assert isinstance(check, UUID)
        order.append(check)
        with writing(engine) as session:
            assert claim_validation(session, check, worker="w", lease_seconds=60, now=NOW + number * SECOND)
    assert order[1] == late
    assert set(order) == {first, second, third, late}


@pytest.mark.parametrize("needs_gpu", [False, True])
def test_each_queue_has_a_line_of_its_own(
    engine: Engine, people: list[User], monkeypatch: pytest.MonkeyPatch, needs_gpu: bool
) -> None:
    monkeypatch.setitem(TASKS, "idiom-detection", replace(TASKS["idiom-detection"], needs_gpu=needs_gpu))
    (run_id,) = files(engine, people[0], 1)
    assert turn(engine, needs_gpu=needs_gpu) == run_id
    assert turn(engine, needs_gpu=not needs_gpu) is None


def test_what_a_worker_cannot_do_rests_and_takes_nobodys_turn(engine: Engine, people: list[User]) -> None:
    ada, bob, *_ = people
    (mine,), (other,) = files(engine, ada, 1), files(engine, bob, 1, NOW + SECOND)
    held = sure(claim(engine, mine))
    with writing(engine) as session:
        assert put_back(session, held, reason="no such model here", now=NOW)
    assert turn(engine) == other
    sure(claim(engine, other))
    assert turn(engine) is None
    assert turn(engine, NOW + timedelta(seconds=RESEND_SECONDS)) == mine


def test_a_check_that_a_worker_cannot_do_rests_as_long(engine: Engine, people: list[User]) -> None:
    mine, other = check_of(engine, people[0], "a"), check_of(engine, people[1], "b", NOW + SECOND)
    with writing(engine) as session:
        held = claim_validation(session, mine, worker="w", lease_seconds=60, now=NOW)
        assert held is not None
        assert put_check_back(session, held, reason="no such model here", now=NOW)
    assert turn(engine) == other
    with writing(engine) as session:
        assert claim_validation(session, other, worker="w", lease_seconds=60, now=NOW)
    rested = NOW + timedelta(seconds=RESEND_SECONDS)
    assert turn(engine, rested - SECOND) is None
    assert turn(engine, rested) == mine


def test_a_failed_attempt_rests_before_the_next(engine: Engine, people: list[User]) -> None:
    (run_id,) = files(engine, people[0], 1)
    fail(engine, run_id, attempts=3)
    assert the_run(engine, run_id).status == RunStatus.QUEUED
    assert turn(engine) is None, "three attempts within a moment would meet the same trouble"
    assert turn(engine, NOW + timedelta(minutes=1)) == run_id


def test_of_many_workers_each_takes_another_file(engine: Engine, people: list[User]) -> None:
    for user in people:
        files(engine, user, 3)

    def take(_: int) -> int:
        while True:
            run_id = turn(engine)
            assert isinstance(run_id, int)
            with writing(engine) as session:
                if claim_run(session, run_id, worker="w", lease_seconds=60, now=NOW):
                    return run_id

    taken = in_threads(12, take)
    assert len(set(taken)) == 12
    assert turn(engine) is None


def test_the_place_in_line_is_the_number_of_files_scored_before(engine: Engine, people: list[User]) -> None:
    ada, bob, cat, dan = people
    runs = [*files(engine, ada, 4), *files(engine, bob, 2, NOW + SECOND), *files(engine, cat, 1, NOW + 2 * SECOND)]
    sure(claim(engine, submit(engine, dan, content="running").run_id))
    runs += files(engine, dan, 2, NOW + 3 * SECOND)
    with reading(engine) as session:
        places = {
            run_id: queue_position(session, session.get_one(ScoringRun, run_id), "idiom-detection") for run_id in runs
        }
    order = []
    moment = NOW + SECOND
    while (run_id := turn(engine)) is not None:
        assert isinstance(run_id, int)
        order.append(run_id)
        sure(claim(engine, run_id, moment))
        moment += SECOND
    assert [places[run_id] for run_id in order] == list(range(1, len(runs) + 1))


def test_of_teams_whose_files_came_at_one_moment_the_first_to_come_is_first(engine: Engine, people: list[User]) -> None:
    """Check it however many files the second team sent meanwhile."""
    ada, bob = people[:2]
    runs = [submit(engine, user, content=str(number)).run_id for number, user in enumerate((ada, bob, bob, ada))]
    with reading(engine) as session:
        places = [queue_position(session, session.get_one(ScoringRun, run), "idiom-detection") for run in runs]
    assert places == [1, 2, 4, 3]
    assert turn(engine) == runs[0]


def test_a_turn_is_one_statement_however_long_the_line_is(engine: Engine, people: list[User]) -> None:
    for user in people:
        files(engine, user, 5)
    statements: list[str] = []

    def count(connection: object, cursor: object, statement: str, *_: object) -> None:
        statements.append(statement)

    event.listen(engine, "before_cursor_execute", count)
    try:
        assert turn(engine) is not None
    finally:
        event.remove(engine, "before_cursor_execute", count)
    assert len([statement for statement in statements if statement.startswith("SELECT")]) == 1


def test_a_task_that_is_not_known_any_more_is_everybodys(engine: Engine, people: list[User]) -> None:
    """Check that it is taken, so that it fails visibly and does not wait for ever."""
    (run_id,) = files(engine, people[0], 1)
    with writing(engine) as session:
        session.execute(update(CompetitionTask).values(task_type="gone"))
    assert turn(engine) == run_id


def test_of_people_who_had_no_turn_yet_who_asked_first_is_first(engine: Engine, people: list[User]) -> None:
    checks = [check_of(engine, user, "a", NOW - number * SECOND) for number, user in enumerate(people)]
    order = []
    while (check := turn(engine, NOW)) is not None:
        assert isinstance(check, UUID)
        with writing(engine) as session:
            assert claim_validation(session, check, worker="worker:1", lease_seconds=60, now=NOW) is not None
        order.append(check)
    assert order == checks[::-1]


def test_a_check_rests_until_its_moment_and_is_of_its_queue(engine: Engine, people: list[User]) -> None:
    check = check_of(engine, people[0], "a")
    with writing(engine) as session:
        session.execute(update(Validation).values(not_before=NOW + SECOND))
    assert turn(engine, NOW) is None
    assert turn(engine, NOW + SECOND) == check
    assert turn(engine, NOW + SECOND, needs_gpu=True) is None


def test_of_a_set_the_oldest_run_is_first_and_of_equal_ones_the_first(engine: Engine, people: list[User]) -> None:
    runs = files(engine, people[0], 3)
    with writing(engine) as session:
        session.execute(update(ScoringRun).where(ScoringRun.id.in_(runs)).values(is_current=False))
        session.execute(update(ScoringRun).where(ScoringRun.id == runs[2]).values(queued_at=NOW - SECOND))
    assert turn(engine) == runs[2]
    claim(engine, runs[2])
    assert turn(engine) == runs[0]


def test_a_run_of_a_set_takes_nobodys_turn(engine: Engine, people: list[User]) -> None:
    (run_id,) = files(engine, people[0], 1)
    with writing(engine) as session:
        session.execute(update(ScoringRun).where(ScoringRun.id == run_id).values(is_current=False))
    sure(claim(engine, run_id, NOW + SECOND))
    with reading(engine) as session:
        assert last_turn(session) is None


def ended(engine: Engine, user: User, seconds: int, now: datetime, content: str = "first") -> None:
    """A run of this person's team that took so long, and ended now."""
    held = sure(claim(engine, submit(engine, user, now, content=content).run_id, now - timedelta(seconds=seconds)))
    with writing(engine) as session:
        assert record_rejection(session, held, problems=[], omitted=0, now=now)


def last_turn(session: Session) -> datetime | None:
    at: datetime | None = session.scalars(own(Team).where(Team.name == "Ada")).one().last_turn_at
    return at


def test_a_team_whose_last_run_took_long_goes_behind_those_whose_did_not(engine: Engine, people: list[User]) -> None:
    ada, bob, cat, dan = people
    ended(engine, ada, 100, NOW)
    ended(engine, bob, 1, NOW + 300 * SECOND)
    ended(engine, cat, 2, NOW + 600 * SECOND)
    later = NOW + 700 * SECOND
    files(engine, ada, 2, later)
    for user in (bob, cat, dan):
        files(engine, user, 2, later + SECOND)
    assert take_all(engine, later + 2 * SECOND) == ["Dan", "Bob", "Cat", "Dan", "Bob", "Cat", "Ada", "Ada"]


def test_a_delay_ends_and_is_taken_back_by_the_next_turn(engine: Engine, people: list[User]) -> None:
    """However many others there are, nobody waits for ever."""
    ada, bob, *_ = people
    ended(engine, ada, 20, NOW)
    after = NOW + 201 * SECOND
    ended(engine, bob, 1, after)
    late, other = files(engine, ada, 1, after)[0], files(engine, bob, 1, after)[0]
    assert turn(engine, after) == late, "ten times 20 s are over"
    sure(claim(engine, late, after + SECOND))
    assert turn(engine, after) == other
    with writing(engine) as session:
        assert last_turn(session) == after + SECOND


@pytest.mark.parametrize(("seconds", "delay"), [(9, 0), (10, 100), (120, 1200), (7200, 3600)])
def test_a_delay_is_ten_times_the_run_and_an_hour_at_most(
    engine: Engine, people: list[User], seconds: int, delay: int
) -> None:
    ended(engine, people[0], seconds, NOW)
    began = NOW - seconds * SECOND
    with reading(engine) as session:
        until = last_turn(session)
    assert until == (NOW + delay * SECOND if delay else began)


def test_a_run_of_a_rescoring_set_delays_nobody(engine: Engine, people: list[User]) -> None:
    held = sure(claim(engine, files(engine, people[0], 1)[0], NOW - 100 * SECOND))
    with writing(engine) as session:
        session.execute(update(ScoringRun).values(is_current=False))
        assert record_rejection(session, held, problems=[], omitted=0, now=NOW)
        assert last_turn(session) == NOW - 100 * SECOND
