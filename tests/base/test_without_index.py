"""A status that no index may serve is written so on SQLite alone: PostgreSQL would plan for next to nothing."""

from __future__ import annotations

import pytest
from sqlalchemy import make_url, select

from app.base.db import without_index
from app.models import RunStatus, ScoringRun


@pytest.mark.parametrize(
    ("dialect", "condition"),
    [
        ("sqlite", "coalesce(runs.status, '') = 'scored'"),
        ("postgresql+psycopg", "runs.status = 'scored'"),
    ],
    ids=["SQLite", "PostgreSQL"],
)
def test_only_sqlite_is_kept_from_an_index_of_statuses(dialect: str, condition: str) -> None:
    query = select(ScoringRun.id).where(without_index(ScoringRun.status) == RunStatus.SCORED)
    said = str(query.compile(dialect=make_url(f"{dialect}://").get_dialect()(), compile_kwargs={"literal_binds": True}))
    assert said.endswith(f"WHERE {condition}")
