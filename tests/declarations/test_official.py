"""Official results that a later end supersedes: of each phase and task by its own latest ones."""

from __future__ import annotations

from datetime import datetime
from types import SimpleNamespace
from typing import cast

import pytest
from sqlalchemy import Engine

from app.base.db import writing
from app.competitions.find import find_board, find_competition
from app.declarations.apply.changes import Changes, Work
from app.declarations.apply.official import frozen_closes, note_superseded, phase_ends, superseded_words
from app.models import Phase, Snapshot
from tests.beside import add_other_task
from tests.competitions.embargo import add_phase, declare
from tests.rich_world import NEIGHBOURS, OTHER_BOARDS, OTHER_TASK
from tests.world import COMPETITION, DAY, EARLIER_PHASE, HOUR, NOW, PHASE, TASK, add_competition

CLOSE = NOW + DAY


@pytest.fixture
def frozen(sqlite_engine: Engine) -> Engine:
    """Freeze `evaluation` twice, its other task later than the first, and `practice` once."""
    add_competition(sqlite_engine)
    add_other_task(sqlite_engine)
    add_phase(sqlite_engine, "practice", starts_at=NOW - DAY, ends_at=CLOSE + 5 * HOUR)
    with writing(sqlite_engine) as session:
        competition = find_competition(session, COMPETITION)
        for phase, board, number, hours in (
            (PHASE, "zero-shot", 1, 0),
            (PHASE, "zero-shot", 2, -1),
            (PHASE, "one-shot", 1, -2),
            (PHASE, OTHER_BOARDS[0], 1, -3),
            ("practice", "zero-shot", 1, 5),
        ):
            place, shown = find_board(competition, phase, board)
            snapshot = Snapshot(phase_id=place.id, board_id=shown.id, number=number, document={})
            snapshot.closed_at = snapshot.made_at = CLOSE + hours * HOUR
            session.add(snapshot)
    return sqlite_engine


def test_the_latest_close_is_kept_of_each_task_in_each_phase(frozen: Engine) -> None:
    with writing(frozen) as session:
        competition = find_competition(session, COMPETITION)
        phases = {phase.name: phase.id for phase in competition.phases}
        tasks = {task.name: task.id for task in competition.tasks}
        found = frozen_closes(session, [phases[PHASE], phases["practice"]])
        assert found == {
            (phases[PHASE], tasks[TASK]): CLOSE,
            (phases[PHASE], tasks[OTHER_TASK]): CLOSE - 3 * HOUR,
            (phases["practice"], tasks[TASK]): CLOSE + 5 * HOUR,
        }
        assert set(frozen_closes(session, [phases["practice"]])) == {(phases["practice"], tasks[TASK])}
        ends = phase_ends(session, COMPETITION)
        assert ends == {phase.id: phase.ends_at for phase in competition.phases}
        assert not ends.keys() & phase_ends(session, NEIGHBOURS).keys()


@pytest.mark.parametrize(
    ("moved", "noted"),
    [
        ({PHASE: CLOSE + HOUR}, [f"phase '{PHASE}' of '{COMPETITION}' is open again"]),
        ({PHASE: None}, [f"phase '{PHASE}' of '{COMPETITION}' is open again"]),
        ({PHASE: CLOSE - HOUR}, []),
        ({"practice": CLOSE + 6 * HOUR}, [f"phase 'practice' of '{COMPETITION}' is open again"]),
        ({EARLIER_PHASE: NOW - HOUR}, []),
        ({}, []),
    ],
)
def test_a_phase_that_ends_later_than_its_last_results_goes_on(
    frozen: Engine, moved: dict[str, datetime | None], noted: list[str]
) -> None:
    with writing(frozen) as session:
        before = phase_ends(session, COMPETITION)
    for name, ends_at in moved.items():
        declare(frozen, phase=name, ends_at=ends_at)
    with writing(frozen) as session:
        changes = Changes()
        gone = max(before) + 1
        work = cast(Work, SimpleNamespace(session=session, changes=changes))
        note_superseded(work, COMPETITION, {**before, gone: CLOSE})
        told = [str(change).partition(":")[0] for change in changes.made]
        assert [one.removeprefix("left alone: ") for one in told] == noted
        assert session.get(Phase, gone) is None


def test_what_becomes_of_results_is_said_only_where_the_phase_opens_again() -> None:
    assert superseded_words(None, CLOSE, CLOSE + HOUR) is None
    assert superseded_words(CLOSE, CLOSE, CLOSE) is None
    assert superseded_words(CLOSE, CLOSE + HOUR, CLOSE + 2 * HOUR) is None, "it was open again before"
    assert "others are frozen when it closes again" in (superseded_words(CLOSE, CLOSE, CLOSE + HOUR) or "")
    assert "the live board continues" in (superseded_words(CLOSE, CLOSE, None) or "")
