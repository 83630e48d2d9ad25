"""The sweep's part for checks: files that are only checked go when their check has ended, its answer after a day; what
crashes left behind is put right, for versions of gold, too."""

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
    """Once; how many of them workers were told about again."""
    with suppress(StorageAway), reading(engine) as session:  # the next sweep clears them
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


def look_after_gold(engine: Engine, now: datetime) -> int:
    """Of how many versions of gold, which nobody has looked at yet, workers were told again."""
    with writing(engine) as session:
        waiting = unanswered_checks(session, now)
    return sum(map(send_gold_check, waiting))
