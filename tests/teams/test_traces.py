"""Traces of members and registrations: rows of the past, entries of the log, lists in their order."""

from __future__ import annotations

import pytest
from sqlalchemy import Engine, select

from app.base.db import reading, writing
from app.base.errors import InvalidForm
from app.competitions.find import find_competition
from app.models import AuditEntry, FormerMember, OutgoingMail, RegistrationStatus, Role, Team, TeamInvitation, User
from app.people.act import Act
from app.people.rights import grant_role
from app.teams.find import find_team
from app.teams.registration import decide, list_registrations
from tests.rich_world import EARLIER_USER, NEIGHBOURS, own
from tests.teams.test_membership import found, join, leave, link_of, remove, team_of
from tests.teams.test_registration import SETTINGS, ask, declare
from tests.world import COMPETITION, DAY, HOUR, NOW, SECOND, add_competition, add_user, submit

PENDING, APPROVED = RegistrationStatus.PENDING, RegistrationStatus.APPROVED


@pytest.fixture
def people(sqlite_engine: Engine) -> list[User]:
    add_competition(sqlite_engine, per_day=3)
    return [add_user(sqlite_engine, name) for name in ("ada", "bob", "cat")]


def own_past(engine: Engine) -> list[FormerMember]:
    with reading(engine) as session:
        here = find_competition(session, COMPETITION)
        past = select(FormerMember).join(User, User.id == FormerMember.user_id).where(User.username != EARLIER_USER)
        return list(session.scalars(past.where(FormerMember.competition_id == here.id)))


def test_whoever_leaves_what_they_used_was_there_from_joining_to_leaving(
    sqlite_engine: Engine, people: list[User]
) -> None:
    ada, bob, cat = people
    found(sqlite_engine, ada, "Owls", NOW - 2 * HOUR)
    join(sqlite_engine, bob, link_of(sqlite_engine, ada), NOW - HOUR)
    submit(sqlite_engine, ada, NOW)
    join(sqlite_engine, cat, link_of(sqlite_engine, ada), NOW + SECOND)
    leave(sqlite_engine, cat, NOW + HOUR)  # came after all that was submitted
    leave(sqlite_engine, bob, NOW - SECOND)  # timed before the upload, and locked behind it
    with reading(sqlite_engine) as session:
        team = find_team(session, ada, find_competition(session, COMPETITION).id)
        assert team is not None
    (past,) = own_past(sqlite_engine)
    assert (past.team_id, past.user_id) == (team.id, bob.id)
    assert (past.joined_at, past.left_at) == (NOW - HOUR, NOW)


def test_an_empty_team_is_forgotten_with_its_invitations_alone(sqlite_engine: Engine, people: list[User]) -> None:
    ada, bob, cat = people
    found(sqlite_engine, ada, "Owls")
    found(sqlite_engine, bob, "Gulls")
    link_of(sqlite_engine, ada)
    link = link_of(sqlite_engine, bob)
    leave(sqlite_engine, ada)
    with reading(sqlite_engine) as session:
        here = find_competition(session, COMPETITION)
        assert [team.name for team in session.scalars(own(Team))] == ["Gulls"]
        assert len(session.scalars(select(TeamInvitation).join(Team).where(Team.competition_id == here.id)).all()) == 1
    join(sqlite_engine, cat, link)
    assert team_of(sqlite_engine, cat) == ("Gulls", ["bob", "cat"], "bob")
    found(sqlite_engine, ada, "Owls")


def test_a_deed_is_recorded_with_its_team(sqlite_engine: Engine, people: list[User]) -> None:
    ada, bob, _ = people
    found(sqlite_engine, ada, "Owls")
    join(sqlite_engine, bob, link_of(sqlite_engine, ada))
    remove(sqlite_engine, ada, " Bob ")
    with reading(sqlite_engine) as session:
        team = find_team(session, ada, find_competition(session, COMPETITION).id)
        assert team is not None
        entries = session.scalars(select(AuditEntry).where(AuditEntry.action.like("team.%")).order_by(AuditEntry.id))
        deeds = [
            (one.action, one.actor, one.details["team_id"], one.at) for one in entries if one.actor in ("ada", "bob")
        ]
        subjects = {one.subject for one in session.scalars(select(AuditEntry)) if one.actor in ("ada", "bob")}
    assert {team_id for _, _, team_id, _ in deeds} == {team.id}
    assert {at for *_, at in deeds} == {NOW}
    assert [(action, actor) for action, actor, *_ in deeds if action in ("team.join", "team.remove")] == [
        ("team.join", "bob"),
        ("team.remove", "ada"),
    ]
    assert subjects == {f"competition {COMPETITION}"}


def test_a_captain_who_removes_themselves_is_told_at_the_field(sqlite_engine: Engine, people: list[User]) -> None:
    found(sqlite_engine, people[0], "Owls")
    with pytest.raises(InvalidForm) as refused:
        remove(sqlite_engine, people[0], "ada")
    assert refused.value.details["fields"] == {"username": "You cannot remove yourself: leave the team instead."}


def test_registrations_are_listed_as_they_came_and_by_status(sqlite_engine: Engine, people: list[User]) -> None:
    declare(sqlite_engine, mode="approval")
    for user in reversed(people):
        ask(sqlite_engine, user)  # at one moment: then by name
    with writing(sqlite_engine) as session:
        here, elsewhere = find_competition(session, COMPETITION), find_competition(session, NEIGHBOURS)
        for place in (here, elsewhere):
            decide(Act(session, None, NOW + DAY, SETTINGS), place, people[1], APPROVED)
    with reading(sqlite_engine) as session:
        earlier, *others = list_registrations(session, here)
        assert earlier.user.username == EARLIER_USER
        every = [(one.user.username, one.status) for one in others]
        some = {status: list_registrations(session, here, status=status) for status in (PENDING, APPROVED)}
        assert every == [("ada", PENDING), ("bob", APPROVED), ("cat", PENDING)]
        assert {status: [one.user.username for one in rows] for status, rows in some.items()} == {
            PENDING: ["ada", "cat"],
            APPROVED: [EARLIER_USER, "bob"],
        }


def test_letters_about_a_registration_belong_to_its_competition(sqlite_engine: Engine, people: list[User]) -> None:
    declare(sqlite_engine, mode="approval")
    with writing(sqlite_engine) as session:
        here = find_competition(session, COMPETITION)
        grant_role(session, here, people[2], Role.ORGANISER, NOW)
    ask(sqlite_engine, people[0])
    with writing(sqlite_engine) as session:
        decide(Act(session, None, NOW, SETTINGS), here, people[0], APPROVED)
    with reading(sqlite_engine) as session:
        sent = session.scalars(select(OutgoingMail).where(OutgoingMail.competition_id == here.id)).all()
        assert sorted(mail.recipient for mail in sent) == ["ada@example.org", "cat@example.org"]


def test_a_rule_looks_at_an_address_that_is_confirmed_already(sqlite_engine: Engine, people: list[User]) -> None:
    ada, bob, _ = people
    declare(sqlite_engine, mode="list", allowed=["ada@example.org"])
    assert ask(sqlite_engine, ada) is None
    assert ask(sqlite_engine, bob) is not None
