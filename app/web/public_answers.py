"""A cache of public pages and boards, as plain ASGI, for anonymous visitors.

All of them get the same bytes as long as nothing changes, or 304 if they have them already. Cached routes see no
cookie, and requests with a login or token bypass the cache. After it has arrived, each request checks the state of the
database (`app.boards.freshness`) together with concurrent ones, so that every process notices a change at once (of
announcements to the whole server within two seconds: `app.administration.live`). Tags are digests of the body, so they
are equal in all processes. Pages never contain remaining times, only due
times: a script counts down by the viewer's clock.
"""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from functools import partial
from urllib.parse import parse_qsl, urlencode
from weakref import WeakValueDictionary

from anyio.to_thread import run_sync
from fastapi import Request
from sqlalchemy.exc import SQLAlchemyError
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.base.api_links import API
from app.boards.freshness import freshness
from app.web.boards.query import canonical
from app.web.http.caching import Answer, KeptAnswers, accepts_gzip, answer_of, is_known, prefers_csv
from app.web.http.context import Server
from app.web.http.identity import SESSION_COOKIE
from app.web.http.turns import SingleFlight

Key = tuple[str, ...]

_NAME = r"[A-Za-z0-9][A-Za-z0-9._-]*"
_COMPETITION = rf"/competitions/(?P<competition>{_NAME})"
_BOARD = rf"{_COMPETITION}/phases/{_NAME}/boards/{_NAME}"
_QUERY_CHARACTERS = 200
#: One part in this many of the memory is for addresses of unlimited variety.
SHARE_OF_MANY = 4
#: Headers that a cached route may see: not the user's identity, nor If-None-Match, nor Host with its arbitrary names.
_SEEN_HEADERS = frozenset({b"accept", b"user-agent"})
#: Headers that are set again for everything cached.
_OURS = frozenset({b"cache-control", b"content-encoding", b"content-length", b"etag", b"vary"})
_SAID = (
    (b"cache-control", b"public, no-cache"),
    (b"vary", b"Accept, Accept-Encoding, Authorization, Cookie"),
)


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of cached addresses.

    parameters: the only query parameters allowed. is_stored: depends on the database. is_arranged: may be sorted and
    filtered. is_filtered: counts as one of many as soon as it has a parameter. is_one_of_many: too numerous to share
    the memory of whole boards.
    """

    path: re.Pattern[str]
    parameters: frozenset[str] = frozenset()
    is_stored: bool = True
    is_arranged: bool = False
    is_filtered: bool = False
    is_one_of_many: bool = False


@dataclass(frozen=True, slots=True)
class PublicRequest:
    """A request that may be served from the cache.

    query: normalised, so that equivalent addresses share an entry. is_one_of_many: of unlimited variety, such as
    searches.
    """

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
    Kind(re.compile(rf"{_COMPETITION}(/data)?")),
    Kind(re.compile(r"/"), frozenset({"task_type", "language", "open"}), is_filtered=True),
    Kind(re.compile(rf"{_COMPETITION}/tasks/{_NAME}/results"), frozenset({"sort"})),
    Kind(re.compile(rf"{_BOARD}/official(/[0-9]{{1,9}})?"), is_arranged=True),
    Kind(re.compile(rf"{API}{_BOARD}/official(/[0-9]{{1,9}})?"), frozenset({"format"}), is_arranged=True),
    Kind(re.compile(r"/guide(/[a-z-]+)?"), is_stored=False),
)


class PublicAnswers:
    """Middleware that serves public responses from memory, and caches those it can."""

    def __init__(self, app: ASGIApp, *, limit_bytes: int) -> None:
        self._app = app
        self._limit_bytes = limit_bytes
        self._being_made: WeakValueDictionary[tuple[str, ...], asyncio.Lock] = WeakValueDictionary()
        self._standing: SingleFlight[str | None] = SingleFlight()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = _public_request(scope) if self._limit_bytes and scope["type"] == "http" else None
        key = await self._key(scope, request) if request else None
        if request is None or key is None:
            await self._app(scope, receive, send)
            return
        kept, limit_bytes = self._memory(scope, request)
        answer = kept.get(key)
        if answer is None:
            being_made = self._being_made.setdefault(key, asyncio.Lock())
            async with being_made:  # once per key, for any number of concurrent requests
                answer = kept.get(key)
                if answer is None:
                    messages = await self._made(scope, receive, request)
                    answer = await _worth_keeping(messages)
                    if answer is None:
                        await _send_all(messages, send)
                        return
                    kept.keep(key, answer, limit_bytes)
        await _send(scope, send, answer)

    def _memory(self, scope: Scope, request: PublicRequest) -> tuple[KeptAnswers, int]:
        """Return the cache and its size limit in bytes; searches have a separate cache, so that they cannot evict
        boards.
        """
        server: Server = scope["app"].state.server
        share = self._limit_bytes // SHARE_OF_MANY
        return (server.many_answers, share) if request.is_one_of_many else (server.answers, self._limit_bytes - share)

    async def _key(self, scope: Scope, request: PublicRequest) -> Key | None:
        """Return everything that the response depends on, as a key; None if the response cannot be cached."""
        kind = request.kind
        headers = Headers(scope=scope)
        server: Server = scope["app"].state.server
        state = (
            await self._standing.answer(request.competition, partial(run_sync, _standing, server, request.competition))
            if kind.is_stored
            else ""
        )
        if state is None:
            return None
        form = "csv" if prefers_csv(headers.get("accept", "")) else ""
        return scope["path"], request.query, form, state, server.live.stamp(server.clock())

    async def _made(self, scope: Scope, receive: Receive, request: PublicRequest) -> list[Message]:
        messages: list[Message] = []

        async def keep(message: Message) -> None:
            messages.append(message)

        seen = [(name, value) for name, value in scope["headers"] if name in _SEEN_HEADERS]
        query = request.query.encode("latin-1")
        await self._app({**scope, "headers": seen, "query_string": query}, receive, keep)
        return messages


def _public_request(scope: Scope) -> PublicRequest | None:
    """Return the cacheable request; None if its response cannot be cached."""
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
    """Return True if the request is anonymous, without valid or invalid credentials."""
    for name, value in scope["headers"]:
        if name == b"authorization" or (name == b"cookie" and SESSION_COOKIE.encode() in value):
            return False
    return True


def _known_query(query: bytes, kind: Kind) -> tuple[str, bool] | None:
    """Return the normalised query, and whether it sorts or filters; None if it has unknown parameters.

    Unknown parameters may change the page, as `as` does, and must not fill the memory.
    """
    text = query.decode("latin-1")
    if len(text) > _QUERY_CHARACTERS:
        return None
    if kind.is_arranged:
        return canonical(text, kind.parameters)
    pairs = parse_qsl(text, keep_blank_values=True)
    names = [name for name, _ in pairs]
    if len(set(names)) != len(names) or not kind.parameters.issuperset(names):
        return None
    if kind.is_filtered:  # a form sends all its fields, those without a choice empty
        text = urlencode(sorted((name, value) for name, value in pairs if value))
        return text, bool(text)
    return text, False


def _standing(server: Server, competition: str | None) -> str | None:
    """Return a stamp of the competition's current state; None if the database is down, which the route then reports."""
    try:
        return freshness(server.engine, competition, server.clock())
    except SQLAlchemyError:
        return None


async def _worth_keeping(messages: list[Message]) -> Answer | None:
    """Return the response as a cache entry; None unless it is a 200 without cookies, which would be personal."""
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
