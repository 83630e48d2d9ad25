"""What surrounds every request, as plain ASGI: request id, security headers, log, HEAD, our own faults."""

from __future__ import annotations

import re
import secrets
import time

from fastapi import Request
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.base.api_links import API
from app.base.logs import bound, log
from app.web.http.errors import being_upgraded, internal_error, misfit_of

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
    # Not `no-referrer`: browsers would then hide from us that a form is our own.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}


#: What says so in its own policy may stand in frames of other sites' pages.
_FRAMED = b"frame-ancestors *"
_NAME = r"[A-Za-z0-9][A-Za-z0-9._-]*"
#: What other sites' scripts may read: competitions, phases and boards, as everybody sees them.
_SHARED = re.compile(
    rf"{API}/competitions(/{_NAME}(/phases/{_NAME}(/boards/{_NAME}(\.csv|/official(/[0-9]+)?|/pictures(/{_NAME})?)?)?)?)?"
)


class Surroundings:
    """Request id, security headers, a line in the log, and an answer to our own faults that gives nothing away."""

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
                own = {name.lower() for name, _ in headers}  # a page may say it otherwise
                if any(_FRAMED in value for name, value in headers if name.lower() == b"content-security-policy"):
                    own.add(b"x-frame-options")
                added = [header for header in self._headers if header[0] not in own]
                added += [(b"access-control-allow-origin", b"*")] if is_shared else []
                message = {**message, "headers": [*headers, *added, (b"x-request-id", request_id.encode())]}
            await send(message)

        with bound(request_id=request_id):
            try:
                await self._app(scope, receive, send_with_headers)
            except Exception:  # the web's boundary: logged once, with the id that its victim may quote
                misfit = await misfit_of(Request(scope))
                log.exception("internal_error", method=scope["method"], path=scope["path"], misfit=str(misfit or ""))
                if status:
                    raise  # half an answer is gone already: break the connection, so that nobody takes it for whole
                request = Request(scope)
                answer = being_upgraded(request, misfit) if misfit else internal_error(request, request_id)
                await answer(scope, receive, send_with_headers)
            if scope["path"] not in _UNLOGGED:
                took_ms = round(1000 * (time.perf_counter() - began), 1)
                log.info("request", method=scope["method"], path=scope["path"], status=status, took_ms=took_ms)


class AnswerHead:
    """HEAD is GET without the body."""

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
    """Whether any site's script may read the answer: what nobody in particular asked for, and everybody sees."""
    if scope["method"] not in ("GET", "HEAD") or not _SHARED.fullmatch(scope["path"]):
        return False
    return not any(name in (b"authorization", b"cookie") for name, _ in scope["headers"])


def _request_id(headers: Headers) -> str:
    """The proxy's, if it is a harmless one; else our own."""
    given = headers.get("x-request-id", "")
    return given if _REQUEST_ID.match(given) else secrets.token_hex(8)
