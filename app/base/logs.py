"""Logging of the server's processes and their libraries with structlog: one line per event, with request or run id."""

from __future__ import annotations

import logging
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Literal

import structlog
from structlog.contextvars import bound_contextvars, get_contextvars, merge_contextvars
from structlog.processors import JSONRenderer, TimeStamper, add_log_level, format_exc_info
from structlog.typing import EventDict, FilteringBoundLogger, Processor

from app.base.config import get_settings

log: FilteringBoundLogger = structlog.get_logger()
#: Adds fields to every line of this thread or request within a block, unless a line sets them itself.
bound = bound_contextvars
bound_fields = get_contextvars


def _text(_logger: object, _method: str, entry: EventDict) -> str:
    """Return a log line: time, level and event in columns, the fields by name, and a traceback below.

    structlog's own renderer takes twice as long, and writes control characters, which could affect a terminal.
    """
    head = f"{entry.pop('timestamp')} [{entry.pop('level'):9}] {entry.pop('event'):30}"
    below = entry.pop("exception", None)
    line = " ".join([head, *(f"{name}={_quoted(entry[name])}" for name in sorted(entry))]).rstrip(" ")
    return line if below is None else f"{line}\n{below}"


def _quoted(value: object) -> str:
    is_plain = isinstance(value, str) and value.isprintable() and not _TO_QUOTE & set(value)
    return str(value) if is_plain else repr(value)


_TO_QUOTE = frozenset(" =\"'")
_RENDERERS: dict[str, Processor] = {"json": JSONRenderer(ensure_ascii=False), "text": _text}
#: Threads write one line at a time; forks wait for the lock, so that no child starts with a lock held forever.
_lock = threading.Lock()
os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release)


class _StandardOutput:
    """Writes lines to stdout without a lock; structlog's own logger takes one that a fork may leave held."""

    def __init__(self, *_: object) -> None: ...

    def write(self, line: str) -> None:
        with _lock:
            sys.stdout.write(f"{line}\n")
            sys.stdout.flush()

    debug = info = warning = error = critical = write


def configure_logging(log_format: Literal["text", "json"] | None = None) -> None:
    """Log to stdout in the given or the configured format; may be called more than once."""
    structlog.configure(
        processors=[
            merge_contextvars,
            add_log_level,
            TimeStamper("iso"),
            format_exc_info,  # without variables: they could be passwords
            _RENDERERS[log_format or get_settings().log_format],
        ],
        logger_factory=_StandardOutput,
    )


def log_libraries(*, info: tuple[str, ...] = (), warning: tuple[str, ...] = ()) -> None:
    """Log messages of libraries, from level warning up, in our own format under the name of their logger.

    May be called more than once. info: loggers that also log at level info. warning: loggers below those in `info` that
    log only from level warning up.
    """
    logging.basicConfig(level=logging.WARNING, handlers=[_OfLibraries()], force=True)
    logging.captureWarnings(True)
    for level, names in ((logging.INFO, info), (logging.WARNING, warning)):
        for name in names:
            logging.getLogger(name).setLevel(level)


class _OfLibraries(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        try:
            traceback = {"exc_info": record.exc_info} if record.exc_info else {}
            level = min(record.levelno // 10 * 10, logging.CRITICAL)  # structlog knows no levels between
            log.log(level, record.name, says=record.getMessage(), **traceback)
        except Exception:  # logging must not disturb the caller, as with the standard library's handlers
            self.handleError(record)


def log_and_continue(event: str, error: Exception, **names: object) -> None:
    """Log an error from which the caller recovers, with its message only if it is from the database: others may quote
    gold.

    Raises nothing, not even if there is no memory for logging.
    """
    with suppress(Exception):
        is_of_database = type(error).__module__.startswith("sqlalchemy.")
        text = {"text": str(error)} if is_of_database else {}
        log.warning(event, error=type(error).__name__, **text, **names)


@contextmanager
def continuing(event: str, **names: object) -> Iterator[None]:
    """Log an error of the block and continue after it, so that an error for one subject does not affect the others."""
    try:
        yield
    except Exception as error:
        log_and_continue(event, error, **names)


configure_logging("text")
