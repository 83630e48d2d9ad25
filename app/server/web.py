"""The web process: its port, its limit on connections, and uvicorn with our settings."""

from __future__ import annotations

import argparse
import asyncio
import errno
import gc
import http.client
import ipaddress
import multiprocessing
import os
import signal
import socket
import struct
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import uvicorn
from sqlalchemy.exc import SQLAlchemyError
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.supervisors import Multiprocess

from app.base.addresses import note_address
from app.base.config import get_settings
from app.base.db import dispose_engines, get_engine
from app.base.logs import log_libraries
from app.base.permissions import prepare_folders
from app.operations.database_revision import OtherRevision, check_revision
from app.server.datadir import ServeError
from app.server.programs import WAYS_TO_GOLD

if TYPE_CHECKING:
    from fastapi import FastAPI


#: Time from connecting, or from the first byte of a further request, to the end of the head.
HEAD_SECONDS = 20.0
HEAD_LIMIT_BYTES = 64 * 1024
#: Request the system's maximum of connections, up to this.
OPEN_FILES = 65_536
#: Number of these reserved for the database, files, and refusals.
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

    The result is rather too small, and 0 if unknown, so that no upload is dated before its arrival.
    """
    connection = transport.get_extra_info("socket")
    try:
        info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _LAST_DATA_RECEIVED + 4)
        milliseconds = int(struct.unpack_from("I", info, _LAST_DATA_RECEIVED)[0])
    except (AttributeError, OSError, struct.error):  # another system, or not TCP
        return 0.0
    return max(0.0, milliseconds / 1000 - time.clock_getres(_COARSE_CLOCK))


def raise_open_files() -> int | None:
    """Raise the limit of open files to the allowed maximum, up to OPEN_FILES; return it, or None if unknown."""
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


#: Wildcard addresses, each with one where such a server can be reached.
_REACHED_AT = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}  # noqa: S104 - looked up, not bound


@contextmanager
def listening(host: str, port: int) -> Iterator[socket.socket]:
    """Open the port for the lifetime of the supervisor, so that requests wait while the web process restarts."""
    try:
        family, _, _, _, found = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM)[0]
        listener = socket.create_server(found[:2], family=family, backlog=512)
    except (OSError, UnicodeError) as error:
        raise ServeError(_why_not(error, host, port)) from None
    with listener:
        yield listener


def address_of(host: str, listener: socket.socket) -> str:
    """Return the server's address for users of this machine."""
    return local_address(host, listener.getsockname()[1])


def local_address(host: str, port: int) -> str:
    """Return the server's address for the host and port on which it listens."""
    reached = _REACHED_AT.get(host, host)
    return f"http://{f'[{reached}]' if ':' in reached else reached}:{port}"


def is_private(listener: socket.socket) -> bool:
    """Return whether only this machine can reach the server."""
    return ipaddress.ip_address(listener.getsockname()[0]).is_loopback


def answers(listener: socket.socket) -> bool:
    """Return whether a healthy web process serves the port; waits at most half a second."""
    host, port = listener.getsockname()[:2]
    connection = http.client.HTTPConnection(_REACHED_AT.get(host, host), port, timeout=0.5)
    try:
        connection.request("GET", "/healthz")
        return connection.getresponse().status < 500
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def _why_not(error: OSError | UnicodeError, host: str, port: int) -> str:
    number = error.errno if isinstance(error, OSError) else None
    if number == errno.EADDRINUSE:
        return f"Port {port} on {host} is taken by another program; choose another with --port (0: any free one)."
    if number == errno.EACCES:
        return f"Port {port} needs an administrator's rights; choose one above 1023 with --port."
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return f"Cannot listen on {host}, port {port}: {reason}."


#: Time for requests in flight (uploads, long polls) to finish.
GRACEFUL_SECONDS = 3
#: Garbage is collected after this many new containers: with the default, a board of thousands of rows would be
#: scanned again and again while it is built.
COLLECT_AFTER = 100_000
#: One of several processes that is silent for this long is killed and replaced.
SILENT_SECONDS = 60


def run_web(
    host: str = "127.0.0.1", port: int = 8321, listener: socket.socket | None = None, processes: int = 1
) -> None:
    """Serve on a host and port, or on an open socket; of several processes, the first free one takes a connection.

    Raises ServeError for several processes on SQLite, see `check_processes`, and for tables of another revision, unless
    the socket is already open: its opener has checked the tables.
    """
    for name in WAYS_TO_GOLD:
        os.environ.pop(name, None)
    check_processes(processes)
    _log_uvicorn()
    prepare_folders(get_settings())
    if listener is None:  # otherwise the opener of the socket has done both
        check_tables()
        note_address(get_settings().data_dir, local_address(host, port))
    if processes == 1:
        config = web_config(served_application(is_watched_over=listener is not None), host, port)
        uvicorn.Server(config).run(sockets=[listener] if listener else None)
    else:
        config = web_config("app.server.web:served_application", host, port, processes)
        from app.web.http.traffic import shared_counts

        with shared_counts():
            Multiprocess(config, [listener or config.bind_socket()]).run()


def check_processes(processes: int) -> None:
    """Raise ServeError if the database would serialise the writes of this many processes."""
    if processes > 1 and get_settings().database_address.startswith("sqlite"):
        raise ServeError(
            "Several web processes need PostgreSQL: with SQLite only one process can write at a time. See "
            "docs/running.md."
        )


def check_tables() -> None:
    """Raise ServeError for tables of another revision. An unreachable database is retried later."""
    try:
        with suppress(SQLAlchemyError), get_engine(get_settings().database_address).connect() as connection:
            check_revision(connection)
    except OtherRevision as other:
        raise ServeError(str(other)) from None
    finally:
        dispose_engines()  # no connection is shared with forked processes


def served_application(*, is_watched_over: bool = False) -> FastAPI:
    """Return the application for a dedicated process; one of several processes ends with its parent.

    is_watched_over: as for `create_app`; always true for one of several, which their parent supervises.
    """
    is_watched_over |= multiprocessing.parent_process() is not None
    gc.disable()  # objects created here stay: they must not be scanned for garbage, now or during requests
    from app.web.http.tracing import trace_requests
    from app.web.main import create_app  # the slow part, after the settings that lead to gold were removed

    application = create_app(is_watched_over=is_watched_over)
    trace_requests(application)
    gc.collect()
    gc.freeze()
    gc.enable()
    gc.set_threshold(COLLECT_AFTER)
    if multiprocessing.parent_process() is not None:
        _log_uvicorn()
        threading.Thread(target=_end_with_parent, name="end-with-parent", daemon=True).start()
    return application


def _log_uvicorn() -> None:
    log_libraries(info=("uvicorn.error",))


def _end_with_parent() -> None:
    """End this process when its parent ends for any reason, because nobody else would end or restart it."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)


def web_config(application: FastAPI | str, host: str, port: int, processes: int = 1) -> uvicorn.Config:
    """Return uvicorn's configuration; if there are several processes, each creates its application, named by its
    function.
    """
    return uvicorn.Config(
        application,
        factory=isinstance(application, str),
        workers=processes,
        timeout_worker_healthcheck=SILENT_SECONDS,
        host=host,
        port=port,
        http=PatientProtocol,
        limit_concurrency=connections_limit(raise_open_files()),
        timeout_graceful_shutdown=GRACEFUL_SECONDS,
        server_header=False,
        proxy_headers=False,  # the application decides which proxies to trust, see `trusted_proxies`
        access_log=False,  # our own request log has more detail
        log_config=None,  # see `log_libraries`
    )


def main() -> None:
    """Run `evergold web`, or the web process of the supervisor, with a socket descriptor and a gate to wait at after
    imports.
    """
    parser = argparse.ArgumentParser(prog="app.server.web")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8321)
    parser.add_argument("--socket", type=int, help="descriptor of a listening socket, instead of a host and a port")
    parser.add_argument("--gate", type=int, help="descriptor to read one byte from before serving")
    parser.add_argument("--processes", type=int, default=1)
    arguments = parser.parse_args()
    if arguments.gate is not None:
        if arguments.processes == 1:
            gc.disable()
            import app.web.main  # noqa: F401, PLC0415 - the slow part, done before the gate

        if not os.read(arguments.gate, 1):  # closed without a byte: the supervisor is gone
            return
        os.close(arguments.gate)
    listener = None if arguments.socket is None else socket.socket(fileno=arguments.socket)
    try:
        run_web(arguments.host, arguments.port, listener, arguments.processes)
    except ServeError as error:
        sys.exit(f"Error: {error}")


if __name__ == "__main__":
    main()
