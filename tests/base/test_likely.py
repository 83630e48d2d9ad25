"""Estimates of likelihood are given only to SQLite: PostgreSQL has its own statistics."""

from __future__ import annotations

import pytest
from sqlalchemy import make_url, select

from app.base.db import likely
from app.models import RunStatus, ScoringRun


@pytest.mark.parametrize(
    ("dialect", "condition"),
    [
        ("sqlite", "likely(runs.status = 'scored')"),
        ("postgresql+psycopg", "runs.status = 'scored'"),
    ],
    ids=["SQLite", "PostgreSQL"],
)
def test_only_sqlite_is_told_what_most_rows_are(dialect: str, condition: str) -> None:
    query = select(ScoringRun.id).where(likely(ScoringRun.status == RunStatus.SCORED))
    said = str(query.compile(dialect=make_url(f"{dialect}://").get_dialect()(), compile_kwargs={"literal_binds": True}))
    assert said.endswith(f"WHERE {condition}")
