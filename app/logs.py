"""How the server's processes log: a line per event with its request id, and tracebacks without variables."""

from __future__ import annotations

import structlog


def configure_logging() -> None:
    """Plain lines on stdout; doing it twice is fine. Values in a traceback could be passwords."""
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.dev.ConsoleRenderer(colors=False, exception_formatter=structlog.dev.plain_traceback),
        ],
    )
