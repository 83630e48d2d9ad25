"""Connections to Redis or Valkey with short timeouts."""

from __future__ import annotations

from redis import ConnectionPool
from redis.backoff import NoBackoff
from redis.retry import Retry


def redis_connections(address: str, wait_seconds: float) -> ConnectionPool:
    """Return a pool of connections with this timeout for every operation, without retries.

    address: from `app.base.redis_address`.
    """
    return ConnectionPool.from_url(
        address,
        protocol=2,  # known to all versions of Redis
        socket_timeout=wait_seconds,
        socket_connect_timeout=wait_seconds,
        retry=Retry(NoBackoff(), 0),
    )
