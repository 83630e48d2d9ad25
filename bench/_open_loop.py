"""Uploads that start at planned moments, whether earlier ones are answered or not: a thousand senders in a thread.

They share the machine with the server, so a sender is a few hundred bytes written to a socket, and no client library.
"""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlsplit

from tests.chaos.rush import CONTENT, IMPATIENCE_SECONDS, IMPATIENT, Tried

ANSWER_SECONDS = 120.0
#: Instead of a status: nothing came within ANSWER_SECONDS.
UNANSWERED = 0


@dataclass(frozen=True, slots=True)
class Sender:
    """An address and an account."""

    url: str
    token: str


@dataclass(frozen=True, slots=True)
class Plan:
    """One upload. moment: in seconds since 1970; impatient: whether the sender gives up at once and sends it again."""

    moment: float
    sender: Sender
    key: str
    impatient: bool


def plans(
    url: str, tokens: Sequence[str], uploads: int, ends_at: datetime, lead_seconds: float, seed: int
) -> list[Plan]:
    """Plan uploads at random moments, from so many seconds before the end until a fifth of that after it."""
    dice = random.Random(seed)
    senders = [Sender(url, token) for token in tokens]
    return [
        Plan(
            ends_at.timestamp() + lead_seconds * dice.uniform(-1.0, 0.2),
            senders[number % len(senders)],
            f"rush-{number}",
            dice.random() < IMPATIENT,
        )
        for number in range(uploads)
    ]


def send_all(planned: Sequence[Plan]) -> list[Tried]:
    """Send all uploads and return the responses."""

    async def all_of_them() -> list[Tried]:
        return list(await asyncio.gather(*map(_upload, planned)))

    return asyncio.run(all_of_them())


async def _upload(plan: Plan) -> Tried:
    await asyncio.sleep(max(0.0, plan.moment - time.time()))
    left_at: list[float] = []
    was_lost = plan.impatient and await _is_lost(plan, left_at)
    began = time.monotonic()
    status, document = UNANSWERED, dict[str, object]()
    with suppress(TimeoutError):
        status, document = await _post(plan, ANSWER_SECONDS, left_at)
    left_at.append(plan.moment)  # if it never left
    return Tried(plan.key, status, document, time.monotonic() - began, was_lost, left_at[0])


async def _is_lost(plan: Plan, left_at: list[float]) -> bool:
    try:
        await _post(plan, IMPATIENCE_SECONDS, left_at)
    except TimeoutError:
        return True
    return False


async def _post(plan: Plan, seconds: float, left_at: list[float]) -> tuple[int, dict[str, object]]:
    """Return status and response; record when the last byte was sent, which may be late on a busy machine."""
    place = urlsplit(plan.sender.url)
    async with asyncio.timeout(seconds):
        reader, writer = await asyncio.open_connection(place.hostname, place.port)
        try:
            writer.write(_request(plan, place.netloc, place.path))
            left_at.append(time.time())
            answer = await reader.read()
        finally:
            writer.close()
    head, _, body = answer.partition(b"\r\n\r\n")
    return int(head.split(b" ", 2)[1]), json.loads(body)


def _request(plan: Plan, host: str, path: str) -> bytes:
    part = 'Content-Disposition: form-data; name="file"; filename="mine.csv"'
    body = f"--rush\r\n{part}\r\n\r\n{CONTENT}{plan.key}\n\r\n--rush--\r\n".encode()
    head = [
        f"POST {path} HTTP/1.1",
        f"Host: {host}",
        f"Authorization: Bearer {plan.sender.token}",
        f"Idempotency-Key: {plan.key}",
        "Content-Type: multipart/form-data; boundary=rush",
        f"Content-Length: {len(body)}",
        "Connection: close",
    ]
    return "\r\n".join([*head, "", ""]).encode() + body
