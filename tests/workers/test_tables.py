"""Workers and the sweep leave tables of another revision alone, and report so once."""

from __future__ import annotations

import pytest
from sqlalchemy import Engine, text
from structlog.testing import capture_logs

from app.operations.database_revision import Tables
from workers import tables


def test_what_does_not_fit_is_said_when_it_begins_and_when_it_ends(
    sqlite_engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "LOOK_SECONDS", 0.0)
    monkeypatch.setattr(tables, "_tables", Tables())
    with sqlite_engine.connect() as connection:
        own = connection.scalar(text("SELECT version_num FROM alembic_version"))
    said = []
    for revision in (own, own, "another", "another", own, own):
        with sqlite_engine.begin() as connection:
            connection.execute(text("UPDATE alembic_version SET version_num = :to"), {"to": revision})
        with capture_logs() as logged:
            said.append((tables.tables_fit(sqlite_engine), [line["event"] for line in logged]))
    assert said == [
        (True, []),
        (True, []),
        (False, ["no_work_taken"]),
        (False, []),
        (True, ["work_taken_again"]),
        (True, []),
    ]
