"""A database filled with any number of scored submissions, in bulk: COPY on PostgreSQL, executemany on SQLite."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import islice
from typing import Any

from sqlalchemy import Engine, Table, insert, select, text
from sqlalchemy.sql.schema import ScalarElementColumnDefault

from app.base.db import Base, writing
from app.models import Phase, PhaseTask, RunStatus, ScoreRow, ScoringRun, Submission, Team
from app.standings.renew import renew_all
from tests.world import ZERO_SHOT, add_competition, add_user

ROWS_AT_A_TIME = 10_000
METRICS = ("macro_f1", "accuracy")

Row = dict[str, Any]
#: Hears what is written, how many, and of how many.
OnProgress = Callable[[str, int, int], None]


def nobody_waits(what: str, done: int, of: int) -> None:
    """Ignore progress reports."""


def fill(engine: Engine, rows: int, submissions: int, on_progress: OnProgress = nobody_waits) -> None:
    """Create a competition with so many teams on its board and so many scored submissions, only one per team recent."""
    now = datetime.now(UTC)
    add_competition(engine, starts_at=now - timedelta(days=30), ends_at=None)
    user = add_user(engine, "bench")
    with writing(engine) as session:
        place = select(Phase.competition_id, PhaseTask.id).join(PhaseTask, PhaseTask.phase_id == Phase.id)
        competition, phase_task = session.execute(place).one()
    count = max(rows, submissions)
    first = {"phase_task_id": phase_task, "user_id": user.id}
    scores = (score for n in range(count) for score in _scores(n, count))
    for model, found, of in (
        (Team, _teams(rows, competition, now), rows),
        (Submission, _submissions(count, rows, first, now), count),
        (ScoringRun, _runs(count, now), count),
        (ScoreRow, scores, count * len(METRICS)),
    ):
        write(engine, model, found, of, on_progress)
    settle(engine)  # else PostgreSQL plans what follows for empty tables
    with writing(engine) as session:
        renew_all(session, [phase_task], on_progress=partial(on_progress, "teams that stand"))
    settle(engine)


def settle(engine: Engine) -> None:
    """Bring the database into the state of a used one: planner statistics exist, new rows get new numbers, and nothing
    is left for PostgreSQL to clean up during the measurements."""
    is_postgresql = engine.dialect.name == "postgresql"
    with engine.connect() as connection:
        connection = connection.execution_options(isolation_level="AUTOCOMMIT")
        for table in Base.metadata.sorted_tables if is_postgresql else ():
            if table.autoincrement_column is not None:
                connection.execute(text(_sequence(table.name)))
        connection.execute(text("VACUUM ANALYZE" if is_postgresql else "ANALYZE"))


def _sequence(table: str) -> str:
    return f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), (SELECT max(id) FROM {table}))"  # noqa: S608


def _teams(rows: int, competition: int, now: datetime) -> Iterator[Row]:
    for n in range(1, rows + 1):
        yield {"id": n, "competition_id": competition, "name": f"Team {n}", "kind": "team", "created_at": now}


def _submissions(count: int, rows: int, first: Row, now: datetime) -> Iterator[Row]:
    """Spread submissions over twenty days, with only one of each team in the last two."""
    step = timedelta(days=20) / count
    for n in range(count):
        at = now - timedelta(days=22) + n * step
        yield {
            **first,
            "id": _id(n),
            "team_id": n % rows + 1,
            "sha256": f"{n:064x}",
            "size_bytes": 1,
            "filename": "",
            "method": "XLM-R large",
            "description": "",
            "submitted_at": at,
        }


def _id(n: int) -> uuid.UUID:
    """Return an ID that is spread like random ones."""
    return uuid.UUID(int=(n * 0x9E3779B97F4A7C15F39CC0605CEDC835) % 2**128)


def _runs(count: int, now: datetime) -> Iterator[Row]:
    for n in range(count):
        yield {
            "id": n + 1,
            "submission_id": _id(n),
            "is_current": True,
            "status": RunStatus.SCORED,
            "gold": "gold.csv",
            "attempts": 1,
            "queued_at": now,
            "finished_at": now,
            "problems": [],
            "problems_omitted": 0,
        }


def _scores(n: int, count: int) -> Iterator[Row]:
    """Return scores that all differ."""
    for place, metric in enumerate(METRICS):
        yield {
            "id": n * len(METRICS) + place + 1,
            "run_id": n + 1,
            "metric": metric,
            "split": ZERO_SHOT,
            "value": (n * 7919 % count) / count,
            "signature": "idiom-detection:1",
        }


def write(engine: Engine, model: type[Base], rows: Iterator[Row], of: int, on_progress: OnProgress) -> None:
    """Write all rows as fast as the database accepts them."""
    table = model.__table__
    assert isinstance(table, Table)
    copy = _copy if engine.dialect.name == "postgresql" else _execute
    done = 0
    while some := list(islice(rows, ROWS_AT_A_TIME)):
        copy(engine, table, some)
        done += len(some)
        on_progress(table.name, done, of)


def _execute(engine: Engine, table: Table, rows: list[Row]) -> None:
    with writing(engine) as session:
        session.execute(insert(table), rows)


def _copy(engine: Engine, table: Table, rows: list[Row]) -> None:
    from psycopg.types.json import Jsonb

    # COPY knows none of the defaults that SQLAlchemy fills in.
    plain = {
        column.name: column.default.arg
        for column in table.columns
        if isinstance(column.default, ScalarElementColumnDefault) and column.name not in rows[0]
    }
    rows = [{**plain, **row} for row in rows]
    names = list(rows[0])
    with engine.begin() as connection:
        cursor = connection.connection.cursor()
        with cursor.copy(f"COPY {table.name} ({', '.join(names)}) FROM STDIN") as copy:  # noqa: S608
            for row in rows:
                copy.write_row([Jsonb(row[name]) if isinstance(row[name], list) else row[name] for name in names])
