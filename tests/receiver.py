"""A receiver of webhooks of the test's own on loopback, over real HTTP; it answers as configured, also
with failures.
"""

from __future__ import annotations

import ssl
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.lanes import SERVER_THREAD


@dataclass(frozen=True)
class Received:
    """A received request."""

    method: str
    path: str
    headers: Mapping[str, str]  # with lower-case names
    body: bytes


@dataclass
class Receiver:
    """A receiver. status, headers, body: its answer to all requests; drips: the body comes byte by byte
    and never ends.
    """

    port: int = 0
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b"ok"
    drips: bool = False
    received: list[Received] = field(default_factory=list)
    released: threading.Event = field(default_factory=threading.Event)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook"


@contextmanager
def receiver(tls: ssl.SSLContext | None = None) -> Iterator[Receiver]:
    """Yield a receiver that listens during the block. tls: the context with its certificate; None: no encryption."""
    found = Receiver()

    class Handler(_Conversation):
        told = found

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        if tls is not None:
            server.socket = tls.wrap_socket(server.socket, server_side=True)
        found.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, name=SERVER_THREAD)
        thread.start()
        try:
            yield found
        finally:
            found.released.set()
            server.shutdown()
            thread.join()


class _Conversation(BaseHTTPRequestHandler):
    told: Receiver

    def _answer(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.told.received.append(Received(self.command, self.path, headers, body))
        self.send_response(self.told.status)
        for name, value in self.told.headers.items():
            self.send_header(name, value)
        if self.told.drips:
            self.end_headers()
            self._drip()
            return
        self.send_header("content-length", str(len(self.told.body)))
        self.end_headers()
        try:
            self.wfile.write(self.told.body)
        except OSError:  # nobody reads the rest
            self.close_connection = True

    def _drip(self) -> None:
        """Send a byte again and again, until the reader has gone."""
        try:
            while not self.told.released.wait(0.02):
                self.wfile.write(b".")
        except OSError:
            self.close_connection = True

    do_POST = do_PUT = do_GET = _answer

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name
        """Log nothing."""
