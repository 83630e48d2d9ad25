"""A small model hub on loopback, which answers clients that fetch a model as the Hugging Face hub does."""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

#: A commit, as the hub names it.
COMMIT = "3f076fdb1ab68d5b2880cb87a0886f315b8146f8"


@dataclass
class Hub:
    """The hub's content: repositories by name, each with its files. asked: every requested path."""

    address: str
    repositories: Mapping[str, Mapping[str, bytes]]
    asked: list[str] = field(default_factory=list)


@contextmanager
def hub(repositories: Mapping[str, Mapping[str, bytes]]) -> Iterator[Hub]:
    """Yield a running hub."""
    found = Hub("", repositories)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            _answer(self, found, with_body=True)

        def do_HEAD(self) -> None:
            _answer(self, found, with_body=False)

        def log_message(self, *_: object) -> None:
            """Log nothing on stderr."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    found.address = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield found
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _answer(request: BaseHTTPRequestHandler, hub: Hub, with_body: bool) -> None:
    path = request.path.partition("?")[0]
    hub.asked.append(path)
    if asked := re.fullmatch(r"/api/models/(.+?)(?:/revision/(.+))?", path):
        _describe(request, hub, asked[1], asked[2] or "main")
    elif asked := re.fullmatch(r"/(.+)/resolve/([^/]+)/(.+)", path):
        content = hub.repositories.get(asked[1], {}).get(asked[3])
        if content is None:
            _send(request, 404, b"", {"X-Error-Code": "EntryNotFound"})
            return
        sent = content if with_body else b""
        tag = hashlib.sha256(content).hexdigest()
        _send(request, 200, sent, {"ETag": f'"{tag}"', "X-Repo-Commit": COMMIT}, len(content))
    else:
        _send(request, 404, b"", {})


def _describe(request: BaseHTTPRequestHandler, hub: Hub, name: str, revision: str) -> None:
    if name not in hub.repositories:
        _send(request, 401, b"", {"X-Error-Code": "RepoNotFound", "X-Error-Message": "Repository not found"})
    elif revision not in ("main", "v1", COMMIT):
        _send(request, 404, b"", {"X-Error-Code": "RevisionNotFound", "X-Error-Message": "Invalid rev"})
    else:
        siblings = [{"rfilename": file} for file in hub.repositories[name]]
        document = {"id": name, "modelId": name, "sha": COMMIT, "siblings": siblings, "tags": []}
        _send(request, 200, json.dumps(document).encode(), {"Content-Type": "application/json"})


def _send(
    request: BaseHTTPRequestHandler, status: int, body: bytes, headers: Mapping[str, str], length: int | None = None
) -> None:
    request.send_response(status)
    for name, value in headers.items():
        request.send_header(name, value)
    request.send_header("Content-Length", str(len(body) if length is None else length))
    request.end_headers()
    request.wfile.write(body)
