"""Progress of long scorings: `report_progress` inside scoring, `progress_to` around it.

A context variable carries the listener, so that no function in between has to pass it on. There is no clock in here:
listeners bring their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

#: Takes the number of finished items and their total.
Listener = Callable[[int, int], None]

_listener: ContextVar[Listener | None] = ContextVar("progress_listener", default=None)


def report_progress(done: int, total: int) -> None:
    """Report progress to the listener, if there is one.

    done: 0 to total, never less than before; the last call has done = total. Exceptions of the listener propagate: it
    may stop a scoring whose result is no longer needed.
    """
    listener = _listener.get()
    if listener is not None:
        listener(done, total)


@contextmanager
def progress_to(listener: Listener) -> Iterator[None]:
    """Send every report inside the block, in this thread (or task), to this listener, and none to an outer listener."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)
