"""Malformed multipart bodies: seeded ones, and what a server answers to each, sent whole and in pieces.

`python -m tests.attacks.malformed_bodies` starts a server, and reports which bodies it decides differently.
"""

from __future__ import annotations

import random
import socket
import sys
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from types import SimpleNamespace
from urllib.parse import urlsplit

from fastapi import Request
from sqlalchemy import update
from starlette.types import Message

from app.base.db import writing
from app.models import Phase
from tests.attacks.server import API, account
from tests.server.processes import Server, embedded

SEED, NUMBER = 38, 250
TYPE = "multipart/form-data; boundary=b"
HEAD = b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\nContent-Type: text/csv\r\n\r\n'
CONTENT = b"ID,Language\r\n1,EN\r\n"
END = b"\r\n--b--\r\n"
WHOLE = HEAD + CONTENT + END

_LINE_ENDS = (b"\n", b"\r", b"\n\n", b"\r\r", b"\n\r", b"\r\r\n", b"\n\r\n", b"\r\n\r", b"")
_LINES = (b"X: y", b"X:", b"X", b": y", b" folded", b"\tfolded", b"X: y\nZ: z", b"X: y\rZ: z", b"Content-Length: 18")
_PREAMBLES = (b"x", b"\n", b"\r", b"\r\n", b"\r\n\r\n", b"before\r\n", b"a long line before the first boundary")
_TAILS = (b"", b"--", b"\r\n", b"\n", b"-", b"x", b"--x", b"\r\n--b")


def malformed_bodies(seed: int, number: int) -> Iterator[bytes]:
    """Yield bodies made from a well-formed one by one to three changes, most of them in the part's head."""
    chance = random.Random(seed)
    for _ in range(number):
        body = WHOLE
        for _ in range(chance.choice((1, 1, 2, 3))):
            body = chance.choice(_CHANGES)(body, chance)
        if body != WHOLE:
            yield body


def request_in_pieces(pieces: Sequence[bytes], content_type: str) -> Request:
    """Return a request whose body comes in these pieces; it was sent to no server."""
    messages = [{"type": "http.request", "body": piece, "more_body": True} for piece in pieces]
    messages.append({"type": "http.request", "body": b"", "more_body": False})

    async def next_piece() -> Message:
        return messages.pop(0)

    server = SimpleNamespace(clock=lambda: datetime.now(UTC))
    headers = [(b"content-type", content_type.encode())]
    scope = {"type": "http", "headers": headers, "app": SimpleNamespace(state=SimpleNamespace(server=server))}
    return Request(scope, next_piece)


def main() -> int:
    """Send every body whole and in two pieces; return 1 if a body is decided differently."""
    chance, sent, different = random.Random(SEED), 0, 0
    with embedded(lambda folder: None) as server, account(server, "mallory") as mallory:
        authorization = mallory.headers["Authorization"]
        _lift_limits(server)
        for body in malformed_bodies(SEED, NUMBER):
            place = chance.randrange(1, max(2, len(body)))
            whole = _verdict(server.address, authorization, [body])
            split = _verdict(server.address, authorization, [body[:place], body[place:]])
            sent += 1
            if whole != split:
                different += 1
                print(f"whole {whole}, split at {place} {split}: {body!r}")
    print(f"{sent} malformed bodies, {different} decided differently whole and in pieces")
    return int(different > 0)


def _lift_limits(server: Server) -> None:
    """Lift the limits: whether one is reached depends on earlier rejected files, which would hide verdicts."""
    limits = dict.fromkeys(("submissions_per_day", "submissions_per_week", "submissions_per_month"))
    with writing(server.engine) as session:
        session.execute(update(Phase).values(**limits, submissions_total=None, rejected_per_hour=1_000_000))


def _verdict(address: str, authorization: str, pieces: Sequence[bytes]) -> str:
    """Return the status and code with which the server answers a body that arrives in these pieces."""
    parts = urlsplit(address)
    head = (
        f"POST {API}/competitions/swans/phases/evaluation/tasks/detection/submissions HTTP/1.1\r\n"
        f"Host: {parts.netloc}\r\nAuthorization: {authorization}\r\nContent-Type: {TYPE}\r\n"
        f"Content-Length: {sum(map(len, pieces))}\r\nConnection: close\r\n\r\n"
    )
    with socket.create_connection((parts.hostname, parts.port), timeout=30) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.sendall(head.encode())
        for number, piece in enumerate(pieces):
            if number:
                time.sleep(0.01)  # else the network joins them
            connection.sendall(piece)
        answer = b"".join(iter(lambda: connection.recv(65536), b""))
    status = answer.split(b" ", 2)[1].decode()
    code = answer.partition(b'"code":"')[2].partition(b'"')[0].decode()
    return f"{status} {code}".strip()


def _end_a_line_otherwise(body: bytes, chance: random.Random) -> bytes:
    ends = [place for place in range(len(body)) if body.startswith(b"\r\n", place)]
    if not ends:
        return body
    place = chance.choice(ends)
    return body[:place] + chance.choice(_LINE_ENDS) + body[place + 2 :]


def _add_a_line(body: bytes, chance: random.Random) -> bytes:
    place = body.find(b"\r\n") + 2
    return body[:place] + chance.choice(_LINES) + chance.choice((b"\r\n", *_LINE_ENDS)) + body[place:]


def _put_something_before(body: bytes, chance: random.Random) -> bytes:
    return chance.choice(_PREAMBLES) + body


def _end_otherwise(body: bytes, chance: random.Random) -> bytes:
    return body.removesuffix(b"--\r\n") + chance.choice(_TAILS)


def _change_a_byte(body: bytes, chance: random.Random) -> bytes:
    place = chance.randrange(len(body)) if body else 0
    return body[:place] + chance.choice((b"\n", b"\r", b"\0", b"-", b'"', b"\xff", b"")) + body[place + 1 :]


_CHANGES = (
    _end_a_line_otherwise,
    _end_a_line_otherwise,
    _add_a_line,
    _add_a_line,
    _put_something_before,
    _end_otherwise,
    _change_a_byte,
)

if __name__ == "__main__":
    sys.exit(main())
