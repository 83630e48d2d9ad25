"""What is logged while a block runs, instead of being written."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from app.base import logs


@contextmanager
def capture_logs() -> Iterator[list[dict[str, Any]]]:
    """A list that fills: of each line its event, its own fields, and its level as `log_level`."""
    lines: list[dict[str, Any]] = []

    def keep(level: str, event: str, fields: dict[str, Any], *_: object) -> None:
        lines.append({**fields, "event": event, "log_level": level})

    with patch.object(logs, "_log", keep):
        yield lines
