"""Which of SQLite's plans walk through tables that grow with every upload."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Engine, event

#: Tables with a row, or several, for each submission.
LARGE = ("submissions", "runs", "scores", "line_changes", "method_cards", "validations", "audit_log", "outgoing_mail")


@contextmanager
def statements(engine: Engine) -> Iterator[list[tuple[str, Any]]]:
    """Every query that is sent meanwhile."""
    found: list[tuple[str, Any]] = []

    def note(_connection: Any, _cursor: Any, statement: str, parameters: Any, _context: Any, _many: bool) -> None:
        if statement.lstrip().upper().startswith(("SELECT", "WITH")):
            found.append((statement, parameters))

    event.listen(engine, "before_cursor_execute", note)
    try:
        yield found
    finally:
        event.remove(engine, "before_cursor_execute", note)


def plan(engine: Engine, statement: str, parameters: Any) -> list[str]:
    """What SQLite does for it, step by step."""
    with engine.connect() as connection:
        rows = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters)
        return [row[3] for row in rows]


def walks(engine: Engine, asked: list[tuple[str, Any]]) -> list[str]:
    """The steps that read a large table from its start to its end, or through an index of statuses, each with its
    statement."""
    return [
        f"{step} of {statement}"
        for statement, parameters in dict((one[0], one) for one in asked).values()
        for step in plan(engine, statement, parameters)
        if _is_walk(step, statement)
    ]


def _is_walk(step: str, statement: str) -> bool:
    scanned = re.match(r"SCAN (\w+)", step)
    return scanned is not None and _table(scanned[1], statement) in LARGE


def _table(name: str, statement: str) -> str:
    """What an alias stands for."""
    found = re.search(rf"\b(?:FROM|JOIN) (\w+) AS {name}\b", statement)
    return found[1] if found else name
