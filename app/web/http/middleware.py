"""Middleware around every request, as plain ASGI: request id, security headers, access log, HEAD, internal errors.

While the database schema has another revision than this process needs, the response is 503 "being upgraded".
"""

from __future__ import annotations

import asyncio
import re
import secrets
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from anyio.to_thread import run_sync
from fastapi import Request
from sqlalchemy import Engine
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.administration.live import LiveState
from app.base.api_links import API
from app.base.db import make_engine
from app.base.logs import bound, log
from app.operations.database_revision import Tables
from app.web.http.errors import being_upgraded, internal_error, misfit_of
from app.web.http.traffic import count_answer

LOOK_SECONDS = 2.0
#: Health routes, which need no table; static files are served too.
_ANSWERED = frozenset({"/healthz", "/readyz", "/status"})
_STATIC = "/static/"


class Upgrading:
    """Middleware that answers every request with 503 while the schema does not fit.

    It must be inside the middleware that drains bodies.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        misfit = scope["app"].state.tables.misfit if scope["type"] == "http" else None
        if misfit is None or scope["path"] in _ANSWERED or scope["path"].startswith(_STATIC):
            await self._app(scope, receive, send)
        else:
            await being_upgraded(Request(scope), misfit)(scope, receive, send)


@asynccontextmanager
async def watched(tables: Tables, live: LiveState, engine: Engine) -> AsyncIterator[None]:
    """Check the schema and the live settings repeatedly until the block ends, on a separate connection."""
    own = make_engine(engine.url.render_as_string(hide_password=False))
    task = asyncio.create_task(_keep_looking(tables, live, own))
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        own.dispose()


async def _keep_looking(tables: Tables, live: LiveState, engine: Engine) -> None:
    words = ""
    while True:
        misfit = await run_sync(tables.look, engine)
        if misfit is None:
            await run_sync(live.look, engine)
        if misfit is not None and str(misfit) != words:
            log.error("being_upgraded", reason=str(misfit))
        elif misfit is None and words:
            log.info("upgrade_ended")
        words = str(misfit or "")
        await asyncio.sleep(LOOK_SECONDS)


_UNLOGGED = frozenset({"/healthz"})
_REQUEST_ID = re.compile(r"^[A-Za-z0-9._-]{8,64}$")

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_SECURITY_HEADERS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",  # for browsers that do not know frame-ancestors
    # Not `no-referrer`: browsers would then hide that a form comes from our own pages.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}


#: Responses with this in their own policy may be framed by other sites.
_FRAMED = b"frame-ancestors *"
_NAME = r"[A-Za-z0-9][A-Za-z0-9._-]*"
#: Readable by scripts of other sites: competitions, phases and boards, as the public sees them.
_SHARED = re.compile(
    rf"{API}/competitions(/{_NAME}(/phases/{_NAME}(/boards/{_NAME}(\.csv|/official(/[0-9]+)?|/pictures(/{_NAME})?)?)?)?)?"
)


class Surroundings:
    """Middleware around every request: request id, security headers, access log, internal errors without details."""

    def __init__(self, app: ASGIApp, *, https_only: bool) -> None:
        self._app = app
        headers = dict(_SECURITY_HEADERS)
        if https_only:
            headers["Strict-Transport-Security"] = "max-age=31536000"
        self._headers = [(name.lower().encode(), value.encode()) for name, value in headers.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id = _request_id(Headers(scope=scope))
        scope.setdefault("state", {})["request_id"] = request_id
        status, began = 0, time.perf_counter()
        is_shared = _is_shared(scope)

        async def send_with_headers(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = message.get("headers", [])
                own = {name.lower() for name, _ in headers}  # a page may set its own
                if any(_FRAMED in value for name, value in headers if name.lower() == b"content-security-policy"):
                    own.add(b"x-frame-options")
                added = [header for header in self._headers if header[0] not in own]
                added += [(b"access-control-allow-origin", b"*")] if is_shared else []
                message = {**message, "headers": [*headers, *added, (b"x-request-id", request_id.encode())]}
            await send(message)

        with bound(request_id=request_id):
            try:
                await self._app(scope, receive, send_with_headers)
            except Exception:  # the web's boundary: logged once, with the request id that users can quote
                misfit = await misfit_of(Request(scope))
                log.exception("internal_error", method=scope["method"], path=scope["path"], misfit=str(misfit or ""))
                if status:
                    raise  # partly sent: break the connection so that it is not mistaken for complete
                request = Request(scope)
                answer = being_upgraded(request, misfit) if misfit else internal_error(request, request_id)
                await answer(scope, receive, send_with_headers)
            took = time.perf_counter() - began
            count_answer(scope, status, took)
            if scope["path"] not in _UNLOGGED:
                took_ms = round(1000 * took, 1)
                log.info("request", method=scope["method"], path=scope["path"], status=status, took_ms=took_ms)


class AnswerHead:
    """Middleware that answers HEAD like GET, without the body."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self._app(scope, receive, send)
            return

        async def send_head(message: Message) -> None:
            if message["type"] == "http.response.body":
                message = {**message, "body": b""}
            await send(message)

        await self._app({**scope, "method": "GET"}, receive, send_head)


def _is_shared(scope: Scope) -> bool:
    """Return True if scripts of any site may read the response: public data, requested without credentials."""
    if scope["method"] not in ("GET", "HEAD") or not _SHARED.fullmatch(scope["path"]):
        return False
    return not any(name in (b"authorization", b"cookie") for name, _ in scope["headers"])


def _request_id(headers: Headers) -> str:
    """Return the proxy's request id if it is harmless, or else a new one."""
    given = headers.get("x-request-id", "")
    return given if _REQUEST_ID.match(given) else secrets.token_hex(8)
