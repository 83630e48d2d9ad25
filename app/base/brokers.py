"""Message brokers: lists in Redis or Valkey, or files in a folder, both in the format of Celery workers.

Messages are sent without Celery, which only workers load: it takes 1 ms per message, and writes incomplete files
(decision 068). The format is Celery's protocol, version 2, in the envelope of its transports (kombu's).
"""

from __future__ import annotations

import json
import os
import time
from base64 import b64decode, b64encode
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol
from uuid import uuid4

from redis import Redis, RedisError

from app.base.redis_address import redis_address
from app.base.redis_client import redis_connections

#: Raised by brokers that are unreachable, full, or refuse.
BROKER_ERRORS = (OSError, RedisError)

#: A Celery priority on Redis, where 0 comes first and is the default.
LATER = 9
_FIRST = 0
#: Separates queue and priority in the name of a list.
_PRIORITY = "\x06\x16"


class Broker(Protocol):
    """A message broker. All methods raise BROKER_ERRORS."""

    def send(self, messages: Sequence[bytes], queue: str, priority: int) -> None:
        """Append messages, which are taken in this order."""
        ...

    def waiting(self, queue: str) -> int:
        """Return the number of messages not yet taken."""
        ...

    def took(self, queue: str, task: str) -> bool:
        """Take the next message if it is for this task, and return True; return False if only Celery can take it."""
        ...

    def take(self, queue: str) -> bytes | None:
        """Take and return the next message, of any task; None if there is none."""
        ...

    def close(self) -> None: ...


def broker_of(broker_url: str, data_dir: Path, wait_seconds: float) -> Broker:
    """Return the broker of these settings, with this timeout."""
    if address := redis_address(broker_url):
        return RedisBroker(Redis.from_pool(redis_connections(address, wait_seconds)))
    return FolderBroker(_folders(data_dir)["messages"])


def broker_settings(broker_url: str, data_dir: Path) -> dict[str, Any]:
    """Return the broker settings for Celery: an address, or a folder of files if no broker is set."""
    if broker_url:
        return {"broker_url": broker_url, "broker_transport_options": {}}
    folders = {name: str(folder) for name, folder in _folders(data_dir).items()}
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


def celery_message(task: str, arguments: Sequence[int | str], queue: str, priority: int) -> bytes:
    """Return a message in the format of Celery workers."""
    task_id = str(uuid4())
    body = json.dumps([arguments, {}, {"callbacks": None, "errbacks": None, "chain": None, "chord": None}])
    return json.dumps({
        "body": b64encode(body.encode()).decode(),
        "content-encoding": "utf-8",
        "content-type": "application/json",
        "headers": {
            "lang": "py",
            "task": task,
            "id": task_id,
            "root_id": task_id,
            "parent_id": None,
            "group": None,
            "retries": 0,
            "eta": None,
            "expires": None,
            "timelimit": [None, None],
            "argsrepr": repr(list(arguments)),
            "kwargsrepr": "{}",
        },
        "properties": {
            "correlation_id": task_id,
            "delivery_mode": 2,
            "delivery_info": {"exchange": "", "routing_key": queue},
            "delivery_tag": str(uuid4()),
            "priority": priority,
            "body_encoding": "base64",
        },
    }).encode()  # fmt: skip


def read_message(message: bytes) -> tuple[str, list[int | str]]:
    """Return task and arguments of a `celery_message`. Raises ValueError, KeyError or TypeError."""
    found = json.loads(message)
    arguments, _, _ = json.loads(b64decode(found["body"]))
    return found["headers"]["task"], arguments


class RedisBroker:
    """A list per queue and priority; workers take from its end."""

    def __init__(self, client: Redis) -> None:
        self._client = client

    def send(self, messages: Sequence[bytes], queue: str, priority: int) -> None:
        self._client.lpush(_list_of(queue, priority), *messages)

    def waiting(self, queue: str) -> int:
        return sum(self._client.llen(name) for name in _lists(queue))

    def took(self, queue: str, task: str) -> bool:
        for name in _lists(queue):
            oldest = self._client.lindex(name, -1)
            if oldest is not None:
                is_for_it = json.loads(oldest)["headers"].get("task") == task
                return is_for_it and self._client.lrem(name, -1, oldest) == 1  # type: ignore[arg-type]  # bytes, too
        return False

    def take(self, queue: str) -> bytes | None:
        for name in _lists(queue):
            message = self._client.rpop(name)
            if isinstance(message, bytes):
                return message
        return None

    def close(self) -> None:
        self._client.close()


class FolderBroker:
    """A file per message, ordered by age; ignores priorities."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def send(self, messages: Sequence[bytes], queue: str, priority: int) -> None:
        for message in messages:
            self._send_one(message, queue)

    def _send_one(self, message: bytes, queue: str) -> None:
        name = f"{round(1000 * time.monotonic())}_{uuid4()}.{queue}.msg"
        unfinished = self._folder / f"{name}.part"  # not taken for a message by workers
        try:
            unfinished.write_bytes(message)
            unfinished.replace(self._folder / name)
        except OSError:
            unfinished.unlink(missing_ok=True)
            raise

    def waiting(self, queue: str) -> int:
        return len(self._names(queue))

    def took(self, queue: str, task: str) -> bool:
        return False

    def take(self, queue: str) -> bytes | None:
        for name in sorted(self._names(queue)):
            with suppress(FileNotFoundError):  # another process was faster
                message = (self._folder / name).read_bytes()
                (self._folder / name).unlink()
                return message
        return None

    def _names(self, queue: str) -> list[str]:
        if not os.access(self._folder, os.W_OK):
            raise PermissionError(f"{self._folder} cannot be written")
        return [name for name in os.listdir(self._folder) if name.partition(".")[2] == f"{queue}.msg"]

    def close(self) -> None:
        """Do nothing: there are no connections."""


def _folders(data_dir: Path) -> dict[str, Path]:
    folders = {name: (data_dir / "broker" / name).resolve() for name in ("messages", "processed", "control")}
    for folder in folders.values():
        folder.mkdir(parents=True, exist_ok=True)
    return folders


def _lists(queue: str) -> list[str]:
    """Return the names of the queue's lists that this code writes to, by priority."""
    return [_list_of(queue, _FIRST), _list_of(queue, LATER)]


def _list_of(queue: str, priority: int) -> str:
    return f"{queue}{_PRIORITY}{priority}" if priority else queue
