"""How the server's processes log: a line per event with its request or run id, and tracebacks without variables."""

from __future__ import annotations

from typing import Literal

import structlog
from structlog.typing import Processor

from app.base.config import get_settings

#: One list for all time: loggers are made once and keep it.
_PROCESSORS: list[Processor] = []


def configure_logging(log_format: Literal["text", "json"] | None = None) -> None:
    """Lines on stdout, as the settings have them; doing it twice is fine. Values in a traceback could be passwords."""
    _PROCESSORS[:] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        *_written(log_format or get_settings().log_format),
    ]
    structlog.configure(processors=_PROCESSORS, cache_logger_on_first_use=True)


def _written(log_format: Literal["text", "json"]) -> list[Processor]:
    if log_format == "json":
        return [structlog.processors.format_exc_info, structlog.processors.JSONRenderer(ensure_ascii=False)]
    return [structlog.dev.ConsoleRenderer(colors=False, exception_formatter=structlog.dev.plain_traceback)]
