"""Prepares the database for serving: tables, phases.yaml, and the demo if requested.

`evergold serve` runs it as a child, `python -m app.server.prepare REPORT`, so that the supervisor stays small; changes,
or the error, go to the report.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, make_url, select
from sqlalchemy.exc import SQLAlchemyError

from app.base.config import InvalidSettings, Settings, get_settings
from app.base.db import get_engine, reading, writing
from app.base.errors import EvergoldError
from app.base.permissions import prepare_folders
from app.base.queue import send_runs
from app.base.storage import storage_of
from app.base.text import readable_size
from app.declarations.apply.apply import apply_phases
from app.declarations.apply.changes import Change
from app.declarations.check import InvalidPhases, LoadedCompetition, load_competitions
from app.declarations.edits.plan import Plan, plan_phases
from app.models import Competition, CompetitionTask, PhaseTask, ScoringRun, Stage, Submission
from app.operations.database_revision import OtherRevision, check_revision
from app.operations.migrate import AppliedRevision, DatabaseTooNew, Report, upgrade
from app.people import audit
from app.runs.sweep import mark_sent
from app.server import demo_dates
from app.server.datadir import ServeError
from evergold.scoring.tasks import needs_gpu

#: The audit log gets at most this many sentences of one `apply`, but always their number.
CHANGES_RECORDED = 200


def migrate(report: Report | None = None) -> list[AppliedRevision]:
    """Migrate the tables to this version; report each revision as it is applied, and return all. Raises ServeError."""
    settings, applied = get_settings(), list[AppliedRevision]()

    def note(revision: AppliedRevision) -> None:
        applied.append(revision)
        if report is not None:
            report(revision)

    try:
        prepare_folders(settings)
        upgrade(get_engine(settings.database_address), note)
        return applied
    except DatabaseTooNew as error:
        raise ServeError(str(error)) from None
    except OSError as error:
        raise ServeError(f"Cannot write to the data directory: {_words(error)}") from None
    except SQLAlchemyError as error:
        raise ServeError(f"The database ({printable_address(settings)}) cannot be used: {reason_of(error)}") from None


def check_migrated() -> None:
    """Raise ServeError unless the tables match this version."""
    settings = get_settings()
    try:
        with get_engine(settings.database_address).connect() as connection:
            check_revision(connection)
    except OtherRevision as other:
        raise ServeError(str(other)) from None
    except SQLAlchemyError as error:
        raise ServeError(f"The database ({printable_address(settings)}) cannot be used: {reason_of(error)}") from None


def apply(*, overwrite_edits: bool = False, stage: Stage = Stage.PUBLISHED) -> list[Change]:
    """Apply phases.yaml and wake the workers for new runs. Raises ServeError, with all findings by line.

    Competitions that were edited on the server since stay unchanged unless edits are to be overwritten.
    stage: that of new competitions.
    """
    settings, now = get_settings(), datetime.now(UTC)
    engine = get_engine(settings.database_address)
    with _in_words(settings):
        loaded = demo_dates.dated(load_competitions(settings.phases_file), settings.data_dir)
        with writing(engine) as session:
            storage = storage_of(settings)
            changes = apply_phases(
                session, loaded, storage=storage, now=now, overwrite_edits=overwrite_edits, stage=stage
            )
            made = [str(change) for change in changes if change.counts]
            if made:
                details = {"changes": made[:CHANGES_RECORDED], "count": len(made)}
                audit.record(session, None, "phases.apply", settings.phases_file.name, details, now=now)
    wake_workers(engine, [change.run_id for change in changes if change.run_id is not None], now)
    return [*changes, *_above_limit(loaded, settings.upload_limit_bytes)]


def _above_limit(loaded: Sequence[LoadedCompetition], limit_bytes: int) -> Iterator[Change]:
    """Yield warnings for declared upload limits above the server's; `evergold check` reports the same by line."""
    for competition in loaded:
        for phase in competition.declaration.phases:
            limits = [phase.limits, *(task.limits for task in phase.tasks.values() if task.limits)]
            declared = max(one.upload_bytes for one in limits)
            if declared > limit_bytes:
                yield Change(
                    f"phase '{phase.name}' of '{competition.declaration.name}' declares uploads of "
                    f"{readable_size(declared)}, but this server takes none above {readable_size(limit_bytes)}: raise "
                    "EVERGOLD_UPLOAD_LIMIT_BYTES, or declare less",
                    counts=False,
                )


def plan(*, overwrite_edits: bool = False) -> Plan:
    """Return what `apply` would do and whom it would affect, without changes. Raises as `apply` does."""
    settings, now = get_settings(), datetime.now(UTC)
    with _in_words(settings):
        return plan_phases(
            get_engine(settings.database_address),
            demo_dates.dated(load_competitions(settings.phases_file), settings.data_dir),
            storage=storage_of(settings),
            now=now,
            overwrite_edits=overwrite_edits,
        )


@contextmanager
def _in_words(settings: Settings) -> Iterator[None]:
    """Turn problems with phases.yaml or the database into ServeError."""
    try:
        yield
    except InvalidPhases as error:
        raise ServeError(_listed(settings, error)) from None
    except (EvergoldError, OSError) as error:
        raise ServeError(f"{settings.phases_file} cannot be applied: {_words(error)}") from None
    except SQLAlchemyError as error:
        raise ServeError(f"The database ({printable_address(settings)}) cannot be used: {reason_of(error)}") from None


def add_demo(gold_dir: Path, *, submits: bool = True) -> list[dict[str, str]]:
    """Create what is missing of the demo's gold, accounts and, if requested, submissions; return the log-ins."""
    from app.server import demo

    settings, now = get_settings(), datetime.now(UTC)
    engine = get_engine(settings.database_address)
    try:
        with writing(engine) as session:
            demo.check_demo_allowed(session)
            demo.install_gold(gold_dir)
            demo.add_accounts(session, now)
            runs = demo.submit_demo(session, storage_of(settings), now) if submits else []
    except (EvergoldError, OSError) as error:
        raise ServeError(f"The demo cannot be set up: {_words(error)}") from None
    wake_workers(engine, runs, now)
    return demo.logins()


def wake_workers(engine: Engine, runs: Sequence[int], now: datetime) -> None:
    """Announce new, committed runs to workers; the sweep announces those that cannot be sent now."""
    if not runs:
        return
    query = (
        select(ScoringRun.id, CompetitionTask.task_type)
        .join(Submission, Submission.id == ScoringRun.submission_id)
        .join(PhaseTask, PhaseTask.id == Submission.phase_task_id)
        .join(CompetitionTask, CompetitionTask.id == PhaseTask.task_id)
        .where(ScoringRun.id.in_(runs))
        .order_by(ScoringRun.id)
    )
    with reading(engine) as session:
        waiting = session.execute(query).all()
    sent = send_runs([(run_id, needs_gpu(task_type)) for run_id, task_type in waiting])
    with writing(engine) as session:
        mark_sent(session, sent, now)


def encodes() -> bool:
    """Return whether any task here needs a worker with torch."""
    from evergold.scoring.tasks import gpu_types

    types = gpu_types()
    with reading(get_engine(get_settings().database_address)) as session:
        return (
            session.scalar(select(CompetitionTask.id).where(CompetitionTask.task_type.in_(types)).limit(1)) is not None
        )


def printable_address(settings: Settings) -> str:
    """Return the database's address without its password."""
    return printable(settings.database_address)


def printable(database_address: str) -> str:
    """Return a database's address without its password."""
    address = make_url(database_address)
    return f"SQLite, {address.database}" if address.drivername == "sqlite" else address.render_as_string()


# ------------------------------------------------------------------------------------------------------------- words


def _listed(settings: Settings, error: InvalidPhases) -> str:
    errors = [str(finding) for finding in error.findings if finding.severity == "error"]
    if not settings.phases_file.exists():
        return (
            f"There is no {settings.phases_file}. `evergold init` makes a server's folder; "
            "or name the file with --phases or EVERGOLD_PHASES_FILE."
        )
    if len(errors) == 1:
        return errors[0]
    return "\n".join([f"{settings.phases_file} has {len(errors)} errors:", *(f"  {line}" for line in errors)])


def _words(error: EvergoldError | OSError) -> str:
    if isinstance(error, EvergoldError):
        return error.message
    named = f"{error.filename}: " if error.filename else ""
    return f"{named}{error.strerror or error}."


def reason_of(error: SQLAlchemyError) -> str:
    """Return the database's own message on one line."""
    original = getattr(error, "orig", None) or error
    return " ".join(str(original).split()).rstrip(".") + "."


# ------------------------------------------------------------------------------------------------------------- child


def main() -> int:
    """Run as started by `evergold serve`."""
    parser = argparse.ArgumentParser(prog="app.server.prepare")
    parser.add_argument("report", type=Path)
    parser.add_argument("--demo", action="store_true")
    parser.add_argument("--history", action="store_true")
    arguments = parser.parse_args()
    try:
        document = _prepare(arguments.demo, arguments.history)
        sys.stdout.writelines(f"{line}\n" for line in document["changes"] + document["edits"])  # the log
    except (ServeError, InvalidSettings) as error:
        document = {"error": str(error)}
    unfinished = arguments.report.with_suffix(".unfinished")
    unfinished.write_text(json.dumps(document), encoding="utf-8")
    unfinished.replace(arguments.report)
    return 1 if "error" in document else 0


def _prepare(with_demo: bool, with_history: bool = False) -> dict[str, Any]:
    """Prepare the server. with_history: generate the demo history in a separate process if it does not exist."""
    migrated = migrate()
    is_new, data_dir = _is_empty(), get_settings().data_dir
    if with_demo:
        demo_dates.note_first_start(data_dir, datetime.now(UTC))
    tells = with_demo and with_history and not demo_dates.is_told(data_dir)
    changes = apply()
    logins = add_demo(Path(os.environ["EVERGOLD_GOLD_DIR"]), submits=not tells) if with_demo else []
    return {
        "changes": [f"migrated the database, revision {revision}" for revision in migrated]
        + [str(change) for change in changes if not change.keeps_edits],
        "edits": [str(change) for change in changes if change.keeps_edits],
        "is_new": is_new,
        "logins": logins,
        "tells_history": tells,
        "database": printable_address(get_settings()),
        "encodes": encodes(),
    }


def _is_empty() -> bool:
    """Return whether there is no competition yet: then everything applied is new, and nothing was changed."""
    with reading(get_engine(get_settings().database_address)) as session:
        return session.scalar(select(Competition.id).limit(1)) is None


if __name__ == "__main__":
    sys.exit(main())
