"""Systems of one name for two tasks, in two phases, of two teams: cards, and what freezes them, are each their own."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import Engine, select

from app.base.config import get_settings
from app.base.db import reading, writing
from app.base.errors import InvalidForm
from app.cards.edits import card_documents, card_number, edit_card, frozen_by, sent_card
from app.cards.form import card_form
from app.cards.systems import (
    add_system,
    card_of_system,
    check_not_frozen,
    find_system,
    frozen_with,
    phases_of,
    rename_system,
    required_cards,
    systems_of_team,
)
from app.competitions.find import find_board, find_competition, find_phase_task
from app.models import CardVersion, Snapshot, Submission, System, User
from app.people.act import UserAct
from app.submissions.accept import Sender, SubmissionForm, accept_submission
from app.submissions.find import get_submission
from tests import world
from tests.beside import add_other_task
from tests.cards.writing import FIELDS
from tests.competitions.embargo import MINUTE, add_phase
from tests.rich_world import NEIGHBOURS, OTHER_BOARDS, OTHER_TASK
from tests.world import COMPETITION, DAY, HOUR, NOW, PHASE, TASK

CROW = "Crow"


@dataclass
class Systems:
    """Systems: Crow of Ada for both tasks, of Bob for one; Ada's is sent to `post`, too. By their submissions."""

    engine: Engine
    ada: User
    bob: User
    first: UUID
    post: UUID
    other: UUID
    bobs: UUID

    def system(self, submission_id: UUID) -> int:
        with reading(self.engine) as session:
            return session.get_one(Submission, submission_id).system_id or 0


def send(engine: Engine, user: User, phase: str, task: str, at: datetime, **form: Any) -> UUID:
    with writing(engine) as session:
        asked = find_phase_task(session, COMPETITION, phase, task)
        sent = SubmissionForm(**{"system": CROW, "method": "SVM", **form})
        content = world.upload_of(f"{user.username} {phase} {task} {at}")
        accepted = accept_submission(session, asked, content, Sender(user, at), sent)
    world.score(engine, accepted.run_id, 0.5, 0.5)
    return accepted.submission.id


@pytest.fixture
def crows(sqlite_engine: Engine, people: list[User]) -> Systems:
    engine, (ada, bob, *_) = sqlite_engine, people
    add_other_task(engine)
    add_phase(engine, "post", starts_at=NOW)
    return Systems(
        engine,
        ada,
        bob,
        send(engine, ada, PHASE, TASK, NOW),
        send(engine, ada, "post", TASK, NOW + MINUTE),
        send(engine, ada, PHASE, OTHER_TASK, NOW),
        send(engine, bob, PHASE, TASK, NOW),
    )


def write(crows: Systems, submission_id: UUID, user: User, **sent: Any) -> int:
    with writing(crows.engine) as session:
        return edit_card(
            UserAct(session, user, NOW, get_settings()),
            get_submission(session, submission_id, user),
            {"method": "SVM", **sent},
        )


def test_a_name_is_one_system_for_each_task_and_team(crows: Systems) -> None:
    first, post, other, bobs = (crows.system(one) for one in (crows.first, crows.post, crows.other, crows.bobs))
    assert first == post
    assert len({first, other, bobs}) == 3
    with reading(crows.engine) as session:
        system = session.get_one(System, first)
        tasks = {name: find_phase_task(session, COMPETITION, PHASE, name).task_id for name in (TASK, OTHER_TASK)}
        found = [find_system(session, system.team_id, tasks[name], CROW) for name in (TASK, OTHER_TASK)]
        assert [one and one.id for one in found] == [first, other]
        assert find_system(session, system.team_id, tasks[TASK], "Jay") is None
        places = [set(phases_of(session, session.get_one(System, one))) for one in (first, other, bobs)]
        evaluation, later = (find_phase_task(session, COMPETITION, phase, TASK).id for phase in (PHASE, "post"))
    assert places[0] == {evaluation, later}
    assert places[2] == {evaluation}
    assert not places[1] & places[0]


def test_a_card_is_written_for_one_system_wherever_it_was_sent(crows: Systems) -> None:
    assert write(crows, crows.first, crows.ada, summary="One.") == 1
    assert write(crows, crows.post, crows.ada, summary="Two.") == 2
    assert write(crows, crows.bobs, crows.bob, summary="Bob's.") == 1
    with reading(crows.engine) as session:
        every = [crows.first, crows.post, crows.other, crows.bobs]
        summaries = {one: found.get("summary") for one, found in card_documents(session, every).items()}
        assert summaries == {crows.first: "Two.", crows.post: "Two.", crows.bobs: "Bob's."}
        assert set(card_documents(session, [crows.bobs])) == {crows.bobs}
        numbers = [card_number(session, session.get_one(Submission, one)) for one in every]
        assert numbers == [2, 2, 0, 1]
        cards = [card_of_system(session, session.get_one(System, crows.system(one))) for one in every]
        assert [(card.number, card.document.get("summary")) for card in cards] == [
            (2, "Two."),
            (2, "Two."),
            (0, None),
            (1, "Bob's."),
        ]
        versions = session.scalars(select(CardVersion).where(CardVersion.system_id == crows.system(crows.first)))
        assert [(one.number, one.is_current) for one in versions] == [(1, False), (2, True)]


def test_a_system_without_a_card_has_the_method_that_was_sent_last(crows: Systems) -> None:
    """Check that the time of sending decides, and not the order of rows."""
    with writing(crows.engine) as session:
        for submission_id, method, at in ((crows.post, "Older", NOW - HOUR), (crows.first, "Newest", NOW)):
            submission = session.get_one(Submission, submission_id)
            submission.method, submission.submitted_at = method, at
        assert card_of_system(session, session.get_one(System, crows.system(crows.first))).document == {
            "method": "Newest"
        }
        session.get_one(Submission, crows.first).submitted_at = NOW - DAY
        assert card_of_system(session, session.get_one(System, crows.system(crows.first))).document == {
            "method": "Older"
        }


def test_systems_are_listed_by_team_and_task_the_last_used_first(crows: Systems) -> None:
    """Check that a system without submissions comes last; requested cards are named alike."""
    jay = send(crows.engine, crows.ada, PHASE, TASK, NOW + 5 * MINUTE, system="Jay", method="BERT")
    send(crows.engine, crows.ada, PHASE, TASK, NOW + 9 * MINUTE)
    with writing(crows.engine) as session:
        system = session.get_one(System, crows.system(jay))
        unused = [add_system(session, system.team_id, system.task_id, "", NOW).id for _ in range(2)]
        listed = systems_of_team(session, system.team_id, system.task_id)
        assert [one.id for one in listed] == [crows.system(crows.first), system.id, *unused[::-1]]
        assert [one.name for one in listed] == [CROW, "Jay", "System 4", "System 3"]
        asks = card_form({"required": ["code"], "fields": []})
        cards = required_cards(session, system.team_id, system.task_id, asks)
        assert cards == {CROW: {"method": "SVM"}, "Jay": {"method": "BERT"}, "System 4": {}, "System 3": {}}
        assert required_cards(session, system.team_id, system.task_id, card_form({"required": [], "fields": []})) == {}
        with pytest.raises(InvalidForm):
            rename_system(session, system, CROW, crows.ada, NOW)
        other = session.get_one(System, crows.system(crows.other))
        rename_system(session, other, "Jay", crows.ada, NOW)
        assert other.name == "Jay", "for another task the name is free"


def freeze(crows: Systems, phase: str, board: str, made_at: datetime, competition: str = COMPETITION) -> int:
    with writing(crows.engine) as session:
        place, shown = find_board(find_competition(session, competition), phase, board)
        number = 100 + len(session.scalars(select(Snapshot.id)).all())
        snapshot = Snapshot(phase_id=place.id, board_id=shown.id, number=number, document={})
        snapshot.closed_at = snapshot.made_at = made_at
        session.add(snapshot)
        session.flush()
        return snapshot.id


def frozen(crows: Systems) -> list[int | None]:
    """Return what has frozen the cards of Ada's two systems and of Bob's."""
    with reading(crows.engine) as session:
        found = []
        for one in (crows.first, crows.other, crows.bobs):
            system = session.get_one(System, crows.system(one))
            snapshot = frozen_with(session, system)
            by = frozen_by(session, session.get_one(Submission, one))
            assert (by and by.id) == (snapshot and snapshot.id)
            if snapshot is not None:
                with pytest.raises(InvalidForm):
                    check_not_frozen(session, system)
            else:
                check_not_frozen(session, system)
            found.append(snapshot.id if snapshot else None)
        return found


def test_a_card_is_frozen_by_boards_of_its_task_in_phases_that_it_was_sent_to_before(crows: Systems) -> None:
    freeze(crows, PHASE, "zero-shot", NOW - HOUR)
    freeze(crows, PHASE, "zero-shot", NOW + DAY, NEIGHBOURS)
    assert frozen(crows) == [None, None, None]
    of_other = freeze(crows, PHASE, OTHER_BOARDS[1], NOW + 3 * HOUR)
    assert frozen(crows) == [None, of_other, None]
    later = freeze(crows, "post", "one-shot", NOW + 2 * HOUR)
    assert frozen(crows) == [later, of_other, None], "Bob has sent nothing there"
    first = freeze(crows, PHASE, "one-shot", NOW)
    assert frozen(crows) == [first, of_other, first]


def test_a_submission_of_no_system_is_frozen_by_the_boards_of_its_own_place(crows: Systems) -> None:
    alone = send(crows.engine, crows.bob, PHASE, OTHER_TASK, NOW + MINUTE, system="", method="")
    freeze(crows, PHASE, "zero-shot", NOW + HOUR)
    freeze(crows, "post", "zero-shot", NOW + HOUR)
    freeze(crows, PHASE, OTHER_BOARDS[0], NOW)

    def by() -> int | None:
        with reading(crows.engine) as session:
            submission = session.get_one(Submission, alone)
            assert submission.system_id is None
            found = frozen_by(session, submission)
            return found.id if found else None

    assert by() is None
    last = freeze(crows, PHASE, OTHER_BOARDS[0], NOW + 2 * HOUR)
    assert by() == last
    first = freeze(crows, PHASE, OTHER_BOARDS[1], NOW + HOUR)
    assert by() == first


def test_single_fields_of_an_upload_go_over_those_of_its_card() -> None:
    form = card_form({"required": [], "fields": FIELDS}, ("EN", "PT"))
    card = '{"code": "https://a.example", "paper": "https://b.example", "fields": {"training": "long", "family": "x"}}'
    sent = {"card": card, "code": "https://c.example", "data": " ", "language-PT": "on", "field-training": "short"}
    assert sent_card(sent, form) == {
        "code": "https://c.example",
        "paper": "https://b.example",
        "languages": ["PT"],
        "fields": {"training": "short", "family": "x"},
    }
    assert sent_card({"card": " ", "field-training": " "}, form) == {}
