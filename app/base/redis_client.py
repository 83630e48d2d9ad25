"""Redis or Valkey: a few commands, an answer to each, and nobody waits long.

The protocol is the package `hiredis`, connections are ours. The package `redis`, which has both, takes 20 MB in every
process that loads it: web and sweep send a word now and then, and count. Workers have it anyway, for Celery.
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
#: Celery's word for a Unix socket, and the other one that is in use.
_SOCKETS = ("redis+socket", "redis+unix", "valkey+unix")
#: Connections that wait to be used again; there may be more at a time.
_KEPT = 8
_READ_BYTES = 65_536
_UNFINISHED = object()

Command = tuple[str | int | bytes, ...]


class Refused(OSError):
    """It answered that it would not."""


@dataclass(frozen=True, slots=True)
class RedisPlace:
    """Where it is. path: of a Unix socket, instead of host and port; tls: what the address says of it, None: none."""

    host: str
    port: int
    path: str
    database: int
    username: str
    password: str = field(repr=False)
    tls: dict[str, str] | None

    def connect(self, wait_seconds: float) -> socket.socket:
        """A socket whose every wait is as long at most; raises OSError."""
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
    """Where an address leads, written as Celery writes it: `redis://:password@host:6379/0`, `rediss://…` with TLS, or
    `redis+socket:///path?virtual_host=0`. None where it leads to something else; raises ValueError."""
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
    """The server has to show a certificate that holds, unless the address says otherwise, in Celery's words."""
    context = ssl.create_default_context(cafile=query.get("ssl_ca_certs"))
    if query.get("ssl_check_hostname", "").lower() == "false":
        context.check_hostname = False
    if query.get("ssl_cert_reqs", "required").lower().removeprefix("cert_") == "none":
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    if "ssl_certfile" in query:
        context.load_cert_chain(query["ssl_certfile"], query.get("ssl_keyfile"))
    return context


class RedisClient:
    """Any number of threads may ask; each has a connection for itself meanwhile."""

    def __init__(self, place: RedisPlace, wait_seconds: float) -> None:
        self._place, self._wait_seconds = place, wait_seconds
        self._idle: list[_Connection] = []
        weakref.finalize(self, _close_all, self._idle)

    def answer(self, *command: str | int | bytes) -> Any:
        """None, a number, bytes, or a list of such; raises OSError where it is away, Refused where it would not."""
        return self.answers([command])[0]

    def answers(self, commands: Sequence[Command]) -> list[Any]:
        """Of several commands, sent together."""
        connection = self._connection()
        try:
            answers = connection.ask(commands)
        except BaseException:  # also where a thread is stopped: the next one would read this one's answer
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
        """One that was used before, if its server has not closed it meanwhile, as with a restart."""
        while self._idle:
            try:
                used = self._idle.pop()
            except IndexError:  # another thread was quicker
                break
            if used.is_silent():
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

    def is_silent(self) -> bool:
        """Whether it said nothing that nobody asked for: its end, above all."""
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
        # Its stub knows only commands of one word.
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
