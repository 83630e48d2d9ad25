"""How far a long scoring is: `report_progress` inside scoring, `progress_to` around it.

A context variable carries the listener, so that no function in between has to hand it on. There is no clock in here:
listeners bring their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

#: Takes how many items are done and how many there are.
Listener = Callable[[int, int], None]

_listener: ContextVar[Listener | None] = ContextVar("progress_listener", default=None)


def report_progress(done: int, total: int) -> None:
    """Tell whoever listens; nobody needs to. done: 0 to total, never less than before; the last call has done = total.

    What the listener raises comes through: it may stop a scoring that nobody waits for any more.
    """
    listener = _listener.get()
    if listener is not None:
        listener(done, total)


@contextmanager
def progress_to(listener: Listener) -> Iterator[None]:
    """Inside the block, in this thread (or task), the listener hears every report and an outer listener hears none."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)
