"""A database with a longer past: more of everything that people sent, downloaded and did, and nothing else.

It serves tests of whether something costs as much as it shows, or as much as there ever was. Participants and entries
remain the same.
"""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from sqlalchemy import Engine, Table, func, insert, select
from sqlalchemy.orm import Session

from app.base.db import Base, in_batches, writing
from app.models import (
    AuditEntry,
    FileDownload,
    LineChange,
    OutgoingMail,
    PhaseTask,
    RunStatistics,
    RunStatus,
    ScoreRow,
    ScoringRun,
    Submission,
    TeamMember,
)
from app.people.mail import SENT
from app.standings.renew import renew_all
from tests.world import NOW, PHASE, SECOND, TASK, add_team, add_user

Row = dict[str, Any]
#: Written at once: more would not fit into memory, nor into a log that is still quick to read.
SUBMISSIONS_AT_A_TIME = 5000
#: How long before everything else the past ended.
LONG_AGO = timedelta(days=60)
#: Besides submissions: one more like the first of them for each.
_BESIDES = (AuditEntry, OutgoingMail)


def add_past(engine: Engine, submissions: int, senders: Sequence[Row] = ()) -> None:
    """Add so many submissions, long before the present ones, like each of those that ended, but with worse scores; add
    as many mails, downloads, checked files and audit entries.

    senders: their senders in turn, instead of the original ones.
    """
    with writing(engine) as session:
        ended = session.scalars(
            select(ScoringRun).where(
                ScoringRun.is_current, ScoringRun.status.in_((RunStatus.SCORED, RunStatus.REJECTED))
            )
        )
        patterns = [_pattern(session, run) for run in ended]
        first_run = _last(session, ScoringRun) + 1
    for numbers in in_batches(range(submissions), SUBMISSIONS_AT_A_TIME):
        new: defaultdict[type[Base], list[Row]] = defaultdict(list)
        for number in numbers:
            turn, which = divmod(number, len(patterns))
            sender = senders[turn % len(senders)] if senders else {}
            for model, rows in _again(patterns[which], number, first_run + number, sender).items():
                new[model] += rows
        with writing(engine) as session:
            for model in _BESIDES:
                new[model] = _like_the_first(session, model, len(numbers))
            new[FileDownload] = [_download(session)] * len(numbers)
            for model, rows in new.items():
                if rows:
                    session.execute(insert(_table(model)), rows)
    with writing(engine) as session:
        renew_all(session, session.scalars(select(PhaseTask.id)))


def add_senders(engine: Engine, teams: int) -> list[Row]:
    """Add so many teams of one person; return them as `add_past` takes them."""
    found = []
    for number in range(teams):
        user = add_user(engine, f"sender-{number}")
        team = add_team(engine, user, name=f"Sender {number}")
        found.append({"user_id": user.id, "team_id": team.id, "system_id": None})
    return found


def _pattern(session: Session, run: ScoringRun) -> dict[type[Base], list[Row]]:
    """Return a submission with all rows that belong to it."""
    return {
        Submission: _rows(session, Submission, Submission.id == run.submission_id),
        ScoringRun: _rows(session, ScoringRun, ScoringRun.id == run.id),
        ScoreRow: _rows(session, ScoreRow, ScoreRow.run_id == run.id),
        RunStatistics: _rows(session, RunStatistics, RunStatistics.run_id == run.id),
    }


def _again(pattern: dict[type[Base], list[Row]], number: int, run_id: int, sender: Row) -> dict[type[Base], list[Row]]:
    submission_id, at = uuid.uuid4(), NOW - LONG_AGO - number * SECOND
    changed: dict[type[Base], Row] = {
        Submission: {"id": submission_id, "submitted_at": at, "idempotency_key": None, **sender},
        ScoringRun: {
            "id": run_id,
            "submission_id": submission_id,
            "queued_at": at,
            "started_at": at,
            "finished_at": at,
        },
        ScoreRow: {"run_id": run_id},
        RunStatistics: {"run_id": run_id},
    }
    again = {model: [_without_number(model, row) | changed[model] for row in pattern[model]] for model in changed}
    for row in again[ScoreRow]:
        row["value"] = row["value"] and row["value"] / 2
    again[LineChange] = [{"submission_id": submission_id, "previous_id": None, "changed": 9, "of_lines": 9}]
    return again


def _like_the_first(session: Session, model: type[Base], count: int) -> list[Row]:
    table = _table(model)
    first = session.execute(select(*table.columns).order_by(table.c.id).limit(1)).one()
    row = _without_number(model, dict(first._mapping))
    return [{**row, "status": SENT} if model is OutgoingMail else row] * count


def _download(session: Session) -> Row:
    """Return the row of a download of a competition's file by a member of a team."""
    member = session.scalars(select(TeamMember).order_by(TeamMember.user_id)).first()
    assert member is not None
    who = {"user_id": member.user_id, "competition_id": member.competition_id}
    what = {"phase": PHASE, "task": TASK, "file": "train.csv", "sha256": "0" * 64}
    return {**who, **what, "downloaded_at": NOW - LONG_AGO}


def _without_number(model: type[Base], row: Row) -> Row:
    """Return a row without its key, which the database assigns."""
    return {name: value for name, value in row.items() if name != "id"}


def _rows(session: Session, model: type[Base], *where: Any) -> list[Row]:
    return [dict(row._mapping) for row in session.execute(select(*_table(model).columns).where(*where))]


def _last(session: Session, model: Any) -> int:
    found: int = session.scalars(select(func.max(model.id))).one()
    return found


def _table(model: type[Base]) -> Table:
    table = model.__table__
    assert isinstance(table, Table)
    return table
