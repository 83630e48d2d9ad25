"""The human score of a row: of the round of its own task in its own phase that was published last."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

import pytest
from sqlalchemy import Engine

from app.base.db import writing
from app.competitions.columns import HUMAN_SCORE
from app.competitions.find import find_phase_task
from app.models import JudgingRound, RoundSource, User
from tests.beside import add_other_task, enter_other
from tests.competitions.embargo import add_phase, enter, look
from tests.rich_world import OTHER_BOARDS, OTHER_TASK
from tests.world import COMPETITION, DAY, HOUR, NOW, ONE_SHOT, PHASE, TASK, ZERO_SHOT

POST = "post"


def judge(engine: Engine, phase: str, task: str, published_at: datetime | None, scores: dict[UUID, float]) -> None:
    """A round of this task in this phase, of the first setting alone."""
    with writing(engine) as session:
        asked = find_phase_task(session, COMPETITION, phase, task)
        judged = {str(one): {ZERO_SHOT: {"value": value, "reason": None}} for one, value in scores.items()}
        session.add(
            JudgingRound(
                competition_id=asked.phase.competition_id,
                phase_task_id=asked.id,
                name=f"{phase}-{task}-{published_at}",
                source=RoundSource.BROWSER,
                seed=1,
                created_at=NOW,
                published_at=published_at,
                results=published_at and {"signatures": {ZERO_SHOT: "judged by people"}, "scores": judged},
            )
        )


def told(engine: Engine, board: str, phase: str = PHASE) -> list[tuple[str, float | None, str | None]]:
    """Return team, value and reason of each row's last column; [] if that is not the human score."""
    found = look(engine, board=board, phase=phase)
    if found.columns[-1].metric != HUMAN_SCORE:
        return []
    return [(row.team, row.cells[-1].value, row.cells[-1].reason) for row in found.rows]


@pytest.fixture
def judged(sqlite_engine: Engine, people: list[User]) -> Engine:
    """Ada's entry was judged twice, the later round was begun first; the other task's and the next phase's later
    still, and that of the phase before was not published."""
    engine, (ada, bob, *_) = sqlite_engine, people
    add_other_task(engine)
    add_phase(engine, POST, starts_at=NOW - DAY)
    here, beside = enter(engine, ada, 0.7, 0.6), enter_other(engine, ada, 0.5)
    enter(engine, bob, 0.4)
    later = enter(engine, ada, 0.3, phase=POST)
    every = (here, beside, later)
    judge(engine, PHASE, TASK, NOW + HOUR, {here: 0.51})
    judge(engine, PHASE, TASK, NOW, {here: 0.21})
    judge(engine, PHASE, OTHER_TASK, NOW + 2 * HOUR, dict.fromkeys(every, 0.61))
    judge(engine, POST, TASK, NOW + 3 * HOUR, dict.fromkeys(every, 0.71))
    judge(engine, PHASE, TASK, None, {})
    return engine


def test_it_is_of_the_round_of_its_own_place_that_was_published_last(judged: Engine) -> None:
    not_judged = "this submission was not judged"
    assert told(judged, "zero-shot") == [("Ada", 0.51, None), ("Bob", None, not_judged)]
    assert told(judged, OTHER_BOARDS[0]) == [("Ada", 0.61, None)]
    assert told(judged, "zero-shot", POST) == [("Ada", 0.71, None)]


def test_a_board_of_what_nobody_judged_has_none(judged: Engine) -> None:
    assert told(judged, "one-shot") == []
    assert look(judged, board="one-shot").columns[0].split == ONE_SHOT
