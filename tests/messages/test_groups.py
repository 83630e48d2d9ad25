"""Recipients of mails: groups after a rescoring, beside another task, and organisers by the one right that
they have.
"""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import Engine, select, update

from app.base.config import get_settings
from app.base.db import reading, writing
from app.competitions.find import find_competition
from app.messages.announcements import group_of, people_in
from app.messages.questions import QuestionForm, ask, questions_for
from app.models import OutgoingMail, Right, ScoringRun, User
from app.people.act import UserAct
from app.people.rights import organisers_of
from app.submissions.choices import withdraw_submission
from tests.beside import add_other_task, enter_other, one_right_each
from tests.competitions.embargo import enter
from tests.rescoring.rescored import current_of, publish, runs_of, score_set, start
from tests.rich_world import EARLIER_USER, NEIGHBOURS, ONE_RIGHT
from tests.world import COMPETITION, NOW, PHASE, add_team, add_user, reject, submit


def people_of(engine: Engine, group: str, competition: str = COMPETITION) -> list[str]:
    with reading(engine) as session:
        found = find_competition(session, competition)
        chosen = group_of(found, group)
        assert chosen is not None
        names = [user.username for user in people_in(session, found, chosen)]
    return [name for name in names if name != EARLIER_USER]


@pytest.fixture
def rescored(sqlite_engine: Engine, people: list[User]) -> dict[str, Any]:
    """Ada's only file was scored, and is rejected since a set was published; Bob's is scored still."""
    entered = {"ada": enter(sqlite_engine, people[0], 0.8), "bob": enter(sqlite_engine, people[1], 0.7)}
    number = start(sqlite_engine, PHASE)
    score_set(sqlite_engine, number, {entered["bob"]: 0.6})
    reject(sqlite_engine, runs_of(sqlite_engine, number)[entered["ada"]])
    publish(sqlite_engine, number)
    return entered


def test_whose_current_run_is_rejected_since_a_set_has_no_valid_one(
    sqlite_engine: Engine, rescored: dict[str, Any]
) -> None:
    assert current_of(sqlite_engine, rescored["ada"]).status == "rejected"
    assert people_of(sqlite_engine, f"without-valid:{PHASE}") == ["ada"]
    assert people_of(sqlite_engine, f"entered:{PHASE}") == ["ada", "bob"]


def test_a_run_that_is_not_current_is_no_valid_one(sqlite_engine: Engine, people: list[User]) -> None:
    accepted = submit(sqlite_engine, people[0])
    with writing(sqlite_engine) as session:
        session.execute(update(ScoringRun).where(ScoringRun.id == accepted.run_id).values(status="scored"))
        session.execute(update(ScoringRun).where(ScoringRun.id == accepted.run_id).values(is_current=False))
    assert people_of(sqlite_engine, f"without-valid:{PHASE}") == ["ada"]


def test_who_entered_the_other_task_of_the_phase_has_entered_it(sqlite_engine: Engine, people: list[User]) -> None:
    add_other_task(sqlite_engine)
    enter_other(sqlite_engine, people[0], 0.5)
    assert people_of(sqlite_engine, f"entered:{PHASE}") == ["ada"]
    assert people_of(sqlite_engine, f"without-valid:{PHASE}") == []


def test_what_was_sent_next_door_is_not_sent_here_and_what_was_withdrawn_is_not_valid(
    sqlite_engine: Engine, people: list[User]
) -> None:
    """Check Gus, who takes part in both competitions, and whose scored file is in a phase of the same name there."""
    withdrawn = enter(sqlite_engine, people[0], 0.8)
    enter(sqlite_engine, people[1], 0.7)
    with writing(sqlite_engine) as session:
        withdraw_submission(session, withdrawn, people[0], NOW)
        gus = session.scalars(select(User).where(User.username == "gus")).one()
    add_team(sqlite_engine, gus, name="Gusts")
    assert people_of(sqlite_engine, "all") == ["ada", "bob", "gus"]
    assert people_of(sqlite_engine, f"entered:{PHASE}") == ["ada", "bob"]
    assert people_of(sqlite_engine, f"without-valid:{PHASE}") == ["ada", "gus"]


def test_groups_hold_nobody_of_another_competition(sqlite_engine: Engine, people: list[User]) -> None:
    enter(sqlite_engine, people[0], 0.5)
    assert people_of(sqlite_engine, "all") == ["ada"]
    assert people_of(sqlite_engine, "organisers") == []
    assert people_of(sqlite_engine, f"entered:{PHASE}", NEIGHBOURS) == ["gus"]
    assert people_of(sqlite_engine, "organisers", NEIGHBOURS) == sorted(["nina", *ONE_RIGHT.values()])


@pytest.mark.parametrize("right", list(Right))
def test_about_what_a_right_is_for_only_those_who_have_it_are_written_to(
    sqlite_engine: Engine, people: list[User], right: Right
) -> None:
    """Check that organisers with another right, or with the same right next door, get no mail."""
    one_right_each(sqlite_engine)
    with reading(sqlite_engine) as session:
        assert [user.username for user in organisers_of(session, COMPETITION, right)] == [f"has-{right.value}"]
        next_door = [user.username for user in organisers_of(session, NEIGHBOURS, right)]
    assert next_door == sorted(["nina", ONE_RIGHT[right]])


def test_a_question_is_mailed_to_those_who_answer_questions(sqlite_engine: Engine, people: list[User]) -> None:
    one_right_each(sqlite_engine)
    with writing(sqlite_engine) as session:
        found = find_competition(session, COMPETITION)
        ask(UserAct(session, people[0], NOW, get_settings()), found, QuestionForm("Is it blind?", "May we?"), key=None)
    with reading(sqlite_engine) as session:
        assert session.scalars(select(OutgoingMail.recipient)).all() == ["has-messages@example.org"]


def test_questions_are_those_of_the_competition(sqlite_engine: Engine, people: list[User]) -> None:
    eve = add_user(sqlite_engine, "eve")
    with reading(sqlite_engine) as session:
        here, beside = (find_competition(session, name) for name in (COMPETITION, NEIGHBOURS))
        assert questions_for(session, here, eve, sees_all=True) == []
        assert [one.title for one in questions_for(session, beside, eve, sees_all=False)] == ["Public?"]
        assert len(questions_for(session, beside, eve, sees_all=True)) == 3
