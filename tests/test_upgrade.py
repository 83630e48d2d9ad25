"""A database of 0.1.0, with rows in every table, is brought up to date: no row goes, no score changes.

A revision written for this test copies the tables that most others refer to, which is what an upgrade on SQLite is most
likely to do wrong.
"""

from __future__ import annotations

import json
import shutil
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from alembic.script import ScriptDirectory
from sqlalchemy import (
    CHAR,
    JSON,
    Boolean,
    Connection,
    DateTime,
    Double,
    Engine,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Uuid,
    select,
)
from sqlalchemy.exc import IntegrityError

from app.base.db import Base, Json, UtcDateTime, make_engine, reading
from app.boards.leaderboard import build_leaderboard
from app.boards.rows import Interval
from app.competitions.find import find_board, find_competition
from app.competitions.visibility import Viewer
from app.models import ScoreRow, User
from app.operations import database_revision, migrate
from app.operations.migrate import migrating, upgrade, upgrade_to
from app.submissions.find import get_submission
from tests import postgres
from tests.world import DAY, NOW

FIRST = "0001"
SUBMISSION, REJECTED = uuid.UUID(int=7), uuid.UUID(int=8)
SIGNATURE = "idiom-detection:1|macro_f1|zero_shot/all"
COLUMN = {"metric": "macro_f1", "split": "zero_shot/all", "title": "F1", "decimals": 4, "percent": False}

#: What a board shows, as rows of 0.1.0 were: what later revisions add must find its own value.
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
            "rankings": [],
            "images": {},
            "citation": {},
            "tracks": [],
            "method_card": {},
            "registration": {},
            "teams": {},
            "neutral_salt": "5" * 32,
            "stage": "published",
            "halt": "none",
            "halt_reason": "",
            "life_version": 0,
            "delete_at": None,
            "owner_id": None,
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
            "is_approved_organiser": False,
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
            "scopes": "read submit",
            "expires_at": None,
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
            "choose_until": None,
            "without_choice": "last",
            "ladder_step": None,
            "visibility": {},
            "carry_over": None,
            "has_snapshot": True,
            "submissions_per_day": 5,
            "submissions_per_week": None,
            "submissions_per_month": None,
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
    "teams": [{"id": 1, "competition_id": 1, "name": "Ada", "kind": "team", "captain_id": 1, "created_at": NOW}],
    "accepted_terms": [{"sha256": "f" * 64, "text": "Be kind."}],
    "team_members": [{"team_id": 1, "user_id": 1, "competition_id": 1, "joined_at": NOW}],
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
            "gold_version": "",
            "entry": {},
            "limits": {},
            "visibility": {},
            "files_from": {},
            "files_for": {},
            "gold_is_public": False,
            "ranked_baselines": [],
            "private_part": {},
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
            "method": "BERT",
            "paper": "",
            "code": "",
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
    "systems": [{"id": 1, "team_id": 1, "task_id": 1, "name": "XLM-R", "created_at": NOW}],
    "submissions": [
        {
            "id": submission,
            "system_id": 1,
            "team_id": 1,
            "user_id": 1,
            "phase_task_id": 1,
            "sha256": "e" * 64,
            "size_bytes": 20,
            "filename": "a.csv",
            "track": None,
            "method": "",
            "description": "",
            "idempotency_key": None,
            "submitted_at": NOW,
            "is_late": False,
        }
        for submission in (SUBMISSION, REJECTED)
    ],
    "judging_rounds": [
        {
            "id": 1,
            "competition_id": 1,
            "phase_task_id": 1,
            "name": "spring",
            "source": "submissions",
            "guidelines": "",
            "seed": 7,
            "items_per_language": None,
            "created_at": NOW,
            "published_at": None,
            "results": None,
        }
    ],
    "competition_roles": [
        {"competition_id": 1, "user_id": user, "role": role, "granted_at": NOW}
        for user, role in ((1, "organiser"), (2, "annotator"))
    ],
    "role_invitations": [
        {
            "id": 1,
            "competition_id": 1,
            "role": "organiser",
            "address": "ada@example.org",
            "secret_hash": None,
            "invited_by_id": 1,
            "invited_at": NOW,
            "expires_at": NOW + DAY,
            "ended_at": None,
        }
    ],
    "method_cards": [
        {
            "id": 1,
            "system_id": 1,
            "number": 1,
            "is_current": True,
            "document": {"method": "XLM-R"},
            "user_id": 1,
            "changed_at": NOW,
        }
    ],
    "allowances": [
        {
            "id": 1,
            "phase_id": 1,
            "team_id": 1,
            "until": NOW + DAY,
            "is_ranked": False,
            "extra_per_day": 1,
            "extra_total": 0,
            "reason": "their cluster was down",
            "user_id": 2,
            "granted_at": NOW,
        }
    ],
    "file_downloads": [
        {
            "id": 1,
            "competition_id": 1,
            "user_id": 1,
            "phase": "evaluation",
            "task": "detection",
            "file": "items.csv",
            "sha256": "d" * 64,
            "downloaded_at": NOW,
        }
    ],
    "row_marks": [
        {
            "id": 1,
            "phase_task_id": 1,
            "team_id": 1,
            "submission_id": REJECTED,
            "status": "unranked",
            "note": "sent twice",
            "user_id": 2,
            "set_at": NOW,
        }
    ],
    "runs": [
        {
            "id": number,
            "submission_id": submission,
            "is_current": True,
            "status": status,
            "gold": "gold.csv",
            "task_version": 1,
            "gold_version_id": None,
            "checked_at": NOW,
            "items_done": 2,
            "items_total": 2,
            "seconds_left": 0,
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
            "item_results": None,
            "private_scores": None,
            "outcomes_id": None,
            "rescoring_id": None,
            "replaced_id": None,
        }
        for number, (submission, status) in enumerate(((SUBMISSION, "scored"), (REJECTED, "rejected")), start=1)
    ],
    "board_statistics": [
        {
            "phase_task_id": 1,
            "board_id": 1,
            "document": {
                "key": "k",
                "runs": [1],
                "intervals": [[1, "macro_f1", "zero_shot/all", 0.5, 0.9, 0.95, "jackknife-logit-t:1"]],
                "pairs": [],
                "pairs_by": [],
            },
        }
    ],
    "gold_power": [
        {
            "phase_task_id": 1,
            "gold": "gold.csv",
            "key": "k",
            "document": {"systems": "2 baselines", "scores": [["macro_f1", "zero_shot/all", 0.05, 100]]},
        }
    ],
    "run_statistics": [
        {
            "run_id": 1,
            "key": "k",
            "before": [],
            "document": {
                "intervals": [["macro_f1", "zero_shot/all", 0.5, 0.9, 0.95, "jackknife-logit-t:1"]],
                "differences": [],
            },
        }
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


#: By the column's type, in the tables that are not named above; what refers to another row refers to its first.
SAMPLES: dict[type[Any], Any] = {
    Boolean: True,
    Integer: 1,
    Double: 0.1 + 0.2,
    JSON: {"key": ["value", 0.30000000000000004]},
    LargeBinary: b"\x00\xff",
    String: "a",
    UtcDateTime: NOW,
    Uuid: SUBMISSION,
}


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.services)])
def old(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    """A database of 0.1.0 with a row in every table."""
    if request.param == "sqlite":
        yield from _filled(f"sqlite:///{tmp_path / 'old.db'}")
        return
    with postgres.database(request.getfixturevalue("postgres_server")) as address:
        yield from _filled(address)


def _filled(address: str) -> Iterator[Engine]:
    engine = make_engine(address)
    with migrating(engine) as connection:
        upgrade_to(connection, FIRST)
        for table in _tables(connection).sorted_tables:
            connection.execute(table.insert(), ROWS.get(table.name) or [_sample(table)])
    yield engine
    engine.dispose()


def _tables(connection: Connection) -> MetaData:
    """Return the tables as the database has them now, with our own types where it has no equivalent."""
    tables = MetaData()
    tables.reflect(connection, only=lambda name, _: name != "alembic_version")
    for column in (column for table in tables.tables.values() for column in table.columns):
        if isinstance(column.type, DateTime):
            column.type = UtcDateTime()
        elif isinstance(column.type, JSON):
            column.type = Json
        elif isinstance(column.type, CHAR):  # what SQLite makes of one
            column.type = Uuid()
    return tables


def _sample(table: Table) -> dict[str, Any]:
    """A row with a value in every column."""
    return {
        column.name: next(value for kind, value in SAMPLES.items() if isinstance(column.type, kind))
        for column in table.columns
    }


def _rows(engine: Engine) -> dict[str, list[dict[str, Any]]]:
    """Return everything that the database holds, by table."""
    with engine.connect() as connection:
        return {
            name: [dict(row) for row in connection.execute(select(table).order_by(*table.primary_key)).mappings()]
            for name, table in _tables(connection).tables.items()
        }


def _first_columns(rows: list[dict[str, Any]], like: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: row[name] for name in before} for row, before in zip(rows, like, strict=True)]


#: Tables that others refer to; on SQLite each is copied, dropped and renamed.
COPIED = ("users", "teams", "submissions", "runs")
NEXT_REVISION = f"""
import sqlalchemy as sa
from alembic import op

revision = "next"
down_revision = HEAD
branch_labels, depends_on = None, None


def upgrade() -> None:
    for name in {COPIED}:
        with op.batch_alter_table(name) as table:
            table.add_column(sa.Column("nickname", sa.String(length=20), nullable=False, server_default="none"))
        with op.batch_alter_table(name) as table:
            table.alter_column("nickname", existing_type=sa.String(length=20), server_default=None)
    with op.batch_alter_table("submissions") as table:
        table.alter_column("filename", existing_type=sa.String(length=200), type_=sa.String(length=300))
"""


@pytest.fixture
def next_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A version of Evergold with one revision more than this one."""
    folder = tmp_path / "migrations"
    shutil.copytree(migrate.MIGRATIONS, folder, ignore=shutil.ignore_patterns("__pycache__"))
    head = ScriptDirectory.from_config(migrate.alembic_config()).get_current_head()
    (folder / "versions" / "next.py").write_text(NEXT_REVISION.replace("HEAD", repr(head)), encoding="utf-8")
    monkeypatch.setattr(migrate, "MIGRATIONS", folder)
    monkeypatch.setattr(database_revision, "NEWEST_REVISION", "next")


def test_there_are_rows_in_every_table_of_the_first_revision(old: Engine) -> None:
    counts = {name: len(rows) for name, rows in _rows(old).items()}
    assert set(ROWS) <= set(counts)
    assert all(counts.values()), counts


def test_upgrading_keeps_every_row_and_every_value(old: Engine) -> None:
    before = _rows(old)
    upgrade(old)
    after = _rows(old)
    for name, rows in before.items():
        assert _first_columns(after[name], rows) == rows, name


@pytest.mark.usefixtures("next_version")
def test_a_revision_that_copies_tables_keeps_every_row_and_every_value(old: Engine) -> None:
    before = _rows(old)
    assert upgrade(old) is True
    after = _rows(old)
    assert before.keys() <= after.keys()
    for name, rows in before.items():
        assert _first_columns(after[name], rows) == rows, name
        there = {column.name for column in Base.metadata.tables[name].columns}
        assert all(row.keys() - there == ({"nickname"} if name in COPIED else set()) for row in after[name])


def test_who_organised_before_there_were_rights_has_them_all(old: Engine) -> None:
    upgrade(old)
    after = _rows(old)
    assert {row["role"]: row["rights"] for row in after["competition_roles"]} == {
        "organiser": "edit submissions gold messages",
        "annotator": "",
    }
    assert [row["rights"] for row in after["role_invitations"]] == ["edit submissions gold messages"]


@pytest.mark.usefixtures("next_version")
def test_after_upgrading_boards_show_what_they_showed(old: Engine) -> None:
    upgrade(old)
    with reading(old) as session:
        place = find_board(find_competition(session, "idioms"), "evaluation", "zero-shot")
        found = build_leaderboard(session, *place, Viewer(None, NOW))
    live, historic = found.rows
    assert (live.rank, live.team, live.method, live.entries) == (1, "Ada", "XLM-R", 1)
    assert [(cell.value, cell.signature) for cell in live.cells] == [(0.1 + 0.2, SIGNATURE)]
    assert live.cells[0].interval == Interval(0.5, 0.9, 0.95, "jackknife-logit-t:1")
    assert (historic.kind, historic.cells[0].value) == ("historic", 0.25)
    assert json.dumps(live.cells[0].value) == "0.30000000000000004"


@pytest.mark.usefixtures("next_version")
def test_after_upgrading_people_still_have_their_submissions(old: Engine) -> None:
    upgrade(old)
    with reading(old) as session:
        ada = session.get_one(User, 1)
        submission = get_submission(session, SUBMISSION, ada)
        of_run = select(ScoreRow).where(ScoreRow.run_id == submission.runs[0].id).order_by(ScoreRow.id)
        scores = session.scalars(of_run).all()
    assert [(score.metric, score.value) for score in scores] == [
        ("macro_f1", 0.1 + 0.2),
        ("accuracy", None),
    ]


@pytest.mark.usefixtures("next_version")
def test_foreign_keys_are_enforced_again_after_upgrading(old: Engine) -> None:
    upgrade(old)
    with old.execution_options(evergold_write=True).connect() as connection:
        adding = _tables(connection).tables["team_members"].insert().values(team_id=99, user_id=99, competition_id=99)
        with pytest.raises(IntegrityError):
            connection.execute(adding)
