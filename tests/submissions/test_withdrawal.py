"""Submissions that their team takes back: what follows them, until when, and who may."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import Engine, select

from app.base.db import reading, writing
from app.base.errors import Forbidden, LimitReached, NotFound
from app.boards.activity import activity_of
from app.competitions.visibility import Viewer, views_of
from app.feedback.standings import standings_of_one
from app.models import AuditEntry, EntryChoice, EntryRule, Right, User
from app.standings.check import check_task
from app.submissions.accept import SameFile, Sender, SubmissionForm, accept_submission
from app.submissions.choices import (
    NoChoice,
    NotWithdrawable,
    choose_entry,
    is_withdrawable,
    may_put_back,
    put_back,
    withdraw_submission,
)
from app.submissions.find import get_submission
from tests import world
from tests.beside import one_right_each
from tests.competitions.allowing import allow
from tests.competitions.embargo import INSTANT, declare, enter, look, rows
from tests.world import DAY, HOUR, NOW, add_team, add_user, submit, the_phase_task, upload_of

CLOSE = NOW + DAY


def withdraw(engine: Engine, submission_id: UUID, user: User, now: datetime = NOW + HOUR) -> None:
    with writing(engine) as session:
        withdraw_submission(session, submission_id, user, now)


def withdrawn_at(engine: Engine, submission_id: UUID) -> Any:
    return world.the_submission(engine, submission_id).withdrawn_at


def runs_counted(engine: Engine) -> tuple[int | None, int | None]:
    """Return the numbers in the head of the competition: its teams and its scored runs."""
    with reading(engine) as session:
        found = activity_of(session, views_of(session, [the_phase_task(session)], Viewer(None, NOW)))
    return found.teams, found.runs


def test_a_team_with_a_later_close_withdraws_until_then_and_no_other(sqlite_engine: Engine, people: list[User]) -> None:
    ada, bob = people[:2]
    sent = [enter(sqlite_engine, user, 0.5) for user in (ada, bob)]
    allow(sqlite_engine, "Ada", until=CLOSE + HOUR)
    with pytest.raises(NotWithdrawable):
        withdraw(sqlite_engine, sent[1], bob, CLOSE)
    withdraw(sqlite_engine, sent[0], ada, CLOSE + HOUR - INSTANT)
    assert [withdrawn_at(sqlite_engine, one) for one in sent] == [CLOSE + HOUR - INSTANT, None]


# -------------------------------------------------------------------------------------------------------- what it does


@pytest.mark.both
def test_the_board_is_as_if_it_were_not_there(engine: Engine, people: list[User]) -> None:
    ada, bob = people[:2]
    enter(engine, ada, 0.5)
    best = enter(engine, ada, 0.9, minute=1)
    enter(engine, bob, 0.7)
    before = look(engine).version
    withdraw(engine, best, ada)
    assert rows(look(engine)) == [(1, "Bob", 0.7), (2, "Ada", 0.5)]
    assert [row.entries for row in look(engine).rows] == [1, 1]
    assert look(engine).version != before
    assert runs_counted(engine) == (2, 2)
    with reading(engine) as session:
        assert check_task(session, the_phase_task(session).id) == []


def test_a_team_that_withdraws_all_it_sent_has_no_row_and_is_not_counted(engine: Engine, people: list[User]) -> None:
    ada = people[0]
    withdraw(engine, enter(engine, ada, 0.5), ada)
    assert rows(look(engine)) == []
    assert runs_counted(engine) == (0, 0)


def test_what_is_withdrawn_before_it_is_scored_never_stands(engine: Engine, people: list[User]) -> None:
    ada = people[0]
    accepted = submit(engine, ada)
    withdraw(engine, accepted.submission.id, ada)
    world.score(engine, accepted.run_id, 0.9, 0.9)
    assert rows(look(engine)) == []


def test_ranks_and_changes_of_its_team_leave_it_out(engine: Engine, people: list[User]) -> None:
    ada = people[0]
    enter(engine, ada, 0.5)
    regretted = enter(engine, ada, 0.9, minute=1)
    last = enter(engine, ada, 0.75, minute=2)
    withdraw(engine, regretted, ada)
    with reading(engine) as session:
        told = {
            one: standings_of_one(session, get_submission(session, one, ada), Viewer(ada, NOW))
            for one in (regretted, last)
        }
    assert told[regretted] == []
    (standing,) = (one for one in told[last] if one.board.name == "zero-shot")
    assert (standing.change, standing.to_best, standing.counts, standing.ranks.now) == (0.25, 0.25, True, 1)


def test_its_quota_stays_used(engine: Engine, people: list[User]) -> None:
    ada = people[0]
    declare(engine, submissions_per_day=1)
    withdraw(engine, enter(engine, ada, 0.5), ada)
    with pytest.raises(LimitReached):
        submit(engine, ada, NOW + HOUR)


def test_a_choice_of_it_is_gone_and_cannot_be_made_again(engine: Engine, people: list[User]) -> None:
    ada = people[0]
    declare(engine, entry_rule="chosen")
    first = enter(engine, ada, 0.5)
    enter(engine, ada, 0.7, minute=1)
    with writing(engine) as session:
        choose_entry(session, first, ada, NOW + HOUR)
    withdraw(engine, first, ada)
    assert rows(look(engine)) == [(1, "Ada", 0.7)]
    with reading(engine) as session:
        assert session.scalars(select(EntryChoice)).all() == []
    with writing(engine) as session, pytest.raises(NoChoice, match="was withdrawn"):
        choose_entry(session, first, ada, NOW + HOUR)


def test_its_file_can_be_sent_again_without_a_question(engine: Engine, people: list[User]) -> None:
    ada = people[0]
    accepted = submit(engine, ada, content="the file")

    def send_again() -> None:
        with writing(engine) as session:
            accept_submission(
                session,
                the_phase_task(session),
                upload_of("the file"),
                Sender(ada, NOW + HOUR),
                SubmissionForm(refuse_duplicate=True),
            )

    with pytest.raises(SameFile):
        send_again()
    withdraw(engine, accepted.submission.id, ada)
    send_again()


def test_who_withdrew_it_is_on_record_once(engine: Engine, people: list[User]) -> None:
    ada, bob = people[:2]
    add_team(engine, ada, bob, name="Magpie")
    mine = enter(engine, ada, 0.5)
    withdraw(engine, mine, bob, NOW + HOUR)
    withdraw(engine, mine, ada, NOW + 2 * HOUR)
    assert withdrawn_at(engine, mine) == NOW + HOUR
    with reading(engine) as session:
        (entry,) = session.scalars(select(AuditEntry).where(AuditEntry.subject == f"submission {mine}"))
    assert (entry.actor, entry.action) == (bob.username, "submission.withdraw")
    assert entry.details == {"team": "Magpie", "task": "idioms/evaluation/detection"}


# ------------------------------------------------------------------------------------------------------------ refusals


def test_it_is_possible_until_the_phase_closes(engine: Engine, people: list[User]) -> None:
    ada = people[0]
    early, late = enter(engine, ada, 0.5), enter(engine, ada, 0.7, minute=1)
    withdraw(engine, early, ada, CLOSE - INSTANT)
    with pytest.raises(NotWithdrawable, match="until Sun 11 Jan 2026, 00:00 AoE"):
        withdraw(engine, late, ada, CLOSE)
    assert withdrawn_at(engine, late) is None
    with reading(engine) as session:
        found = get_submission(session, late, ada)
        assert [is_withdrawable(session, found, at) for at in (CLOSE - INSTANT, CLOSE)] == [True, False]


def test_only_its_team_withdraws_it(engine: Engine, people: list[User]) -> None:
    ada, bob = people[:2]
    mine = enter(engine, ada, 0.5)
    with pytest.raises(NotFound):
        withdraw(engine, mine, bob)
    with pytest.raises(Forbidden, match="Only its own team"):
        withdraw(engine, mine, add_user(engine, "root", is_administrator=True))


def test_what_was_rejected_counts_nowhere_anyway(engine: Engine, people: list[User]) -> None:
    accepted = submit(engine, people[0])
    world.reject(engine, accepted.run_id)
    with pytest.raises(NotWithdrawable, match="was rejected"):
        withdraw(engine, accepted.submission.id, people[0])


def test_a_ladder_tells_no_more_by_what_is_withdrawn(engine: Engine, people: list[User]) -> None:
    ada = people[0]
    declare(engine, entry_rule=EntryRule.LADDER, ladder_step=0.05)
    enter(engine, ada, 0.5)
    record = enter(engine, ada, 0.9, minute=1)
    with pytest.raises(NotWithdrawable, match="on a Ladder"):
        withdraw(engine, record, ada)
    assert rows(look(engine)) == [(1, "Ada", 0.9)]


# ---------------------------------------------------------------------------------------------------------- put back


def give_back(engine: Engine, submission_id: UUID, user: User, now: datetime = NOW + HOUR) -> None:
    with writing(engine) as session:
        put_back(session, submission_id, user, now)


@pytest.mark.both
def test_what_was_put_back_stands_as_if_it_had_never_been_gone(engine: Engine, people: list[User]) -> None:
    ada = people[0]
    enter(engine, ada, 0.5)
    best = enter(engine, ada, 0.9, minute=1)
    withdraw(engine, best, ada)
    give_back(engine, best, ada)
    give_back(engine, best, ada)
    assert rows(look(engine)) == [(1, "Ada", 0.9)]
    assert withdrawn_at(engine, best) is None
    with reading(engine) as session:
        assert check_task(session, the_phase_task(session).id) == []
        told = session.scalars(select(AuditEntry.action).where(AuditEntry.subject == f"submission {best}"))
        assert list(told) == ["submission.withdraw", "submission.put-back"]


def test_a_team_puts_back_until_the_close_and_organisers_later_too(engine: Engine, people: list[User]) -> None:
    ada, bob = people[:2]
    root = add_user(engine, "root", is_administrator=True)
    mine = enter(engine, ada, 0.5)
    withdraw(engine, mine, ada)
    with reading(engine) as session:
        found = get_submission(session, mine, ada)
        asked = [(ada, CLOSE - INSTANT), (ada, CLOSE), (bob, NOW), (root, CLOSE)]
        assert [may_put_back(session, found, user, at) for user, at in asked] == [True, False, False, True]
    with pytest.raises(NotFound):
        give_back(engine, mine, bob)
    with pytest.raises(NotWithdrawable):
        give_back(engine, mine, ada, CLOSE)
    give_back(engine, mine, root, CLOSE)
    assert rows(look(engine)) == [(1, "Ada", 0.5)]


def test_of_organisers_with_one_right_that_to_submissions_puts_back(sqlite_engine: Engine, people: list[User]) -> None:
    mine = enter(sqlite_engine, people[0], 0.5)
    withdraw(sqlite_engine, mine, people[0])
    organisers = one_right_each(sqlite_engine)
    with reading(sqlite_engine) as session:
        found = get_submission(session, mine, people[0])
        may = {right for right, user in organisers.items() if may_put_back(session, found, user, CLOSE)}
    assert may == {Right.SUBMISSIONS}


def test_where_teams_do_not_see_their_scores_only_organisers_put_back(engine: Engine, people: list[User]) -> None:
    """Check it, since otherwise withdrawing one after the other for a moment would reveal all scores to a team."""
    ada = people[0]
    declare(engine, visibility={"own_scores": "never"})
    mine = enter(engine, ada, 0.5)
    withdraw(engine, mine, ada)
    with pytest.raises(NotWithdrawable, match="only the organisers"):
        give_back(engine, mine, ada)
    give_back(engine, mine, add_user(engine, "root", is_administrator=True))
