"""take_turn(), the only Celery task: scores or checks the next job in the queue, whichever message woke the worker."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from functools import partial
from uuid import UUID

from sqlalchemy import Engine

from app.base.config import get_settings
from app.base.db import get_engine, reading, writing
from app.base.logs import log
from app.base.queue import GPU_QUEUE, TURN_TASK, pop_message
from app.runs.claims import next_turn
from app.runs.holds import is_drained
from app.runs.sweep import unmark_sent
from workers.celery_app import app
from workers.check import check_file
from workers.claimed import host_name
from workers.device import can_encode
from workers.lease import retry_while_db_down
from workers.overrun import Ending
from workers.score import score_next, score_submission

#: Short, since stopping a worker waits until control returns to Celery.
GO_ON_SECONDS = 1.0


@app.task(name=TURN_TASK)
def take_turn(announced: int | str, queue: str) -> None:
    """Score or check the next job in this queue: one per message, and none if nothing is waiting.

    After a job, take further messages for a while, to avoid Celery's overhead between short runs.
    announced: the run or check that the message was sent for, which may already be done.
    """
    if queue == GPU_QUEUE and not can_encode():
        log.warning("turn_left_to_others", announced=announced)
        return
    until = time.monotonic() + GO_ON_SECONDS
    ending = _turn(needs_gpu=queue == GPU_QUEUE)
    if ending is None:
        _leave_to_others(announced)
    while ending is Ending.DONE and time.monotonic() < until and pop_message(queue):
        ending = _turn(needs_gpu=queue == GPU_QUEUE)
    if ending is Ending.SPENT:
        # Celery reports it and starts another child; everything is recorded.
        raise SystemExit("this process reached its memory limit and is replaced by a new one")


def _turn(*, needs_gpu: bool) -> Ending | None:
    """Run the next job and return how it ended; None if nothing is waiting.

    LEFT: a faster worker took the job, or this machine lacks what it needs.
    """
    engine = get_engine(get_settings().database_address)
    ending: Ending | None = Ending.LEFT
    last = None
    while ending is Ending.LEFT:
        ending = score_next(needs_gpu=needs_gpu)
        if ending is None:
            turn = retry_while_db_down(partial(_next, engine, needs_gpu=needs_gpu), get_settings().lease_seconds)
            if turn is None or turn == last:
                return None
            last, ending = turn, check_file(str(turn)) if isinstance(turn, UUID) else score_submission(turn)
    return ending


def _leave_to_others(announced: int | str) -> None:
    """Make the sweep announce a run again whose message reached a drained machine."""
    engine = get_engine(get_settings().database_address)
    with reading(engine) as session:
        is_lost = isinstance(announced, int) and is_drained(session, host_name())
    if is_lost:
        with writing(engine) as session:
            unmark_sent(session, int(announced))


def _next(engine: Engine, *, needs_gpu: bool) -> int | UUID | None:
    with reading(engine) as session:
        return next_turn(session, needs_gpu=needs_gpu, now=datetime.now(UTC), host=host_name())
