"""A database of the first revision, with rows in every table, is brought up to date: no row goes, no score changes."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, MetaData, Table, Uuid, func, select
from sqlalchemy.exc import IntegrityError

from app.base.db import Json, UtcDateTime, make_engine, reading
from app.boards.leaderboard import build_leaderboard
from app.competitions.find import find_board, find_competition
from app.models import User
from app.operations.migrate import migrating, upgrade, upgrade_to
from app.submissions.find import get_submission
from tests import postgres
from tests.world import DAY, NOW

FIRST = "0001"
SUBMISSION, REJECTED = uuid.UUID(int=7), uuid.UUID(int=8)
SIGNATURE = "idiom-detection:1|macro_f1|zero_shot/all"
COLUMN = {"metric": "macro_f1", "split": "zero_shot/all", "title": "F1", "decimals": 4, "percent": False}

#: As rows of revision 0001 were: what later revisions add must find its own value.
ROWS: dict[str, list[dict[str, Any]]] = {
    "competitions": [
        {
            "id": 1,
            "name": "idioms",
            "title": "Idioms",
            "summary": "",
            "description": "",
            "website": "",
            "contact": "",
            "tracks": [],
            "position": 0,
            "created_at": NOW,
        }
    ],
    "users": [
        {
            "id": number,
            "username": name,
            "email": f"{name}@example.org",
            "display_name": name.capitalize(),
            "password_hash": None,
            "is_administrator": name == "grace",
            "created_at": NOW,
        }
        for number, name in enumerate(("ada", "grace"), start=1)
    ],
    "api_tokens": [
        {
            "id": 1,
            "user_id": 1,
            "name": "laptop",
            "prefix": "evg_abcd",
            "secret_hash": "a" * 64,
            "created_at": NOW,
            "last_used_at": None,
            "revoked_at": None,
        }
    ],
    "login_sessions": [
        {
            "id": 1,
            "user_id": 1,
            "secret_hash": "b" * 64,
            "csrf_token": "c",
            "created_at": NOW,
            "expires_at": NOW + DAY,
        }
    ],
    "phases": [
        {
            "id": 1,
            "competition_id": 1,
            "name": "evaluation",
            "title": "Evaluation",
            "description": "",
            "starts_at": NOW - DAY,
            "ends_at": None,
            "entry_rule": "best",
            "submissions_per_day": 5,
            "submissions_total": None,
            "rejected_per_hour": 60,
            "upload_limit_bytes": 1000,
            "position": 0,
        }
    ],
    "tasks": [
        {
            "id": 1,
            "competition_id": 1,
            "name": "detection",
            "task_type": "idiom-detection",
            "title": "Detection",
            "description": "",
            "options": {"languages": ["en"]},
            "position": 0,
        }
    ],
    "teams": [{"id": 1, "competition_id": 1, "name": "Ada", "kind": "team", "created_at": NOW}],
    "team_members": [{"team_id": 1, "user_id": 1, "competition_id": 1}],
    "boards": [
        {
            "id": 1,
            "competition_id": 1,
            "task_id": 1,
            "name": "zero-shot",
            "title": "Zero-shot",
            "description": "",
            "rank_metric": "macro_f1",
            "rank_split": "zero_shot/all",
            "columns": [COLUMN],
            "track": None,
            "position": 0,
        }
    ],
    "phase_tasks": [
        {
            "id": 1,
            "phase_id": 1,
            "task_id": 1,
            "gold": "gold.csv",
            "items_sha256": "d" * 64,
            "options": {},
            "board_version": 3,
        }
    ],
    "historic_rows": [
        {
            "id": 1,
            "phase_id": 1,
            "board_id": 1,
            "team": "Baseline of the paper",
            "achieved_at": None,
            "scores": {"macro_f1 zero_shot/all": 0.25},
            "source": "A paper",
        }
    ],
    "public_files": [
        {
            "id": 1,
            "phase_task_id": 1,
            "name": "items.csv",
            "title": "Items",
            "sha256": "d" * 64,
            "size_bytes": 10,
            "position": 0,
        }
    ],
    "submissions": [
        {
            "id": submission,
            "team_id": 1,
            "user_id": 1,
            "phase_task_id": 1,
            "sha256": "e" * 64,
            "size_bytes": 20,
            "filename": "a.csv",
            "track": None,
            "method": "XLM-R",
            "description": "",
            "idempotency_key": None,
            "submitted_at": NOW,
        }
        for submission in (SUBMISSION, REJECTED)
    ],
    "runs": [
        {
            "id": number,
            "submission_id": submission,
            "is_current": True,
            "status": status,
            "gold": "gold.csv",
            "task_version": 1,
            "attempts": 1,
            "queued_at": NOW,
            "sent_at": None,
            "started_at": NOW,
            "finished_at": NOW,
            "claim_token": None,
            "worker": "worker:1",
            "lease_expires_at": None,
            "problems": [],
            "problems_omitted": 0,
            "failure": None,
            "report": b"\x00\xff",
        }
        for number, (submission, status) in enumerate(((SUBMISSION, "scored"), (REJECTED, "rejected")), start=1)
    ],
    "scores": [
        {
            "id": number,
            "run_id": 1,
            "metric": metric,
            "split": "zero_shot/all",
            "value": value,
            "reason": None if value is not None else "not entered",
            "signature": SIGNATURE,
        }
        for number, (metric, value) in enumerate((("macro_f1", 0.1 + 0.2), ("accuracy", None)), start=1)
    ],
}


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.services)])
def old(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    """A database of revision 0001 with these rows."""
    if request.param == "sqlite":
        yield from _filled(f"sqlite:///{tmp_path / 'old.db'}")
        return
    with postgres.database(request.getfixturevalue("postgres_server")) as address:
        yield from _filled(address)


def _filled(address: str) -> Iterator[Engine]:
    engine = make_engine(address)
    with migrating(engine) as connection:
        upgrade_to(connection, FIRST)
        for name, rows in ROWS.items():
            connection.execute(_table(engine, connection, name).insert(), rows)
    yield engine
    engine.dispose()


def _table(engine: Engine, connection: Any, name: str) -> Table:
    """As the database has it now, with our own types for what it has no words for."""
    table = Table(name, MetaData(), autoload_with=connection)
    own = {"tracks": Json, "options": Json, "columns": Json, "scores": Json, "problems": Json}
    for column in table.columns:
        if column.name.endswith("_at"):
            column.type = UtcDateTime()
        elif column.name in own:
            column.type = own[column.name]
        elif (name, column.name) in (("submissions", "id"), ("runs", "submission_id")):
            column.type = Uuid()
    return table


def test_there_are_rows_in_every_table_of_the_first_revision(old: Engine) -> None:
    with old.connect() as connection:
        metadata = MetaData()
        metadata.reflect(connection)
        counts = {
            name: connection.scalar(select(func.count()).select_from(table))
            for name, table in metadata.tables.items()
            if name != "alembic_version"
        }
    assert set(counts) == set(ROWS)
    assert all(counts.values()), counts


def test_upgrading_keeps_every_row_and_every_value(old: Engine) -> None:
    assert upgrade(old) is True
    with old.connect() as connection:
        for name, rows in ROWS.items():
            table = _table(old, connection, name)
            kept = connection.execute(select(*(table.c[key] for key in rows[0])).order_by(*table.primary_key)).all()
            assert [tuple(row) for row in kept] == [tuple(row.values()) for row in rows], name


def test_after_upgrading_boards_show_what_they_showed(old: Engine) -> None:
    upgrade(old)
    with reading(old) as session:
        place = find_board(find_competition(session, "idioms"), "evaluation", "zero-shot")
        found = build_leaderboard(session, *place, viewer=None, now=NOW)
    live, historic = found.rows
    assert (live.rank, live.team, live.method, live.entries) == (1, "Ada", "XLM-R", 1)
    assert [(cell.value, cell.signature) for cell in live.cells] == [(0.1 + 0.2, SIGNATURE)]
    assert (historic.kind, historic.cells[0].value) == ("historic", 0.25)
    assert json.dumps(live.cells[0].value) == "0.30000000000000004"


def test_after_upgrading_people_still_have_their_submissions(old: Engine) -> None:
    upgrade(old)
    with reading(old) as session:
        ada = session.get_one(User, 1)
        submission = get_submission(session, SUBMISSION, ada)
    assert [(score.metric, score.value) for score in submission.runs[0].scores] == [
        ("macro_f1", 0.1 + 0.2),
        ("accuracy", None),
    ]


def test_foreign_keys_are_enforced_again_after_upgrading(old: Engine) -> None:
    upgrade(old)
    with old.execution_options(evergold_write=True).connect() as connection:
        adding = _table(old, connection, "team_members").insert().values(team_id=99, user_id=99, competition_id=99)
        with pytest.raises(IntegrityError):
            connection.execute(adding)
