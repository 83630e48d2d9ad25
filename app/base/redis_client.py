"""A minimal client for Redis or Valkey with short timeouts.

The protocol comes from the package `hiredis`, connections are ours. The package `redis`, with both, takes 20 MB per
process, while web and sweep only send a few commands. Workers load it anyway, for Celery.
"""

from __future__ import annotations

import select
import socket
import ssl
import weakref
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import hiredis

_PORT = 6379
_PLAIN, _TLS = ("redis", "valkey"), ("rediss", "valkeys")
#: Celery's scheme for Unix sockets, and other common ones.
_SOCKETS = ("redis+socket", "redis+unix", "valkey+unix")
#: Idle connections to keep; more may be in use.
_KEPT = 8
_READ_BYTES = 65_536
_UNFINISHED = object()

Command = tuple[str | int | bytes, ...]


class Refused(OSError):
    """The server refused a command."""


@dataclass(frozen=True, slots=True)
class RedisPlace:
    """The address of a server.

    path: of a Unix socket, instead of host and port.
    tls: the TLS options of the address; None: no TLS.
    """

    host: str
    port: int
    path: str
    database: int
    username: str
    password: str = field(repr=False)
    tls: dict[str, str] | None

    def connect(self, wait_seconds: float) -> socket.socket:
        """Connect with this timeout for every operation. Raises OSError."""
        if self.path:
            unix = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            unix.settimeout(wait_seconds)
            try:
                unix.connect(self.path)
            except OSError:
                unix.close()
                raise
            return unix
        plain = socket.create_connection((self.host, self.port), wait_seconds)
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if self.tls is None:
            return plain
        try:
            return _tls_context(self.tls).wrap_socket(plain, server_hostname=self.host)
        except (OSError, ValueError):
            plain.close()
            raise


def redis_place(address: str) -> RedisPlace | None:
    """Parse an address in Celery's forms; None for other schemes. Raises ValueError.

    `redis://:password@host:6379/0`, `rediss://…` with TLS, or `redis+socket:///path?virtual_host=0`.
    """
    parts = urlsplit(address)
    if parts.scheme not in (*_PLAIN, *_TLS, *_SOCKETS):
        return None
    query = dict(parse_qsl(parts.query))
    is_socket = parts.scheme in _SOCKETS
    number = query.get("virtual_host", query.get("db", "")) if is_socket else unquote(parts.path).strip("/")
    return RedisPlace(
        host=parts.hostname or "127.0.0.1",
        port=parts.port or _PORT,
        path=unquote(parts.path) if is_socket else "",
        database=int(number or 0),
        username=unquote(parts.username or ""),
        password=unquote(parts.password or ""),
        tls={name: value for name, value in query.items() if name.startswith("ssl_")} if parts.scheme in _TLS else None,
    )


def _tls_context(query: dict[str, str]) -> ssl.SSLContext:
    """Require a valid certificate of the server, unless the address disables that with Celery's options."""
    context = ssl.create_default_context(cafile=query.get("ssl_ca_certs"))
    if query.get("ssl_check_hostname", "").lower() == "false":
        context.check_hostname = False
    if query.get("ssl_cert_reqs", "required").lower().removeprefix("cert_") == "none":
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    if "ssl_certfile" in query:
        context.load_cert_chain(query["ssl_certfile"], query.get("ssl_keyfile"))
    return context


class RedisClient:
    """A thread-safe client; each thread has a connection to itself while it waits."""

    def __init__(self, place: RedisPlace, wait_seconds: float) -> None:
        self._place, self._wait_seconds = place, wait_seconds
        self._idle: list[_Connection] = []
        weakref.finalize(self, _close_all, self._idle)

    def answer(self, *command: str | int | bytes) -> Any:
        """Return None, a number, bytes, or a list of such. Raises OSError if unreachable, Refused if refused."""
        return self.answers([command])[0]

    def answers(self, commands: Sequence[Command]) -> list[Any]:
        """Return the results of several commands that are sent together."""
        connection = self._connection()
        try:
            answers = connection.ask(commands)
        except BaseException:  # also when a thread is stopped: the next caller would read its response
            connection.close()
            raise
        if len(self._idle) < _KEPT:
            self._idle.append(connection)
        else:
            connection.close()
        _raise_refusal(answers)
        return answers

    def close(self) -> None:
        _close_all(self._idle)

    def _connection(self) -> _Connection:
        """Return an idle connection unless its server has closed it, as after a restart; otherwise a new one."""
        while self._idle:
            try:
                used = self._idle.pop()
            except IndexError:  # another thread was faster
                break
            if used.is_idle():
                return used
            used.close()
        connection = _Connection(self._place.connect(self._wait_seconds))
        try:
            connection.greet(self._place)
        except BaseException:
            connection.close()
            raise
        return connection


def _close_all(connections: list[_Connection]) -> None:
    while connections:
        connections.pop().close()


class _Connection:
    def __init__(self, connected: socket.socket) -> None:
        self._socket = connected
        self._reader = hiredis.Reader(ConnectionResetError, Refused, errors="replace", notEnoughData=_UNFINISHED)

    def close(self) -> None:
        self._socket.close()

    def is_idle(self) -> bool:
        """Return whether nothing unsolicited has arrived, such as the end of the connection."""
        if not hasattr(select, "poll"):
            return False
        poll = select.poll()
        poll.register(self._socket, select.POLLIN)
        return not poll.poll(0)

    def greet(self, place: RedisPlace) -> None:
        commands: list[Command] = []
        if place.password:
            commands.append(("AUTH", *([place.username] if place.username else []), place.password))
        if place.database:
            commands.append(("SELECT", place.database))
        _raise_refusal(self.ask(commands))

    def ask(self, commands: Sequence[Command]) -> list[Any]:
        # The type stub knows only commands of one word.
        packed = [hiredis.pack_command(command) for command in commands]  # type: ignore[arg-type]
        self._socket.sendall(b"".join(packed))
        return [self._next_answer() for _ in commands]

    def _next_answer(self) -> Any:
        while (answer := self._reader.gets()) is _UNFINISHED:
            if not (received := self._socket.recv(_READ_BYTES)):
                raise ConnectionResetError("the connection ended before the answer, or within it")
            self._reader.feed(received)
        return answer


def _raise_refusal(answers: Sequence[Any]) -> None:
    for answer in answers:
        if isinstance(answer, Refused):
            raise answer
