"""Shared by tests of apply: apply a folder, get its messages, count rows, submit as a person."""

from __future__ import annotations

import hashlib
from datetime import timedelta
from typing import Any

from sqlalchemy import Engine, select

from app.base.db import Base, reading, writing
from app.base.storage import FolderStorage, StoredFile
from app.competitions.find import find_phase_task
from app.declarations.apply.apply import Change, apply_phases
from app.declarations.check import load_competitions
from app.models import Board, Competition, CompetitionTask, HistoricRow, Phase, PhaseTask, PublicFile, Submission, User
from app.submissions.accept import Sender, accept_submission
from tests.declarations.competition_folder import NOW, Competition as Folder
from tests.rich_world import NEIGHBOURS, fresh, own
from tests.world import PREPARED

HOUR = timedelta(hours=1)
WHAT = "'detection' in phase 'evaluation' of 'demo'"
TABLES: list[type[Base]] = [Competition, CompetitionTask, Phase, PhaseTask, PublicFile, Board, HistoricRow, Submission]


def apply(engine: Engine, demo: Folder, now: Any = NOW) -> list[Change]:
    loaded = load_competitions(demo.phases)
    with writing(engine) as session:
        storage = FolderStorage(demo.folder.parent / "storage")
        return without_neighbours(apply_phases(session, loaded, storage=storage, now=now))


def without_neighbours(changes: list[Change]) -> list[Change]:
    """Return the changes without those of the neighbours, which are left alone and reported each time."""
    beside = (f"'{NEIGHBOURS}'", f"'{PREPARED}'")
    return [change for change in changes if not any(name in str(change) for name in beside)]


def made(changes: list[Change]) -> list[str]:
    return [str(change) for change in changes if change.counts]


def noted(changes: list[Change]) -> list[str]:
    return [str(change) for change in changes if not change.counts]


def counts(engine: Engine) -> dict[str, int]:
    with reading(engine) as session:
        rows = {table: own(table) if table is Submission else fresh(table) for table in TABLES}
        return {table.__tablename__: len(session.scalars(query).all()) for table, query in rows.items()}


def phase_task(engine: Engine, phase: str) -> PhaseTask:
    with reading(engine) as session:
        return find_phase_task(session, "demo", phase, "detection")


def submit(engine: Engine, phase: str = "evaluation") -> int:
    """Submit as a person; return the run's id."""
    with writing(engine) as session:
        user = session.scalar(select(User).where(User.username == "ada"))
        if user is None:
            user = User(
                username="ada", email="ada@example.org", email_confirmed_at=NOW, display_name="Ada", created_at=NOW
            )
            session.add(user)
            session.flush()
        asked = find_phase_task(session, "demo", phase, "detection")
        upload = StoredFile(hashlib.sha256(b"x").hexdigest(), 1)
        return accept_submission(session, asked, upload, Sender(user, NOW)).run_id
