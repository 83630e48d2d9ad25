"""The sweep: repairs from the database the effects of crashes, lost messages and dead workers; sends the outbox.

It is a separate process (`evergold sweep`), not a Celery task, because it must also work while the broker is down.
"""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from datetime import UTC, datetime
from functools import partial

from sqlalchemy import Engine, func, select
from sqlalchemy.exc import OperationalError, SQLAlchemyError
from sqlalchemy.orm import Session

from app.administration.live import current_settings
from app.administration.refusals import forget_refused
from app.base.config import Settings, get_settings
from app.base.db import get_engine, reading, writing
from app.base.errors import StorageAway
from app.base.exit_status import OTHER_REVISION
from app.base.logs import configure_logging, continuing, log, log_and_continue, log_libraries
from app.base.permissions import prepare_folders
from app.base.private_folders import clear_left_folders
from app.base.queue import (
    CPU_QUEUE,
    GPU_QUEUE,
    has_messages,
    send_archive,
    send_gold_check,
    send_runs,
    send_statistics,
    send_validation,
)
from app.base.storage import Storage, clear_interrupted_uploads, sealed_storage_of, storage_of
from app.boards.freezing import freeze_due
from app.boards.statistics_work import statistics_due
from app.competitions.life import delete_due
from app.declarations.blueprints.abandoned import Abandoned, clear_abandoned
from app.declarations.bundle_uploads import forget_bundles
from app.gold.checks import unanswered_checks
from app.models import RunStatus, ScoringRun
from app.operations.certificate import note_certificate, public_place
from app.operations.election import Election
from app.operations.health import SWEEP, beat
from app.operations.metrics import keep_totals
from app.operations.unowned import Cleared, clear_unowned
from app.people.digests import send_due_digests
from app.people.mail import forget_ended
from app.people.mail_delivery import send_waiting
from app.privacy.archives import archives_to_end, archives_to_send, end_archive, remove_archive_file
from app.privacy.deletions import carry_out, due_deletions
from app.privacy.drafts import plan_abandoned
from app.privacy.retention import forget_expired
from app.rescoring.pace import advance_rescorings, rescoring_runs_to_announce
from app.runs.sweep import mark_sent, requeue_lost_runs
from app.runs.validations import mark_check_sent, requeue_lost_checks
from app.runs.workers import forget_silent_workers, unserved_task_types
from app.standings.check import START, check_slice
from app.submissions.held_uploads import forget_held_uploads
from app.submissions.rejected import clear_rejected_files
from app.submissions.validations import clear_check_files, forget_validations
from app.webhooks.due import are_watched
from evergold.scoring.tasks import TASKS, needs_gpu
from workers.climbing import watch_climbing
from workers.delivering import delivering
from workers.garbage import collect_rarely
from workers.rounds import rounds
from workers.tables import is_refused, tables_fit


def look_after_validations(engine: Engine, now: datetime) -> int:
    """Clean up validations once and re-send lost checks; return how many were sent."""
    with suppress(StorageAway), reading(engine) as session:  # the next sweep deletes them
        clear_check_files(session, storage_of(get_settings()), now)
    with writing(engine) as session:
        forget_validations(session, now)
        unserved = unserved_task_types(session, now)
        waiting = requeue_lost_checks(session, attempts=get_settings().attempts, now=now, unserved=unserved)
    sent = []
    for validation_id, task_type in waiting:
        if not send_validation(validation_id, needs_gpu=needs_gpu(task_type)):
            break  # the broker is down: the next sweep tries again
        sent.append(validation_id)
    if sent:
        with writing(engine) as session:
            mark_check_sent(session, sent, now)
    return len(sent)


def sweep_gold_checks(engine: Engine, now: datetime) -> int:
    """Re-send pending gold checks; return their number."""
    with writing(engine) as session:
        waiting = unanswered_checks(session, now)
    return sum(map(send_gold_check, waiting))


def sweep_archives(engine: Engine, settings: Settings, now: datetime) -> None:
    """Re-send pending archives of people's data, and delete the files of expired ones."""
    with writing(engine) as session:
        waiting = archives_to_send(session, now)
    for archive_id in waiting:
        send_archive(archive_id)
    with reading(engine) as session:
        over = archives_to_end(session, settings, now)
    for archive in over:  # one that fails is deleted by the next sweep
        with continuing("archive_not_ended", archive_id=archive.id):
            remove_archive_file(sealed_storage_of(settings), archive)
            with writing(engine) as session:
                end_archive(session, archive.id, now)
            log.info("archive_ended", archive_id=archive.id)


def sweep_accounts(engine: Engine, settings: Settings, now: datetime) -> None:
    """Remind of planned account deletions, and delete the accounts that are due, each in a separate transaction."""
    with reading(engine) as session:
        due = due_deletions(session, now)
    deleted = 0
    for user_id in due:  # others' deletions do not wait for one that fails; the next sweep tries again
        with continuing("account_not_deleted", user_id=user_id), writing(engine) as session:
            deleted += carry_out(session, user_id, settings, now)
    if deleted:
        log.info("accounts_deleted", accounts=deleted)


def apply_retention(engine: Engine, settings: Settings, now: datetime) -> None:
    """Delete data beyond its retention period, and schedule the deletion of abandoned drafts."""
    with writing(engine) as session:
        forgotten = forget_expired(session, settings, now)
        planned = plan_abandoned(session, settings, now)
    if forgotten or planned:
        log.info("retention_applied", drafts=planned, **forgotten)


def look_after_statistics(engine: Engine, now: datetime) -> int:
    """Send due statistics tasks once; return their number. If the broker is down, they are sent later."""
    with writing(engine) as session:
        due = statistics_due(session, now, attempts=get_settings().attempts)
    return sum(map(send_statistics, due))


@contextmanager
def posting(engine: Engine, settings: Settings) -> Iterator[None]:
    """Send mail while the block runs."""

    def write_digests(stop: threading.Event) -> None:
        send_due_digests(engine, settings, _now())

    def send(stop: threading.Event) -> None:
        send_waiting(engine, settings, _now)

    def forget() -> None:
        with writing(engine) as session:
            forget_ended(session, settings.mail_days, _now())

    with rounds("post", engine, (write_digests, send), forget):
        yield


@contextmanager
def watching_certificate(engine: Engine, settings: Settings) -> Iterator[None]:
    """Check the certificate of the public address immediately and every hour during the block, if it is https."""
    if public_place(settings) is None:
        yield
        return
    with rounds("certificate", engine, (), lambda: note_certificate(engine, settings, _now())):
        yield


def _now() -> datetime:
    return datetime.now(UTC)


#: Interval between searches for stored files that nothing references.
CLEAR_SECONDS = 3600.0


def sweep(engine: Engine, now: datetime) -> int:
    """Repair everything once; return how many pending runs were announced to workers again."""
    if left := clear_left_folders(get_settings()):
        log.warning("import_folders_removed", folders=left)
    forgotten = _forgotten_task_types()
    with writing(engine) as session:
        forget_silent_workers(session, now)
        done = _lost(session, now)
        waiting = requeue_lost_runs(
            session,
            attempts=get_settings().attempts,
            now=now,
            unserved=unserved_task_types(session, now),
            forgotten=forgotten,
        )
    sent = _announce(waiting)
    if len(sent) == len(waiting):
        sent += _announce(_rescoring_runs(engine, now, forgotten), later=True)
    with writing(engine) as session:
        if sent:
            mark_sent(session, sent, now)
        beat(session, SWEEP, now, {**done, "announced": len(sent)})
    if sent:
        log.info("sweep_announced", runs=len(sent))
    settings = get_settings()
    do_each(
        {
            "statistics": partial(look_after_statistics, engine, now),
            "official boards": partial(_freeze, engine, now),
            "deletions": partial(_delete, engine, now),
            "totals": partial(keep_totals, engine, now),
            "climbing": partial(watch_climbing, engine, now),
            "news": partial(_look_for_news, engine, now),
            "validations": partial(look_after_validations, engine, now),
            "gold checks": partial(sweep_gold_checks, engine, now),
            "accounts": partial(sweep_accounts, engine, settings, now),
            "archives": partial(sweep_archives, engine, settings, now),
        }
    )
    return len(sent)


def do_each(parts: Mapping[str, Callable[[], object]]) -> None:
    """Run each part even if those before it failed; only a database that is down or busy ends the loop."""
    for name, part in parts.items():
        try:
            part()
        except OperationalError:
            raise
        except Exception as error:  # the next sweep does it again
            log_and_continue("sweep_part_failed", error, part=name)


def _freeze(engine: Engine, now: datetime) -> None:
    """Freeze the official boards of phases that have ended."""
    with writing(engine) as session:
        frozen = len(freeze_due(session, now))
    if frozen:
        log.info("boards_frozen", boards=frozen)


def _delete(engine: Engine, now: datetime) -> None:
    """Delete the competitions whose deletion is due."""
    with writing(engine) as session:
        deleted = delete_due(session, now)
    if deleted:
        log.info("competitions_deleted", names=deleted)


def _look_for_news(engine: Engine, now: datetime) -> None:
    """Store news about boards and phases if any webhook wants them."""
    with reading(engine) as session:
        is_needed = are_watched(session)
    if is_needed:
        from app.news.watching import note_watched  # loads boards

        note_watched(engine, get_settings(), now)


def _lost(session: Session, now: datetime) -> dict[str, int]:
    """Return the numbers of runs that this sweep will requeue and give up, for the server's metrics."""
    had_last_try = ScoringRun.attempts >= get_settings().attempts
    expired = (ScoringRun.status == RunStatus.RUNNING) & (ScoringRun.lease_expires_at <= now)
    counted = session.execute(select(had_last_try, func.count()).where(expired).group_by(had_last_try)).all()
    lost = {bool(last): count for last, count in counted}
    return {"requeued": lost.get(False, 0), "given_up": lost.get(True, 0)}


def _forgotten_task_types() -> list[str]:
    """Return the task types without messages at the broker: all were taken, or the broker was restarted or emptied."""
    empty = {queue for queue in (CPU_QUEUE, GPU_QUEUE) if has_messages(queue) is False}
    return [name for name in TASKS if (GPU_QUEUE if needs_gpu(name) else CPU_QUEUE) in empty]


def _rescoring_runs(engine: Engine, now: datetime, forgotten: Sequence[str]) -> list[tuple[int, str]]:
    """Update the open rescorings; return their runs that are to be announced."""
    with writing(engine) as session:
        notified = advance_rescorings(session, get_settings(), now)
        unserved = unserved_task_types(session, now)
        waiting = rescoring_runs_to_announce(session, now, unserved=unserved, forgotten=forgotten)
    if notified:
        log.info("rescoring_ready", sets=notified)
    return waiting


def _announce(waiting: Sequence[tuple[int, str]], *, later: bool = False) -> list[int]:
    return send_runs([(run_id, needs_gpu(task_type)) for run_id, task_type in waiting], later=later)


def clear_rejected(engine: Engine, settings: Settings, now: datetime) -> None:
    """Delete the files of submissions rejected long ago."""
    with writing(engine) as session:
        files = clear_rejected_files(session, current_settings(session, settings).rejected_days, now)
    if files:
        log.info("rejected_files_given_up", files=files)


def forget_counts(engine: Engine, now: datetime) -> None:
    """Delete old counts of requests that rate limits refused."""
    with writing(engine) as session:
        forget_refused(session, now)


def clear_held_uploads(engine: Engine, now: datetime) -> None:
    """Delete files that were uploaded but not submitted within a day, and the outcomes of bundles as old as that."""
    with writing(engine) as session:
        forgotten = forget_held_uploads(session, now) + forget_bundles(session, now)
    if forgotten:
        log.info("held_uploads_forgotten", uploads=forgotten)


def clear_blueprints(engine: Engine, settings: Settings, now: datetime) -> None:
    """Warn authors of abandoned blueprints, and delete those warned two weeks ago."""
    with writing(engine) as session:
        abandoned = clear_abandoned(session, current_settings(session, settings), now)
    if abandoned != Abandoned():
        log.info("blueprints_abandoned", **asdict(abandoned))


def clear_storage(engine: Engine, storage: Storage, now: float) -> None:
    """Delete unreferenced files; a missing or read-only folder belongs to another machine and is skipped."""
    try:
        interrupted, unowned = clear_interrupted_uploads(storage.folder, now), clear_unowned(engine, storage, now)
    except (OSError, StorageAway) as error:
        log.warning("storage_not_cleared", error=str(error))
        return
    if interrupted or unowned != Cleared():
        log.info("storage_cleared", interrupted=interrupted, **asdict(unowned))


def clear_all(engine: Engine, settings: Settings, now: datetime) -> None:
    """Delete everything whose retention has ended."""
    do_each(
        {
            "rejected files": partial(clear_rejected, engine, settings, now),
            "refused requests": partial(forget_counts, engine, now),
            "held uploads": partial(clear_held_uploads, engine, now),
            "drafts": partial(clear_blueprints, engine, settings, now),
            "retention": partial(apply_retention, engine, settings, now),
            "files": lambda: clear_storage(engine, storage_of(settings), now.timestamp()),
            "sealed files": lambda: clear_storage(engine, sealed_storage_of(settings), now.timestamp()),
        }
    )


def check_standings(engine: Engine, after: int) -> int:
    """Verify the next few stored entries by recomputing them; return where to continue next time."""
    with writing(engine) as session:
        differences, reached = check_slice(session, after)
    for one in differences:
        log.error("standing_was_wrong", **asdict(one))
    return reached


def main() -> int:
    """Sweep immediately and then every `sweep_seconds`, until stopped; clean up storage every hour. Return the exit
    code.
    """
    collect_rarely()
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    configure_logging()
    log_libraries()
    settings = get_settings()
    prepare_folders(settings)
    engine = get_engine(settings.database_address)
    if is_refused(engine):
        return OTHER_REVISION
    clear_at, looked_until = time.monotonic(), START
    election = Election(engine)
    with posting(engine, settings), delivering(engine, settings), watching_certificate(engine, settings):
        while not stop.is_set():
            try:
                # Otherwise a newer version's sweep, or another machine's, is active until it ends or loses the
                # database.
                if not tables_fit(engine) or not election.is_won():
                    stop.wait(settings.sweep_seconds)
                    continue
                sweep(engine, datetime.now(UTC))
                looked_until = check_standings(engine, looked_until)
                if time.monotonic() >= clear_at:
                    clear_all(engine, settings, datetime.now(UTC))
                    clear_at = time.monotonic() + CLEAR_SECONDS
            except SQLAlchemyError as error:
                log.warning("sweep_failed", error=str(error))  # the next sweep repeats the work
            stop.wait(settings.sweep_seconds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
