"""Logging of the server's processes and their libraries: a line per event with request or run id.

Tracebacks have no variables. Uses the standard library's JSON and tracebacks: a logging package takes 5 MB per process.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, Literal

from app.base.config import get_settings

Entry = dict[str, Any]

#: Characters that cause a value to be quoted in text lines.
_TO_QUOTE = frozenset(" =\"'")
_EVENT_WIDTH, _LEVEL_WIDTH = 30, 9

_bound: ContextVar[Mapping[str, Any]] = ContextVar("log_fields", default=MappingProxyType({}))
#: Threads write one line at a time; forks wait for the lock, so that no child starts with a lock held forever.
_lock = threading.Lock()
os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release)


class Log:
    """Logs events, each a single word with named fields."""

    def info(self, event: str, **fields: Any) -> None:
        _log("info", event, fields)

    def warning(self, event: str, **fields: Any) -> None:
        _log("warning", event, fields)

    def error(self, event: str, **fields: Any) -> None:
        _log("error", event, fields)

    def exception(self, event: str, **fields: Any) -> None:
        """Log an error with the traceback of the exception being handled."""
        error = sys.exception()
        text = {"exception": "".join(traceback.format_exception(error)).removesuffix("\n")} if error else {}
        _log("error", event, fields, text)


log = Log()


@contextmanager
def bound(**fields: Any) -> Iterator[None]:
    """Add these fields to every line of this thread or request, unless a line sets them itself."""
    token = _bound.set({**_bound.get(), **fields})
    try:
        yield
    finally:
        _bound.reset(token)


def bound_fields() -> Mapping[str, Any]:
    return _bound.get()


def configure_logging(log_format: Literal["text", "json"] | None = None) -> None:
    """Log to stdout in the configured format; may be repeated. Tracebacks omit values: they could be passwords."""
    global _line_of
    _line_of = {"json": _json, "text": _text}[log_format or get_settings().log_format]


def log_libraries(*, info: tuple[str, ...] = (), warning: tuple[str, ...] = ()) -> None:
    """Log library messages from warnings on as our lines, named by logger; may be repeated.

    info: loggers whose info messages are logged, too. warning: loggers below these that are limited to warnings.
    """
    logging.basicConfig(level=logging.WARNING, handlers=[_OfLibraries()], force=True)
    logging.captureWarnings(True)
    for level, names in ((logging.INFO, info), (logging.WARNING, warning)):
        for name in names:
            logging.getLogger(name).setLevel(level)


class _OfLibraries(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        try:
            text = {"exception": logging.Formatter().formatException(record.exc_info)} if record.exc_info else {}
            _log(record.levelname.lower(), record.name, {"says": record.getMessage()}, text)
        except Exception:  # logging must not disturb the caller, as with the standard library's handlers
            self.handleError(record)


def _log(level: str, event: str, fields: Entry, traceback_text: Mapping[str, str] = MappingProxyType({})) -> None:
    now = datetime.now(UTC).isoformat().replace("+00:00", "Z")
    own = {**fields, "event": event}
    others = {name: value for name, value in _bound.get().items() if name not in own}
    line = _line_of({**own, **others, "level": level, "timestamp": now, **traceback_text})
    with _lock:
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()


def _json(entry: Entry) -> str:
    return json.dumps(entry, ensure_ascii=False, default=repr)


def _text(entry: Entry) -> str:
    """Format time, level and event in columns, the fields by name, and a traceback below."""
    stamp, level, event = entry.pop("timestamp"), entry.pop("level"), entry.pop("event")
    below = entry.pop("exception", None)
    fields = [f"{name}={_quoted(entry[name])}" for name in sorted(entry)]
    head = f"{stamp} [{level:{_LEVEL_WIDTH}}] {event:{_EVENT_WIDTH}}"
    line = " ".join([head, *fields]).rstrip(" ")
    return line if below is None else f"{line}\n{below}"


def _quoted(value: Any) -> str:
    is_plain = isinstance(value, str) and value.isprintable() and not _TO_QUOTE & set(value)
    return str(value) if is_plain else repr(value)


_line_of: Callable[[Entry], str] = _text
