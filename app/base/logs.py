"""How the server's processes log, libraries too: a line per event with its request or run id, and tracebacks without
variables.

The standard library's JSON and tracebacks: what a package for it brings along takes 5 MB in each process.
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

#: What a value must not have to be written as it is, in a line for people.
_TO_QUOTE = frozenset(" =\"'")
_EVENT_WIDTH, _LEVEL_WIDTH = 30, 9

_bound: ContextVar[Mapping[str, Any]] = ContextVar("log_fields", default=MappingProxyType({}))
#: Threads write one line at a time; whoever forks waits, so that no child starts with a lock that nobody opens.
_lock = threading.Lock()
os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release)


class Log:
    """What happened, named by a word, with what there is to say of it, by name."""

    def info(self, event: str, **fields: Any) -> None:
        _log("info", event, fields)

    def warning(self, event: str, **fields: Any) -> None:
        _log("warning", event, fields)

    def error(self, event: str, **fields: Any) -> None:
        _log("error", event, fields)

    def exception(self, event: str, **fields: Any) -> None:
        """An error, with the traceback of the exception that is being handled."""
        error = sys.exception()
        text = {"exception": "".join(traceback.format_exception(error)).removesuffix("\n")} if error else {}
        _log("error", event, fields, text)


log = Log()


@contextmanager
def bound(**fields: Any) -> Iterator[None]:
    """Every line of this thread, or of this request, has these fields, too, unless it says otherwise."""
    token = _bound.set({**_bound.get(), **fields})
    try:
        yield
    finally:
        _bound.reset(token)


def bound_fields() -> Mapping[str, Any]:
    return _bound.get()


def configure_logging(log_format: Literal["text", "json"] | None = None) -> None:
    """Lines on stdout, as the settings have them; doing it twice is fine. Values in a traceback could be passwords."""
    global _line_of
    _line_of = {"json": _json, "text": _text}[log_format or get_settings().log_format]


def log_libraries(*, info: tuple[str, ...] = (), warning: tuple[str, ...] = ()) -> None:
    """From now on what libraries log, from warnings on, becomes lines of ours, named by who says it; doing it twice is
    fine. info: loggers whose news are wanted as well; warning: those below them whose are not."""
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
        except Exception:  # who logs is not disturbed, as with the handlers of the standard library
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
    """Time, level and event in columns, the fields by name, a traceback below."""
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
