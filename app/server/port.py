"""The server's port, opened before anything else starts, and error messages if that fails."""

from __future__ import annotations

import errno
import http.client
import ipaddress
import socket
from collections.abc import Iterator
from contextlib import contextmanager

from app.server.datadir import ServeError

#: Wildcard addresses, each with one where such a server can be reached.
_REACHED_AT = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}  # noqa: S104 - looked up, not bound


@contextmanager
def listening(host: str, port: int) -> Iterator[socket.socket]:
    """Open the port for as long as the supervisor lives: while web restarts, requests just wait."""
    try:
        family, _, _, _, found = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM)[0]
        listener = socket.create_server(found[:2], family=family, backlog=512)
    except (OSError, UnicodeError) as error:
        raise ServeError(_why_not(error, host, port)) from None
    with listener:
        yield listener


def address_of(host: str, listener: socket.socket) -> str:
    """Return the server's address for people on this machine."""
    return local_address(host, listener.getsockname()[1])


def local_address(host: str, port: int) -> str:
    """Return the server's address, given the host and port to listen on."""
    reached = _REACHED_AT.get(host, host)
    return f"http://{f'[{reached}]' if ':' in reached else reached}:{port}"


def is_private(listener: socket.socket) -> bool:
    """Return whether only this machine can reach it."""
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
