"""Costs of queries as their tables grow: which of SQLite's plans walk through the tables, and how much a
database does.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Engine, event

#: Tables that grow with submissions, with teams and people, or with what these do.
LARGE = frozenset(
    [
        "submissions",
        "runs",
        "scores",
        "run_statistics",
        "line_changes",
        "method_cards",
        "systems",
        "validations",
        "entry_choices",
        "row_marks",
        "standings",
        "tallies",
        "climbing_alerts",
        "allowances",
        "teams",
        "team_members",
        "former_members",
        "team_invitations",
        "registrations",
        "users",
        "login_sessions",
        "api_tokens",
        "password_resets",
        "email_confirmations",
        "mail_choices",
        "audit_log",
        "outgoing_mail",
        "file_downloads",
        "questions",
        "judged_texts",
        "judged_answers",
        "judged_entries",
        "judgements",
    ]
)
#: Of SQLite's machine: so many are counted together.
STEPS_AT_A_TIME = 20
_NOT_ENTERED = ("Rows Removed by Filter", "Rows Removed by Join Filter", "Rows Removed by Index Recheck")


@contextmanager
def statements(engine: Engine) -> Iterator[list[tuple[str, Any]]]:
    """Yield a list to which every query sent during the block is added."""
    found: list[tuple[str, Any]] = []

    def note(_connection: Any, _cursor: Any, statement: str, parameters: Any, _context: Any, _many: bool) -> None:
        if _is_query(statement):
            found.append((statement, parameters))

    event.listen(engine, "before_cursor_execute", note)
    try:
        yield found
    finally:
        event.remove(engine, "before_cursor_execute", note)


@contextmanager
def steps(engine: Engine) -> Iterator[Counter[str]]:
    """Yield a counter of the steps that SQLite's machine makes during the block, by statement without lists of
    parameters.

    The numbers are the same for the same data on any machine. It is for requests answered in the test's own thread.
    """
    found: Counter[str] = Counter()
    current = [""]

    def note(_connection: Any, _cursor: Any, statement: str, _parameters: Any, _context: Any, _many: bool) -> None:
        current[0] = _without_lists(statement)

    def count() -> int:
        found[current[0]] += STEPS_AT_A_TIME
        return 0

    def watch(connection: Any, *_: Any) -> None:
        connection.set_progress_handler(count, STEPS_AT_A_TIME)

    engine.dispose()  # connections are watched from when they are made
    event.listen(engine, "connect", watch)
    event.listen(engine, "before_cursor_execute", note)
    try:
        yield found
    finally:
        event.remove(engine, "before_cursor_execute", note)
        event.remove(engine, "connect", watch)
        engine.dispose()


@contextmanager
def rows_met(engine: Engine) -> Iterator[Counter[str]]:
    """Yield a counter of the rows that all parts of PostgreSQL's plans meet during the block, by query without lists of
    parameters.

    Each query is run once more for that, in the same transaction, and its changes are rolled back.
    """
    found: Counter[str] = Counter()

    def note(_connection: Any, cursor: Any, statement: str, parameters: Any, _context: Any, _many: bool) -> None:
        if _is_query(statement) and "advisory" not in statement:  # a lock that is taken twice is not given back once
            with cursor.connection.transaction(force_rollback=True), cursor.connection.cursor() as again:
                again.execute(f"EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) {statement}", parameters)
                found[_without_lists(statement)] += _rows_of(again.fetchone()[0][0]["Plan"])

    event.listen(engine, "before_cursor_execute", note)
    try:
        yield found
    finally:
        event.remove(engine, "before_cursor_execute", note)


def _rows_of(part: Mapping[str, Any]) -> int:
    """Return how many rows a node of a plan and those below it read: returned and filtered ones, over all its loops."""
    own: float = sum(part.get(name, 0) for name in ("Actual Rows", *_NOT_ENTERED))
    times: int = part["Actual Loops"]
    return round(own * times) + sum(map(_rows_of, part.get("Plans", ())))


def _is_query(statement: str) -> bool:
    return statement.lstrip().upper().startswith(("SELECT", "WITH"))


def _without_lists(statement: str) -> str:
    return re.sub(r"IN \((?:[?, ()]|%\(\w+\)s(?:::\w+)?)+\)", "IN (?)", statement)


def plan(engine: Engine, statement: str, parameters: Any) -> list[str]:
    """Return SQLite's query plan for a statement, step by step."""
    with engine.connect() as connection:
        rows = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters)
        return [row[3] for row in rows]


def walks(engine: Engine, asked: list[tuple[str, Any]]) -> list[str]:
    """Return the steps that read a large table from start to end, or through an index of statuses, each with its
    statement.
    """
    return [
        f"{step} of {statement}"
        for statement, parameters in dict((one[0], one) for one in asked).values()
        for step in plan(engine, statement, parameters)
        if _is_walk(step, statement)
    ]


def _is_walk(step: str, statement: str) -> bool:
    """Return whether a step reads a whole large table; a list with a LIMIT starts at an end of its table and stops
    early.
    """
    scanned = re.match(r"SCAN (\w+)", step)
    is_list = "LIMIT" in statement and "WHERE" not in statement
    return scanned is not None and not is_list and _table(scanned[1], statement) in LARGE


def _table(name: str, statement: str) -> str:
    """Return the table for which an alias stands."""
    found = re.search(rf"\b(?:FROM|JOIN) (\w+) AS {name}\b", statement)
    return found[1] if found else name
