"""Systems have names; runs belong to one, and share its card until an official board shows it."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import Engine, select

from app.base.config import get_settings
from app.base.db import reading, writing
from app.base.errors import InvalidForm, NotFound
from app.cards.edits import CardFrozen, edit_card
from app.cards.systems import add_system, systems_of_team
from app.competitions.find import find_board, find_competition, find_phase_task
from app.models import Submission, System, User
from app.people.act import UserAct
from app.submissions.find import get_submission
from tests.beside import add_other_task
from tests.cards.writing import ask, card, history, required, write
from tests.competitions.embargo import add_phase, enter, freeze, look
from tests.rich_world import OTHER_TASK
from tests.world import COMPETITION, DAY, HOUR, NOW, PHASE, board_version_number

CODE, PAPER = "https://example.org/code", "https://example.org/paper"
CLOSE = NOW + DAY


def system(engine: Engine, submission_id: UUID) -> str | None:
    with reading(engine) as session:
        named = select(System.name).join(Submission, Submission.system_id == System.id)
        return session.scalar(named.where(Submission.id == submission_id))


def test_runs_of_one_name_share_a_card(engine: Engine, people: list[User]) -> None:
    ada = people[0]
    first = enter(engine, ada, 0.5, system="Crow", method="XLM-R", card={"code": CODE})
    before = board_version_number(engine)
    second = enter(engine, ada, 0.6, minute=1, system="Crow", card={"paper": PAPER})
    assert system(engine, first) == system(engine, second) == "Crow"
    for sent in (first, second):
        found = card(engine, sent, ada)
        assert (found.method, found.code, found.paper) == ("XLM-R", CODE, PAPER), "an upload adds, and takes nothing"
        assert history(engine, sent, ada)[-1] == (2, "ada", ("Paper",))
    assert board_version_number(engine) > before, "the first run's row says more now"


def test_a_change_of_the_card_is_one_of_all_its_runs_and_of_no_other_system(engine: Engine, people: list[User]) -> None:
    ada, bob = people[:2]
    first, second = (enter(engine, ada, 0.5, minute=n, system="Crow") for n in (0, 1))
    other = enter(engine, ada, 0.4, minute=2, system="Jay", method="SVM")
    theirs = enter(engine, bob, 0.4, minute=3, system="Crow", method="theirs")
    write(engine, first, ada, method="XLM-R", code=CODE)
    assert card(engine, second, ada).code == CODE
    assert [card(engine, other, ada).code, card(engine, theirs, bob).code] == ["", ""]
    assert card(engine, theirs, bob).method == "theirs"


def test_without_a_name_the_method_is_the_name(engine: Engine, people: list[User]) -> None:
    ada = people[0]
    sent = [enter(engine, ada, 0.5, minute=n, method=method) for n, method in enumerate(("XLM-R", "SVM", " XLM-R "))]
    assert [system(engine, one) for one in sent] == ["XLM-R", "SVM", "XLM-R"]
    assert card(engine, sent[0], ada).method == "XLM-R", "another method is another system: no run is renamed"


def test_a_card_without_a_name_is_of_a_new_system_whatever_others_are_called(
    engine: Engine, people: list[User]
) -> None:
    ada = people[0]
    named = enter(engine, ada, 0.5, system="System 2", card={"code": CODE})
    nameless = enter(engine, ada, 0.5, minute=1, card={"paper": PAPER})
    assert (system(engine, named), system(engine, nameless)) == ("System 2", "System 3")
    assert [card(engine, one, ada).code for one in (named, nameless)] == [CODE, ""]


def test_systems_without_a_name_are_counted_for_each_task(engine: Engine, people: list[User]) -> None:
    sent = enter(engine, people[0], 0.5, card={"code": CODE})
    assert system(engine, sent) == "System 1"
    add_other_task(engine)
    with writing(engine) as session:
        team_id = session.get_one(Submission, sent).team_id
        other = find_phase_task(session, COMPETITION, PHASE, OTHER_TASK).task_id
        assert add_system(session, team_id, other, "", NOW).name == "System 1"


@pytest.mark.parametrize("part", ["summary", "data", "code"])
def test_whatever_part_of_a_card_is_sent_alone_is_kept(engine: Engine, people: list[User], part: str) -> None:
    sent = enter(engine, people[0], 0.5, card={part: CODE})
    assert system(engine, sent) == "System 1"
    assert getattr(card(engine, sent, people[0]), part) == CODE


def test_a_run_of_which_nothing_is_said_has_a_system_as_soon_as_somebody_writes_its_card(
    engine: Engine, people: list[User]
) -> None:
    ada = people[0]
    sent = [enter(engine, ada, 0.5, minute=n) for n in range(3)]
    assert [system(engine, one) for one in sent] == [None] * 3
    write(engine, sent[0], ada, method="XLM-R")
    write(engine, sent[1], ada, code=CODE)
    card_alone = enter(engine, ada, 0.5, minute=4, card={"code": CODE})
    assert [system(engine, one) for one in (*sent, card_alone)] == ["XLM-R", "System 2", None, "System 3"]


def test_the_one_used_last_comes_first(engine: Engine, people: list[User]) -> None:
    ada = people[0]
    sent = [enter(engine, ada, 0.5, minute=n, system=name) for n, name in enumerate(("Crow", "Jay", "Crow"))]
    with reading(engine) as session:
        run = get_submission(session, sent[0], ada)
        found = [one.name for one in systems_of_team(session, run.team_id, run.phase_task.task_id)]
    assert found == ["Crow", "Jay"]


@pytest.mark.parametrize("name", ["x" * 101, "two\nlines"])
def test_a_name_is_one_short_line(engine: Engine, people: list[User], name: str) -> None:
    with pytest.raises(InvalidForm) as refused:
        enter(engine, people[0], 0.5, system=name)
    assert list(refused.value.details["fields"]) == ["system"]


def test_what_its_card_says_already_need_not_be_sent_again(engine: Engine, people: list[User]) -> None:
    ask(engine, required("parameters"), "code", "method")
    ada, bob = people[:2]
    whole: dict[str, Any] = {"card": {"code": CODE, "fields": {"parameters": 350}}}
    first = enter(engine, ada, 0.5, system="Crow", method="XLM-R", **whole)
    second = enter(engine, ada, 0.6, minute=1, system="Crow")
    by_method = enter(engine, ada, 0.6, minute=2, method="SVM", **whole)
    assert [system(engine, one) for one in (first, second, by_method)] == ["Crow", "Crow", "SVM"]
    enter(engine, ada, 0.6, minute=3, method="SVM")
    for user, name in ((ada, "Jay"), (bob, "Crow"), (ada, "")):
        with pytest.raises(InvalidForm) as refused:
            enter(engine, user, 0.6, minute=4, system=name)
        assert set(refused.value.details["fields"]) == {"method", "code", "fields.parameters"}, "another system's card"
    with pytest.raises(InvalidForm) as refused:
        enter(engine, ada, 0.6, minute=5, system="Crow", card={"code": "no link"})
    assert set(refused.value.details["fields"]) == {"code"}, "what is sent must be right"


def test_a_system_is_renamed_for_all_its_runs_and_its_rows(engine: Engine, people: list[User]) -> None:
    ada, bob = people[:2]
    first, second = (enter(engine, ada, 0.5 + n / 10, minute=n, system="Crow", method="SVM") for n in (0, 1))
    enter(engine, ada, 0.4, minute=2, system="Jay")
    before = board_version_number(engine)
    rename(engine, first, ada, " Rook ")
    assert [system(engine, one) for one in (first, second)] == ["Rook", "Rook"]
    assert (look(engine).rows[0].system, card(engine, second, ada).method) == ("Rook", "SVM")
    assert board_version_number(engine) > before
    assert enter(engine, ada, 0.3, minute=3, system="Rook")
    for name in ("Jay", "x" * 101, "two\nlines"):
        with pytest.raises(InvalidForm) as refused:
            rename(engine, first, ada, name)
        assert list(refused.value.details["fields"]) == ["system"]
    with pytest.raises(NotFound):
        rename(engine, first, bob, "Magpie")
    rename(engine, first, ada, "")
    assert system(engine, first) == "Rook", "nothing said leaves it"


def rename(engine: Engine, submission_id: UUID, user: User, name: str) -> None:
    with writing(engine) as session:
        edit_card(
            UserAct(session, user, NOW, get_settings()),
            get_submission(session, submission_id, user),
            {"method": "SVM"},
            name=name,
        )


def test_an_official_board_keeps_the_card_of_a_system_whatever_phase_asks(engine: Engine, people: list[User]) -> None:
    """A run of the same system to a later phase changes nothing of the card; a changed system has another name."""
    ada = people[0]
    add_phase(engine, "post", starts_at=NOW)
    with writing(engine) as session:
        find_board(find_competition(session, COMPETITION), PHASE, "zero-shot")[0].ends_at = CLOSE
    official = enter(engine, ada, 0.5, system="Crow", method="XLM-R")
    assert freeze(engine, CLOSE + HOUR)
    later: dict[str, Any] = {"phase": "post", "at": CLOSE + 2 * HOUR}
    enter(engine, ada, 0.6, system="Crow", method="XLM-R", **later)
    with pytest.raises(InvalidForm, match="another name"):
        enter(engine, ada, 0.6, system="Crow", method="XLM-R", card={"code": CODE}, **later)
    assert card(engine, official, ada).code == ""
    with pytest.raises(CardFrozen):
        rename(engine, official, ada, "Rook")
    changed = enter(engine, ada, 0.6, system="Crow 2", method="XLM-R", card={"code": CODE}, **later)
    assert write(engine, changed, ada, CLOSE + 3 * HOUR, method="XLM-R large") == 2
    assert look(engine, now=CLOSE + HOUR).rows[0].method == "XLM-R"
