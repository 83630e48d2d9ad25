"""Garbage collection in the processes of workers."""

from __future__ import annotations

import gc


def collect_rarely() -> None:
    """Collect garbage less often than by default, in processes that live long.

    Runs create many objects that live until the run ends, and hardly any cycles: at the default rate, collecting takes
    up to a quarter of a run.
    """
    gc.set_threshold(20_000, 20, 50)
