"""Marks of rows are set, replaced and removed; recorded, checked, and safe at the same moment."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import Engine, select

from app.base.config import get_settings
from app.base.db import reading, writing
from app.base.errors import InvalidForm, NotFound
from app.boards.leaderboard import board_version
from app.boards.marks import Mark, entrants, has_hidden, list_marks, mark_of_submission, mark_row
from app.boards.views import RowMarkOut
from app.competitions.find import find_board, find_competition, find_phase_task
from app.competitions.visibility import Viewer
from app.models import AuditEntry, BoardShown, RowStatus, User
from app.people.act import Act
from app.submissions.find import get_submission
from tests.boards.marks import DISQUALIFIED, HIDDEN, UNRANKED, clear, mark
from tests.competitions.embargo import MINUTE, add_phase, enter, hide, look
from tests.threads import in_threads
from tests.world import COMPETITION, DAY, HOUR, NOW, PHASE, TASK, add_team, add_user, answer_to, the_phase_task

CLOSE = NOW + DAY


def test_what_is_said_of_a_row_is_recorded(engine: Engine, people: list[User]) -> None:
    root = add_user(engine, "root", is_administrator=True)
    sent = enter(engine, people[0], 0.9)
    mark(engine, "Ada", UNRANKED, "more data", actor=root)
    replaced = mark(engine, "Ada", DISQUALIFIED, "two accounts")
    one = mark(engine, sent, HIDDEN)
    clear(engine, one)
    with reading(engine) as session:
        found = list_marks(session, find_phase_task(session, COMPETITION, PHASE, TASK))
        entries = [
            one for one in session.scalars(select(AuditEntry).order_by(AuditEntry.id)) if COMPETITION in one.subject
        ]
    assert [(row.id, row.team, row.submission, row.status, row.note) for row in found] == [
        (replaced, "Ada", None, DISQUALIFIED, "two accounts")
    ]
    assert [(entry.action, entry.subject) for entry in entries] == [
        ("row.mark", "task idioms/evaluation/detection"),
        ("row.mark", "task idioms/evaluation/detection"),
        ("row.mark", "task idioms/evaluation/detection"),
        ("row.clear", "task idioms/evaluation/detection"),
    ]
    assert entries[0].actor == "root"
    assert entries[1].details == {
        "team": "Ada",
        "submission": None,
        "status": "disqualified",
        "note": "two accounts",
        "before": {"status": "unranked", "note": "more data"},
    }
    assert [(entry.details["team"], entry.details["submission"]) for entry in entries[2:]] == [("Ada", str(sent))] * 2


def test_marks_are_listed_by_team_that_of_the_whole_team_first_and_by_their_order(
    engine: Engine, people: list[User]
) -> None:
    root = add_user(engine, "root", is_administrator=True)
    bobs = enter(engine, people[1], 0.8)
    first, second = (enter(engine, people[0], 0.9, minute=minute) for minute in (1, 2))
    with writing(engine) as session:
        said = mark_row(
            Act(session, root, NOW, get_settings()),
            the_phase_task(session),
            submission_id=bobs,
            status=UNRANKED,
            note=" late ",
        )
    assert (said.team, said.submission, said.status, said.note) == ("Bob", bobs, UNRANKED, "late")
    assert (said.marked_by, said.set_at) == ("root", NOW)
    for whose in (second, first, "Ada"):
        mark(engine, whose, UNRANKED, "a reason")
    assert [(row.team, row.submission) for row in marks_at(engine, PHASE)] == [
        ("Ada", None),
        ("Ada", second),
        ("Ada", first),
        ("Bob", bobs),
    ]
    assert marks_at(engine, PHASE)[-1] == said


def test_only_a_hidden_row_makes_a_board_say_less_than_its_version(engine: Engine, people: list[User]) -> None:
    def is_any_hidden() -> bool:
        with reading(engine) as session:
            return has_hidden(session, [the_phase_task(session).id])

    enter(engine, people[0], 0.9)
    mark(engine, "Ada", UNRANKED, "a reason")
    assert not is_any_hidden()
    mark(engine, "Ada", HIDDEN)
    assert is_any_hidden()


@pytest.mark.parametrize(
    ("said", "fields"),
    [
        ({"team": "Ada", "status": UNRANKED, "note": " "}, {"note"}),
        ({"team": "Ada", "status": DISQUALIFIED, "note": "x" * 501}, {"note"}),
        ({"team": "Ada", "status": DISQUALIFIED, "note": "two\nlines"}, {"note"}),
        ({"team": "Nobody", "status": UNRANKED, "note": ""}, {"note", "team"}),
        ({"team": "", "status": HIDDEN}, {"team"}),
        ({"team": "Ada\0", "status": HIDDEN}, {"team"}),
        ({"team": "Bob", "status": HIDDEN}, {"team"}),  # took no part here
        ({"submission_id": UUID(int=0), "status": HIDDEN}, {"submission"}),
        ({"team": "Ada", "submission_id": UUID(int=0), "status": HIDDEN}, {"team"}),
    ],
)
def test_everything_wrong_is_told_and_nothing_is_changed(
    engine: Engine, people: list[User], said: dict[str, Any], fields: set[str]
) -> None:
    enter(engine, people[0], 0.9)
    add_team(engine, people[1], name="Bob")
    with writing(engine) as session, pytest.raises(InvalidForm) as refused:
        mark_row(Act(session, None, NOW, get_settings()), find_phase_task(session, COMPETITION, PHASE, TASK), **said)
    assert set(refused.value.details["fields"]) == fields
    with reading(engine) as session:
        assert list_marks(session, the_phase_task(session)) == []


@pytest.mark.both
def test_a_mark_is_taken_back_only_where_it_was_set(engine: Engine, people: list[User]) -> None:
    """Check the place of a mark: by its number alone, organisers could clear marks of another competition or phase."""
    add_phase(engine, "practice", starts_at=NOW - HOUR)
    enter(engine, people[0], 0.9)
    enter(engine, people[0], 0.9, phase="practice")
    there = mark(engine, "Ada", UNRANKED, "a reason", phase="practice")
    with pytest.raises(NotFound):
        clear(engine, there)
    assert [row.id for row in marks_at(engine, "practice")] == [there]


def marks_at(engine: Engine, phase: str) -> list[RowMarkOut]:
    with reading(engine) as session:
        return list_marks(session, find_phase_task(session, COMPETITION, phase, TASK))


def test_a_team_is_told_its_own_mark_before_that_of_a_single_submission(engine: Engine, people: list[User]) -> None:
    first, second = enter(engine, people[0], 0.9), enter(engine, people[0], 0.8, minute=1)
    mark(engine, first, DISQUALIFIED, "this file")
    mark(engine, "Ada", UNRANKED, "the team")
    mark(engine, second, HIDDEN)
    with reading(engine) as session:
        told = [mark_of_submission(session, get_submission(session, one, people[0])) for one in (first, second)]
    assert told == [Mark(UNRANKED, "the team")] * 2


def test_a_team_is_told_nothing_of_a_submission_that_another_one_s_mark_is_on(
    engine: Engine, people: list[User]
) -> None:
    first, second = enter(engine, people[0], 0.9), enter(engine, people[0], 0.8, minute=1)
    mark(engine, first, DISQUALIFIED, "this file")
    with reading(engine) as session:
        assert mark_of_submission(session, get_submission(session, second, people[0])) is None


def test_of_organisers_who_mark_at_once_one_is_right(engine: Engine, people: list[User]) -> None:
    enter(engine, people[0], 0.9)
    wanted = list(RowStatus)
    answers = in_threads(6, lambda n: answer_to(lambda: mark(engine, "Ada", wanted[n % 3], f"note {n}")))
    assert answers == ["accepted"] * 6
    with reading(engine) as session:
        (row,) = list_marks(session, the_phase_task(session))
        assert row.note == f"note {row.note[-1]}"
        assert row.status == wanted[int(row.note[-1]) % 3]


@pytest.mark.both
def test_marking_while_scores_come_in_loses_neither(engine: Engine, people: list[User]) -> None:
    """Check that the board's version rises for both, whichever comes first."""
    enter(engine, people[0], 0.9)
    with reading(engine) as session:
        before = the_phase_task(session).board_version

    def act(number: int) -> None:
        if number % 2:
            mark(engine, "Ada", UNRANKED, f"note {number}")
        else:
            enter(engine, people[1], 0.1 * number, minute=number)

    in_threads(4, act)
    with reading(engine) as session:
        assert the_phase_task(session).board_version == before + 4
        assert entrants(session, the_phase_task(session)) == ["Ada", "Bob"]


def test_a_board_that_is_hidden_says_nothing_of_marks(engine: Engine, people: list[User]) -> None:
    enter(engine, people[0], 0.9)
    hide(engine, board="hidden", public_from="close")
    before = look(engine)
    mark(engine, "Ada", DISQUALIFIED, "why")
    after = look(engine)
    assert (after.rows, after.footnotes, after.version) == ((), (), before.version)
    assert after.view.board is BoardShown.HIDDEN
    with reading(engine) as session:
        place = find_board(find_competition(session, COMPETITION), PHASE, "zero-shot")
        assert board_version(session, *place, Viewer(None, NOW + MINUTE)) == before.version
