"""Official boards: made when a phase has ended and all is scored, once, whole, and never touched again."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from sqlalchemy import Engine, delete, select, text, update
from sqlalchemy.orm import Session
from structlog.testing import capture_logs

from app.base.db import reading, writing
from app.base.errors import NotFound
from app.boards.freezing import AFTER_CLOSE, freeze_due
from app.boards.leaderboard import Leaderboard
from app.boards.rows import CommittedGold
from app.boards.snapshots import find_official, last_snapshot, official_board, official_version
from app.competitions.find import find_board, find_competition
from app.competitions.visibility import SeenAs, Viewer
from app.models import Board, Phase, PhaseTask, ScoreRow, Snapshot, Submission, Team, User
from tests.competitions.embargo import INSTANT, MINUTE, add_phase, declare, enter, freeze, hide, look, rows
from tests.rescoring import rescored
from tests.sealed import make_key, seal_gold
from tests.threads import in_threads
from tests.world import (
    COMPETITION,
    DAY,
    HOUR,
    NOW,
    PHASE,
    add_user,
    claim,
    fail,
    finish,
    reject,
    score,
    scores_of,
    submit,
    sure,
)

pytestmark = pytest.mark.both

CLOSE = NOW + HOUR
DUE = CLOSE + AFTER_CLOSE


@pytest.fixture
def closing(engine: Engine, people: list[User]) -> Engine:
    """Ada 0.9 and then 0.8 (the last counts), Bob 0.5, in a phase that ends in an hour."""
    declare(engine, entry_rule="last", ends_at=CLOSE)
    enter(engine, people[0], 0.9, method="first")
    enter(engine, people[0], 0.8, minute=1, method="second")
    enter(engine, people[1], 0.5)
    return engine


@pytest.fixture
def root(engine: Engine) -> User:
    return add_user(engine, "root", is_administrator=True)


def official(
    engine: Engine,
    viewer: User | None = None,
    now: Any = DUE,
    *,
    board: str = "zero-shot",
    number: int | None = None,
    seen_as: SeenAs | None = None,
) -> Leaderboard:
    with reading(engine) as session:
        place = find_board(find_competition(session, COMPETITION), PHASE, board)
        snapshot = find_official(session, *place, number, Viewer(viewer, now, seen_as)).snapshot
        found = official_board(session, snapshot, Viewer(viewer, now, seen_as))
        assert found.version == official_version(session, snapshot, Viewer(viewer, now, seen_as))
    return found


def documents(engine: Engine) -> list[dict[str, Any]]:
    with reading(engine) as session:
        here = select(Phase.id).where(Phase.competition_id == find_competition(session, COMPETITION).id)
        made = session.scalars(select(Snapshot).where(Snapshot.phase_id.in_(here)).order_by(Snapshot.id))
        return [copy.deepcopy(one.document) for one in made]


# ------------------------------------------------------------------------------------------------------------- making


def test_boards_are_frozen_a_minute_after_the_close(closing: Engine) -> None:
    """Check the delay: files that arrived in time may still be on their way into the database."""
    assert freeze(closing, CLOSE) == 0
    assert freeze(closing, DUE - INSTANT) == 0
    with pytest.raises(NotFound):
        official(closing)
    assert freeze(closing, DUE) == 2  # zero-shot and one-shot
    assert rows(official(closing)) == [(1, "Ada", 0.8), (2, "Bob", 0.5)]
    assert rows(official(closing, board="one-shot")) == []


def test_freezing_twice_makes_nothing_new(closing: Engine) -> None:
    freeze(closing, DUE)
    before = documents(closing)
    assert freeze(closing, DUE + DAY) == 0
    assert documents(closing) == before


def test_a_board_that_cannot_be_frozen_keeps_no_other(closing: Engine) -> None:
    with writing(closing) as session:
        broken = [{"metric": "of a later version"}]
        session.execute(update(Board).where(Board.name == "one-shot").values(columns=broken))
    with capture_logs() as logged:
        assert freeze(closing, DUE) == 1
    assert rows(official(closing)) == [(1, "Ada", 0.8), (2, "Bob", 0.5)]
    assert [one["event"] for one in logged] == ["board_not_frozen"]


def test_sweeps_at_the_same_moment_freeze_once(closing: Engine) -> None:
    def sweep(_: int) -> int:
        return freeze(closing, DUE)

    assert sorted(in_threads(6, sweep)) == [0, 0, 0, 0, 0, 2]
    assert len(documents(closing)) == 2


def test_a_sweep_that_dies_leaves_none_of_them(closing: Engine) -> None:
    with Session(closing) as session:  # never commits
        assert len(freeze_due(session, DUE)) == 2
    assert documents(closing) == []


@pytest.mark.parametrize("state", ["queued", "running"])
def test_nothing_is_frozen_while_something_is_left_to_score(closing: Engine, people: list[User], state: str) -> None:
    run_id = submit(closing, people[2], NOW + 3 * MINUTE, content="late").run_id
    held = claim(closing, run_id) if state == "running" else None
    assert freeze(closing, DUE) == 0
    finish(closing, held or sure(claim(closing, run_id)), scores_of("zero_shot/all", 0.95))
    assert freeze(closing, DUE) == 2
    assert rows(official(closing))[0] == (1, "Cat", 0.95)


def test_what_was_rejected_or_failed_does_not_hold_it_up(closing: Engine, people: list[User]) -> None:
    reject(closing, submit(closing, people[2], content="bad").run_id)
    fail(closing, submit(closing, people[3], content="unlucky").run_id)
    assert freeze(closing, DUE) == 2
    assert len(official(closing).rows) == 2


def test_an_open_rescoring_set_does_not_hold_it_up(closing: Engine) -> None:
    """Check that its runs wait next to the current ones; official results are those that counted when the
    phase closed.
    """
    rescored.start(closing)
    assert freeze(closing, DUE) == 2
    assert rows(official(closing)) == [(1, "Ada", 0.8), (2, "Bob", 0.5)]


def test_only_phases_that_end_want_it_and_have_submissions_are_frozen(engine: Engine, people: list[User]) -> None:
    declare(engine, ends_at=CLOSE)
    assert freeze(engine, DUE) == 0, "nobody submitted"
    enter(engine, people[0], 0.5)
    declare(engine, ends_at=None)
    assert freeze(engine, DUE + 999 * DAY) == 0, "no end"
    declare(engine, ends_at=CLOSE, has_snapshot=False)
    assert freeze(engine, DUE) == 0, "not wanted"
    declare(engine, has_snapshot=True)
    assert freeze(engine, DUE) == 2


def test_each_phase_and_each_board_is_frozen_for_itself(closing: Engine, people: list[User]) -> None:
    """Another phase closed earlier, and is frozen after one that closed later; a board is declared after all others."""
    add_phase(closing, "short", starts_at=NOW - HOUR, ends_at=NOW + 10 * MINUTE, has_snapshot=False)
    enter(closing, people[2], 0.6, phase="short")
    assert freeze(closing, DUE) == 2
    declare(closing, phase="short", has_snapshot=True)
    assert freeze(closing, DUE) == 2
    with writing(closing) as session:
        phase, board = find_board(find_competition(session, COMPETITION), PHASE, "one-shot")
        session.execute(delete(Snapshot).where(Snapshot.phase_id == phase.id, Snapshot.board_id == board.id))
    assert freeze(closing, DUE) == 1


# -------------------------------------------------------------------------------------------------------- immutability


def test_nothing_that_comes_later_touches_it(closing: Engine, people: list[User]) -> None:
    freeze(closing, DUE)
    documents_before, before = documents(closing), official(closing)
    with writing(closing) as session:  # rescored, renamed, other columns, another gold, another rule
        session.execute(update(ScoreRow).where(ScoreRow.value.is_not(None)).values(value=0.1))
        session.execute(update(Team).where(Team.name == "Ada").values(name="Renamed"))
        session.execute(update(Submission).values(method="edited"))
        session.execute(update(PhaseTask).values(gold="corrected.csv", gold_version="2"))
        for board in session.scalars(select(Board)):
            board.columns = [{**board.columns[0], "title": "New title", "decimals": 1}]
    declare(closing, ends_at=CLOSE + DAY, entry_rule="all")
    enter(closing, people[2], 0.99, at=CLOSE + HOUR)
    assert documents(closing) == documents_before
    after = official(closing)
    assert after.rows == before.rows
    assert after.columns == before.columns
    assert (after.version, after.entry_rule, after.gold_version) == (before.version, "last", "")
    assert [row.team for row in look(closing).rows][0] == "Cat"


def test_it_keeps_everything_that_a_row_has(closing: Engine, root: User) -> None:
    freeze(closing, DUE)
    live, frozen = look(closing, root), official(closing, root)
    assert frozen.rows == live.rows
    assert frozen.columns == live.columns
    assert frozen.rows[0].cells[0].signature == "idiom-detection:1|macro_f1|zero_shot/all"
    [document] = [one for one in documents(closing) if one["rows"]]
    assert [row["rank"] for row in document["rows"]] == [1, 2]
    assert [row["method"] for row in document["rows"]] == ["second", ""]
    made_of_statistics = {"interval", "rank_range", "cluster"}
    for row in document["rows"]:
        assert [one for one in (row, *row["cells"]) if made_of_statistics & one.keys()] == []


def test_it_names_the_gold_that_it_rests_on(closing: Engine) -> None:
    make_key(closing)
    version = seal_gold(closing, b"gold")
    freeze(closing, DUE)
    assert look(closing).sealed_gold == official(closing).sealed_gold == (CommittedGold(1, version.commitment),)


def test_ones_own_row_is_marked_for_oneself(closing: Engine, people: list[User]) -> None:
    freeze(closing, DUE)
    assert [row.is_mine for row in official(closing, people[0]).rows] == [True, False]
    assert [row.is_mine for row in official(closing).rows] == [False, False]


def test_a_phase_that_is_opened_again_is_frozen_again_beside_the_first(closing: Engine, people: list[User]) -> None:
    freeze(closing, DUE)
    declare(closing, ends_at=CLOSE + DAY)
    enter(closing, people[2], 0.99, at=CLOSE + HOUR)
    assert freeze(closing, DUE) == 0, "it is open again"
    assert rows(official(closing))[0] == (1, "Ada", 0.8)
    assert freeze(closing, DUE + DAY) == 2
    assert rows(official(closing))[0] == (1, "Cat", 0.99)
    assert rows(official(closing, number=1))[0] == (1, "Ada", 0.8)
    with pytest.raises(NotFound):
        official(closing, number=3)


def test_moving_the_end_into_the_past_makes_no_other(closing: Engine) -> None:
    freeze(closing, DUE)
    declare(closing, ends_at=NOW + 5 * MINUTE)
    assert freeze(closing, DUE) == 0


# ------------------------------------------------------------------------------------------------------------- embargo


def test_an_embargo_holds_for_it_too(closing: Engine, people: list[User], root: User) -> None:
    hide(closing, board="hidden", public_from=CLOSE + DAY)
    freeze(closing, DUE)
    for viewer, seen_as in ((None, None), (people[0], None), (root, SeenAs.PARTICIPANT)):
        with pytest.raises(NotFound):
            official(closing, viewer, CLOSE + DAY - INSTANT, seen_as=seen_as)
    with reading(closing) as session:
        place = find_board(find_competition(session, COMPETITION), PHASE, "zero-shot")
        assert last_snapshot(session, *place, Viewer(None, CLOSE)) is None
        assert last_snapshot(session, *place, Viewer(root, CLOSE)) is not None
    assert rows(official(closing, root)) == [(1, "Ada", 0.8), (2, "Bob", 0.5)]
    assert rows(official(closing, None, CLOSE + DAY)) == [(1, "Ada", 0.8), (2, "Bob", 0.5)]


def test_names_ranks_and_digits_are_held_back_as_on_the_live_board(closing: Engine) -> None:
    hide(closing, names_from=CLOSE + DAY)
    freeze(closing, DUE)
    assert {row.team[:5] for row in official(closing).rows} == {"Team "}
    assert official(closing).rows == look(closing, now=DUE).rows
    assert rows(official(closing, None, CLOSE + DAY))[0][1] == "Ada"
    hide(closing, board="ranks_only")
    assert {cell.value for row in official(closing).rows for cell in row.cells} == {None}


def test_ranks_by_few_digits_stay_when_all_are_shown_later(closing: Engine, people: list[User], root: User) -> None:
    enter(closing, people[2], 0.84)
    hide(closing, precision=1)
    freeze(closing, DUE)
    expected = [(1, "Ada", 0.8), (1, "Cat", 0.8), (3, "Bob", 0.5)]
    assert rows(official(closing)) == expected
    hide(closing)
    assert rows(official(closing)) == [(1, "Ada", 0.8), (1, "Cat", 0.84), (3, "Bob", 0.5)]
    assert rows(look(closing)) == [(1, "Cat", 0.84), (2, "Ada", 0.8), (3, "Bob", 0.5)]


def test_what_was_carried_over_is_frozen_with_the_phase_that_it_came_from(closing: Engine, people: list[User]) -> None:
    add_phase(closing, "post", starts_at=CLOSE, ends_at=CLOSE + DAY, carry_over=PHASE)
    enter(closing, people[2], 0.7, phase="post", at=CLOSE)
    assert freeze(closing, DUE + DAY) == 4
    with reading(closing) as session:
        place = find_board(find_competition(session, COMPETITION), "post", "zero-shot")
        snapshot = find_official(session, *place, None, Viewer(None, DUE)).snapshot
        found = official_board(session, snapshot, Viewer(None, DUE))
    assert [(row.team, row.carried_from) for row in found.rows] == [("Ada", PHASE), ("Cat", None), ("Bob", PHASE)]
    with reading(closing) as session:
        names = {phase.id: phase.name for phase in session.scalars(select(Phase))}
    assert [names[key] for key in snapshot.document["carried"]] == [PHASE]


def test_a_score_that_comes_after_the_close_of_its_run_is_in_the_live_board_only(
    closing: Engine, people: list[User]
) -> None:
    """A run that failed and is scored again later, by an organiser."""
    run_id = submit(closing, people[2], content="unlucky").run_id
    fail(closing, run_id)
    freeze(closing, DUE)
    with writing(closing) as session:
        session.execute(text("UPDATE runs SET status = 'queued', attempts = 0 WHERE id = :id"), {"id": run_id})
    score(closing, run_id, 0.99)
    assert rows(look(closing))[0] == (1, "Cat", 0.99)
    assert rows(official(closing))[0] == (1, "Ada", 0.8)
