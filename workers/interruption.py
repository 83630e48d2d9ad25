"""A stop of the background process: ends what is being computed, never what is being recorded."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

#: Set when the process was told to stop.
stopped = threading.Event()
_is_interruptible = False


class Interrupted(BaseException):
    """The process was told to stop; no error, and nothing that catches errors may catch it."""


@contextmanager
def interruptible() -> Iterator[None]:
    """Let a stop end the block by Interrupted. Only for what leaves nothing half done; in the main thread."""
    global _is_interruptible
    _is_interruptible = True
    try:
        if stopped.is_set():
            raise Interrupted
        yield
    finally:
        _is_interruptible = False


def stop(*_: object) -> None:
    """Stop: at once inside an interruptible block, else at the end of what is under way. A signal handler."""
    stopped.set()
    if _is_interruptible:
        raise Interrupted
