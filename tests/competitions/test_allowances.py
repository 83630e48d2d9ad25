"""Exceptions for one team: a later deadline, more submissions; late entries, and revoked exceptions."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest
from sqlalchemy import Engine, select

from app.base.config import Settings, get_settings
from app.base.db import reading, writing
from app.base.errors import EvergoldError, InvalidForm, LimitReached, NotFound, PhaseNotOpen
from app.competitions.allowances import (
    LATE_NOTE,
    LateEntries,
    NewExtension,
    allowances_of,
    grant,
    late_entries,
    late_phase_of,
    list_allowances,
    take_back,
    teams_to_allow,
)
from app.competitions.find import find_board, find_competition
from app.competitions.limits import is_open_for, quota
from app.models import Allowance, AuditEntry, EntryRule, OutgoingMail, Snapshot, Team, TeamKind, User
from app.people.act import Act
from app.standings.check import check_task
from app.submissions.choices import withdraw_submission
from app.submissions.validations import check_may_validate
from tests.competitions.allowing import WHY, allow
from tests.competitions.embargo import INSTANT, add_phase, declare, enter, look, rows
from tests.rich_world import EARLIER_TEAM, FIRST_ALLOWANCE, NEIGHBOURS, own
from tests.threads import in_threads
from tests.world import COMPETITION, DAY, HOUR, NOW, PHASE, add_competition, add_team, add_user, submit, the_phase_task

CLOSE, LATER = NOW + DAY, NOW + 2 * DAY


def end(engine: Engine, allowance_id: int, now: datetime = NOW) -> None:
    with writing(engine) as session:
        take_back(Act(session, None, now, get_settings()), find_competition(session, COMPETITION), allowance_id)


def faults(engine: Engine, **wanted: Any) -> dict[str, str]:
    with pytest.raises(InvalidForm) as caught:
        allow(engine, **wanted)
    fields: dict[str, str] = caught.value.details["fields"]
    return fields


@pytest.fixture
def ada(engine: Engine, people: list[User]) -> User:
    """Return a user with a team of her own; another team exists, too."""
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
    assert faults(engine) == {"until": "Grant a later deadline, extra submissions, or both."}
    assert faults(engine, until=CLOSE) == {"until": "The phase closes even later for everybody."}
    assert faults(engine, until=LATER, now=LATER) == {"until": "This moment has passed."}
    declare(engine, ends_at=None)
    assert faults(engine, until=LATER) == {"until": "This phase never closes."}


def test_another_competitions_allowance_is_not_there(engine: Engine, ada: User) -> None:
    add_competition(engine, name="other")
    allowed = allow(engine, extra_total=1)
    with writing(engine) as session, pytest.raises(EvergoldError, match="Extension not found"):
        take_back(Act(session, None, NOW, get_settings()), find_competition(session, "other"), allowed)


def test_every_member_reads_of_it_in_a_mail(engine: Engine, people: list[User], ada: User) -> None:
    allow(engine, until=LATER, extra_total=2)
    with reading(engine) as session:
        mails = session.scalars(select(OutgoingMail).where(OutgoingMail.recipient == ada.email)).all()
        others = session.scalars(select(OutgoingMail).where(OutgoingMail.recipient == people[1].email)).all()
    (mail,) = mails
    assert "has an extension" in mail.subject
    assert "- open until Mon 12 Jan 2026, 00:00 AoE (12 Jan, 12:00 UTC)" in mail.body
    assert (
        "later submissions are shown without a rank\n- The official results are frozen after the phase closes"
    ) in mail.body
    assert "\n- 2 more in all, in each task\n" in mail.body
    assert "Reason: their cluster was down" in mail.body
    assert "/competitions/idioms/team" in mail.body
    assert others == []


# ---------------------------------------------------------------------------------------------------------- its phases


def test_the_closed_phase_that_is_open_longest_for_ones_own_team_is_found(
    engine: Engine, people: list[User], ada: User
) -> None:
    """Check that phases that are open for everybody, or for other teams, here or elsewhere, do not count."""
    for name, until in (("first", 3), ("second", 5), ("third", 9)):
        add_phase(engine, name, starts_at=NOW - DAY, ends_at=NOW, position=-1)
        allow(engine, "Ada" if name != "third" else "Bob", phase=name, until=NOW + until * HOUR, now=NOW - HOUR)
    allow(engine, until=LATER)

    def late(user: User, now: datetime = NOW, place: str = COMPETITION) -> str | None:
        with reading(engine) as session:
            found = late_phase_of(session, find_competition(session, place), user, now)
            return found.name if found is not None else None

    assert [late(user) for user in people[:2]] == ["second", "third"]
    assert [late(ada, NOW + hours * HOUR) for hours in (-1, 4, 5)] == [None, "second", None]
    assert (late(ada, CLOSE), late(ada, LATER)) == (PHASE, None)
    assert late(ada, place=NEIGHBOURS) is None


def test_what_is_allowed_is_listed_by_phase_and_team(engine: Engine, people: list[User], ada: User) -> None:
    olga = add_user(engine, "olga")
    add_phase(engine, "practice", starts_at=NOW - DAY, ends_at=CLOSE, position=-1)
    add_phase(engine, "post", starts_at=NOW - DAY, ends_at=CLOSE, position=5)
    for phase, team in (("post", "Ada"), (PHASE, "Bob"), ("practice", "Bob"), (PHASE, "Ada")):
        with writing(engine) as session:
            wanted = NewExtension(phase, team, extra_total=1, reason=WHY)
            actor = olga if team == "Ada" else None
            grant(Act(session, actor, NOW, Settings()), find_competition(session, COMPETITION), wanted)
    with reading(engine) as session:
        listed = list_allowances(session, find_competition(session, COMPETITION))
        assert [(one.phase.name, one.team, one.granted_by) for one in listed] == [
            ("practice", "Bob", None),
            (PHASE, "Ada", "olga"),
            (PHASE, "Bob", None),
            ("post", "Ada", "olga"),
        ]
        team = session.scalars(own(Team).where(Team.name == "Ada")).one()
        assert [one.phase.name for one in allowances_of(session, team)] == [PHASE, "post"]
        assert teams_to_allow(session, find_competition(session, COMPETITION)) == ["Ada", "Bob", EARLIER_TEAM]


def test_a_baseline_a_merged_team_and_a_team_elsewhere_are_allowed_nothing(
    engine: Engine, people: list[User], ada: User
) -> None:
    add_team(engine, name="Zeros", kind=TeamKind.BASELINE)
    with writing(engine) as session:
        bob = session.scalars(own(Team).where(Team.name == "Bob")).one()
        bob.merged_into_id = session.scalars(own(Team).where(Team.name == "Ada")).one().id
    for name in ("Zeros", "Bob", "Gusts"):
        assert faults(engine, team=name, extra_total=1) == {"team": "No team has this name."}
    with reading(engine) as session:
        assert teams_to_allow(session, find_competition(session, COMPETITION)) == ["Ada", EARLIER_TEAM]


def test_it_is_taken_from_the_team_and_phase_that_it_was_given_to(
    engine: Engine, people: list[User], ada: User
) -> None:
    add_phase(engine, "post", starts_at=NOW - DAY, ends_at=CLOSE)
    places = [(phase, team) for phase in (PHASE, "post") for team in ("Ada", "Bob")]
    given = {(phase, team): allow(engine, team, phase=phase, extra_total=2) for phase, team in places}
    assert len(set(given.values())) == 4, "one for each team in each phase"
    end(engine, given["post", "Ada"])
    with reading(engine) as session:
        listed = list_allowances(session, find_competition(session, COMPETITION))
        taken = session.scalars(select(AuditEntry).where(AuditEntry.action == "allowance.take-back")).one()
        assert session.get(Allowance, FIRST_ALLOWANCE - 1) is not None, "the neighbours' stays"
    assert [(one.phase.name, one.team) for one in listed] == [(PHASE, "Ada"), (PHASE, "Bob"), ("post", "Bob")]
    assert (taken.details["phase"], taken.details["team"], taken.details["extra_total"]) == ("post", "Ada", 2)


# ---------------------------------------------------------------------------------------- late entries and the results


@pytest.mark.parametrize(
    ("until", "is_ranked", "has_snapshot", "waits"),
    [
        (LATER, True, True, True),
        (LATER, False, True, False),
        (LATER, True, False, None),
        (CLOSE, True, True, None),
        (None, True, True, None),
    ],
)
def test_results_wait_for_late_entries_that_are_ranked(
    engine: Engine, ada: User, until: datetime | None, is_ranked: bool, has_snapshot: bool, waits: bool | None
) -> None:
    declare(engine, has_snapshot=has_snapshot)
    with reading(engine) as session:
        phase = the_phase_task(session).phase
        found = late_entries(session, Allowance(until=until, is_ranked=is_ranked), phase)
    assert found == (None if waits is None else LateEntries(None, None if waits else CLOSE))
    if found is not None:
        assert found.count is waits


def test_results_that_were_frozen_before_have_no_late_entries(engine: Engine, ada: User) -> None:
    """Check this phase with this close: its first official results count, and may be later than the extension."""
    add_phase(engine, "post", starts_at=NOW - DAY, ends_at=CLOSE)

    def late(until: datetime = LATER) -> LateEntries | None:
        with reading(engine) as session:
            return late_entries(session, Allowance(until=until, is_ranked=True), the_phase_task(session).phase)

    def freeze_at(phase: str, closed_at: datetime, made_at: datetime) -> None:
        with writing(engine) as session:
            found, board = find_board(find_competition(session, COMPETITION), phase, "zero-shot")
            number = len(session.scalars(select(Snapshot).where(Snapshot.board_id == board.id)).all()) + 1
            snapshot = Snapshot(phase_id=found.id, board_id=board.id, number=number, document={})
            snapshot.closed_at, snapshot.made_at = closed_at, made_at
            session.add(snapshot)

    freeze_at("post", CLOSE, CLOSE + HOUR)
    freeze_at(PHASE, CLOSE - HOUR, CLOSE + HOUR)
    assert late() == LateEntries(None)
    freeze_at(PHASE, CLOSE, CLOSE + 3 * HOUR)
    freeze_at(PHASE, CLOSE, CLOSE + 2 * HOUR)
    assert late() == LateEntries(CLOSE + 2 * HOUR)
    assert not LateEntries(CLOSE + 2 * HOUR).count
    assert late(CLOSE + 2 * HOUR) == LateEntries(None)
