"""A TCP proxy that loses connections as planned: shows how a client behaves on a bad network, with the real server
behind it.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import urlsplit

#: What happens to each connection in turn; afterwards all pass. `refuse`: closed at once; `lose-answer`: the server
#: gets the whole request, the client never hears of it; `bad-gateway`: as a proxy answers whose server is away.
Fate = Literal["refuse", "lose-answer", "bad-gateway", "pass"]
_BAD_GATEWAY = b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


@dataclass
class Proxy:
    address: str
    met: list[Fate] = field(default_factory=list)  # the fates of connections so far


@contextmanager
def flaky_proxy(server: str, fates: Sequence[Fate]) -> Iterator[Proxy]:
    """Yield a proxy before `server` that listens on loopback."""
    parts = urlsplit(server)
    target = (str(parts.hostname), int(parts.port or 80))
    listener = socket.create_server(("127.0.0.1", 0))
    proxy = Proxy(f"http://127.0.0.1:{listener.getsockname()[1]}")
    thread = threading.Thread(target=_accept, args=(listener, target, list(fates), proxy), daemon=True)
    thread.start()
    try:
        yield proxy
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(5)


def _accept(listener: socket.socket, target: tuple[str, int], fates: list[Fate], proxy: Proxy) -> None:
    handlers = []
    with suppress(OSError):  # the listener was closed
        while True:
            client = listener.accept()[0]
            fate: Fate = fates.pop(0) if fates else "pass"
            proxy.met.append(fate)
            handler = threading.Thread(target=_handle, args=(client, target, fate), daemon=True)
            handler.start()
            handlers.append(handler)
    for handler in handlers:
        handler.join(5)


def _handle(client: socket.socket, target: tuple[str, int], fate: Fate) -> None:
    with client, suppress(OSError):
        if fate == "refuse":
            return
        if fate == "bad-gateway":
            client.recv(65536)
            client.sendall(_BAD_GATEWAY)
            client.shutdown(socket.SHUT_WR)
            while client.recv(65536):
                pass
            return
        with socket.create_connection(target) as server:
            request = threading.Thread(target=_copy, args=(client, server), daemon=True)
            request.start()
            if fate == "lose-answer":
                server.recv(1)  # the server has taken the request and begins to answer
                client.shutdown(socket.SHUT_RDWR)
            else:
                _copy(server, client)
            request.join(5)


def _copy(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while chunk := source.recv(65536):
            target.sendall(chunk)
        target.shutdown(socket.SHUT_WR)
