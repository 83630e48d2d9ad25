"""Connections of the web process: how many, and how long one may say nothing before it has asked for something.

What is asked for is `app.web`'s; how slowly a body may come says `app.web.http.bodies`.
"""

from __future__ import annotations

import asyncio
import socket
import struct
import time
from contextlib import suppress

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

#: Between connecting, or the first byte of a further request, and the end of its head.
HEAD_SECONDS = 20.0
HEAD_LIMIT_BYTES = 64 * 1024
#: As many connections as the system allows are asked for, up to this.
OPEN_FILES = 65_536
#: Of these, for the database, for files, and for refusing.
KEPT_FILES = 256
#: Where Linux says it in its `struct tcp_info`; its number for the clock that ticks as coarsely.
_LAST_DATA_RECEIVED = 52
_COARSE_CLOCK = 6
_REFUSAL = b"HTTP/1.1 %s\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"


class PatientProtocol(HttpToolsProtocol):
    """HTTP as uvicorn speaks it, to whoever comes to the point."""

    _head_bytes = 0
    _head_is_due: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if self.limit_concurrency is not None and len(self.connections) > self.limit_concurrency + KEPT_FILES // 2:
            transport.abort()  # beyond those who are told 503: what is left is for the work that is under way
            return
        self._expect_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._have_head()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._head_is_due is not None:
            self._head_bytes += len(data)
        super().data_received(data)
        if self._head_is_due is not None and self._head_bytes > HEAD_LIMIT_BYTES:
            self._refuse(b"431 Request Header Fields Too Large")

    def on_message_begin(self) -> None:
        if self._head_is_due is None:
            self._expect_head()
            self._head_bytes = 1  # how many came with what was before is not known
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._have_head()
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        # For `app.web.http.arrival`: in a rush the event loop comes to read long after the bytes were here.
        self.scope["state"]["whole_at"] = time.monotonic() - seconds_since_data(self.transport)
        # Of who is gone before anybody asks for the body, uvicorn would say only that they are gone.
        self.scope["state"]["unread_body"] = self.cycle.body
        super().on_message_complete()

    def _expect_head(self) -> None:
        self._head_bytes = 0
        self._head_is_due = self.loop.call_later(HEAD_SECONDS, self._refuse, b"408 Request Timeout")

    def _have_head(self) -> None:
        if self._head_is_due is not None:
            self._head_is_due.cancel()
            self._head_is_due = None

    def _refuse(self, status: bytes) -> None:
        self._have_head()
        if not self.transport.is_closing():
            if self._head_bytes:  # browsers connect beforehand, and wonder about an answer that they asked nothing for
                self.transport.write(_REFUSAL % status)
            self.transport.close()


def seconds_since_data(transport: asyncio.BaseTransport) -> float:
    """How long ago the last bytes of a connection came to this machine, by its kernel; rather too little, and 0 where
    that is not known: nobody is said to have been here before they were."""
    connection = transport.get_extra_info("socket")
    try:
        said = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _LAST_DATA_RECEIVED + 4)
        milliseconds = int(struct.unpack_from("I", said, _LAST_DATA_RECEIVED)[0])
    except (AttributeError, OSError, struct.error):  # another system, or no TCP
        return 0.0
    return max(0.0, milliseconds / 1000 - time.clock_getres(_COARSE_CLOCK))


def raise_open_files() -> int | None:
    """Let this process have as many files open as it may, up to OPEN_FILES; how many that are, where one can know."""
    try:
        import resource  # noqa: PLC0415 - not on every platform
    except ImportError:
        return None
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, OPEN_FILES)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return OPEN_FILES if soft == resource.RLIM_INFINITY else soft
    with suppress(OSError, ValueError):  # macOS allows less than it says
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]


def connections_limit(open_files: int | None) -> int | None:
    """How many connections there may be before who comes is told 503; None: nobody counts."""
    return None if open_files is None else max(KEPT_FILES // 2, open_files - 2 * KEPT_FILES)
