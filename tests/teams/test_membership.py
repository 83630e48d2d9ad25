"""Teams: founded, joined by link, left, renamed, handed over; the quota stays the team's, whoever comes and goes."""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import partial
from typing import Any

import pytest
from sqlalchemy import Engine, select

from app.base.config import get_settings
from app.base.db import reading, writing
from app.base.errors import Forbidden, InvalidForm, NameTaken, NotFound
from app.boards.leaderboard import build_leaderboard
from app.competitions.find import find_board, find_competition
from app.competitions.limits import quota
from app.competitions.visibility import Viewer
from app.models import AuditEntry, FormerMember, Team, TeamMember, User
from app.people.act import UserAct
from app.submissions.find import get_submission, list_submissions
from app.teams.find import captain_of, find_team, members_of, names_fixed_at, open_invitation, view_team
from app.teams.membership import (
    LINK_DAYS,
    AlreadyInTeam,
    NamesFixed,
    TeamFull,
    create_team,
    find_invitation,
    invite,
    join_team,
    leave_team,
    remove_member,
    rename_team,
    revoke_invitation,
    transfer_team,
)
from app.teams.registration import RegistrationNeeded
from tests.competitions.embargo import add_phase, enter, freeze
from tests.rich_world import own
from tests.threads import in_threads
from tests.world import (
    COMPETITION,
    DAY,
    HOUR,
    NOW,
    PHASE,
    SECOND,
    add_competition,
    add_team,
    add_user,
    answer_to,
    board_version_number,
    reject,
    score,
    submit,
    the_phase_task,
)


def declare(engine: Engine, **teams: Any) -> None:
    with writing(engine) as session:
        find_competition(session, COMPETITION).teams = teams


def found(engine: Engine, user: User, name: str, now: datetime = NOW) -> None:
    with writing(engine) as session:
        create_team(UserAct(session, user, now, get_settings()), find_competition(session, COMPETITION), name)


def link_of(engine: Engine, captain: User, now: datetime = NOW) -> str:
    with writing(engine) as session:
        return invite(UserAct(session, captain, now, get_settings()), find_competition(session, COMPETITION))[1]


def join(engine: Engine, user: User, link: str, now: datetime = NOW) -> None:
    with writing(engine) as session:
        competition = find_competition(session, COMPETITION)
        join_team(
            UserAct(session, user, now, get_settings()), competition, find_invitation(session, competition, link, now)
        )


def leave(engine: Engine, user: User, now: datetime = NOW) -> None:
    with writing(engine) as session:
        leave_team(UserAct(session, user, now, get_settings()), find_competition(session, COMPETITION))


def rename(engine: Engine, user: User, name: str, now: datetime = NOW) -> None:
    with writing(engine) as session:
        rename_team(UserAct(session, user, now, get_settings()), find_competition(session, COMPETITION), name)


def remove(engine: Engine, captain: User, username: str) -> None:
    with writing(engine) as session:
        remove_member(UserAct(session, captain, NOW, get_settings()), find_competition(session, COMPETITION), username)


def transfer(engine: Engine, captain: User, username: str) -> None:
    with writing(engine) as session:
        transfer_team(UserAct(session, captain, NOW, get_settings()), find_competition(session, COMPETITION), username)


def revoke(engine: Engine, captain: User) -> None:
    with writing(engine) as session:
        revoke_invitation(UserAct(session, captain, NOW, get_settings()), find_competition(session, COMPETITION))


def team_of(engine: Engine, user: User) -> tuple[str, list[str], str | None] | None:
    """Name, members, captain."""
    with reading(engine) as session:
        team = find_team(session, user, find_competition(session, COMPETITION).id)
        if team is None:
            return None
        members = members_of(session, team)
        captain = next((one.user.username for one in members if one.user_id == captain_of(team, members)), None)
        return team.name, [one.user.username for one in members], captain


def left(engine: Engine, user: User, now: datetime = NOW) -> int | None:
    with reading(engine) as session:
        asked = the_phase_task(session)
        team = find_team(session, user, asked.phase.competition_id)
        return quota(session, team, asked, now, user=user).remaining


def on_board(engine: Engine, now: datetime = NOW) -> list[str]:
    with reading(engine) as session:
        phase, board = find_board(find_competition(session, COMPETITION), PHASE, "zero-shot")
        return [row.team for row in build_leaderboard(session, phase, board, Viewer(None, now)).rows]


@pytest.fixture
def people(engine: Engine) -> list[User]:
    add_competition(engine, per_day=3)
    return [add_user(engine, name) for name in ("ada", "bob", "cat")]


# --------------------------------------------------------------------------------------------------------- founding


def test_a_team_has_a_name_and_its_founder_as_captain(engine: Engine, people: list[User]) -> None:
    found(engine, people[0], "  The   Idiomatics ")
    assert team_of(engine, people[0]) == ("The Idiomatics", ["ada"], "ada")
    submit(engine, people[0])
    assert team_of(engine, people[0]) == ("The Idiomatics", ["ada"], "ada"), "the first upload makes no other"


@pytest.mark.parametrize("name", ["", "   ", "x" * 101, "A\u202eb", "A\0b"])
def test_names_that_are_none(engine: Engine, people: list[User], name: str) -> None:
    with pytest.raises(InvalidForm) as refused:
        found(engine, people[0], name)
    assert list(refused.value.details["fields"]) == ["name"]
    assert team_of(engine, people[0]) is None


def test_a_name_belongs_to_one_team_however_it_is_written(engine: Engine, people: list[User]) -> None:
    found(engine, people[0], "Idiomatics")
    with pytest.raises(NameTaken):
        found(engine, people[1], "IDIOMATICS")
    found(engine, people[1], "Others")
    with pytest.raises(NameTaken):
        rename(engine, people[1], "idiomatics")
    rename(engine, people[0], "IdioMatics")
    assert team_of(engine, people[0]) == ("IdioMatics", ["ada"], "ada"), "one's own name is no obstacle"


def test_one_team_for_each_person(engine: Engine, people: list[User]) -> None:
    found(engine, people[0], "One")
    with pytest.raises(AlreadyInTeam):
        found(engine, people[0], "Two")


def test_only_who_may_take_part_founds_or_joins(engine: Engine, people: list[User]) -> None:
    found(engine, people[0], "One")
    link = link_of(engine, people[0])
    with writing(engine) as session:
        find_competition(session, COMPETITION).registration = {"mode": "approval"}
    with pytest.raises(RegistrationNeeded):
        found(engine, people[1], "Two")
    with pytest.raises(RegistrationNeeded):
        join(engine, people[1], link)


@pytest.mark.both
def test_ten_who_want_the_same_name_at_once(engine: Engine, people: list[User]) -> None:
    users = [add_user(engine, f"user{number}") for number in range(6)]
    answers = in_threads(6, lambda number: answer_to(lambda: found(engine, users[number], "Same")))
    assert sorted(answers) == ["accepted"] + ["name_taken"] * 5


# ----------------------------------------------------------------------------------------------------------- joining


def test_a_link_invites_several_until_it_ends(engine: Engine, people: list[User]) -> None:
    ada, bob, cat = people
    found(engine, ada, "Three")
    link = link_of(engine, ada)
    join(engine, bob, f"https://evergold.example/competitions/{COMPETITION}/team/join?link={link}")
    join(engine, cat, link, NOW + SECOND)
    join(engine, cat, link, NOW + HOUR)
    assert team_of(engine, bob) == ("Three", ["ada", "bob", "cat"], "ada")
    with pytest.raises(NotFound):
        join(engine, add_user(engine, "dan"), link, NOW + timedelta(days=LINK_DAYS))


def test_a_newer_link_and_the_captain_end_it(engine: Engine, people: list[User]) -> None:
    ada, bob, _ = people
    found(engine, ada, "Three")
    old = link_of(engine, ada)
    new = link_of(engine, ada)
    for link in (old, "guessed", ""):
        with pytest.raises(NotFound):
            join(engine, bob, link)
    revoke(engine, ada)
    with pytest.raises(NotFound):
        join(engine, bob, new)
    with pytest.raises(NotFound, match="no open invitation"):
        revoke(engine, ada)


def test_nobody_joins_by_an_invitation_that_ended_while_they_came(engine: Engine, people: list[User]) -> None:
    ada, bob = people[:2]
    found(engine, ada, "Alpha")
    link = link_of(engine, ada)
    with reading(engine) as session:
        seen = find_invitation(session, find_competition(session, COMPETITION), link, NOW)
    revoke(engine, ada)
    with writing(engine) as session, pytest.raises(NotFound, match="has expired"):
        join_team(UserAct(session, bob, NOW, get_settings()), find_competition(session, COMPETITION), seen)
    assert team_of(engine, bob) is None


def test_a_link_is_for_its_own_competition(engine: Engine, people: list[User]) -> None:
    found(engine, people[0], "Here")
    link = link_of(engine, people[0])
    add_competition(engine, name="others")
    with reading(engine) as session, pytest.raises(NotFound):
        find_invitation(session, find_competition(session, "others"), link, NOW)


def test_only_the_captain_invites_renames_removes_and_hands_over(engine: Engine, people: list[User]) -> None:
    ada, bob, _ = people
    found(engine, ada, "Two")
    join(engine, bob, link_of(engine, ada))
    for deed in (
        lambda: link_of(engine, bob),
        lambda: revoke(engine, bob),
        lambda: rename(engine, bob, "Mine"),
        lambda: remove(engine, bob, "ada"),
        lambda: transfer(engine, bob, "bob"),
    ):
        with pytest.raises(Forbidden, match="captain"):
            deed()
    transfer(engine, ada, "bob")
    assert team_of(engine, ada) == ("Two", ["ada", "bob"], "bob")
    rename(engine, bob, "Bob's")
    remove(engine, bob, "ada")
    assert team_of(engine, ada) is None


def test_every_deed_stands_in_the_log_with_who_did_it_and_when(engine: Engine, people: list[User]) -> None:
    ada, bob, _ = people
    found(engine, ada, "Two")
    join(engine, bob, link_of(engine, ada))
    revoke(engine, ada)
    transfer(engine, ada, "bob")
    remove(engine, bob, "ada")
    leave(engine, bob)
    with reading(engine) as session:
        mine = select(AuditEntry).where(AuditEntry.subject == f"competition {COMPETITION}").order_by(AuditEntry.id)
        entries = [entry for entry in session.scalars(mine) if entry.action.startswith("team.")]
    assert {entry.at for entry in entries} == {NOW}
    assert [(entry.action, entry.actor) for entry in entries] == [
        ("team.create", "ada"),
        ("team.invite", "ada"),
        ("team.join", "bob"),
        ("team.revoke_invitation", "ada"),
        ("team.transfer", "ada"),
        ("team.remove", "bob"),
        ("team.leave", "bob"),
    ]
    assert entries[4].details["to"] == "bob"


def test_who_is_removed_does_not_come_back_with_the_old_link(engine: Engine, people: list[User]) -> None:
    ada, bob, _ = people
    found(engine, ada, "Two")
    link = link_of(engine, ada)
    join(engine, bob, link)
    with pytest.raises(NotFound, match="not a member"):
        remove(engine, ada, "cat")
    with pytest.raises(InvalidForm, match="correct"):
        remove(engine, ada, "ada")
    remove(engine, ada, "Bob")
    with pytest.raises(NotFound):
        join(engine, bob, link)


def test_a_team_has_no_more_members_than_there_may_be(engine: Engine, people: list[User]) -> None:
    ada, bob, cat = people
    declare(engine, members_max=2)
    found(engine, ada, "Two")
    link = link_of(engine, ada)
    join(engine, bob, link)
    with pytest.raises(TeamFull, match="2 members"):
        join(engine, cat, link)
    with pytest.raises(TeamFull):
        link_of(engine, ada)
    leave(engine, bob)
    join(engine, cat, link)


def test_a_team_is_told_how_many_it_may_have_and_whether_it_is_full(engine: Engine, people: list[User]) -> None:
    ada, bob, _ = people
    declare(engine, members_max=2)
    found(engine, ada, "Owls")

    def room() -> tuple[int | None, bool]:
        with reading(engine) as session:
            here = find_competition(session, COMPETITION)
            team = find_team(session, ada, here.id)
            assert team is not None
            view = view_team(session, here, team, NOW)
        return view.members_max, view.is_full

    assert room() == (2, False)
    join(engine, bob, link_of(engine, ada))
    assert room() == (2, True)


@pytest.mark.both
def test_nor_when_all_come_at_once(engine: Engine, people: list[User]) -> None:
    declare(engine, members_max=3)
    found(engine, people[0], "Three")
    link = link_of(engine, people[0])
    users = [add_user(engine, f"user{number}") for number in range(6)]
    answers = in_threads(6, lambda number: answer_to(lambda: join(engine, users[number], link)))
    assert sorted(answers) == ["accepted"] * 2 + ["team_full"] * 4
    with reading(engine) as session:
        team = find_team(session, people[0], find_competition(session, COMPETITION).id)
        assert team is not None
        assert len(members_of(session, team)) == 3


def test_a_person_alone_takes_their_team_of_one_off(engine: Engine, people: list[User]) -> None:
    """Check that submissions stay with it, and it stays on the board; a team without submissions is deleted, and its
    name free.
    """
    ada, bob, cat = people
    score(engine, submit(engine, ada).run_id, 0.5)
    found(engine, bob, "Both")
    link = link_of(engine, bob)
    join(engine, ada, link)
    assert team_of(engine, ada) == ("Both", ["bob", "ada"], "bob")
    assert on_board(engine) == ["Ada"]
    found(engine, cat, "Free again")
    join(engine, cat, link)
    with reading(engine) as session:
        assert sorted(team.name for team in session.scalars(own(Team))) == ["Ada", "Both"]


def test_whoever_is_with_others_leaves_them_first(engine: Engine, people: list[User]) -> None:
    ada, bob, cat = people
    add_team(engine, ada, bob, name="Both")
    found(engine, cat, "Other")
    link = link_of(engine, cat)
    with pytest.raises(AlreadyInTeam, match="member of 'Both'"):
        join(engine, bob, link)
    leave(engine, bob)
    join(engine, bob, link)
    assert team_of(engine, ada) == ("Both", ["ada"], "ada")


@pytest.mark.both
def test_two_who_change_places_at_once_do_not_wait_for_each_other(engine: Engine, people: list[User]) -> None:
    for _ in range(5):
        users = [add_user(engine, f"user{_}{number}") for number in range(2)]
        for number, user in enumerate(users):
            found(engine, user, f"Team {_} {number}")
            submit(engine, user)
        links = [link_of(engine, user) for user in users]
        in_threads(2, lambda n: answer_to(lambda: join(engine, users[n], links[1 - n])))  # noqa: B023
        with reading(engine) as session:
            ids = [user.id for user in users]
            rows = session.scalars(select(TeamMember.user_id).where(TeamMember.user_id.in_(ids))).all()
        assert sorted(rows) == sorted(ids), "each is in one team"


# ----------------------------------------------------------------------------------------------------------- leaving


def test_who_has_been_there_longest_follows_a_captain_who_leaves(engine: Engine, people: list[User]) -> None:
    ada, bob, cat = people
    found(engine, ada, "Three")
    link = link_of(engine, ada)
    join(engine, cat, link, NOW + SECOND)
    join(engine, bob, link, NOW + HOUR)
    leave(engine, ada, NOW + DAY)
    assert team_of(engine, bob) == ("Three", ["cat", "bob"], "cat")
    with pytest.raises(NotFound, match="no team"):
        leave(engine, ada)


def test_teams_from_before_there_were_captains_have_one(engine: Engine, people: list[User]) -> None:
    ada, bob, _ = people
    add_team(engine, bob, ada, name="Old")
    assert team_of(engine, ada) == ("Old", ["ada", "bob"], "ada")
    rename(engine, ada, "New")


def test_a_team_that_all_have_left_stays_on_the_board(engine: Engine, people: list[User]) -> None:
    ada, bob, _ = people
    found(engine, ada, "Gone")
    join(engine, bob, link_of(engine, ada))
    score(engine, submit(engine, ada).run_id, 0.5)
    link = link_of(engine, ada)
    leave(engine, ada)
    leave(engine, bob)
    assert on_board(engine) == ["Gone"]
    with pytest.raises(NotFound):
        join(engine, people[2], link)


def test_the_team_sees_its_submissions_and_who_left_only_their_own(engine: Engine, people: list[User]) -> None:
    ada, bob, cat = people
    found(engine, ada, "Two")
    join(engine, bob, link_of(engine, ada))
    by_ada, by_bob = submit(engine, ada).submission.id, submit(engine, bob, content="b").submission.id

    def seen(user: User) -> set[Any]:
        with reading(engine) as session:
            listed = {one.id for one in list_submissions(session, user)[0]}
            for one in (by_ada, by_bob):
                if one in listed:
                    assert get_submission(session, one, user).id == one
                else:
                    with pytest.raises(NotFound):
                        get_submission(session, one, user)
            return listed

    assert (seen(ada), seen(bob), seen(cat)) == ({by_ada, by_bob}, {by_ada, by_bob}, set())
    leave(engine, bob)
    assert (seen(ada), seen(bob)) == ({by_ada, by_bob}, {by_bob})


# ---------------------------------------------------------------------------------------------------------- renaming


@pytest.mark.both
def test_a_new_name_is_on_the_board_at_once_and_the_old_one_in_the_log(engine: Engine, people: list[User]) -> None:
    ada = people[0]
    score(engine, submit(engine, ada).run_id, 0.5)
    before = board_version_number(engine)
    rename(engine, ada, "Idiomatics")
    assert on_board(engine) == ["Idiomatics"]
    assert board_version_number(engine) == before + 1
    rename(engine, ada, "Idiomatics")
    assert board_version_number(engine) == before + 1, "the same name is no change"
    with reading(engine) as session:
        entry = session.scalars(select(AuditEntry).where(AuditEntry.action == "team.rename")).one()
        assert entry.actor == "ada"
        assert (entry.details["before"], entry.details["after"]) == ("Ada", "Idiomatics")


def test_names_are_fixed_when_results_are_frozen(engine: Engine, people: list[User]) -> None:
    ada, bob, _ = people
    score(engine, submit(engine, ada).run_id, 0.5)
    found(engine, bob, "Nothing submitted")
    rename(engine, ada, "Last name", NOW + DAY - SECOND)
    with pytest.raises(NamesFixed, match="since Sun 11 Jan 2026, 00:00 AoE"):
        rename(engine, ada, "Too late", NOW + DAY)
    rename(engine, bob, "Still nothing", NOW + DAY)
    assert freeze(engine, NOW + DAY + HOUR)
    assert on_board(engine, NOW + DAY + HOUR) == ["Last name"]


def test_of_two_phases_with_official_results_the_one_that_ends_first_fixes_the_name(
    engine: Engine, people: list[User]
) -> None:
    ada, bob = people[:2]
    add_phase(engine, "practice", starts_at=NOW - HOUR, ends_at=NOW + HOUR, has_snapshot=True)
    enter(engine, ada, 0.5)
    enter(engine, ada, 0.5, phase="practice")
    enter(engine, bob, 0.5)
    rename(engine, bob, "Bob's", NOW + HOUR)
    with pytest.raises(NamesFixed):
        rename(engine, ada, "Too late", NOW + HOUR)


def test_a_phase_that_is_not_frozen_fixes_no_name(engine: Engine, people: list[User]) -> None:
    submit(engine, people[0])
    with writing(engine) as session:
        the_phase_task(session).phase.has_snapshot = False
    rename(engine, people[0], "Later", NOW + DAY)


def test_the_organisers_date_decides_alone(engine: Engine, people: list[User]) -> None:
    ada = people[0]
    declare(engine, rename_until="2026-01-10T13:00:00Z")
    rename(engine, add_and_found(engine, "dan"), "In time")
    submit(engine, ada)
    with reading(engine) as session:
        competition = find_competition(session, COMPETITION)
        team = find_team(session, ada, competition.id)
        assert team is not None
        assert names_fixed_at(session, competition, team) == NOW + HOUR
    with pytest.raises(NamesFixed):
        rename(engine, ada, "Too late", NOW + HOUR)


def add_and_found(engine: Engine, username: str) -> User:
    user = add_user(engine, username)
    found(engine, user, username)
    return user


# ------------------------------------------------------------------------------------------------------------- quota


def test_who_leaves_takes_along_what_the_team_used(engine: Engine, people: list[User]) -> None:
    ada, bob, _ = people
    found(engine, ada, "Two")
    join(engine, bob, link_of(engine, ada))
    submit(engine, ada)
    submit(engine, ada, NOW + SECOND)
    leave(engine, bob, NOW + HOUR)
    assert (left(engine, ada), left(engine, bob)) == (1, 1)
    submit(engine, ada, NOW + 2 * HOUR)
    assert (left(engine, ada), left(engine, bob)) == (0, 1), "what the team does without them is not theirs"
    found(engine, bob, "One")
    assert left(engine, bob) == 1
    submit(engine, bob, NOW + 2 * HOUR)
    assert answer_to(lambda: submit(engine, bob, NOW + 3 * HOUR)) == "limit_reached"


def test_leaving_and_coming_back_renews_nothing(engine: Engine, people: list[User]) -> None:
    ada, bob, _ = people
    found(engine, bob, "Other")
    link = link_of(engine, bob)
    for number in range(3):
        submit(engine, ada, NOW + number * SECOND)
    assert answer_to(lambda: submit(engine, ada, NOW + 4 * SECOND)) == "limit_reached"
    leave(engine, ada, NOW + 5 * SECOND)
    assert left(engine, ada) == 0
    assert answer_to(lambda: submit(engine, ada, NOW + 6 * SECOND)) == "limit_reached"
    found(engine, ada, "Fresh", NOW + 7 * SECOND)
    assert answer_to(lambda: submit(engine, ada, NOW + 8 * SECOND)) == "limit_reached"
    join(engine, ada, link, NOW + 9 * SECOND)
    assert (left(engine, ada), left(engine, bob)) == (0, 0), "joining brings along what one has used"
    remove(engine, bob, "ada")
    assert left(engine, bob) == 3, "and it goes with whom it came"


def test_joining_adds_to_what_the_team_has_used(engine: Engine, people: list[User]) -> None:
    ada, bob, _ = people
    submit(engine, ada)
    found(engine, bob, "Other")
    submit(engine, bob)
    join(engine, ada, link_of(engine, bob), NOW + HOUR)
    assert left(engine, bob) == 1
    leave(engine, ada, NOW + 2 * HOUR)
    assert (left(engine, ada), left(engine, bob)) == (2, 2), "what others did before one came does not follow one"


def test_rejected_files_cost_nothing_wherever_one_goes(engine: Engine, people: list[User]) -> None:
    ada = people[0]
    reject(engine, submit(engine, ada).run_id)
    leave(engine, ada, NOW + SECOND)
    assert left(engine, ada) == 3


def test_an_upload_that_was_timed_before_its_sender_joined_still_follows_them(
    engine: Engine, people: list[User]
) -> None:
    """Check an upload whose last byte came before they joined, and that was accepted after that: it belongs to the
    team.
    """
    ada, bob, _ = people
    found(engine, ada, "Two")
    join(engine, bob, link_of(engine, ada), NOW + HOUR)
    submit(engine, bob, NOW)
    leave(engine, bob, NOW + 2 * HOUR)
    assert left(engine, bob) == 2


def test_an_upload_that_is_timed_after_a_member_left_but_came_first_counts_for_them(
    engine: Engine, people: list[User]
) -> None:
    ada, bob, _ = people
    found(engine, ada, "Two")
    join(engine, bob, link_of(engine, ada))
    submit(engine, ada)
    submit(engine, ada, NOW + 2 * SECOND)
    leave(engine, bob, NOW + SECOND)
    assert left(engine, bob) == 1


def test_names_of_left_teams_are_kept_apart(engine: Engine, people: list[User]) -> None:
    ada = people[0]
    names = []
    for number in range(5):
        reject(engine, submit(engine, ada, NOW + number * DAY / 8).run_id)
        names.append((team_of(engine, ada) or ("",))[0])
        leave(engine, ada, NOW + number * DAY / 8 + SECOND)
    assert names == ["Ada", "Ada (ada)", f"ada #{ada.id}", f"ada #{ada.id}-2", f"ada #{ada.id}-3"]


def test_leaving_often_without_submitting_leaves_no_trace(engine: Engine, people: list[User]) -> None:
    ada, bob, _ = people
    submit(engine, bob)
    link = link_of(engine, bob)
    for number in range(1, 4):
        join(engine, ada, link, NOW + number * SECOND)
        leave(engine, ada, NOW + number * SECOND)
    with reading(engine) as session:
        assert session.scalars(select(FormerMember).where(FormerMember.user_id == ada.id)).all() == []


@pytest.mark.both
def test_no_race_of_members_gets_anybody_one_more(engine: Engine, people: list[User]) -> None:
    """Let Ada and Bob upload for their team while Bob leaves, founds another one and continues there."""
    ada, bob, _ = people
    found(engine, ada, "Two")
    join(engine, bob, link_of(engine, ada))

    def work(number: int) -> list[str]:
        if number == 0:  # in turn: what she sends after he has left is later than that, and not charged to him
            times = [NOW + HOUR + place * SECOND for place in range(1, 7)]
            return [answer_to(partial(submit, engine, ada, now, content=f"a{now}")) for now in times]
        if number < 4:
            return [answer_to(lambda: submit(engine, bob, NOW + HOUR, content=f"b{number}")) for _ in range(2)]
        return [answer_to(lambda: leave(engine, bob, NOW + HOUR))]

    in_threads(5, work)
    for _ in range(4):
        answer_to(lambda: submit(engine, ada, NOW + 2 * HOUR))
        answer_to(lambda: submit(engine, bob, NOW + 2 * HOUR))
    with reading(engine) as session:
        asked = the_phase_task(session)
        for user in (ada, bob):
            team = find_team(session, user, asked.phase.competition_id)
            used = quota(session, team, asked, NOW + 2 * HOUR, user=user)
            assert (used.used_today, used.remaining) == (3, 0), user.username


def test_the_link_is_kept_as_a_hash_and_told_while_it_works(engine: Engine, people: list[User]) -> None:
    found(engine, people[0], "One")
    secret = link_of(engine, people[0])
    with reading(engine) as session:
        team = find_team(session, people[0], find_competition(session, COMPETITION).id)
        assert team is not None
        invitation = open_invitation(session, team, NOW)
        assert invitation is not None
        assert secret not in invitation.secret_hash
        assert open_invitation(session, team, NOW + timedelta(days=LINK_DAYS)) is None
