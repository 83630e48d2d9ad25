"""Every error as HTTP: one JSON shape for programs, a friendly page for browsers; a 500 reveals only its request id."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from datetime import datetime
from http import HTTPStatus
from typing import Any, cast

from anyio.to_thread import run_sync
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from sqlalchemy.exc import InterfaceError, OperationalError, SQLAlchemyError, TimeoutError as PoolTimeout
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from app.base.api_links import PROGRAMS
from app.base.errors import Busy, EvergoldError, LimitReached, NotAuthenticated, StorageFull
from app.base.logs import log
from app.operations.database_revision import NewerRevision, OtherRevision, Tables
from app.web.http.identity import identify
from app.web.http.schemas import ErrorBody, ErrorDetail
from evergold.scoring.errors import UnknownTask
from evergold.value_words import fault_words, own_words

#: Renders an error as a page.
ErrorPage = Callable[[Request, int, ErrorDetail], Response]

#: Retry-After when the server is too busy …
BUSY_SECONDS = 5
#: … and while it is being upgraded.
UPGRADE_SECONDS = 10
_POSTGRESQL_DISK_FULL = "53100"
#: FastAPI's 400 for bytes that cannot be decoded; otherwise invalid JSON is a 422 already.
_UNREADABLE_BODY = "There was an error parsing the body"
_HTTP_CODES = {
    400: "bad_request",
    404: "not_found",
    405: "method_not_allowed",
    415: "unsupported_media_type",
}
_HTTP_MESSAGES = {
    404: "There is no page at this address.",
    405: "This address does not support this method.",
}
_WORDS = {
    400: "The request is malformed.",
    401: "The token is missing, unknown, expired or revoked.",
    403: "You or this token are not allowed to do this: see `code`.",
    404: "There is nothing at this address, or you may not see it.",
    408: "The body arrived too slowly, or not at all.",
    409: "A conflict with the current state: see `code`.",
    413: "The body is larger than allowed here.",
    415: "This route does not accept the content type of the body.",
    416: "The Range header is outside of the file.",
    422: "A field is missing or wrong: see `details.fields`.",
    429: "A limit is reached: see `details.retry_at`.",
    503: "The database cannot be reached, or the server is too busy for this, or being upgraded: see `code`.",
    507: "The server's disk is full; nothing was stored.",
}


def error_responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the documented error responses of a route; 503 is always included."""
    return {status: {"model": ErrorBody, "description": _WORDS[status]} for status in sorted({*statuses, 503})}


def add_error_handlers(app: FastAPI, page: ErrorPage) -> None:
    """Register handlers that turn every exception of a route into a response; `page` renders it for browsers."""
    app.state.error_page = page
    handlers: dict[type[Exception], Callable[[Request, Exception], Awaitable[Response]]] = {
        EvergoldError: expected_error,
        UnknownTask: _task_type_missing,
        RequestValidationError: _invalid,
        HTTPException: _http,
        OperationalError: _database,
        InterfaceError: _database,
        PoolTimeout: _database,
        ClientDisconnect: _gone,
    }
    for kind, handler in handlers.items():
        app.add_exception_handler(kind, handler)


def error_response(request: Request, status: int, code: str, message: str, **details: Any) -> Response:
    """Return the error as JSON, or as a page for browsers."""
    error = ErrorDetail(code=code, message=message, details=details)
    if wants_page(request):
        page: ErrorPage = request.app.state.error_page
        return page(request, status, error)
    return JSONResponse(ErrorBody(error=error).model_dump(mode="json"), status)


def internal_error(request: Request, request_id: str) -> Response:
    """Return a 500 that reveals nothing but the request id."""
    message = "Something went wrong on our side. If it happens again, please send the organisers this request id."
    return error_response(request, 500, "internal_error", message, request_id=request_id)


def being_upgraded(request: Request, misfit: OtherRevision) -> Response:
    """Return 503 while the database schema has another revision than this process needs."""
    which = "newer" if isinstance(misfit, NewerRevision) else "older"
    message = (
        f"This server is being upgraded: its database is {which} than the program that answers. "
        "Please try again in a few minutes."
    )
    response = error_response(request, 503, "being_upgraded", message)
    response.headers["Retry-After"] = str(UPGRADE_SECONDS)
    return response


async def misfit_of(request: Request) -> OtherRevision | None:
    """Check, after an error, whether the database schema still fits this process; return the mismatch, or None."""
    tables: Tables = request.app.state.tables
    return await run_sync(tables.look, request.app.state.server.engine)


def wants_page(request: Request) -> bool:
    """Return True if the client is a browser that requests an address outside the API."""
    return not request.url.path.startswith(PROGRAMS) and "text/html" in request.headers.get("accept", "")


def headers_of(error: EvergoldError, now: datetime) -> dict[str, str]:
    """Return the headers that HTTP requires with an error."""
    if isinstance(error, NotAuthenticated):
        return {"WWW-Authenticate": "Bearer"}
    if isinstance(error, Busy):
        return {"Retry-After": str(BUSY_SECONDS)}
    if isinstance(error, LimitReached) and error.details.get("retry_at"):
        wait = datetime.fromisoformat(error.details["retry_at"]) - now
        return {"Retry-After": str(max(1, math.ceil(wait.total_seconds())))}
    return {}


def phrase(status: int) -> str:
    """Return the reason phrase, such as `Not Found`."""
    return HTTPStatus(status).phrase


# ---------------------------------------------------------------------------------------------------------- handlers


async def expected_error(request: Request, error: Exception) -> Response:
    known = cast(EvergoldError, error)
    response = error_response(request, known.status, known.code, known.message, **known.details)
    response.headers.update(headers_of(known, request.app.state.server.clock()))
    return response


async def _task_type_missing(request: Request, error: Exception) -> Response:
    """Return 503 for a plugin task type that existed when the competition was declared but is not installed now."""
    log.error("task_type_missing", reason=str(error))
    message = "A task type that this page needs is not installed on the server at the moment. No data is lost."
    return error_response(request, 503, "task_type_missing", message)


async def _invalid(request: Request, error: Exception) -> Response:
    known = cast(RequestValidationError, error)
    if wants_page(request) and any(fault["loc"][0] == "path" for fault in known.errors()):
        return error_response(request, 404, "not_found", _HTTP_MESSAGES[404])
    fields = _fields(known)
    return error_response(request, 422, "invalid_request", "Please correct the marked fields.", fields=fields)


async def _http(request: Request, error: Exception) -> Response:
    known = cast(HTTPException, error)
    if known.detail == _UNREADABLE_BODY:
        return error_response(request, 422, "invalid_request", "The request body is not valid UTF-8 JSON.")
    if wants_page(request):  # no route matched, so nobody has identified the user yet, whom the page header shows
        with suppress(EvergoldError, SQLAlchemyError):
            await run_sync(identify, request, request.app.state.server)
    code = _HTTP_CODES.get(known.status_code, "http_error")
    message = _HTTP_MESSAGES.get(known.status_code) or str(known.detail)
    response = error_response(request, known.status_code, code, message)
    response.headers.update(known.headers or {})
    return response


async def _database(request: Request, error: Exception) -> Response:
    """Return 503 or 507 for a database that is down, locked for too long, of another revision, or full."""
    if misfit := await misfit_of(request):
        return being_upgraded(request, misfit)
    log.error("database_error", error=str(getattr(error, "orig", error)))
    if _is_disk_full(error):
        message = "The server's disk is full. Nothing was stored; please try again later."
        return error_response(request, StorageFull.status, StorageFull.code, message)
    message = "The server's database cannot be reached at the moment; please try again in a little while."
    response = error_response(request, 503, "database_unavailable", message)
    response.headers["Retry-After"] = "5"
    return response


async def _gone(request: Request, error: Exception) -> Response:
    message = "The connection broke before everything had arrived."
    return error_response(request, 400, "client_disconnected", message)


def _fields(error: RequestValidationError) -> dict[str, str]:
    """Return a message per field; never repeats the input (it may be a password)."""
    found: dict[str, str] = {}
    for fault in error.errors():
        place = [str(part) for part in fault["loc"] if part not in ("body", "query", "path", "header")]
        if fault["type"] == "json_invalid":  # its place is a position in the text
            place = []
        found.setdefault(".".join(place) or "body", _sentence(fault))
    return found


def _sentence(fault: Mapping[str, Any]) -> str:
    is_ours = fault["type"] in ("value_error", "assertion_error")
    words = own_words(fault) if is_ours else fault_words(fault, shows_value=False)
    return f"{words[:1].upper()}{words[1:].rstrip('.')}."


def _is_disk_full(error: Exception) -> bool:
    cause = getattr(error, "orig", None)
    return "disk is full" in str(cause) or getattr(cause, "sqlstate", None) == _POSTGRESQL_DISK_FULL
