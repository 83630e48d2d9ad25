"""What organisers allow one team: a later close, more submissions; late entries, and what is taken back."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest
from sqlalchemy import Engine, select

from app.base.db import reading, writing
from app.base.errors import EvergoldError, InvalidForm, LimitReached, NotFound, PhaseNotOpen
from app.competitions.allowances import LATE_NOTE, list_allowances, take_back
from app.competitions.find import find_competition
from app.competitions.limits import is_open_for, quota
from app.models import AuditEntry, EntryRule, OutgoingMail, Team, User
from app.standings.check import check_task
from app.submissions.choices import withdraw_submission
from app.submissions.validations import check_may_validate
from tests.competitions.allowing import WHY, allow
from tests.competitions.embargo import INSTANT, declare, enter, look, rows
from tests.threads import in_threads
from tests.world import COMPETITION, DAY, HOUR, NOW, PHASE, add_competition, add_team, submit, the_phase_task

CLOSE, LATER = NOW + DAY, NOW + 2 * DAY


def end(engine: Engine, allowance_id: int, now: datetime = NOW) -> None:
    with writing(engine) as session:
        take_back(session, find_competition(session, COMPETITION), allowance_id, actor=None, now=now)


def faults(engine: Engine, **wanted: Any) -> dict[str, str]:
    with pytest.raises(InvalidForm) as caught:
        allow(engine, **wanted)
    fields: dict[str, str] = caught.value.details["fields"]
    return fields


@pytest.fixture
def ada(engine: Engine, people: list[User]) -> User:
    """With a team of her own; another team is there, too."""
    add_team(engine, people[0], name="Ada")
    add_team(engine, people[1], name="Bob")
    return people[0]


# --------------------------------------------------------------------------------------------------------- later close


def test_the_phase_is_open_longer_for_this_team_alone(engine: Engine, people: list[User], ada: User) -> None:
    allow(engine, until=LATER)
    submit(engine, ada, LATER - INSTANT)
    with pytest.raises(PhaseNotOpen):
        submit(engine, ada, LATER)
    with pytest.raises(PhaseNotOpen):
        submit(engine, people[1], CLOSE)


def test_files_can_be_checked_and_submissions_withdrawn_as_long(engine: Engine, people: list[User], ada: User) -> None:
    allow(engine, until=LATER)
    late = enter(engine, ada, 0.5, at=CLOSE + HOUR)
    with writing(engine) as session:
        check_may_validate(session, ada, the_phase_task(session), CLOSE + HOUR)
        with pytest.raises(PhaseNotOpen):
            check_may_validate(session, people[1], the_phase_task(session), CLOSE + HOUR)
        withdraw_submission(session, late, ada, LATER - INSTANT)
    assert rows(look(engine, now=LATER)) == []


def test_a_late_entry_stands_without_a_rank_and_says_why(engine: Engine, people: list[User], ada: User) -> None:
    allow(engine, until=LATER)
    enter(engine, people[1], 0.4)
    enter(engine, ada, 0.9, at=CLOSE)
    found = look(engine, now=LATER)
    assert rows(found) == [(None, "Ada", 0.9), (1, "Bob", 0.4)]
    assert [row.note for row in found.rows] == [LATE_NOTE, ""]


@pytest.mark.parametrize("rule", [EntryRule.BEST, EntryRule.LAST, EntryRule.LADDER])
def test_it_never_takes_the_place_of_what_came_in_time(engine: Engine, ada: User, rule: EntryRule) -> None:
    declare(engine, entry_rule=rule, ladder_step=0.1 if rule is EntryRule.LADDER else None)
    allow(engine, until=LATER)
    enter(engine, ada, 0.5)
    enter(engine, ada, 0.9, at=CLOSE)
    assert rows(look(engine, now=LATER)) == [(1, "Ada", 0.5)]
    assert [row.entries for row in look(engine, now=LATER).rows] == [2]
    with reading(engine) as session:
        assert check_task(session, the_phase_task(session).id) == []


def test_where_organisers_say_so_it_is_ranked_as_all(engine: Engine, ada: User) -> None:
    allow(engine, until=LATER, is_ranked=True)
    enter(engine, ada, 0.5)
    enter(engine, ada, 0.9, at=CLOSE)
    found = look(engine, now=LATER)
    assert rows(found) == [(1, "Ada", 0.9)]
    assert [row.note for row in found.rows] == [""]


# ---------------------------------------------------------------------------------------------------- more submissions


def test_more_a_day_and_more_in_all_come_on_top(engine: Engine, people: list[User], ada: User) -> None:
    declare(engine, submissions_per_day=1, submissions_total=1)
    allow(engine, extra_per_day=1, extra_total=1)
    submit(engine, ada)
    submit(engine, ada)
    with pytest.raises(LimitReached, match="used all 2 submissions"):
        submit(engine, ada)
    submit(engine, people[1])
    with pytest.raises(LimitReached, match="used all 1 submissions"):
        submit(engine, people[1])


def test_the_team_is_told_in_its_quota(engine: Engine, people: list[User], ada: User) -> None:
    declare(engine, submissions_per_day=10)
    allow(engine, extra_per_day=3, until=LATER)
    with reading(engine) as session:
        phase_task = the_phase_task(session)
        teams = {team.name: team for team in session.scalars(select(Team))}
        own, other = (quota(session, teams[name], phase_task, NOW) for name in ("Ada", "Bob"))
        assert (own.per_day, own.remaining, other.per_day, other.remaining) == (13, 13, 10, 10)
        assert own.allowance is not None
        assert own.allowance.reason == WHY
        open_to = [is_open_for(phase_task.phase, used, CLOSE) for used in (own, other, None)]
    assert open_to == [True, False, False]


@pytest.mark.both
def test_uploads_at_one_moment_do_not_exceed_it_together(engine: Engine, ada: User) -> None:
    declare(engine, submissions_per_day=1)
    allow(engine, extra_per_day=2)

    def send(_: int) -> bool:
        try:
            submit(engine, ada)
        except LimitReached:
            return False
        return True

    assert sum(in_threads(6, send)) == 3


def test_what_is_taken_back_allows_nothing_any_more(engine: Engine, ada: User) -> None:
    declare(engine, submissions_per_day=1)
    allowed = allow(engine, extra_per_day=2, until=LATER)
    submit(engine, ada)
    submit(engine, ada)
    end(engine, allowed)
    for now, error in ((NOW, LimitReached), (CLOSE, PhaseNotOpen)):
        with pytest.raises(error):
            submit(engine, ada, now)
    with pytest.raises(NotFound):
        end(engine, allowed)


# --------------------------------------------------------------------------------------------------------- granting it


def test_a_second_one_replaces_the_first_and_both_are_on_record(engine: Engine, ada: User) -> None:
    first = allow(engine, extra_total=2)
    assert allow(engine, until=LATER) == first
    with reading(engine) as session:
        (granted,) = list_allowances(session, find_competition(session, COMPETITION))
        assert (granted.team, granted.phase.name, granted.allowance.until) == ("Ada", PHASE, LATER)
        assert granted.allowance.extra_total == 0
        logged = session.scalars(select(AuditEntry).where(AuditEntry.action == "allowance.grant")).all()
    assert [entry.details["extra_total"] for entry in logged] == [2, 0]
    assert logged[1].details["before"]["extra_total"] == 2


def test_everything_wrong_is_said_at_once(engine: Engine, ada: User) -> None:
    assert faults(engine, team="Nobody", phase="nowhere", extra_total=-1, reason=" ").keys() == {
        "team",
        "phase",
        "extra_total",
        "reason",
    }
    assert faults(engine) == {"until": "Allow something: a later close, or more submissions."}
    assert faults(engine, until=CLOSE) == {"until": "The phase closes later than that for everybody."}
    assert faults(engine, until=LATER, now=LATER) == {"until": "This is past."}
    declare(engine, ends_at=None)
    assert faults(engine, until=LATER) == {"until": "This phase never closes."}


def test_another_competitions_allowance_is_not_there(engine: Engine, ada: User) -> None:
    add_competition(engine, name="other")
    allowed = allow(engine, extra_total=1)
    with writing(engine) as session, pytest.raises(EvergoldError, match="no such allowance"):
        take_back(session, find_competition(session, "other"), allowed, actor=None, now=NOW)


def test_every_member_reads_of_it_in_a_mail(engine: Engine, people: list[User], ada: User) -> None:
    allow(engine, until=LATER, extra_total=2)
    with reading(engine) as session:
        mails = session.scalars(select(OutgoingMail).where(OutgoingMail.recipient == ada.email)).all()
        others = session.scalars(select(OutgoingMail).where(OutgoingMail.recipient == people[1].email)).all()
    (mail,) = mails
    assert "is allowed more" in mail.subject
    assert "- open until Mon 12 Jan 2026, 00:00 AoE (12 Jan, 12:00 UTC)" in mail.body
    assert "comes after the close stands without a rank\n- The official results are frozen after the close" in mail.body
    assert "\n- 2 more in all, in each task\n" in mail.body
    assert "Reason: their cluster was down" in mail.body
    assert "/competitions/idioms/team" in mail.body
    assert others == []
