"""Public pages and boards from memory, as plain ASGI: the same bytes for all who are not logged in, as long as nothing
changed; 304 for those who have them.

An answer is made for nobody in particular: the route that makes it sees no cookie, and who has a log-in or a token
passes by. Each request has the database asked how things stand (`app.boards.freshness`) after it came, together with
those that come at the same time, so that every process notices a change at once; tags are digests of what is sent, the
same in all of them. No page says how long something still takes, but when it is: a script counts by the reader's clock.
"""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from functools import partial
from urllib.parse import parse_qsl
from weakref import WeakValueDictionary

from anyio.to_thread import run_sync
from fastapi import Request
from sqlalchemy.exc import SQLAlchemyError
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.base.api_links import API
from app.boards.freshness import freshness
from app.web.boards.query import canonical
from app.web.http.caching import accepts_gzip, is_known, prefers_csv
from app.web.http.context import Server
from app.web.http.identity import SESSION_COOKIE
from app.web.http.kept_answers import Answer, KeptAnswers, answer_of
from app.web.http.single_flight import SingleFlight

Key = tuple[str, ...]

_NAME = r"[A-Za-z0-9][A-Za-z0-9._-]*"
_COMPETITION = rf"/competitions/(?P<competition>{_NAME})"
_BOARD = rf"{_COMPETITION}/phases/{_NAME}/boards/{_NAME}"
_QUERY_CHARACTERS = 200
#: So much of the memory, one part of this many, is for what there is no end of.
SHARE_OF_MANY = 4
#: What a route may still see: not who asks, nor what they have, nor by which of countless names they call us.
_SEEN_HEADERS = frozenset({b"accept", b"user-agent"})
#: Said anew of everything that is kept.
_OURS = frozenset({b"cache-control", b"content-encoding", b"content-length", b"etag", b"vary"})
_SAID = (
    (b"cache-control", b"public, no-cache"),
    (b"vary", b"Accept, Accept-Encoding, Authorization, Cookie"),
)


@dataclass(frozen=True, slots=True)
class Kind:
    """Addresses that are answered from memory. parameters: the only ones it knows; is_stored: it shows
    what the database has; is_arranged: it can be asked to sort and filter; is_one_of_many: so are there too many of it
    to stand beside whole boards."""

    path: re.Pattern[str]
    parameters: frozenset[str] = frozenset()
    is_stored: bool = True
    is_arranged: bool = False
    is_one_of_many: bool = False


@dataclass(frozen=True, slots=True)
class PublicRequest:
    """What is asked for: query, the same for addresses that ask for the same; is_one_of_many: of things of which there
    is no end, such as searches."""

    kind: Kind
    competition: str | None
    query: str
    is_one_of_many: bool


KINDS = (
    Kind(re.compile(_BOARD), frozenset({"split", "part"}), is_arranged=True),
    Kind(re.compile(rf"{API}{_BOARD}"), frozenset({"format", "part"}), is_arranged=True),
    Kind(
        re.compile(rf"{_BOARD}(/official/[0-9]{{1,9}})?/rows/[0-9a-f-]{{36}}"),
        frozenset({"sort", "part"}),
        is_one_of_many=True,
    ),
    Kind(re.compile(rf"{_BOARD}/pictures(/{_NAME}\.svg)?"), frozenset({"split"})),
    Kind(re.compile(rf"{API}{_BOARD}/pictures")),
    Kind(re.compile(rf"{API}{_BOARD}/pictures/{_NAME}"), frozenset({"split"})),
    Kind(re.compile(rf"{_COMPETITION}(/data)?|/")),
    Kind(re.compile(rf"{_COMPETITION}/tasks/{_NAME}/results"), frozenset({"sort"})),
    Kind(re.compile(rf"{_BOARD}/official(/[0-9]{{1,9}})?"), is_arranged=True),
    Kind(re.compile(rf"{API}{_BOARD}/official(/[0-9]{{1,9}})?"), frozenset({"format"}), is_arranged=True),
    Kind(re.compile(r"/guide(/[a-z-]+)?"), is_stored=False),
)


class PublicAnswers:
    """Answers from memory what it may, and remembers what it could not."""

    def __init__(self, app: ASGIApp, *, limit_bytes: int) -> None:
        self._app = app
        self._limit_bytes = limit_bytes
        self._being_made: WeakValueDictionary[tuple[str, ...], asyncio.Lock] = WeakValueDictionary()
        self._standing: SingleFlight[str | None] = SingleFlight()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        asked = _public_request(scope) if self._limit_bytes and scope["type"] == "http" else None
        key = await self._key(scope, asked) if asked else None
        if asked is None or key is None:
            await self._app(scope, receive, send)
            return
        kept, limit_bytes = self._memory(scope, asked)
        answer = kept.get(key)
        if answer is None:
            being_made = self._being_made.setdefault(key, asyncio.Lock())
            async with being_made:  # once, however many ask for it at the same time
                answer = kept.get(key)
                if answer is None:
                    messages = await self._made(scope, receive, asked)
                    answer = await _worth_keeping(messages)
                    if answer is None:
                        await _send_all(messages, send)
                        return
                    kept.keep(key, answer, limit_bytes)
        await _send(scope, send, answer)

    def _memory(self, scope: Scope, asked: PublicRequest) -> tuple[KeptAnswers, int]:
        """Where such an answer is kept, and how much there may be of them: nobody drives out boards by searching."""
        server: Server = scope["app"].state.server
        share = self._limit_bytes // SHARE_OF_MANY
        return (server.many_answers, share) if asked.is_one_of_many else (server.answers, self._limit_bytes - share)

    async def _key(self, scope: Scope, asked: PublicRequest) -> Key | None:
        """Everything that the answer depends on; None where there is nothing of the kind."""
        kind = asked.kind
        headers = Headers(scope=scope)
        server: Server = scope["app"].state.server
        state = (
            await self._standing.answer(asked.competition, partial(run_sync, _standing, server, asked.competition))
            if kind.is_stored
            else ""
        )
        if state is None:
            return None
        form = "csv" if prefers_csv(headers.get("accept", "")) else ""
        return scope["path"], asked.query, form, state

    async def _made(self, scope: Scope, receive: Receive, asked: PublicRequest) -> list[Message]:
        messages: list[Message] = []

        async def keep(message: Message) -> None:
            messages.append(message)

        seen = [(name, value) for name, value in scope["headers"] if name in _SEEN_HEADERS]
        query = asked.query.encode("latin-1")
        await self._app({**scope, "headers": seen, "query_string": query}, receive, keep)
        return messages


def _public_request(scope: Scope) -> PublicRequest | None:
    """None for what is no matter for this module."""
    if scope["method"] != "GET" or not _is_anybody(scope):
        return None
    for kind in KINDS:
        if found := kind.path.fullmatch(scope["path"]):
            known = _known_query(scope["query_string"], kind)
            if known is None:
                return None
            query, is_arranged = known
            competition = found.groupdict().get("competition")
            return PublicRequest(kind, competition, query, is_arranged or kind.is_one_of_many)
    return None


def _is_anybody(scope: Scope) -> bool:
    """Whether nobody says who they are, be it in vain."""
    for name, value in scope["headers"]:
        if name == b"authorization" or (name == b"cookie" and SESSION_COOKIE.encode() in value):
            return False
    return True


def _known_query(query: bytes, kind: Kind) -> tuple[str, bool] | None:
    """The query in one form, and whether it asks to sort or filter. None for what is not known: it might say anything,
    `as` for one; and nobody shall fill the memory with it."""
    text = query.decode("latin-1")
    if len(text) > _QUERY_CHARACTERS:
        return None
    if kind.is_arranged:
        return canonical(text, kind.parameters)
    names = [name for name, _ in parse_qsl(text, keep_blank_values=True)]
    return (text, False) if len(set(names)) == len(names) and kind.parameters.issuperset(names) else None


def _standing(server: Server, competition: str | None) -> str | None:
    """How things stand now. A database that does not answer is for the routes to tell of."""
    try:
        return freshness(server.engine, competition, server.clock())
    except SQLAlchemyError:
        return None


async def _worth_keeping(messages: list[Message]) -> Answer | None:
    """A whole answer that sets no cookie: that one would be somebody's."""
    start = messages[0]
    headers = [(name.lower(), value) for name, value in start["headers"]]
    if start["status"] != 200 or any(name == b"set-cookie" for name, _ in headers):
        return None
    kept = [(name, value) for name, value in headers if name not in _OURS]
    body = b"".join(message.get("body", b"") for message in messages[1:])
    return await run_sync(answer_of, (*kept, *_SAID), body)


async def _send(scope: Scope, send: Send, answer: Answer) -> None:
    request = Request(scope)
    sent = answer.compressed if accepts_gzip(request.headers.get("accept-encoding", "")) else answer.plain
    if is_known(request, sent.etag):
        headers = [*_SAID, (b"etag", sent.etag.encode())]
        await send({"type": "http.response.start", "status": 304, "headers": headers})
        await send({"type": "http.response.body", "body": b""})
        return
    await send({"type": "http.response.start", "status": 200, "headers": list(sent.headers)})
    await send({"type": "http.response.body", "body": sent.body})


async def _send_all(messages: list[Message], send: Send) -> None:
    for message in messages:
        await send(message)
