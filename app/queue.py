"""Wakes workers: the only place that knows the Celery task's name. The database is the queue; a message is a run id.

Losing a message loses nothing (the sweep sends it again), so a broker that is down is logged and survived.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import structlog
from celery import Celery
from kombu.exceptions import OperationalError

from app.config import get_settings

SCORE_TASK = "workers.score.score_submission"
CPU_QUEUE = "cpu"
GPU_QUEUE = "gpu"
_WAIT_SECONDS = 2

log = structlog.get_logger(__name__)


def broker_settings(broker_url: str, data_dir: Path) -> dict[str, Any]:
    """Celery's address of the broker, or a folder of files where no broker was named."""
    if broker_url:
        return {"broker_url": broker_url, "broker_transport_options": {}}
    folders = {name: str((data_dir / "broker" / name).resolve()) for name in ("messages", "processed", "control")}
    for folder in folders.values():
        Path(folder).mkdir(parents=True, exist_ok=True)
    return {
        "broker_url": "filesystem://",
        "broker_transport_options": {
            "data_folder_in": folders["messages"],
            "data_folder_out": folders["messages"],
            "processed_folder": folders["processed"],
            "control_folder": folders["control"],
            "store_processed": False,
            "polling_interval": 0.1,
        },
    }


def send_run(run_id: int, *, needs_gpu: bool = False) -> bool:
    """Tell a worker about a queued run; False when the broker is down, which is logged and left to the sweep."""
    try:
        _sender().send_task(SCORE_TASK, args=[run_id], queue=GPU_QUEUE if needs_gpu else CPU_QUEUE, retry=False)
    except (OperationalError, OSError) as error:
        log.warning("broker_down", run_id=run_id, error=str(error))
        return False
    return True


@lru_cache(maxsize=1)
def _sender() -> Celery:
    settings = get_settings()
    broker = broker_settings(settings.broker_url, settings.data_dir)
    if "redis" in broker["broker_url"]:  # a participant never waits for a broker that hangs
        broker["broker_transport_options"] = {
            "socket_connect_timeout": _WAIT_SECONDS,
            "socket_timeout": _WAIT_SECONDS,
            "max_retries": 0,  # nor for one that is down: trying again is the sweep's work
        }
    app = Celery("evergold", set_as_current=False)
    app.conf.update(task_ignore_result=True, broker_connection_retry=False, broker_pool_limit=4, **broker)
    return app
