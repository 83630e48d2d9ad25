"""Method cards with an upload, changed by the team until the boards are frozen, and on boards as far as these go."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import Engine, select

from app.base.config import get_settings
from app.base.db import reading, writing
from app.base.errors import Forbidden, InvalidForm, NotFound
from app.boards.snapshots import official_board
from app.cards.edits import CardChanged, CardFrozen, card_number, edit_card, frozen_by
from app.competitions.find import find_board, find_competition
from app.competitions.visibility import Viewer
from app.models import CardVersion, Snapshot, Submission, User
from app.people.act import UserAct
from app.standings.check import check_task
from app.submissions.find import get_submission
from tests.cards.writing import answers, ask, card, history, required, write
from tests.competitions.embargo import MINUTE, enter, freeze, look
from tests.rich_world import fresh
from tests.threads import in_threads
from tests.world import (
    COMPETITION,
    DAY,
    HOUR,
    NOW,
    PHASE,
    add_team,
    add_user,
    answer_to,
    board_version_number,
    submissions_here,
    the_phase_task,
)

pytestmark = pytest.mark.both

CLOSE = NOW + DAY
LINK = "https://example.org/code"


def versions(engine: Engine) -> int:
    with reading(engine) as session:
        return len(session.scalars(fresh(CardVersion)).all())


def official(engine: Engine, viewer: User | None = None, now: Any = CLOSE + HOUR) -> Any:
    with reading(engine) as session:
        phase, found = find_board(find_competition(session, COMPETITION), PHASE, "zero-shot")
        snapshot = session.scalars(select(Snapshot).where(Snapshot.board_id == found.id)).one()
        assert snapshot.phase_id == phase.id
        return official_board(session, snapshot, Viewer(viewer, now))


# ----------------------------------------------------------------------------------------------------- with an upload


def test_a_card_comes_with_the_file(engine: Engine, people: list[User]) -> None:
    ask(engine)
    ada = people[0]
    sent = enter(engine, ada, 0.5, method="XLM-R", card={"code": LINK, "fields": {"parameters": "560"}})
    found = card(engine, sent, ada)
    assert (found.method, found.code, answers(found)) == ("XLM-R", LINK, {"parameters": 560})
    assert history(engine, sent, ada) == [(1, "ada", ("Code", "Parameters (millions)"))]


def test_without_a_card_the_method_is_what_came_with_the_file(engine: Engine, people: list[User]) -> None:
    """Check that any text is kept: older programs know nothing of cards."""
    ada = people[0]
    sent = enter(engine, ada, 0.5, method="two\nlines")
    assert card(engine, sent, ada).method == "two\nlines"
    assert look(engine).rows[0].method == "two\nlines"
    assert versions(engine) == 0


def test_what_is_required_is_asked_for_before_anything_is_accepted(engine: Engine, people: list[User]) -> None:
    ask(engine, required("parameters", "ensemble"), "code", "method")
    with pytest.raises(InvalidForm) as refused:
        enter(engine, people[0], 0.5, track="closed", card={"paper": "no link", "fields": {"parameters": 5}})
    assert refused.value.details["fields"] == {
        "track": "This competition has no tracks: leave the track out.",
        "method": "The organisers require this.",
        "paper": "A link must begin with http:// or https:// and have no spaces.",
        "code": "The organisers require this.",
        "fields.ensemble": "The organisers require this.",
    }
    with reading(engine) as session:
        assert session.scalars(submissions_here()).all() == []
    whole = {"code": LINK, "fields": {"parameters": 5, "ensemble": "no"}}
    sent = enter(engine, people[0], 0.5, method="m", card=whole)
    assert answers(card(engine, sent, people[0])) == {"parameters": 5, "ensemble": False}


def test_the_method_is_said_once(engine: Engine, people: list[User]) -> None:
    assert card(engine, enter(engine, people[0], 0.5, card={"method": "a"}), people[0]).method == "a"
    assert card(engine, enter(engine, people[1], 0.5, method="a", card={"method": "a"}), people[1]).method == "a"
    with pytest.raises(InvalidForm) as refused:
        enter(engine, people[2], 0.5, method="a", card={"method": "b"})
    assert list(refused.value.details["fields"]) == ["method"]


# ------------------------------------------------------------------------------------------------------------ changes


def test_the_team_changes_its_card_and_every_change_is_kept(engine: Engine, people: list[User]) -> None:
    ask(engine)
    ada, bob = people[:2]
    add_team(engine, ada, bob, name="Duo")
    sent = enter(engine, ada, 0.5, method="one")
    before = board_version_number(engine)
    assert write(engine, sent, ada, method="one", code=LINK) == 1
    assert write(engine, sent, bob, NOW + MINUTE, method="two", code=LINK, fields={"training": "long"}) == 2
    assert write(engine, sent, bob, NOW + MINUTE, method="two", code=LINK, fields={"training": " long "}) == 2
    assert history(engine, sent, ada) == [(1, "ada", ("Code",)), (2, "bob", ("Method", "Training"))]
    assert board_version_number(engine) == before + 2, "the same again is no change"
    assert look(engine).rows[0].method == "two"
    with reading(engine) as session:
        assert session.get_one(Submission, sent).method == "one", "what was sent stays as it was sent"


def test_a_card_for_a_run_of_which_nothing_was_said_stands_on_the_board(engine: Engine, people: list[User]) -> None:
    """Check that the system of a run is copied into its standing, which is written before anybody names the system."""
    sent = enter(engine, people[0], 0.5)
    before = board_version_number(engine)
    assert look(engine).rows[0].system == ""
    write(engine, sent, people[0])
    row = look(engine).rows[0]
    assert (row.system, row.method) == ("System 1", "")
    assert board_version_number(engine) > before
    with reading(engine) as session:
        assert check_task(session, the_phase_task(session).id) == []


def test_only_the_team_writes_its_card(engine: Engine, people: list[User]) -> None:
    sent = enter(engine, people[0], 0.5)
    with pytest.raises(NotFound):
        write(engine, sent, people[1], method="theirs")
    with pytest.raises(Forbidden, match="Only its team"):
        write(engine, sent, add_user(engine, "root", is_administrator=True), method="theirs")
    assert versions(engine) == 0


def test_nothing_is_changed_unless_everything_is_right(engine: Engine, people: list[User]) -> None:
    ask(engine, required("ensemble"))
    ada = people[0]
    sent = enter(engine, ada, 0.5, card={"fields": {"ensemble": True}})
    with pytest.raises(InvalidForm) as refused:
        write(engine, sent, ada, code="nowhere", method="better")
    assert set(refused.value.details["fields"]) == {"code", "fields.ensemble"}
    assert history(engine, sent, ada) == [(1, "ada", ("Ensemble",))]


def test_who_was_slower_is_told(engine: Engine, people: list[User]) -> None:
    ada = people[0]
    sent = enter(engine, ada, 0.5)
    write(engine, sent, ada, method="first")
    with writing(engine) as session, pytest.raises(CardChanged) as refused:
        edit_card(
            UserAct(session, ada, NOW, get_settings()),
            get_submission(session, sent, ada),
            {"method": "second"},
            version=0,
        )
    assert refused.value.details == {"version": 1}
    with writing(engine) as session:
        assert (
            edit_card(
                UserAct(session, ada, NOW, get_settings()),
                get_submission(session, sent, ada),
                {"method": "second"},
                version=1,
            )
            == 2
        )


def test_who_begins_to_write_is_told_the_newest_version_of_their_own_systems_card(
    engine: Engine, people: list[User]
) -> None:
    ada, bob = people[:2]
    theirs = enter(engine, bob, 0.4, system="Crow")
    sent = enter(engine, ada, 0.5)

    def number() -> int:
        with reading(engine) as session:
            return card_number(session, get_submission(session, sent, ada))

    assert number() == 0
    for version in (1, 2, 3):
        write(engine, theirs, bob, method=f"theirs {version}")
        write(engine, theirs, bob, method=f"theirs, again {version}")
        write(engine, sent, ada, method=f"mine {version}")
        assert number() == version
    again = enter(engine, ada, 0.6, minute=1, system="mine 1", card={"code": LINK})
    assert history(engine, again, ada)[-1] == (4, "ada", ("Code",)), "an upload goes on counting"


def test_changes_at_the_same_moment_are_kept_one_after_the_other(engine: Engine, people: list[User]) -> None:
    ada, bob = people[:2]
    add_team(engine, ada, bob, name="Duo")
    sent = enter(engine, ada, 0.5)

    def change(number: int) -> str:
        return answer_to(lambda: write(engine, sent, (ada, bob)[number % 2], method=f"m{number}"))

    assert in_threads(6, change) == ["accepted"] * 6
    assert [number for number, _, _ in history(engine, sent, ada)] == [1, 2, 3, 4, 5, 6]
    assert card(engine, sent, ada).method == look(engine).rows[0].method


# ------------------------------------------------------------------------------------------------------------- frozen


def test_the_official_board_freezes_the_card(engine: Engine, people: list[User]) -> None:
    ask(engine)
    ada = people[0]
    sent = enter(engine, ada, 0.5, method="one", card={"fields": {"parameters": 560, "ensemble": True}})
    write(engine, sent, ada, CLOSE + MINUTE / 2, method="late, but in time", fields={"parameters": 1})
    assert freeze(engine, CLOSE + HOUR)
    with pytest.raises(CardFrozen, match="11 Jan 2026, 13:00 UTC"):
        write(engine, sent, ada, CLOSE + HOUR, method="too late")
    found = official(engine)
    (row,) = found.rows
    assert [column.title for column in found.card_columns] == ["Parameters (millions)", "Ensemble"]
    assert row.method == "late, but in time"
    assert row.card is not None
    assert answers(row.card) == {"parameters": 1}
    ask(engine, [])
    assert official(engine) == found, "what is asked later changes nothing there"
    assert look(engine, now=CLOSE + HOUR).card_columns == ()


def test_what_is_submitted_after_the_freeze_has_a_card_of_its_own(engine: Engine, people: list[User]) -> None:
    ada = people[0]
    enter(engine, ada, 0.5)
    freeze(engine, CLOSE + HOUR)
    with writing(engine) as session:
        phase = find_board(find_competition(session, COMPETITION), PHASE, "zero-shot")[0]
        phase.ends_at = CLOSE + 2 * DAY
    later = enter(engine, ada, 0.6, at=CLOSE + DAY)
    assert write(engine, later, ada, CLOSE + DAY + HOUR, method="new") == 1


def test_a_run_of_which_nothing_is_said_is_frozen_by_the_board_that_it_stands_on(
    engine: Engine, people: list[User]
) -> None:
    ada, bob = people[:2]
    before = enter(engine, ada, 0.5)
    named = enter(engine, bob, 0.4, system="Crow")
    freeze(engine, CLOSE + HOUR)
    with writing(engine) as session:
        find_board(find_competition(session, COMPETITION), PHASE, "zero-shot")[0].ends_at = CLOSE + 2 * DAY
    after = enter(engine, ada, 0.6, at=CLOSE + DAY)
    with reading(engine) as session:
        found = [
            frozen_by(session, get_submission(session, sent, user))
            for sent, user in ((before, ada), (named, bob), (after, ada))
        ]
    assert [one and one.made_at for one in found] == [CLOSE + HOUR, CLOSE + HOUR, None]


def test_a_change_at_the_moment_of_the_freeze_is_in_it_or_refused(engine: Engine, people: list[User]) -> None:
    sent = {user.id: enter(engine, user, 0.1, minute=n) for n, user in enumerate(people)}

    def act(number: int) -> str:
        if number == 4:
            return str(freeze(engine, CLOSE + HOUR))
        user = people[number]
        return answer_to(lambda: write(engine, sent[user.id], user, CLOSE + HOUR, method="changed"))

    ended = in_threads(5, act)
    assert ended[4] == "2", "a board each for zero-shot and one-shot"
    shown = {row.team: row.method for row in official(engine).rows}
    for user, end in zip(people, ended, strict=False):
        assert shown[user.display_name] == {"accepted": "changed", "card_frozen": ""}[end]
