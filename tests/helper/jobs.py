"""Jobs for tests, run in the helper."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import Any

from app.helper.wire import Message


def echo(head: dict[str, Any], content: bytes) -> Message:
    return head, content


def spin(head: dict[str, Any], content: bytes) -> Message:
    while True:
        pass


def hoard(head: dict[str, Any], content: bytes) -> Message:
    return {"bytes": len(bytearray(512 * 1024 * 1024))}, b""


def die(head: dict[str, Any], content: bytes) -> Message:
    os._exit(0)


def crash(head: dict[str, Any], content: bytes) -> Message:
    raise KeyError("a fault of ours")


def look(head: dict[str, Any], content: bytes) -> Message:
    opened = []
    for one in os.listdir("/proc/self/fd"):
        with suppress(FileNotFoundError):  # the listing's own
            opened.append(os.readlink(f"/proc/self/fd/{one}"))
    return {"environment": dict(os.environ), "parent": os.getppid(), "files": opened}, b""
