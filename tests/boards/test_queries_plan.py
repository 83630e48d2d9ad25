"""How SQLite finds a board's entries: by the submissions of their task, never through all that was ever scored."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import Engine, event, select

from app.base.db import reading
from app.boards.leaderboard import count_entries
from app.competitions.visibility import View
from app.models import PhaseTask, User
from tests.competitions.embargo import enter, look

pytestmark = pytest.mark.both


@pytest.fixture
def asked(engine: Engine) -> list[tuple[str, Any]]:
    """Every query about runs, from now on."""
    found: list[tuple[str, Any]] = []

    def note(_connection: Any, _cursor: Any, statement: str, parameters: Any, _context: Any, _many: bool) -> None:
        if "runs.status" in statement:
            found.append((statement, parameters))

    event.listen(engine, "before_cursor_execute", note)
    return found


def plans(engine: Engine, asked: list[tuple[str, Any]]) -> list[str]:
    with engine.connect() as connection:
        return [
            " ".join(row[3] for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters))
            for statement, parameters in list(asked)
        ]


def test_entries_are_found_by_their_task(engine: Engine, people: list[User], asked: list[tuple[str, Any]]) -> None:
    if engine.dialect.name != "sqlite":
        pytest.skip("PostgreSQL decides by its statistics")
    enter(engine, people[0], 0.5)
    asked.clear()
    look(engine)
    with reading(engine) as session:
        phase_task = session.scalars(select(PhaseTask)).one()
        assert count_entries(session, {phase_task.id: View()}) == {phase_task.id: 1}
    found = plans(engine, asked)
    assert len(found) == 2
    for plan in found:
        assert "ix_submissions_phase_task_id" in plan
        assert "ix_runs_status" not in plan
