"""Health of the server: liveness for supervisors, readiness and metrics for monitoring, the status page for people."""

from __future__ import annotations

import secrets
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import cast

from fastapi import Request, Response
from prometheus_client import CONTENT_TYPE_LATEST
from sqlalchemy.exc import SQLAlchemyError

from app.base.db import reading
from app.base.errors import EvergoldError, Forbidden
from app.operations import health, metrics
from app.operations.health import PartOut
from app.web.health.schemas import Health, Readiness
from app.web.html.rendering import render
from app.web.http.context import Server, ServerHere
from app.web.http.errors import error_responses
from app.web.http.identity import identify
from app.web.http.routers import server_router
from app.web.http.traffic import traffic_exposition
from evergold.version import VERSION

router = server_router("server")

#: Results of the checks are cached this long.
REMEMBERED_SECONDS = 2.0
_LOOPBACK = frozenset({"127.0.0.1", "::1"})
_FORWARDED = ("x-forwarded-for", "x-real-ip", "forwarded", "via")


class NotReady(EvergoldError):
    """A part of the server is not well (details: parts)."""

    status = 503
    code = "not_ready"


@dataclass
class CachedHealth:
    """Cached results of the health checks. turn: lock while they run; asked_at: time of the last run."""

    turn: threading.Lock = field(default_factory=threading.Lock)
    asked_at: float = float("-inf")
    server: Server | None = None
    parts: list[PartOut] = field(default_factory=list)


@router.get(
    "/healthz",
    operation_id="read_health",
    summary="Whether the web process is alive",
    description=(
        "Checks this process, for supervisors and load balancers. `/readyz` checks everything. `upgrading` while "
        "all other requests get a 503 because the database has another version than this process."
    ),
    responses=error_responses(),
)
async def read_health(request: Request) -> Health:
    """Report that the process is alive; async, so that it responds even when every thread is busy."""
    return Health(status="upgrading" if request.app.state.tables.misfit else "ok", version=VERSION)


@router.get(
    "/readyz",
    operation_id="read_readiness",
    summary="Health of all parts of the server",
    description=(
        "503 if a part is not well, with the same list in `details.parts`. For monitoring only: the server still "
        "accepts uploads then, so a load balancer should use `/healthz`."
    ),
    responses=error_responses(),
)
def read_readiness(request: Request, server: ServerHere) -> Readiness:
    parts = _parts(request, server)
    unwell = [f"the {part.name} {part.says}" for part in parts if not part.is_well]
    if unwell:
        raise NotReady(f"Not well: {'; '.join(unwell)}.", parts=[part.model_dump() for part in parts])
    return Readiness(parts=parts)


@router.get("/metrics", include_in_schema=False)
def read_metrics(request: Request, server: ServerHere) -> Response:
    """Return metrics for Prometheus; requires the configured token or, if none is configured, a request from this
    machine.
    """
    _check_may_read_metrics(request, server)
    with reading(server.engine) as session:
        text = metrics.exposition(session, server.clock())
    return Response(text + traffic_exposition(), media_type=CONTENT_TYPE_LATEST, headers={"Cache-Control": "no-store"})


@router.get("/status", include_in_schema=False)
def read_status(request: Request, server: ServerHere) -> Response:
    """Show the status page: the state of all parts, without counts that would reveal what boards hide."""
    now = server.clock()
    with suppress(EvergoldError, SQLAlchemyError):  # only for the page header
        identify(request, server)
    parts = _parts(request, server)
    usual = None
    if all(part.is_well for part in parts if part.name in ("database", "migrations")):
        with reading(server.engine) as session:
            usual = metrics.usual_seconds(session, now)
    return render(request, "health/status.html", parts=parts, usual_seconds=usual, now=now, version=VERSION)


def _parts(request: Request, server: Server) -> list[PartOut]:
    lately = cast(CachedHealth, request.app.state.lately)
    with lately.turn:
        if lately.server is not server or time.monotonic() - lately.asked_at > REMEMBERED_SECONDS:
            lately.parts = health.parts(server.engine, server.settings, server.clock())
            lately.server, lately.asked_at = server, time.monotonic()
        return lately.parts


def _check_may_read_metrics(request: Request, server: Server) -> None:
    token = server.settings.metrics_token.get_secret_value()
    if token:
        sent = request.headers.get("authorization", "")
        if secrets.compare_digest(sent.encode(), f"Bearer {token}".encode()):
            return
        raise Forbidden("Metrics need `Authorization: Bearer …` with this server's metrics token.")
    is_forwarded = not server.settings.trusted_proxies and any(name in request.headers for name in _FORWARDED)
    if request.client is None or request.client.host not in _LOOPBACK or is_forwarded:
        raise Forbidden("Metrics can be read only from this machine, unless EVERGOLD_METRICS_TOKEN is set.")
