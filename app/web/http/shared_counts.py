"""Counts of the library `limits` in Redis or Valkey, through our own client: the library's needs `redis`."""

from __future__ import annotations

import time

from limits.storage import Storage

from app.base.redis_client import RedisClient, RedisPlace

_PREFIX = "EVERGOLD"
#: A window begins with its first hit and expires with it, as in the library's own script.
_COUNT = """\
local count = redis.call('INCRBY', KEYS[1], ARGV[2])
if count == tonumber(ARGV[2]) then redis.call('EXPIRE', KEYS[1], ARGV[1]) end
return count
"""


class SharedCounts(Storage):
    """A storage with only what `FixedWindowRateLimiter` needs; raises OSError if Redis is down."""

    STORAGE_SCHEME = None

    def __init__(self, place: RedisPlace, wait_seconds: float) -> None:
        super().__init__()
        self._client = RedisClient(place, wait_seconds)

    @property
    def base_exceptions(self) -> type[Exception]:
        return OSError

    def incr(self, key: str, expiry: int, amount: int = 1) -> int:
        return int(self._client.answer("EVAL", _COUNT, 1, _named(key), expiry, amount))

    def get(self, key: str) -> int:
        return int(self._client.answer("GET", _named(key)) or 0)

    def get_expiry(self, key: str) -> float:
        return time.time() + max(0, int(self._client.answer("TTL", _named(key))))

    def clear(self, key: str) -> None:
        self._client.answer("DEL", _named(key))

    def check(self) -> bool:
        return bool(self._client.answer("PING") == b"PONG")

    def reset(self) -> int | None:
        raise NotImplementedError("the counts of a server are many, and each ends by itself")


def _named(key: str) -> str:
    return f"{_PREFIX}:{key}"
