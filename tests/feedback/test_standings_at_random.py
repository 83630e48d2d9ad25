"""Cached standings give the same result as all runs, in random competitions, for every viewer."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

import pytest
from sqlalchemy import Engine, delete
from sqlalchemy.orm import Session

from app.base.db import reading, writing
from app.base.errors import NotFound
from app.boards.axis import axis_of, spread_of
from app.boards.leaderboard import build_leaderboard
from app.competitions.ordering import difference_of
from app.competitions.visibility import SeenAs, Viewer
from app.feedback.neighbours import Neighbour, Neighbours
from app.feedback.scores import own_scores_of_all
from app.feedback.standings import RunStanding, standings_of_all, standings_of_one
from app.models import KeptBoard, Submission, User
from app.submissions.find import get_submission
from tests.feedback.random_world import RandomWorld, add_random_world


@pytest.mark.parametrize(
    "seed", [pytest.param(seed, marks=[pytest.mark.soak] if seed > 1 else []) for seed in range(30)]
)
def test_standings_that_are_kept_tell_the_same_as_all_runs(engine: Engine, seed: int) -> None:
    found = add_random_world(engine, seed)
    lookers: list[tuple[User, SeenAs | None]] = [(one, None) for one in found.people]
    lookers += [(found.organiser, None), (found.organiser, SeenAs.PARTICIPANT)]
    kept = [told(engine, found, *one) for one in lookers]
    assert sum(map(len, kept)) > len(found.submissions)
    with writing(engine) as session:  # whatever was chosen is chosen again from all runs
        session.execute(delete(KeptBoard))
    for looker, before in zip(lookers, kept, strict=True):
        assert told(engine, found, *looker) == before, looker


def told(
    engine: Engine, found: RandomWorld, viewer: User, seen_as: SeenAs | None
) -> Mapping[UUID, tuple[list[object], list[object]]]:
    """Return each run that somebody may see: by itself, and in a list."""
    answers: dict[UUID, tuple[list[object], list[object]]] = {}
    with reading(engine) as session:
        seen = []
        for one in found.submissions:
            try:
                seen.append(get_submission(session, one, viewer))
            except NotFound:
                continue
        looker = Viewer(viewer, found.now, seen_as)
        own = own_scores_of_all(session, seen, looker)
        listed = standings_of_all(session, seen, own, looker, with_history=True)
        for run in seen:
            alone = standings_of_one(session, run, looker)
            for standing in alone:
                assert standing.neighbours == around(session, run, standing, looker)
            answers[run.id] = [_plain(one) for one in alone], [_plain(one) for one in listed[run.id]]
    return answers


def around(session: Session, run: Submission, told: RunStanding, looker: Viewer) -> Neighbours | None:
    """The two ranked rows above the run's row and the two below it, of the whole board."""
    if not told.counts:
        return None
    board = build_leaderboard(session, run.phase_task.phase, told.board, looker)
    shown = [(row, row.cells[board.rank_by]) for row in board.rows if row.rank is not None]
    shown = [(row, cell) for row, cell in shown if cell.value is not None]
    place = next((at for at, (row, _) in enumerate(shown) if row.is_mine and row.page_id == run.id), None)
    if place is None or len(shown) < 2:
        return None
    column, mine, axis = board.columns[board.rank_by], shown[place][1].value, axis_of(board)
    has_intervals = axis is not None and any(cell.interval for _, cell in shown)
    return Neighbours(
        column,
        tuple(
            Neighbour(
                rank=row.rank or 0,
                team=row.team,
                is_this=row.page_id == run.id,
                is_mine=row.is_mine,
                value=cell.value or 0.0,
                delta=None if row.page_id == run.id else difference_of(cell.value, mine, column.decimals),
                spread=spread_of(axis, cell) if axis is not None and has_intervals else None,
            )
            for row, cell in shown[max(0, place - 2) : place + 3]
        ),
    )


def _plain(one: RunStanding) -> tuple[object, ...]:
    """Return a standing in comparable form: boards are other objects in each session."""
    values = {name: getattr(one, name) for name in one.__slots__ if name != "board"}
    return one.board.name, *values.items()
