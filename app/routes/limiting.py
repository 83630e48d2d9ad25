"""Whom a request counts for: the client's address, as far as it can be believed, and this server's rate limits."""

from __future__ import annotations

from functools import lru_cache
from typing import cast

import structlog
from fastapi import Request

from app.rate_limits import RateLimits, network_of

log = structlog.get_logger(__name__)


def limits_of(request: Request) -> RateLimits:
    """The counts of this server."""
    return cast(RateLimits, request.app.state.rate_limits)


def client_of(request: Request) -> str:
    """The network that the request came from. What X-Forwarded-For says is in it only if a proxy of ours said so."""
    if "x-forwarded-for" in request.headers and not request.app.state.serving.settings.trusted_proxies:
        _say_ignored()
    return network_of(request.client.host) if request.client else ""


@lru_cache(maxsize=1)
def _say_ignored() -> None:
    """Once: behind a proxy that we do not know of, all the world has one address, and one limit."""
    log.warning("x_forwarded_for_ignored", advice="name your reverse proxy in EVERGOLD_TRUSTED_PROXIES")
