"""Numbers, announcements, storage and refused requests of the whole server: each thing counted where it belongs."""

from __future__ import annotations

from collections import Counter
from datetime import datetime

import pytest
from sqlalchemy import Engine

from app.administration.announcements import NewAnnouncement, announce, end_announcement
from app.administration.competitions import list_sizes, transfer
from app.administration.live import LiveState, list_announcements
from app.administration.overview import overview
from app.administration.refusals import BY_ACCOUNT_KEPT, KEPT, add_refused, forget_refused, list_refused
from app.administration.storage import storage_now
from app.administration.views import CompetitionSize
from app.base.config import get_settings
from app.base.db import reading, writing
from app.base.errors import NotFound
from app.competitions.find import find_competition
from app.competitions.organisers import limits_of
from app.models import (
    ALL_RIGHTS,
    OrganisingRequest,
    PublicFile,
    ReportOutcome,
    ReportReason,
    Severity,
    Submission,
    TextKind,
    TextReport,
    User,
)
from app.people.act import Act
from app.people.rights import rights_of
from tests.beside import add_other_task, submit_other
from tests.rich_rows import add_gold
from tests.rich_world import NEIGHBOURS
from tests.world import COMPETITION, DAY, HOUR, NOW, PHASE, SECOND, TASK, submit, the_phase_task


@pytest.fixture
def engine(sqlite_engine: Engine) -> Engine:
    return sqlite_engine


# ------------------------------------------------------------------------------------------------------- announcements


def say(engine: Engine, text: str, **more: object) -> int:
    with writing(engine) as session:
        return announce(Act(session, None, NOW, get_settings()), NewAnnouncement(text, **more)).id  # type: ignore[arg-type]


def ahead(engine: Engine, now: datetime) -> list[str]:
    with reading(engine) as session:
        return [one.text for one in list_announcements(session, now)]


def test_the_most_severe_is_first_then_the_newest_each_for_its_time(engine: Engine) -> None:
    say(engine, "over", ends_at=NOW + HOUR)
    say(engine, "old", severity=Severity.WARNING)
    say(engine, "new", severity=Severity.WARNING)
    say(engine, "plain")
    say(engine, "later", severity=Severity.URGENT, starts_at=NOW + 2 * HOUR, ends_at=NOW + 3 * HOUR)
    assert ahead(engine, NOW + HOUR) == ["later", "new", "old", "plain"]
    state = LiveState(get_settings(), lambda: NOW)
    state.look(engine)

    def shown(now: datetime) -> list[str]:
        return [one.text for one in state.announcements(now)]

    assert shown(NOW) == ["new", "old", "plain", "over"]
    assert shown(NOW + 2 * HOUR - SECOND) == ["new", "old", "plain"]
    assert shown(NOW + 2 * HOUR) == ["later", "new", "old", "plain"]
    assert shown(NOW + 3 * HOUR) == ["new", "old", "plain"]
    moments = (NOW, NOW + HOUR, NOW + 2 * HOUR - SECOND, NOW + 2 * HOUR, NOW + 3 * HOUR)
    stamps = [state.stamp(moment) for moment in moments]
    assert [stamps.index(stamp) for stamp in stamps] == [0, 1, 1, 3, 1], "one for each that pages may show"


def test_one_announcement_is_ended_and_no_other(engine: Engine) -> None:
    first, second = say(engine, "first"), say(engine, "second", ends_at=NOW + DAY)
    with writing(engine) as session:
        end_announcement(Act(session, None, NOW, get_settings()), first)
        assert [one.text for one in list_announcements(session, NOW)] == ["second"]
        with pytest.raises(NotFound):
            end_announcement(Act(session, None, NOW, get_settings()), first)
        end_announcement(Act(session, None, NOW, get_settings()), second)
    assert ahead(engine, NOW) == []


# ------------------------------------------------------------------------------------------------------------- numbers


def test_each_number_of_the_overview_counts_its_own(engine: Engine, people: list[User]) -> None:
    with reading(engine) as session:
        before = overview(session, NOW)
    with writing(engine) as session:
        here = find_competition(session, COMPETITION)
        ada, bob, cat, dan = (session.get_one(User, one.id) for one in people)
        for user in (ada, bob, cat):
            user.email_confirmed_at = None
        for user in (ada, dan):
            user.blocked_at = NOW
        for number, answered in enumerate((None, NOW, NOW, NOW)):
            asker = (ada, bob, cat, dan)[number]
            session.add(OrganisingRequest(user_id=asker.id, text="Riddles.", asked_at=NOW, answered_at=answered))
        for number, closed in enumerate((None, None, NOW)):
            report = TextReport(competition_id=here.id, kind=TextKind.TEAM, subject_id=number, shown="x")
            report.reason, report.reporter_id, report.reported_at = ReportReason.SPAM, ada.id, NOW
            report.closed_at, report.outcome = closed, ReportOutcome.DISMISSED if closed else None
            session.add(report)
    submit(engine, people[1])
    say(engine, "over", ends_at=NOW + HOUR)
    say(engine, "on")
    with reading(engine) as session:
        after = overview(session, NOW + HOUR)
    found = {name: getattr(after, name) - getattr(before, name) for name in type(after).model_fields}
    assert {name: number for name, number in found.items() if number} == {
        "unconfirmed": 3,
        "blocked": 2,
        "submissions": 1,
        "requests": 1,
        "reports": 2,
        "announcements": 1,
    }


# ------------------------------------------------------------------------------------------------ sizes of competitions


def sizes(engine: Engine) -> dict[str, CompetitionSize]:
    with reading(engine) as session:
        listed = list_sizes(session)
    weights = [-one.submitted_bytes - one.organisers_bytes for one in listed]
    assert weights == sorted(weights), "the largest first"
    return {one.name: one for one in listed}


def kept(engine: Engine) -> dict[tuple[str, str], tuple[int, int]]:
    with reading(engine) as session:
        found = storage_now(session, get_settings()).stored
    assert [one.size_bytes for one in found] == sorted((one.size_bytes for one in found), reverse=True)
    return {(one.competition, one.kind): (one.files, one.size_bytes) for one in found}


def test_each_competition_has_its_own_size_and_its_kinds_of_files(engine: Engine, people: list[User]) -> None:
    add_other_task(engine)
    before, stored = sizes(engine), kept(engine)
    submit(engine, people[0], NOW - HOUR, content="four")
    submit_other(engine, people[1], "seven")
    given_up = submit(engine, people[0], NOW + HOUR, content="a long one that is no more").submission.id
    add_gold(engine, COMPETITION, PHASE, TASK, NOW)
    with writing(engine) as session:
        session.get_one(Submission, given_up).file_cleared_at = NOW
        file = PublicFile(phase_task_id=the_phase_task(session).id, name="a", title="A", sha256="3" * 64, size_bytes=70)
        session.add(file)
    after = sizes(engine)
    assert after[NEIGHBOURS] == before[NEIGHBOURS]
    changed = {
        name: (getattr(before[COMPETITION], name), value)
        for name, value in after[COMPETITION]
        if value != getattr(before[COMPETITION], name)
    }
    last = before[COMPETITION].last_submission_at
    assert last is not None
    assert {name: new - old for name, (old, new) in changed.items()} == {
        "submissions": 3,
        "submitted_bytes": 4 + 5 + 26,
        "teams": 2,
        "organisers_bytes": 900,
        "last_submission_at": NOW + HOUR - last,
    }
    there = kept(engine)
    more = {
        key: (there[key][0] - stored.get(key, (0, 0))[0], there[key][1] - stored.get(key, (0, 0))[1])
        for key in there
        if there[key] != stored.get(key)
    }
    assert more == {
        (COMPETITION, "submissions"): (2, 9),
        (COMPETITION, "sealed gold"): (1, 1_000),
        (COMPETITION, "files to download"): (1, 70),
    }


def test_whoever_gets_a_competition_is_its_organiser_with_every_right(engine: Engine, people: list[User]) -> None:
    ada, bob = people[:2]
    limits = limits_of(get_settings())
    for user in (ada, bob):
        with writing(engine) as session:
            transfer(
                Act(session, None, NOW, get_settings()), find_competition(session, COMPETITION), user.username, limits
            )
    assert sizes(engine)[COMPETITION].owner == "bob"
    with reading(engine) as session:
        here = find_competition(session, COMPETITION)
        assert [rights_of(session, user, here) for user in people[:3]] == [ALL_RIGHTS, ALL_RIGHTS, frozenset()]


# ---------------------------------------------------------------------------------------------------- refused requests


def test_refused_requests_come_by_hour_and_rule_with_the_names_of_accounts(engine: Engine, people: list[User]) -> None:
    ada, bob = people[:2]
    one, other = f"user {ada.id}", f"user {bob.id}"
    counts = Counter(
        {
            (NOW - HOUR, "questions", ""): 9,
            (NOW, "uploads", ""): 3,
            (NOW, "uploads", other): 2,
            (NOW, "uploads", one): 1,
            (NOW, "questions", ""): 1,
        }
    )
    with writing(engine) as session:
        for _ in range(2):
            add_refused(session, counts)
    listed = [
        ("questions", "", 2, NOW),
        ("uploads", "", 6, NOW),
        ("uploads", "bob", 4, NOW),
        ("uploads", "ada", 2, NOW),
        ("questions", "", 18, NOW - HOUR),
    ]
    with writing(engine) as session:
        assert [(row.rule, row.who, row.count, row.hour) for row in list_refused(session)] == listed
        forget_refused(session, NOW + BY_ACCOUNT_KEPT)
        assert len(list_refused(session)) == 5, "of an hour ago there is none of an account"
        forget_refused(session, NOW + BY_ACCOUNT_KEPT + SECOND)
        assert {row.who for row in list_refused(session)} == {""}
        forget_refused(session, NOW + KEPT)
        assert [row.hour for row in list_refused(session)] == [NOW, NOW]
