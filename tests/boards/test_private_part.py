"""A private part of the items: its scores rank boards from its moment on, and are nowhere before."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import Engine

from app.base.db import reading, writing
from app.base.errors import NotFound
from app.boards.details import scores_of_row
from app.boards.freshness import freshness
from app.boards.leaderboard import board_version, build_leaderboard
from app.boards.rows import Leaderboard
from app.boards.snapshots import find_official, last_snapshot, official_board
from app.competitions.find import find_board, find_competition, find_phase_task
from app.competitions.visibility import SeenAs, Viewer
from app.feedback.scores import own_scores_of
from app.models import User
from app.submissions.find import get_submission
from evergold.scoring.halves import Half
from tests import world
from tests.boards.marks import HIDDEN, mark
from tests.competitions import embargo
from tests.competitions.embargo import INSTANT, add_phase, declare, freeze, look, rows
from tests.world import COMPETITION, DAY, NOW, PHASE, TASK, ZERO_SHOT, add_user, claim, finish, scores_of, submit, sure

CLOSE = NOW + DAY
REVEAL = CLOSE + timedelta(days=3)
AT_CLOSE: dict[str, Any] = {"share": 0.7, "seed": "a seed that nobody knows", "shown_from": "close"}


def divide(engine: Engine, **values: Any) -> None:
    with writing(engine) as session:
        world.the_phase_task(session).private_part = {**AT_CLOSE, **values} if values.get("share", 1) else {}


def enter(engine: Engine, user: User, public: float, private: float, minute: int = 0) -> Any:
    """A run with a score of each part; its submission's id."""
    accepted = submit(engine, user, NOW + timedelta(minutes=minute), content=f"{user.username} {minute}")
    held = sure(claim(engine, accepted.run_id))
    assert held.private_part
    assert finish(engine, held, scores_of(ZERO_SHOT, public), private=scores_of(ZERO_SHOT, private))
    return accepted.submission.id


@pytest.fixture
def root(engine: Engine) -> User:
    return add_user(engine, "root", is_administrator=True)


@pytest.fixture
def divided(engine: Engine, people: list[User]) -> Engine:
    """Ada is first in public and third in private; her second run would be first there, and does not count."""
    divide(engine)
    enter(engine, people[0], 0.9, 0.3)
    enter(engine, people[0], 0.2, 0.99, minute=1)
    enter(engine, people[1], 0.5, 0.8)
    enter(engine, people[2], 0.4, 0.6)
    return engine


def of_half(
    engine: Engine,
    half: Half | None,
    viewer: User | None,
    now: Any,
    seen_as: SeenAs | None = None,
    *,
    phase: str = PHASE,
) -> Leaderboard:
    with reading(engine) as session:
        place = find_board(find_competition(session, COMPETITION), phase, "zero-shot")
        found = build_leaderboard(session, *place, Viewer(viewer, now, seen_as), half=half)
        assert found.version == board_version(session, *place, Viewer(viewer, now, seen_as), half=half)
    return found


PUBLIC_ROWS = [(1, "Ada", 0.9), (2, "Bob", 0.5), (3, "Cat", 0.4)]
PRIVATE_ROWS = [(1, "Bob", 0.8), (2, "Cat", 0.6), (3, "Ada", 0.3)]


def test_the_private_part_ranks_the_board_from_the_close_on(divided: Engine, people: list[User]) -> None:
    for viewer in (None, people[0]):
        before, after = look(divided, viewer, CLOSE - INSTANT), look(divided, viewer, CLOSE)
        assert rows(before) == PUBLIC_ROWS
        assert rows(after) == PRIVATE_ROWS
        assert (before.half, after.half) == (Half.PUBLIC, Half.PRIVATE)
        assert before.version != after.version


def test_which_run_counts_the_public_part_decides(divided: Engine) -> None:
    """Check the rule: otherwise the best of many attempts on the private part would be shown."""
    shown = look(divided, None, CLOSE)
    assert [row.entries for row in shown.rows] == [1, 1, 2]
    ada = shown.rows[2]
    assert [cell.value for cell in ada.cells] == [0.3, 0.15, 0.9]
    assert [(one.metric, one.split, one.title) for one in shown.columns][2] == (
        "macro_f1",
        "public/zero_shot/all",
        "Public: F1",
    )


def test_a_moment_of_its_own_goes_before_the_close(divided: Engine) -> None:
    divide(divided, shown_from=REVEAL.isoformat())
    assert rows(look(divided, None, REVEAL - INSTANT)) == PUBLIC_ROWS
    assert rows(look(divided, None, REVEAL)) == PRIVATE_ROWS
    assert look(divided, None, CLOSE).view.private_at == REVEAL


def test_where_no_moment_is_declared_it_is_the_close(divided: Engine) -> None:
    with writing(divided) as session:
        world.the_phase_task(session).private_part = {"share": 0.7, "seed": AT_CLOSE["seed"]}
    assert rows(look(divided, None, CLOSE - INSTANT)) == PUBLIC_ROWS
    assert rows(look(divided, None, CLOSE)) == PRIVATE_ROWS


def test_the_version_of_a_board_with_a_hidden_row_is_of_the_part_that_it_shows(divided: Engine) -> None:
    """`look` compares it with that of the board itself."""
    mark(divided, "Cat", HIDDEN)
    before, after = look(divided, None, CLOSE - INSTANT), look(divided, None, CLOSE)
    assert (rows(before), rows(after)) == (PUBLIC_ROWS[:2], [(1, "Bob", 0.8), (2, "Ada", 0.3)])
    assert before.version != after.version


def test_organisers_can_look_at_once_and_see_first_what_others_see(divided: Engine, root: User) -> None:
    assert rows(look(divided, root, NOW)) == PUBLIC_ROWS
    assert rows(of_half(divided, Half.PRIVATE, root, NOW)) == PRIVATE_ROWS
    assert rows(of_half(divided, Half.PUBLIC, root, CLOSE)) == PUBLIC_ROWS
    for seen_as in SeenAs:
        with pytest.raises(NotFound):
            of_half(divided, Half.PRIVATE, root, NOW, seen_as)


def test_nobody_else_gets_it_by_asking(divided: Engine, people: list[User]) -> None:
    for viewer in (None, people[0]):
        with pytest.raises(NotFound):
            of_half(divided, Half.PRIVATE, viewer, CLOSE - INSTANT)
        assert rows(of_half(divided, Half.PRIVATE, viewer, CLOSE)) == PRIVATE_ROWS
        assert rows(of_half(divided, Half.PUBLIC, viewer, CLOSE)) == PUBLIC_ROWS


def test_items_that_are_not_divided_have_no_parts(divided: Engine) -> None:
    divide(divided, share=0)
    assert look(divided, None, CLOSE).half is None
    for half in Half:
        with pytest.raises(NotFound):
            of_half(divided, half, None, CLOSE)


def test_official_is_what_the_private_part_says_and_is_shown_no_earlier(divided: Engine, root: User) -> None:
    divide(divided, shown_from=REVEAL.isoformat())
    assert freeze(divided, CLOSE + DAY) == 2
    with reading(divided) as session:
        place = find_board(find_competition(session, COMPETITION), PHASE, "zero-shot")
        assert last_snapshot(session, *place, Viewer(None, REVEAL - INSTANT)) is None
        snapshot = find_official(session, *place, None, Viewer(root, CLOSE + DAY)).snapshot
        assert rows(official_board(session, snapshot, Viewer(root, CLOSE))) == PRIVATE_ROWS
        found = official_board(
            session, find_official(session, *place, 1, Viewer(None, REVEAL)).snapshot, Viewer(None, REVEAL)
        )
        assert rows(found) == PRIVATE_ROWS
        assert found.half is Half.PRIVATE


def test_teams_see_private_scores_of_their_own_from_then_on(divided: Engine, people: list[User], root: User) -> None:
    submission_id = enter(divided, people[3], 0.1, 0.7)
    with reading(divided) as session:
        found = get_submission(session, submission_id, people[3])
        before, after = (own_scores_of(session, found, Viewer(people[3], now)) for now in (CLOSE - INSTANT, CLOSE))
        assert [one.value for one in before.scores] == [one.value for one in after.scores] == [0.1, 0.05]
        assert (before.private, [one.value for one in after.private]) == ((), [0.7, 0.35])
        assert own_scores_of(session, found, Viewer(root, NOW)).private
        assert own_scores_of(session, found, Viewer(root, NOW, SeenAs.PARTICIPANT)).private == ()
    declare(divided, visibility={"own_scores": "never", "precision": 0})
    with reading(divided) as session:
        found = get_submission(session, submission_id, people[3])
        assert own_scores_of(session, found, Viewer(people[3], CLOSE)).private == ()


def test_a_hidden_board_hides_both(divided: Engine) -> None:
    declare(divided, visibility={"board": "hidden", "public_from": REVEAL.isoformat()})
    assert look(divided, None, CLOSE).rows == ()
    assert rows(look(divided, None, REVEAL)) == PRIVATE_ROWS


def test_what_was_scored_before_items_were_divided_has_no_private_score(divided: Engine, people: list[User]) -> None:
    divide(divided, share=0)
    run_id = submit(divided, people[3], content="early").run_id
    finish(divided, sure(claim(divided, run_id)), scores_of(ZERO_SHOT, 0.95))
    divide(divided)
    shown = look(divided, None, CLOSE)
    assert rows(shown)[-1] == (None, "Dan", None)
    assert shown.rows[-1].cells[0].reason == "not computed"


def test_entries_of_other_parts_are_not_carried_over(divided: Engine) -> None:
    add_post(divided)
    assert look(divided, None, CLOSE, phase=POST).rows == ()
    divide_post(divided, CLOSE)
    assert rows(look(divided, None, CLOSE, phase=POST)) == PRIVATE_ROWS


POST = "post"


def add_post(engine: Engine) -> None:
    """A phase that carries over what was entered before."""
    add_phase(engine, POST, starts_at=CLOSE, ends_at=CLOSE + DAY, carry_over=PHASE)


def divide_post(engine: Engine, shown_from: datetime) -> None:
    with writing(engine) as session:
        asked = find_phase_task(session, COMPETITION, POST, TASK)
        asked.private_part = {**AT_CLOSE, "shown_from": shown_from.isoformat()}


@pytest.mark.parametrize(("own", "carried"), [(CLOSE, REVEAL), (REVEAL, CLOSE)])
def test_a_private_part_is_shown_no_earlier_than_one_that_is_carried_over(
    divided: Engine, root: User, own: datetime, carried: datetime
) -> None:
    add_post(divided)
    divide(divided, shown_from=carried.isoformat())
    divide_post(divided, own)
    before, after = look(divided, None, REVEAL - INSTANT, phase=POST), look(divided, None, REVEAL, phase=POST)
    assert (rows(before), rows(after)) == (PUBLIC_ROWS, PRIVATE_ROWS)
    assert (before.view.private, before.view.private_at, after.view.private) == (False, REVEAL, True)
    assert before.version != after.version
    with pytest.raises(NotFound):
        of_half(divided, Half.PRIVATE, None, REVEAL - INSTANT, phase=POST)
    assert rows(look(divided, root, REVEAL - INSTANT, phase=POST)) == PUBLIC_ROWS
    assert rows(look(divided, root, REVEAL, phase=POST)) == PRIVATE_ROWS
    assert rows(of_half(divided, Half.PRIVATE, root, NOW, phase=POST)) == PRIVATE_ROWS


@pytest.mark.parametrize(("own", "carried"), [(CLOSE, REVEAL), (REVEAL, CLOSE)])
def test_official_results_with_what_was_carried_over_wait_for_both_private_parts(
    divided: Engine, people: list[User], root: User, own: datetime, carried: datetime
) -> None:
    add_post(divided)
    embargo.enter(divided, people[3], 0.1, phase=POST, at=CLOSE)
    divide(divided, shown_from=carried.isoformat())
    divide_post(divided, own)
    assert freeze(divided, CLOSE + 2 * DAY) == 4
    with reading(divided) as session:
        place = find_board(find_competition(session, COMPETITION), POST, "zero-shot")
        for early in (CLOSE, REVEAL - INSTANT):
            assert last_snapshot(session, *place, Viewer(None, early)) is None
            assert last_snapshot(session, *place, Viewer(root, early, SeenAs.PARTICIPANT)) is None
            assert last_snapshot(session, *place, Viewer(root, early)) is not None
        found = last_snapshot(session, *place, Viewer(None, REVEAL))
        assert found is not None
        assert rows(official_board(session, found, Viewer(None, REVEAL))) == [*PRIVATE_ROWS, (None, "Dan", None)]


def test_pages_from_memory_notice_the_moment(divided: Engine) -> None:
    divide(divided, shown_from=REVEAL.isoformat())
    first, last = (freshness(divided, COMPETITION, now) for now in (REVEAL - INSTANT, REVEAL))
    assert first != last
    assert first == freshness(divided, COMPETITION, CLOSE)


def test_an_opened_row_of_the_private_part_has_no_more_digits_than_the_phase_shows(
    engine: Engine, people: list[User]
) -> None:
    divide(engine)
    enter(engine, people[0], 0.123456, 0.654321)
    declare(engine, visibility={"precision": 2})
    shown = look(engine, None, CLOSE)
    assert rows(shown) == [(1, "Ada", 0.65)]
    with reading(engine) as session:
        values = {score.value for score in scores_of_row(session, shown, shown.rows[0])}
    assert values == {0.65, 0.33}, "0.654321 and half of it"
