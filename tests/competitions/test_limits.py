"""Phases open and close by the clock, quotas count what they should, and no race gets a team one submission more."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from sqlalchemy import Engine, select

from app.base.db import reading, writing
from app.base.errors import GoldMissing, LimitReached, PhaseNotOpen
from app.competitions.find import find_phase_task
from app.competitions.limits import Quota, check_phase_open, phase_state, quota
from app.models import Phase, Submission, User
from app.submissions.accept import Sender, accept_submission
from app.teams.find import find_team
from tests.beside import add_other_task, enter_other, submit_other
from tests.competitions.embargo import add_phase, declare, enter
from tests.rescoring import rescored
from tests.rich_world import NEIGHBOURS
from tests.teams.merged import accept, allow_merging, ask
from tests.teams.test_membership import join, leave, link_of
from tests.threads import in_threads
from tests.world import (
    COMPETITION,
    DAY,
    HOUR,
    NOW,
    SECOND,
    TASK,
    add_competition,
    add_team,
    add_user,
    answer_to,
    fail,
    reject,
    score,
    submit,
    the_phase_task,
    upload_of,
)

pytestmark = pytest.mark.both

MICROSECOND = timedelta(microseconds=1)
MIDNIGHT = datetime(2026, 1, 11, tzinfo=NOW.tzinfo)


def quota_of(engine: Engine, user: User, now: datetime = NOW) -> Quota:
    with reading(engine) as session:
        phase_task = the_phase_task(session)
        return quota(session, find_team(session, user, phase_task.phase.competition_id), phase_task, now)


# ----------------------------------------------------------------------------------------------------------- phases


@pytest.mark.parametrize(
    ("now", "state"),
    [
        (NOW - MICROSECOND, "upcoming"),
        (NOW, "open"),
        (NOW + HOUR - MICROSECOND, "open"),
        (NOW + HOUR, "closed"),
        (NOW + HOUR + SECOND, "closed"),
    ],
)
def test_a_phase_is_open_from_its_start_until_just_before_its_end(now: datetime, state: str) -> None:
    phase = Phase(name="evaluation", title="Evaluation", starts_at=NOW, ends_at=NOW + HOUR)
    assert phase_state(phase, now) == state
    if state == "open":
        check_phase_open(phase, now)
    else:
        with pytest.raises(PhaseNotOpen):
            check_phase_open(phase, now)


def test_a_phase_without_end_stays_open() -> None:
    phase = Phase(name="post", title="Post", starts_at=NOW, ends_at=None)
    assert phase_state(phase, NOW + 3650 * DAY) == "open"


def test_refusal_after_the_end_names_both_clocks() -> None:
    # 2026-01-10 12:00 UTC is midnight at its beginning anywhere on Earth (UTC-12).
    phase = Phase(name="evaluation", title="Evaluation", starts_at=NOW - DAY, ends_at=NOW)
    with pytest.raises(PhaseNotOpen) as refused:
        check_phase_open(phase, NOW + SECOND)
    assert "closed Sat 10 Jan 2026, 00:00 AoE (10 Jan, 12:00 UTC)" in refused.value.message
    assert "10 Jan 2026, 12:00:01 UTC" in refused.value.message
    assert refused.value.details == {
        "phase": "evaluation",
        "state": "closed",
        "starts_at": "2026-01-09T12:00:00+00:00",
        "ends_at": "2026-01-10T12:00:00+00:00",
        "now": "2026-01-10T12:00:01+00:00",
    }


def test_refusal_before_the_start_says_when_it_opens() -> None:
    phase = Phase(name="post", title="Post", starts_at=NOW, ends_at=None)
    with pytest.raises(PhaseNotOpen, match="'Post' opens Sat 10 Jan 2026, 00:00 AoE"):
        check_phase_open(phase, NOW - SECOND)


@pytest.mark.parametrize(
    ("now", "answer"),
    [
        (NOW - MICROSECOND, "phase_not_open"),
        (NOW, "accepted"),
        (NOW + HOUR - MICROSECOND, "accepted"),
        (NOW + HOUR, "phase_not_open"),
        (NOW + HOUR + SECOND, "phase_not_open"),
    ],
)
def test_uploads_obey_the_phase_to_the_microsecond(engine: Engine, now: datetime, answer: str) -> None:
    add_competition(engine, starts_at=NOW, ends_at=NOW + HOUR)
    ada = add_user(engine, "ada")
    assert answer_to(lambda: submit(engine, ada, now)) == answer


def test_a_phase_that_ended_says_when_it_ended_and_one_to_come_when_it_opens(engine: Engine) -> None:
    add_competition(engine, starts_at=NOW, ends_at=NOW + HOUR)
    ada = add_user(engine, "ada")
    for now, words in (
        (NOW - SECOND, "opens Sat 10 Jan 2026, 00:00 AoE"),
        (NOW + HOUR, "closed Sat 10 Jan 2026, 01:00 AoE"),
    ):
        with pytest.raises(PhaseNotOpen, match=words):
            submit(engine, ada, now)


def test_without_gold_nothing_is_accepted(engine: Engine) -> None:
    add_competition(engine, gold=None)
    ada = add_user(engine, "ada")
    with pytest.raises(GoldMissing, match="have not added the gold"):
        submit(engine, ada)
    with reading(engine) as session:
        assert find_team(session, ada, the_phase_task(session).phase.competition_id) is None, (
            "a refusal changes nothing"
        )


# -------------------------------------------------------------------------------------------------------- per day


def test_the_eleventh_of_ten_is_refused_until_midnight(engine: Engine) -> None:
    add_competition(engine, per_day=10)
    ada = add_user(engine, "ada")
    for number in range(10):
        assert quota_of(engine, ada).remaining == 10 - number
        submit(engine, ada, NOW + number * SECOND)
    with pytest.raises(LimitReached) as refused:
        submit(engine, ada, NOW + 10 * SECOND)
    assert "all 10 submissions of today; the next is possible at 11 Jan 2026, 00:00 UTC" in refused.value.message
    assert refused.value.details == {"limit": 10, "used": 10, "per": "day", "retry_at": "2026-01-11T00:00:00+00:00"}
    assert quota_of(engine, ada).remaining == 0


def test_a_day_ends_at_midnight_utc(engine: Engine) -> None:
    add_competition(engine, per_day=1, ends_at=None)
    ada = add_user(engine, "ada")
    submit(engine, ada, MIDNIGHT - MICROSECOND)
    assert answer_to(lambda: submit(engine, ada, MIDNIGHT - MICROSECOND)) == "limit_reached"
    assert answer_to(lambda: submit(engine, ada, MIDNIGHT)) == "accepted"
    assert answer_to(lambda: submit(engine, ada, MIDNIGHT + 23 * HOUR)) == "limit_reached"


def test_days_are_of_utc_whatever_zone_now_is_given_in(engine: Engine) -> None:
    """2026-01-11 01:00 in a zone two hours ahead is still the 10th in UTC."""
    add_competition(engine, per_day=1)
    ada = add_user(engine, "ada")
    submit(engine, ada, NOW)
    ahead = datetime(2026, 1, 11, 1, tzinfo=timezone(timedelta(hours=2)))
    assert answer_to(lambda: submit(engine, ada, ahead)) == "limit_reached"


def test_a_request_from_before_midnight_is_not_charged_for_one_from_behind_it(engine: Engine) -> None:
    """The clock is read before the lock is got: the later request may come first."""
    add_competition(engine, per_day=1)
    ada = add_user(engine, "ada")
    submit(engine, ada, MIDNIGHT)
    assert answer_to(lambda: submit(engine, ada, MIDNIGHT - MICROSECOND)) == "accepted"


# ------------------------------------------------------------------------------------------------- total, and others


def test_the_total_does_not_come_back_the_next_day(engine: Engine) -> None:
    add_competition(engine, per_day=None, total=2, ends_at=None)
    ada = add_user(engine, "ada")
    submit(engine, ada, NOW)
    submit(engine, ada, NOW + DAY)
    with pytest.raises(LimitReached, match="all 2 submissions of this task in this phase") as refused:
        submit(engine, ada, NOW + 2 * DAY)
    assert refused.value.details["retry_at"] is None


def test_without_limits_there_is_no_end(engine: Engine) -> None:
    add_competition(engine, per_day=None, total=None)
    ada = add_user(engine, "ada")
    for _ in range(15):
        submit(engine, ada)
    used = quota_of(engine, ada)
    assert (used.used_today, used.used_total, used.remaining) == (15, 15, None)


def test_the_smaller_of_two_limits_is_what_remains(engine: Engine) -> None:
    add_competition(engine, per_day=10, total=3)
    ada = add_user(engine, "ada")
    submit(engine, ada)
    assert quota_of(engine, ada).remaining == 2


@pytest.mark.parametrize(
    ("span", "last", "first"),
    [
        ("week", datetime(2026, 1, 11, 23, 59, tzinfo=UTC), datetime(2026, 1, 12, tzinfo=UTC)),  # from Sunday to Monday
        ("month", datetime(2026, 1, 31, 23, 59, tzinfo=UTC), datetime(2026, 2, 1, tzinfo=UTC)),
    ],
)
def test_weeks_begin_on_monday_and_months_on_the_first(
    sqlite_engine: Engine, span: str, last: datetime, first: datetime
) -> None:
    add_competition(sqlite_engine, per_day=None, ends_at=None)
    with writing(sqlite_engine) as session:
        the_phase_task(session).limits = {f"per_{span}": 2}
    ada = add_user(sqlite_engine, "ada")
    for moment in (NOW, last):  # another day of the same
        submit(sqlite_engine, ada, moment)
    with pytest.raises(LimitReached) as refused:
        submit(sqlite_engine, ada, last)
    assert refused.value.message == (
        f"Your team has used all 2 submissions of this {span}; the next is possible at "
        f"{first:%-d %b %Y}, 00:00 UTC. Rejected and failed ones are not counted."
    )
    assert (refused.value.details["per"], refused.value.details["retry_at"]) == (span, first.isoformat())
    submit(sqlite_engine, ada, first)


def test_of_limits_that_are_reached_the_one_that_lasts_longest_is_told(sqlite_engine: Engine) -> None:
    add_competition(sqlite_engine, per_day=1, total=9)
    declare(sqlite_engine, submissions_per_week=1, submissions_per_month=5)
    ada = add_user(sqlite_engine, "ada")
    submit(sqlite_engine, ada)
    with pytest.raises(LimitReached, match="all 1 submissions of this week"):
        submit(sqlite_engine, ada)
    used = quota_of(sqlite_engine, ada)
    assert [(one.span, one.remaining) for one in used.windows] == [("day", 0), ("week", 0), ("month", 4), ("phase", 8)]
    assert used.remaining == 0


def test_a_task_may_have_a_week_of_its_own(sqlite_engine: Engine) -> None:
    add_competition(sqlite_engine, per_day=5)
    with writing(sqlite_engine) as session:
        the_phase_task(session).limits = {"per_week": 1}
    ada = add_user(sqlite_engine, "ada")
    submit(sqlite_engine, ada)
    with pytest.raises(LimitReached, match="this week"):
        submit(sqlite_engine, ada)


def test_teams_do_not_use_up_each_others_quota(engine: Engine) -> None:
    add_competition(engine, per_day=1)
    ada, bob = add_user(engine, "ada"), add_user(engine, "bob")
    submit(engine, ada)
    assert answer_to(lambda: submit(engine, bob)) == "accepted"


def test_members_of_one_team_share_its_quota(engine: Engine) -> None:
    add_competition(engine, per_day=1)
    ada, bob = add_user(engine, "ada"), add_user(engine, "bob")
    add_team(engine, ada, bob, name="Both")
    submit(engine, ada)
    assert answer_to(lambda: submit(engine, bob)) == "limit_reached"


def test_another_phase_of_the_same_task_has_a_quota_of_its_own(sqlite_engine: Engine) -> None:
    add_competition(sqlite_engine, per_day=1, total=1)
    add_phase(sqlite_engine, "practice", starts_at=NOW - DAY, submissions_per_day=1)
    ada = add_user(sqlite_engine, "ada")
    enter(sqlite_engine, ada, 0.5, phase="practice")
    used = quota_of(sqlite_engine, ada)
    assert (used.used_today, used.used_total, used.remaining) == (0, 0, 1)
    submit(sqlite_engine, ada)
    assert answer_to(lambda: enter(sqlite_engine, ada, 0.5, phase="practice", minute=1)) == "limit_reached"


def test_files_rejected_in_another_phase_stand_in_nobodys_way(sqlite_engine: Engine) -> None:
    add_competition(sqlite_engine, rejected_per_hour=1)
    add_phase(sqlite_engine, "practice", starts_at=NOW - DAY)
    ada = add_user(sqlite_engine, "ada")
    with writing(sqlite_engine) as session:
        practice = find_phase_task(session, COMPETITION, "practice", TASK)
        sent = accept_submission(session, practice, upload_of("practice"), Sender(ada, NOW))
    reject(sqlite_engine, sent.run_id)
    assert quota_of(sqlite_engine, ada).rejected_last_hour == 0
    submit(sqlite_engine, ada)


def test_whoever_has_no_team_yet_has_used_nothing(engine: Engine) -> None:
    add_competition(engine, per_day=10, total=5)
    ada = add_user(engine, "ada")
    used = quota_of(engine, ada)
    assert (used.used_today, used.used_total, used.remaining, used.day_ends_at) == (0, 0, 5, MIDNIGHT)


def test_another_task_of_the_same_phase_has_a_quota_of_its_own(sqlite_engine: Engine) -> None:
    add_competition(sqlite_engine, per_day=1, rejected_per_hour=1)
    add_other_task(sqlite_engine, limits={"per_day": 5, "rejected_per_hour": 5})
    ada = add_user(sqlite_engine, "ada")
    enter_other(sqlite_engine, ada, 0.5)
    reject(sqlite_engine, submit_other(sqlite_engine, ada, "rejected").run_id)
    used = quota_of(sqlite_engine, ada)
    assert (used.used_today, used.used_week, used.used_month, used.used_total, used.remaining) == (0, 0, 0, 0, 1)
    assert (used.rejected_last_hour, used.undecided_last_hour) == (0, 0)
    submit(sqlite_engine, ada)
    assert quota_of(sqlite_engine, ada).used_today == 1
    submit_other(sqlite_engine, ada, "one more")


def test_who_leaves_takes_along_what_was_sent_while_they_were_there(sqlite_engine: Engine) -> None:
    """Check their own files, too, whenever they were timed; not what others did before and after."""
    add_competition(sqlite_engine, per_day=None, total=9)
    ada, bob = add_user(sqlite_engine, "ada"), add_user(sqlite_engine, "bob")
    add_team(sqlite_engine, ada, name="Two")
    for minutes in (0, 1):
        submit(sqlite_engine, ada, NOW + timedelta(minutes=minutes))
    join(sqlite_engine, bob, link_of(sqlite_engine, ada), NOW + timedelta(minutes=2))
    submit(sqlite_engine, bob, NOW)
    submit(sqlite_engine, ada, NOW + timedelta(minutes=3))
    leave(sqlite_engine, bob, NOW + timedelta(minutes=4))
    submit(sqlite_engine, ada, NOW + timedelta(minutes=5))
    with reading(sqlite_engine) as session:
        phase_task = the_phase_task(session)
        assert quota(session, None, phase_task, NOW, user=bob).used_total == 2
        assert quota(session, None, phase_task, NOW, user=add_user(sqlite_engine, "cat")).used_total == 0
    assert quota_of(sqlite_engine, ada).used_total == 5
    add_team(sqlite_engine, bob, name="One")
    submit(sqlite_engine, bob, NOW + timedelta(minutes=6))
    assert quota_of(sqlite_engine, bob).used_total == 3
    with reading(sqlite_engine) as session:
        elsewhere = the_phase_task(session, NEIGHBOURS)
        assert quota(session, None, elsewhere, NOW, user=bob).used_total == 0


def test_what_a_team_had_sent_before_it_merged_stays_with_who_had_left_it(sqlite_engine: Engine) -> None:
    """Check that the other team's earlier files are not theirs, though they are in the same place by now."""
    add_competition(sqlite_engine, per_day=None, total=9)
    allow_merging(sqlite_engine)
    ada, bob, cat = (add_user(sqlite_engine, name) for name in ("ada", "bob", "cat"))
    add_team(sqlite_engine, ada, bob, name="Two")
    add_team(sqlite_engine, cat, name="Cats")
    for number in range(2):
        submit(sqlite_engine, ada, NOW + number * SECOND)
    submit(sqlite_engine, cat, NOW + SECOND)
    leave(sqlite_engine, bob, NOW + 3 * SECOND)
    accept(sqlite_engine, ada, ask(sqlite_engine, cat, "Two"), NOW + 4 * SECOND)
    assert (quota_of(sqlite_engine, ada).used_total, quota_of(sqlite_engine, cat).used_total) == (3, 3)
    with reading(sqlite_engine) as session:
        assert quota(session, None, the_phase_task(session), NOW, user=bob).used_total == 2


# ---------------------------------------------------------------------------------------------------- free of charge


def test_rejected_and_failed_submissions_cost_nothing(engine: Engine) -> None:
    add_competition(engine, per_day=1, total=1)
    ada = add_user(engine, "ada")
    reject(engine, submit(engine, ada).run_id)
    fail(engine, submit(engine, ada).run_id)
    used = quota_of(engine, ada)
    assert (used.used_today, used.used_total, used.rejected_last_hour) == (0, 0, 2)
    score(engine, submit(engine, ada).run_id, 0.5)
    assert answer_to(lambda: submit(engine, ada)) == "limit_reached"


def test_being_rescored_costs_nothing(sqlite_engine: Engine) -> None:
    """Check the quota: while the new run waits next to the old one, when it fails, and once it has replaced it."""
    add_competition(sqlite_engine, per_day=10, total=10)
    ada = add_user(sqlite_engine, "ada")
    submission = enter(sqlite_engine, ada, 0.5)
    once = (1, 1, 0, 0)
    number = rescored.start(sqlite_engine)
    assert counted(sqlite_engine, ada) == once
    fail(sqlite_engine, rescored.runs_of(sqlite_engine, number)[submission])
    assert counted(sqlite_engine, ada) == once
    rescored.drop(sqlite_engine, number)
    number = rescored.start(sqlite_engine)
    rescored.score_set(sqlite_engine, number, {submission: 0.4})
    rescored.publish(sqlite_engine, number)
    assert counted(sqlite_engine, ada) == once


def counted(engine: Engine, user: User) -> tuple[int, int, int, int]:
    used = quota_of(engine, user)
    return used.used_today, used.used_total, used.rejected_last_hour, used.undecided_last_hour


def test_a_waiting_submission_counts_until_it_turns_out_to_be_free(engine: Engine) -> None:
    add_competition(engine, per_day=1)
    ada = add_user(engine, "ada")
    waiting = submit(engine, ada)
    assert answer_to(lambda: submit(engine, ada)) == "limit_reached"
    reject(engine, waiting.run_id)
    assert answer_to(lambda: submit(engine, ada)) == "accepted"


def test_rejected_uploads_have_a_cap_of_their_own_per_hour(engine: Engine) -> None:
    add_competition(engine, rejected_per_hour=3, per_day=None)
    ada = add_user(engine, "ada")
    for minutes in (0, 10, 20):
        reject(engine, submit(engine, ada, NOW + timedelta(minutes=minutes)).run_id)
    with pytest.raises(
        LimitReached, match="3 files of your team were rejected or failed within the last hour"
    ) as refused:
        submit(engine, ada, NOW + timedelta(minutes=30))
    # The first of the three was sent at 12:00 and is an hour old at 13:00.
    assert refused.value.details == {"limit": 3, "used": 3, "per": "hour", "retry_at": "2026-01-10T13:00:00+00:00"}
    assert answer_to(lambda: submit(engine, ada, NOW + HOUR - SECOND)) == "limit_reached"
    assert answer_to(lambda: submit(engine, ada, NOW + HOUR)) == "accepted"


def test_failed_uploads_count_towards_the_cap_per_hour(engine: Engine) -> None:
    """Check the cap: failed uploads are free, but each took a worker's time; without a cap, one per day would mean any
    number.
    """
    add_competition(engine, rejected_per_hour=3, per_day=1, total=1)
    ada = add_user(engine, "ada")
    fail(engine, submit(engine, ada).run_id)
    reject(engine, submit(engine, ada).run_id)
    fail(engine, submit(engine, ada).run_id)
    assert answer_to(lambda: submit(engine, ada)) == "limit_reached"
    assert answer_to(lambda: submit(engine, ada, NOW + HOUR)) == "accepted"


# ------------------------------------------------------------------------------------------------------------ races


def test_ten_threads_after_one_place_get_it_once(engine: Engine) -> None:
    add_competition(engine, per_day=1)
    ada = add_user(engine, "ada")
    answers = in_threads(10, lambda n: answer_to(lambda: submit(engine, ada, NOW, content=f"file {n}")))
    assert sorted(answers) == ["accepted"] + 9 * ["limit_reached"]
    assert quota_of(engine, ada).used_total == 1


def test_twenty_threads_of_two_members_get_exactly_ten_places(engine: Engine) -> None:
    add_competition(engine, per_day=10)
    ada, bob = add_user(engine, "ada"), add_user(engine, "bob")
    add_team(engine, ada, bob, name="Both")
    answers = in_threads(20, lambda n: answer_to(lambda: submit(engine, (ada, bob)[n % 2], content=f"file {n}")))
    assert sorted(answers) == 10 * ["accepted"] + 10 * ["limit_reached"]
    assert quota_of(engine, ada).used_total == 10


def test_threads_on_two_days_share_the_total(engine: Engine) -> None:
    add_competition(engine, per_day=4, total=6, ends_at=None)
    ada = add_user(engine, "ada")
    answers = in_threads(16, lambda n: answer_to(lambda: submit(engine, ada, NOW + (n % 2) * DAY, content=str(n))))
    assert sorted(answers) == 6 * ["accepted"] + 10 * ["limit_reached"]
    assert quota_of(engine, ada).used_total == 6


def test_threads_of_different_teams_do_not_stand_in_each_others_way(engine: Engine) -> None:
    add_competition(engine, per_day=2)
    people = [add_user(engine, f"user{n}") for n in range(5)]
    answers = in_threads(20, lambda n: answer_to(lambda: submit(engine, people[n % 5], content=f"file {n}")))
    assert sorted(answers) == 10 * ["accepted"] + 10 * ["limit_reached"]
    assert [quota_of(engine, person).used_today for person in people] == 5 * [2]


def test_threads_cannot_have_more_files_rejected_than_the_hour_allows(engine: Engine) -> None:
    """Check that all waiting files may be rejected, as they are here."""
    add_competition(engine, per_day=None, rejected_per_hour=5)
    ada = add_user(engine, "ada")
    for number in range(2):
        reject(engine, submit(engine, ada, content=f"first {number}").run_id)
    accepted: list[int] = []

    def upload(number: int) -> None:
        accepted.append(submit(engine, ada, content=f"file {number}").run_id)

    answers = in_threads(12, lambda n: answer_to(lambda: upload(n)))
    assert sorted(answers) == 3 * ["accepted"] + 9 * ["limit_reached"]
    for run_id in accepted:
        reject(engine, run_id)
    assert quota_of(engine, ada).rejected_last_hour == 5


def test_files_that_wait_stand_in_the_way_of_others_only_until_they_are_scored(engine: Engine) -> None:
    add_competition(engine, per_day=None, rejected_per_hour=3)
    ada = add_user(engine, "ada")
    reject(engine, submit(engine, ada, NOW).run_id)
    waiting = [submit(engine, ada, NOW).run_id for _ in range(2)]
    with pytest.raises(
        LimitReached, match="2 files of your team are still being checked, and 1 were rejected or failed"
    ) as refused:
        submit(engine, ada, NOW)
    assert refused.value.details == {"limit": 3, "used": 3, "per": "hour", "retry_at": "2026-01-10T12:00:30+00:00"}
    score(engine, waiting[0], 0.5)
    assert answer_to(lambda: submit(engine, ada, NOW)) == "accepted"
    assert answer_to(lambda: submit(engine, ada, NOW + HOUR)) == "accepted", "an hour later nothing of it counts"


def test_ten_threads_with_one_key_make_one_submission(engine: Engine) -> None:
    add_competition(engine, per_day=1)
    ada = add_user(engine, "ada")
    accepted = in_threads(10, lambda _: submit(engine, ada, key="once"))
    assert len({one.submission.id for one in accepted}) == 1
    assert sorted(one.created for one in accepted) == 9 * [False] + [True]
    assert quota_of(engine, ada).used_total == 1


def test_threads_with_one_key_and_different_files_make_one_submission(engine: Engine) -> None:
    add_competition(engine, per_day=None)
    ada = add_user(engine, "ada")
    answers = in_threads(10, lambda n: answer_to(lambda: submit(engine, ada, key="once", content=f"file {n}")))
    assert sorted(answers) == ["accepted"] + 9 * ["idempotency_conflict"]
    assert quota_of(engine, ada).used_total == 1


def test_one_key_in_two_competitions_at_once_makes_one_submission(engine: Engine) -> None:
    """Check that the table itself decides: the two have no team lock in common."""
    names = ["idioms", "proverbs"]
    for name in names:
        add_competition(engine, name=name)
    ada = add_user(engine, "ada")
    answers = in_threads(8, lambda n: answer_to(lambda: submit(engine, ada, key="once", competition=names[n % 2])))
    assert sorted(answers) == 4 * ["accepted"] + 4 * ["idempotency_conflict"], "replays, and the other competition's"
    with reading(engine) as session:
        assert len(session.scalars(select(Submission.id).where(Submission.user_id == ada.id)).all()) == 1


def test_ten_threads_with_a_person_s_first_file_make_one_team(engine: Engine) -> None:
    add_competition(engine, per_day=None)
    ada = add_user(engine, "ada")
    accepted = in_threads(10, lambda n: submit(engine, ada, content=f"file {n}"))
    assert len({one.submission.team_id for one in accepted}) == 1
    assert quota_of(engine, ada).used_total == 10
