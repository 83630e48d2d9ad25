"""Six limits of phases.yaml, with six different numbers: each arrives in its own place, of a phase and of a task."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import Engine

from app.competitions.limits import declared_limits
from app.models import PhaseTask
from tests.declarations.applying import apply, made, phase_task
from tests.declarations.competition_folder import make_competition

BEFORE = "limits: {per_day: 5, total: 10}"
SIX = "limits: {per_day: 10, per_week: 20, per_month: 30, total: 40, rejected_per_hour: 50, upload_bytes: 60}"
COLUMNS = {
    "submissions_per_day": 10,
    "submissions_per_week": 20,
    "submissions_per_month": 30,
    "submissions_total": 40,
    "rejected_per_hour": 50,
    "upload_limit_bytes": 60,
}


def columns_of(asked: PhaseTask) -> dict[str, int]:
    return {name: getattr(asked.phase, name) for name in COLUMNS}


def test_each_limit_of_a_phase_arrives_in_its_own_column(sqlite_engine: Engine, tmp_path: Path) -> None:
    demo = make_competition(tmp_path / "demo")
    demo.change(BEFORE, SIX)
    apply(sqlite_engine, demo)
    assert columns_of(phase_task(sqlite_engine, "practice")) == COLUMNS


@pytest.mark.parametrize(
    ("name", "column"),
    list(zip(("per_day", "per_week", "per_month", "total", "rejected_per_hour", "upload_bytes"), COLUMNS, strict=True)),
)
def test_a_changed_limit_changes_its_own_column_and_is_said_by_its_own_name(
    sqlite_engine: Engine, tmp_path: Path, name: str, column: str
) -> None:
    demo = make_competition(tmp_path / "demo")
    demo.change(BEFORE, SIX)
    apply(sqlite_engine, demo)
    demo.change(f"{name}: {COLUMNS[column]}", f"{name}: {COLUMNS[column] + 1}")
    (said,) = made(apply(sqlite_engine, demo))
    assert said == f"changed {name} of phase 'practice' of 'demo' from {COLUMNS[column]} to {COLUMNS[column] + 1}"
    assert columns_of(phase_task(sqlite_engine, "practice")) == {**COLUMNS, column: COLUMNS[column] + 1}


def test_limits_of_a_task_go_before_those_of_its_phase_each_for_itself(sqlite_engine: Engine, tmp_path: Path) -> None:
    demo = make_competition(tmp_path / "demo")
    demo.change(BEFORE, SIX)
    gold, of_task = "            gold: demo/practice.csv\n", SIX.replace("per_week: 20", "per_week: 25")
    demo.change(gold, f"{gold}            {of_task}\n")
    apply(sqlite_engine, demo)
    asked = phase_task(sqlite_engine, "practice")
    limits = declared_limits(asked.phase, asked)
    assert (limits.per_day, limits.per_week, limits.per_month, limits.total) == (10, 25, 30, 40)
