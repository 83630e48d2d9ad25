"""Bodies that stop: a sender of nothing more gets a response, and nobody waits for it without end."""

from __future__ import annotations

import asyncio

import pytest
from starlette.types import Message, Receive, Scope, Send

from app.web.http import arrival
from app.web.http.arrival import FinishedBodies, TimelyBodies

SCOPE: Scope = {
    "type": "http",
    "method": "POST",
    "path": "/",
    "query_string": b"",
    "headers": [(b"content-length", b"9"), (b"accept", b"application/json")],
}
NEVER = 3600.0


def sent(*pieces: bytes) -> tuple[int, bytes]:
    """Return the result of a body of these pieces, after which nothing more is sent: status, and what was
    read of it.
    """
    read, answered = bytearray(), list[Message]()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        more = True
        while more:
            message = await receive()
            read.extend(message.get("body", b""))
            more = message.get("more_body", False)
        await send({"type": "http.response.start", "status": 200, "headers": []})

    left = list(pieces)

    async def receive() -> Message:
        if not left:
            await asyncio.Event().wait()
        return {"type": "http.request", "body": left.pop(0), "more_body": len(read) + 3 < 9}

    async def send(message: Message) -> None:
        answered.append(message)

    asyncio.run(TimelyBodies(app)(SCOPE, receive, send))
    return answered[0]["status"], bytes(read)


@pytest.mark.parametrize(("silence", "grace"), [(0.01, NEVER), (NEVER, 0.01)], ids=["a pause", "all in all"])
def test_a_body_that_stands_still_is_refused_at_the_first_bound_that_it_passes(
    monkeypatch: pytest.MonkeyPatch, silence: float, grace: float
) -> None:
    monkeypatch.setattr(arrival, "SILENCE_SECONDS", silence)
    monkeypatch.setattr(arrival, "GRACE_SECONDS", grace)
    assert sent() == (408, b"")


def answered_early(*pieces: bytes, **headers: str) -> tuple[dict[bytes, bytes], list[bytes]]:
    """The headers of an answer that did not wait for the body, and what nobody has read of the body."""
    answered, left = list[Message](), list(pieces)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 403, "headers": []})
        await send({"type": "http.response.body", "body": b"No."})

    async def receive() -> Message:
        body = left.pop(0)
        return {"type": "http.request", "body": body, "more_body": bool(left)}

    async def send(message: Message) -> None:
        answered.append(message)

    told = {"content-length": str(sum(map(len, pieces))), **headers}
    scope = {**SCOPE, "headers": [(name.encode(), value.encode()) for name, value in told.items()]}
    asyncio.run(FinishedBodies(app)(scope, receive, send))
    assert answered[1:] == [{"type": "http.response.body", "body": b"No."}]
    return dict(answered[0]["headers"]), left


def test_who_sends_a_little_more_than_is_wanted_still_hears_the_answer() -> None:
    assert answered_early(b"abc", b"def") == ({}, [])


@pytest.mark.parametrize("headers", [{"expect": "100-continue"}, {"content-length": str(arrival.LINGER_BYTES + 1)}])
def test_who_waits_for_a_word_or_would_send_much_is_told_to_stop(headers: dict[str, str]) -> None:
    assert answered_early(b"abc", b"def", **headers) == ({b"connection": b"close"}, [b"abc", b"def"])


def test_a_whole_body_is_passed_on_piece_by_piece() -> None:
    assert sent(b"abc", b"def", b"ghi") == (200, b"abcdefghi")
