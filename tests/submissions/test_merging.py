"""A team that has merged into another: everything that it had belongs to the other, and nobody gains or loses
submissions by it.
"""

from __future__ import annotations

from datetime import datetime
from functools import partial
from typing import Any

import pytest
from sqlalchemy import Engine, select

from app.base.db import reading, writing
from app.boards.snapshots import last_snapshot, official_board
from app.competitions.find import find_board, find_competition
from app.competitions.limits import quota
from app.competitions.visibility import Viewer
from app.models import (
    Allowance,
    AuditEntry,
    EntryChoice,
    FormerMember,
    MergeOffer,
    OfferStatus,
    OutgoingMail,
    RowMark,
    RowStatus,
    Submission,
    System,
    Team,
    TeamMember,
    User,
)
from app.standings.check import check_task
from app.submissions.choices import choose_entry, withdraw_submission
from app.submissions.find import get_submission
from app.teams.find import find_team
from app.teams.membership import TeamFull
from app.teams.merge_offers import NoMerging
from tests.boards.marks import mark
from tests.competitions.allowing import allow
from tests.competitions.embargo import declare, enter, freeze, look, rows
from tests.rich_world import fresh
from tests.teams.merged import accept, allow_merging, ask, mails, waiting
from tests.teams.test_membership import found, join, leave, left, link_of, rename, team_of
from tests.threads import in_threads
from tests.world import (
    COMPETITION,
    DAY,
    HOUR,
    NOW,
    ONE_SHOT,
    PHASE,
    SECOND,
    ZERO_SHOT,
    add_competition,
    add_team,
    add_user,
    answer_to,
    claim,
    finish,
    score,
    scores_of,
    submit,
    sure,
    the_phase_task,
)

START = NOW - DAY


@pytest.fixture
def people(engine: Engine) -> list[User]:
    """ada and ben, cat and dan are two teams of two; three submissions a day, on the second day of the phase."""
    add_competition(engine, per_day=3, ends_at=NOW + 10 * DAY)
    allow_merging(engine)
    users = [add_user(engine, name) for name in ("ada", "ben", "cat", "dan")]
    add_team(engine, *users[:2], name="First")
    add_team(engine, *users[2:], name="Second")
    return users


def merge(engine: Engine, people: list[User], now: datetime = NOW) -> None:
    """Second merges into First."""
    assert accept(engine, people[2], ask(engine, people[0], "Second", now), now) == "First"
    assert_standings(engine)


def assert_standings(engine: Engine) -> None:
    with reading(engine) as session:
        assert check_task(session, the_phase_task(session).id) == []


def used_up(engine: Engine, user: User, now: datetime = NOW) -> int:
    with reading(engine) as session:
        asked = the_phase_task(session)
        team = find_team(session, user, asked.phase.competition_id)
        return quota(session, team, asked, now, user=user).used_total


# ------------------------------------------------------------------------------------------------------------- people


@pytest.mark.both
def test_all_are_members_of_the_team_that_asked(engine: Engine, people: list[User]) -> None:
    merge(engine, people)
    for user in people:
        assert team_of(engine, user) == ("First", ["ada", "ben", "cat", "dan"], "ada")
    told = mails(engine)[2:]
    assert [address for address, _ in told] == [f"{user.username}@example.org" for user in people]
    assert {text.partition(".")[0] for _, text in told} == {'The teams "First" and "Second" have merged, in "Idioms"'}


def test_a_merge_is_written_down_and_everybody_is_told_by_name(engine: Engine, people: list[User]) -> None:
    later = NOW + HOUR
    sent = submit(engine, people[2]).submission
    accept(engine, people[2], ask(engine, people[0], "Second"), later)
    with reading(engine) as session:
        entry = session.scalars(select(AuditEntry).where(AuditEntry.action == "merge.accept")).one()
        told = session.scalars(select(OutgoingMail).where(OutgoingMail.body.contains("have merged"))).all()
        team = session.scalars(select(Team).where(Team.name == "First")).one()
        assert (entry.at, entry.actor, entry.subject) == (later, "cat", f"competition {COMPETITION}")
        assert entry.details == {
            "team_id": team.id,
            "into": "First",
            "merged": "Second",
            "submissions": 1,
            "members": ["cat", "dan"],
        }
        assert session.get_one(Submission, sent.id).team_id == team.id
        assert {mail.body.partition(",")[0] for mail in told} == {f"Hello {user.username}" for user in people}
        assert {(mail.created_at, mail.subject) for mail in told} == {(later, "Idioms: merging teams")}


def test_a_team_that_never_submitted_frees_its_name(engine: Engine, people: list[User]) -> None:
    merge(engine, people)
    rename(engine, people[0], "Second")
    assert team_of(engine, people[3]) == ("Second", ["ada", "ben", "cat", "dan"], "ada")


def test_together_they_are_not_more_than_a_team_may_have(engine: Engine, people: list[User]) -> None:
    allow_merging(engine, members_max=3)
    offer = ask(engine, people[0], "Second")
    with pytest.raises(TeamFull, match="Together you are 4, and a team has at most 3 members"):
        accept(engine, people[2], offer)
    leave(engine, people[3])
    accept(engine, people[2], offer)


def test_links_to_the_team_that_is_no_more_end_and_those_to_the_other_work(engine: Engine, people: list[User]) -> None:
    eve, fay = add_user(engine, "eve"), add_user(engine, "fay")
    gone, kept = link_of(engine, people[2]), link_of(engine, people[0])
    merge(engine, people)
    assert answer_to(lambda: join(engine, eve, gone)) == "not_found"
    join(engine, fay, kept)


def test_other_offers_of_both_end(engine: Engine, people: list[User]) -> None:
    """Check that they end, because they were made to a team that has changed."""
    eve = add_user(engine, "eve")
    found(engine, eve, "Third")
    for captain, name in ((eve, "First"), (eve, "Second"), (people[0], "Third"), (people[2], "Third")):
        ask(engine, captain, name)
    merge(engine, people)
    assert waiting(engine, eve) == waiting(engine, people[0]) == ([], [])
    ask(engine, eve, "First")


def test_a_merged_team_merges_again(engine: Engine, people: list[User]) -> None:
    """Check that files sent for the first of the three still count as that team's."""
    eve = add_user(engine, "eve")
    found(engine, eve, "Third")
    enter(engine, people[3], 0.5)
    merge(engine, people)
    accept(engine, people[0], ask(engine, eve, "First"))
    assert_standings(engine)
    assert rows(look(engine)) == [(1, "Third", 0.5)]
    with reading(engine) as session:
        first, second, third = (
            session.scalars(select(Team).where(Team.name == name)).one_or_none()
            for name in ("First", "Second", "Third")
        )
        assert [one and one.merged_into_id for one in (first, second)] == [third and third.id] * 2
        assert second
        assert third
        sent = session.scalars(select(Submission).where(Submission.team_id == third.id)).one()
        assert sent.sent_for_id == second.id


# ------------------------------------------------------------------------------------------------------------- boards


@pytest.mark.both
def test_on_the_board_one_row_stands_for_both(engine: Engine, people: list[User]) -> None:
    enter(engine, people[0], 0.5)
    best = enter(engine, people[3], 0.7, minute=1)
    assert rows(look(engine)) == [(1, "Second", 0.7), (2, "First", 0.5)]
    merge(engine, people, NOW + HOUR)
    assert rows(look(engine)) == [(1, "First", 0.7)]
    with reading(engine) as session:
        assert get_submission(session, best, people[1]).sent_for_id is not None
    with writing(engine) as session:
        withdraw_submission(session, best, people[0], NOW + HOUR)
    assert rows(look(engine)) == [(1, "First", 0.5)]
    assert_standings(engine)


def test_official_results_keep_both_names(engine: Engine, people: list[User]) -> None:
    declare(engine, ends_at=NOW + HOUR, has_snapshot=True)
    enter(engine, people[0], 0.5)
    enter(engine, people[2], 0.7)
    assert freeze(engine, NOW + 2 * HOUR) > 0
    merge(engine, people, NOW + 3 * HOUR)
    with reading(engine) as session:
        place = find_board(find_competition(session, COMPETITION), PHASE, "zero-shot")
        snapshot = last_snapshot(session, *place, Viewer(None, NOW + 3 * HOUR))
        assert snapshot
        assert rows(official_board(session, snapshot, Viewer(None, NOW + 3 * HOUR))) == [
            (1, "Second", 0.7),
            (2, "First", 0.5),
        ]
    assert rows(look(engine, now=NOW + 3 * HOUR)) == [(1, "First", 0.7)]


@pytest.mark.both
def test_a_run_that_ends_after_the_merge_stands_for_the_team_that_stays(engine: Engine, people: list[User]) -> None:
    """Check a run that its worker took before the merge, and knows as the other team's."""
    held = sure(claim(engine, submit(engine, people[2]).run_id))
    merge(engine, people)
    finish(engine, held, [*scores_of(ZERO_SHOT, 0.6), *scores_of(ONE_SHOT, None)])
    assert rows(look(engine)) == [(1, "First", 0.6)]
    assert_standings(engine)


def test_a_choice_of_the_team_that_stays_holds_and_the_others_where_it_has_none(
    engine: Engine, people: list[User]
) -> None:
    declare(engine, entry_rule="chosen")
    ours, theirs = enter(engine, people[0], 0.5, 0.4), enter(engine, people[2], 0.7, 0.8)
    enter(engine, people[1], 0.9, 0.9, minute=1)
    with writing(engine) as session:
        choose_entry(session, ours, people[0], NOW, board="zero-shot")
        choose_entry(session, theirs, people[2], NOW)
    merge(engine, people)
    assert rows(look(engine)) == [(1, "First", 0.5)]
    assert rows(look(engine, board="one-shot")) == [(1, "First", 0.8)]
    with reading(engine) as session:
        assert {one.submission_id for one in session.scalars(select(EntryChoice))} == {ours, theirs}


def test_what_organisers_said_of_the_team_they_said_of_its_submissions(engine: Engine, people: list[User]) -> None:
    """Check that nobody is cleared by merging, and nobody else is blamed."""
    enter(engine, people[0], 0.5)
    enter(engine, people[2], 0.7)
    mark(engine, enter(engine, people[3], 0.8), RowStatus.UNRANKED, "Late.")
    mark(engine, "Second", RowStatus.DISQUALIFIED, "Gold labels were used.")
    merge(engine, people)
    assert rows(look(engine)) == [(1, "First", 0.5)]
    with reading(engine) as session:
        kept = session.scalars(select(RowMark).where(RowMark.phase_task_id == the_phase_task(session).id)).all()
        assert {one.status for one in kept} == {RowStatus.DISQUALIFIED}
        assert len(kept) == 2
        assert all(one.submission_id for one in kept)


def test_what_organisers_said_of_the_team_that_stays_they_say_still(engine: Engine, people: list[User]) -> None:
    enter(engine, people[0], 0.5)
    enter(engine, people[2], 0.7)
    mark(engine, "First", RowStatus.HIDDEN)
    merge(engine, people)
    assert rows(look(engine)) == []


def test_systems_of_one_name_stay_two(engine: Engine, people: list[User]) -> None:
    enter(engine, people[0], 0.5, system="ours")
    other = enter(engine, people[2], 0.7, system="ours")
    enter(engine, people[2], 0.6, system="theirs", minute=1)
    merge(engine, people)
    with reading(engine) as session:
        assert sorted(system.name for system in session.scalars(fresh(System))) == ["ours", "ours (Second)", "theirs"]
        named = select(System.name).join(Submission, Submission.system_id == System.id).where(Submission.id == other)
        assert session.scalars(named).one() == "ours (Second)"


def test_a_systems_name_that_is_as_long_as_it_may_be_is_cut_for_the_teams(engine: Engine, people: list[User]) -> None:
    """Check the name after several merges: nobody may submit so long a name."""
    longest = "s" * 200
    for user in (people[0], people[2]):
        enter(engine, user, 0.5, system="ours")
    with writing(engine) as session:
        for system in session.scalars(fresh(System)):
            system.name = longest
    merge(engine, people)
    with reading(engine) as session:
        assert sorted(system.name for system in session.scalars(fresh(System))) == ["s" * 191 + " (Second)", longest]


# ------------------------------------------------------------------------------------------------------------- quotas


@pytest.mark.both
def test_what_both_used_today_is_used(engine: Engine, people: list[User]) -> None:
    submit(engine, people[0])
    submit(engine, people[2])
    assert left(engine, people[0]) == 2
    merge(engine, people)
    for user in people:
        assert left(engine, user) == 1


def test_more_than_one_team_could_have_used_is_refused_with_the_numbers(engine: Engine, people: list[User]) -> None:
    """Three a day, on the second day: six."""
    for day in (START + HOUR, NOW):
        for number in range(3):
            submit(engine, people[0], day, content=f"{day} {number}")
    submit(engine, people[2])
    offer = ask(engine, people[0], "Second")
    with pytest.raises(NoMerging) as refused:
        accept(engine, people[2], offer)
    assert refused.value.details["used"] == 7
    assert refused.value.details["limit"] == 6
    assert team_of(engine, people[2]) == ("Second", ["cat", "dan"], "cat"), "nothing has happened"
    assert waiting(engine, people[2]) == (["First"], [])
    accept(engine, people[2], offer, NOW + DAY)


def test_a_phase_that_is_over_gives_no_more(engine: Engine, people: list[User]) -> None:
    """Check two days, of which the second has ended at its very end: six, however long one waits."""
    midnight = NOW.replace(hour=0, minute=0)
    declare(engine, starts_at=midnight - DAY, ends_at=midnight + DAY)
    for day in (midnight - DAY, midnight):
        for number in range(3):
            submit(engine, people[0], day, content=f"{day} {number}")
    submit(engine, people[2])
    offer = ask(engine, people[0], "Second")
    with pytest.raises(NoMerging, match=r"used 7 .* could have used 6 by now \(3 a day\)"):
        accept(engine, people[2], offer, NOW + 3 * DAY)


@pytest.mark.parametrize(("total", "extra", "is_refused"), [(4, 0, True), (5, 0, False), (4, 1, False)])
def test_a_limit_of_the_phase_is_one_teams(
    engine: Engine, people: list[User], total: int, extra: int, is_refused: bool
) -> None:
    declare(engine, submissions_total=total)
    for number, user in enumerate((people[0], people[0], people[0], people[2], people[3])):
        submit(engine, user, START + HOUR if number < 3 else NOW, content=str(number))
    if extra:
        allow(engine, "Second", extra_total=extra)
    offer = ask(engine, people[0], "Second")
    if is_refused:
        with pytest.raises(NoMerging, match=r"used 5 .* could have used 4 by now \(4 in all\)"):
            accept(engine, people[2], offer)
    else:
        accept(engine, people[2], offer)


@pytest.mark.parametrize("is_refused", [True, False])
@pytest.mark.parametrize(
    ("limits", "days_ago", "words"),
    [
        ({"submissions_per_week": 1}, (20, 19, 12, 0), r"4 by now \(1 a week\)"),
        ({"submissions_per_month": 2}, (20, 19, 1, 0), r"4 by now \(2 a month\)"),
    ],
)
def test_weeks_and_months_are_counted_since_the_phase_began(
    engine: Engine, people: list[User], limits: dict[str, Any], days_ago: tuple[int, ...], words: str, is_refused: bool
) -> None:
    """Count from Sunday, 21 December to Saturday, 10 January: four weeks, two months."""
    declare(engine, starts_at=NOW - 20 * DAY, **limits)
    for number in days_ago[:3]:
        submit(engine, people[0], NOW - number * DAY, content=str(number))
    submit(engine, people[2])
    offer = ask(engine, people[0], "Second")
    if is_refused:
        submit(engine, people[0], content="one more")
        with pytest.raises(NoMerging, match=rf"used 5 .* could have used {words}"):
            accept(engine, people[2], offer)
    else:
        assert accept(engine, people[2], offer) == "First"


def test_who_used_nothing_is_always_welcome(engine: Engine, people: list[User]) -> None:
    """Check a team whose limit was lowered below its use, too."""
    for number in range(3):
        submit(engine, people[0], content=str(number))
    declare(engine, submissions_total=1)
    merge(engine, people)


@pytest.mark.both
def test_who_leaves_again_takes_along_what_they_took_part_in(engine: Engine, people: list[User]) -> None:
    """Check what is used up: before the merge by their own team, afterwards by both, and no more."""
    ada, ben, cat, _ = people
    submit(engine, ada, content="a")
    submit(engine, cat, content="c1")
    submit(engine, cat, NOW + SECOND, content="c2")
    merge(engine, people, NOW + HOUR)
    submit(engine, ben, NOW + DAY, content="b")
    leave(engine, cat, NOW + DAY + HOUR)
    leave(engine, ben, NOW + DAY + HOUR)
    assert used_up(engine, cat) == 3, "c1, c2, b"
    assert used_up(engine, ben) == 2, "a, b"
    assert used_up(engine, ada) == 4


def test_who_left_before_is_charged_with_what_they_were_charged_with(engine: Engine, people: list[User]) -> None:
    """Neither freed of what they used, nor charged with what the other team did."""
    ada, _, cat, dan = people
    submit(engine, dan, START + HOUR, content="d")
    submit(engine, ada, START + HOUR, content="a")
    leave(engine, dan, NOW - HOUR)
    submit(engine, cat, NOW, content="c")
    before = used_up(engine, dan)
    merge(engine, people)
    assert (before, used_up(engine, dan)) == (1, 1)
    found(engine, dan, "Alone")
    assert used_up(engine, dan) == 1


def test_splitting_and_merging_gains_nothing(engine: Engine, people: list[User]) -> None:
    """A pair uses up its day, one leaves and founds another team: that has used the day, too, and merges back."""
    ada, ben, *_ = people
    for number in range(3):
        submit(engine, ada, content=str(number))
    leave(engine, ben, NOW + SECOND)
    found(engine, ben, "Apart", NOW + SECOND)
    assert left(engine, ben) == 0
    accept(engine, ada, ask(engine, ben, "First"), NOW + HOUR)
    assert (left(engine, ada), used_up(engine, ada)) == (0, 3)


def test_of_two_allowances_the_larger_holds(engine: Engine, people: list[User]) -> None:
    late = NOW + 20 * DAY
    allow(engine, "First", extra_per_day=2, extra_total=1)
    allow(engine, "Second", extra_per_day=1, extra_total=5, until=late, is_ranked=True)
    merge(engine, people)
    with reading(engine) as session:
        kept = session.scalars(fresh(Allowance)).one()
        assert (kept.extra_per_day, kept.extra_total, kept.until, kept.is_ranked) == (2, 5, late, True)


# -------------------------------------------------------------------------------------------------------------- races


@pytest.mark.both
def test_no_race_of_uploads_and_a_merge_gets_anybody_one_more(engine: Engine, people: list[User]) -> None:
    offer = ask(engine, people[0], "Second")
    at = NOW + HOUR

    def work(number: int) -> list[str]:
        if number == 4:
            return [answer_to(lambda: accept(engine, people[2], offer, at))]
        user = people[number]
        return [answer_to(partial(submit, engine, user, at, content=f"{number} {n}")) for n in range(3)]

    in_threads(5, work)
    for number, user in enumerate(people):
        answer_to(partial(submit, engine, user, at + HOUR, content=f"late {number}"))
    assert_standings(engine)
    with reading(engine) as session:
        asked = the_phase_task(session)
        teams = set(
            session.scalars(select(TeamMember.team_id).where(TeamMember.user_id.in_([one.id for one in people])))
        )
        assert len(teams) == 1, "six in two days are no more than one team could have sent"
        sent = session.scalars(select(Submission.team_id).where(Submission.phase_task_id == asked.id)).all()
        assert set(sent) == teams
        assert len(sent) <= 6
    assert left(engine, people[0], at + HOUR) == 0


@pytest.mark.both
def test_of_two_merges_at_once_each_team_takes_part_in_one(engine: Engine, people: list[User]) -> None:
    """Check First's offer to Second and Second's to Third, both accepted at the same moment."""
    eve = add_user(engine, "eve")
    found(engine, eve, "Third")
    for user in (people[0], people[2], eve):
        score(engine, submit(engine, user).run_id, 0.5)
    offers = [ask(engine, people[0], "Second"), ask(engine, people[2], "Third")]
    captains = [people[2], eve]
    answers = in_threads(2, lambda number: answer_to(lambda: accept(engine, captains[number], offers[number])))
    assert sorted(answers) == ["accepted", "not_found"]
    assert_standings(engine)
    with reading(engine) as session:
        statuses = sorted(session.scalars(select(MergeOffer.status)))
    assert statuses == [OfferStatus.ACCEPTED, OfferStatus.ENDED]
    assert len(rows(look(engine))) == 2


@pytest.mark.both
def test_a_choice_at_the_moment_of_the_merge_is_the_teams_that_stays(engine: Engine, people: list[User]) -> None:
    declare(engine, entry_rule="chosen")
    sent = enter(engine, people[2], 0.5)
    enter(engine, people[3], 0.9)
    offer = ask(engine, people[0], "Second")

    def choose() -> None:
        with writing(engine) as session:
            choose_entry(session, sent, people[2], NOW)

    deeds = (choose, lambda: accept(engine, people[2], offer))
    assert all("Error" not in answer for answer in in_threads(2, lambda number: answer_to(deeds[number])))
    assert rows(look(engine)) == [(1, "First", 0.5)]
    assert_standings(engine)
    with reading(engine) as session:
        team = find_team(session, people[0], find_competition(session, COMPETITION).id)
        assert team is not None
        assert {one.team_id for one in session.scalars(select(EntryChoice))} == {team.id}
        assert session.scalars(select(FormerMember)).all()
