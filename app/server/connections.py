"""Connections of the web process: their number, and the time limit for sending a request head.

Requests are handled by `app.web`; limits for slow bodies are in `app.web.http.bodies`.
"""

from __future__ import annotations

import asyncio
import socket
import struct
import time
from contextlib import suppress

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

#: Time from connecting, or from the first byte of a further request, to the end of the head.
HEAD_SECONDS = 20.0
HEAD_LIMIT_BYTES = 64 * 1024
#: Request the system's maximum of connections, up to this.
OPEN_FILES = 65_536
#: Of these, reserved for the database, files, and refusals.
KEPT_FILES = 256
#: Offset in Linux's `struct tcp_info`, and the number of the clock with the same coarse resolution.
_LAST_DATA_RECEIVED = 52
_COARSE_CLOCK = 6
_REFUSAL = b"HTTP/1.1 %s\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"


class PatientProtocol(HttpToolsProtocol):
    """uvicorn's HTTP protocol with limits on time and size of request heads."""

    _head_bytes = 0
    _head_is_due: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if self.limit_concurrency is not None and len(self.connections) > self.limit_concurrency + KEPT_FILES // 2:
            transport.abort()  # beyond those that get a 503: the rest is for the requests in progress
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
            self._head_bytes = 1  # the number of bytes that came with the previous request is unknown
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._have_head()
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        # For `app.web.http.arrival`: in a rush the event loop reads bytes long after they arrived.
        self.scope["state"]["whole_at"] = time.monotonic() - seconds_since_data(self.transport)
        # If a client disconnects before the body is read, uvicorn would report only the disconnect.
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
            if self._head_bytes:  # browsers open connections in advance and must not get an unsolicited response
                self.transport.write(_REFUSAL % status)
            self.transport.close()


def seconds_since_data(transport: asyncio.BaseTransport) -> float:
    """Return the seconds since the kernel received the last bytes of a connection.

    Rather too small, and 0 if unknown, so that no upload is dated before its arrival.
    """
    connection = transport.get_extra_info("socket")
    try:
        said = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _LAST_DATA_RECEIVED + 4)
        milliseconds = int(struct.unpack_from("I", said, _LAST_DATA_RECEIVED)[0])
    except (AttributeError, OSError, struct.error):  # another system, or not TCP
        return 0.0
    return max(0.0, milliseconds / 1000 - time.clock_getres(_COARSE_CLOCK))


def raise_open_files() -> int | None:
    """Raise the limit of open files to the allowed maximum, up to OPEN_FILES; return it, if it is known."""
    try:
        import resource  # noqa: PLC0415 - not on every platform
    except ImportError:
        return None
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, OPEN_FILES)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return OPEN_FILES if soft == resource.RLIM_INFINITY else soft
    with suppress(OSError, ValueError):  # macOS allows less than it reports
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]


def connections_limit(open_files: int | None) -> int | None:
    """Return the number of connections above which clients get a 503; None: unlimited."""
    return None if open_files is None else max(KEPT_FILES // 2, open_files - 2 * KEPT_FILES)
