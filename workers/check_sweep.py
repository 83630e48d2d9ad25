"""Validations and gold checks in the sweep.

Deletes validated files once their check has ended and results after a day, and repairs what crashes left behind.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime

from sqlalchemy import Engine

from app.base.config import get_settings
from app.base.db import reading, writing
from app.base.errors import StorageAway
from app.base.queue import send_gold_check, send_validation
from app.base.storage import storage_of
from app.gold.checks import unanswered_checks
from app.runs.validations import mark_check_sent, requeue_lost_checks
from app.runs.workers import unserved_task_types
from app.submissions.validations import clear_check_files, forget_validations
from evergold.scoring.tasks import needs_gpu


def look_after_validations(engine: Engine, now: datetime) -> int:
    """Clean up once and re-send lost checks; return how many were sent."""
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
    """Re-send pending gold checks; return how many."""
    with writing(engine) as session:
        waiting = unanswered_checks(session, now)
    return sum(map(send_gold_check, waiting))
