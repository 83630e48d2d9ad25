"""A proxy before a store that fails requests as networks and stores do: no answer, 503, a cut or a wrong body."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Literal

import httpx

#: `refuse`: 503, as stores do under load; `deny`: 403; `hang`: the request is taken and never answered; `cut`: the
#: connection ends in the middle of the answer's body; `lose-answer`: the store has done it, nobody hears; `spoil`: a
#: byte of the body is another; `other`: a whole body of something else.
Fate = Literal["refuse", "deny", "hang", "cut", "lose-answer", "spoil", "other", "pass"]
_OWN = {"connection", "transfer-encoding", "content-length", "server", "date"}


@dataclass
class FaultyStore:
    """A faulty store. fates: what happens to the next requests of these methods, in turn; always: to every one."""

    address: str
    fates: list[Fate] = field(default_factory=list)
    methods: frozenset[str] = frozenset({"GET", "PUT", "POST", "HEAD", "DELETE"})
    always: Fate = "pass"
    asked: list[tuple[str, str]] = field(default_factory=list)  # method and path
    conditions: list[str] = field(default_factory=list)  # of If-None-Match
    ends: threading.Event = field(default_factory=threading.Event)

    def fate_of(self, method: str) -> Fate:
        if method not in self.methods:
            return "pass"
        return self.fates.pop(0) if self.fates else self.always


@contextmanager
def faulty_store(server: str) -> Iterator[FaultyStore]:
    """Yield a proxy before the store at this address."""
    with httpx.Client(base_url=server, timeout=30.0, trust_env=False) as client:
        store = FaultyStore("")
        handler = type("Handler", (_Handler,), {"client": client, "store": store})
        listener = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        listener.daemon_threads = True
        store.address = f"http://127.0.0.1:{listener.server_address[1]}"
        thread = threading.Thread(target=listener.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield store
        finally:
            store.ends.set()
            listener.shutdown()
            listener.server_close()
            thread.join(5)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    client: httpx.Client
    store: FaultyStore

    def _answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        self.store.asked.append((self.command, self.path))
        self.store.conditions += self.headers.get_all("if-none-match", [])
        fate = self.store.fate_of(self.command)
        if fate == "hang":
            self.store.ends.wait(60)
            self.close_connection = True
        elif fate in ("refuse", "deny"):
            self._send(503 if fate == "refuse" else 403, {}, b"<Error><Code>SlowDown</Code></Error>")
        else:
            self._pass(body, fate)

    def _pass(self, body: bytes, fate: Fate) -> None:
        headers = {name: value for name, value in self.headers.items() if name.lower() not in _OWN}
        answer = self.client.request(self.command, self.path, headers=headers, content=body)
        if fate == "lose-answer":
            self.close_connection = True
            return
        content = answer.content
        if fate == "spoil" and content:
            content = bytes([content[0] ^ 1]) + content[1:]
        elif fate == "other":
            content = b"<html>Please log in to this network</html>"
        self._send(answer.status_code, dict(answer.headers), content, is_cut=fate == "cut")

    def _send(self, status: int, headers: dict[str, str], content: bytes, *, is_cut: bool = False) -> None:
        is_head = self.command == "HEAD"
        length = headers.get("content-length", "0") if is_head else str(len(content))
        with suppress(OSError):  # whoever asked may be gone
            self.send_response_only(status)
            for name, value in headers.items():
                if name.lower() not in _OWN:
                    self.send_header(name, value)
            self.send_header("Content-Length", length)
            self.end_headers()
            if not is_head:
                self.wfile.write(content[: len(content) // 2] if is_cut else content)
        self.close_connection = self.close_connection or is_cut

    do_GET = do_PUT = do_POST = do_HEAD = do_DELETE = _answer  # noqa: N815 - the library's names

    def log_message(self, format: str, *arguments: object) -> None:
        """Log nothing, so that the test's stderr stays clean."""
