"""Rate limits: logins (above all failed ones), registrations, password resets, address confirmations, uploads.

Counted by the library `limits`, in Redis if there is one, so that all web processes share the counts; else in this
process alone. If Redis is down, nobody is locked out: the failure is logged, and each process counts for itself
meanwhile. A window begins with its first hit. Addresses and names are stored as digests only.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache, partial
from ipaddress import IPv6Address, ip_address, ip_network
from typing import TypeVar, cast

from fastapi import Request
from limits import RateLimitItem, RateLimitItemPerSecond
from limits.storage import MemoryStorage
from limits.strategies import FixedWindowRateLimiter

from app.base.config import Settings
from app.base.errors import LimitReached
from app.base.logs import log
from app.base.redis_client import RedisPlace, redis_place
from app.models import User
from app.web.http.shared_counts import SharedCounts

#: Longest time that a request waits for the Redis that counts …
WAIT_SECONDS = 0.5
#: … and time for which an unresponsive Redis is not tried again.
ALONE_SECONDS = 10.0
_IPV6_BITS = 64  # the range that one customer usually controls
_BLOCK_BITS = {4: 24, 6: 48}
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Rule:
    """At most `limit` hits in `seconds` for each key; 0: unlimited."""

    name: str
    limit: int
    seconds: int
    per: str
    message: str


@dataclass(frozen=True, slots=True)
class Rules:
    """All rules, with the numbers of the settings."""

    failed_pair: Rule
    failed_account: Rule
    failed_address: Rule
    logins_account: Rule
    passwords_address: Rule
    registrations: Rule
    registrations_a_day: Rule
    resets_address: Rule
    resets_account: Rule
    confirmations: Rule
    uploads: Rule
    questions: Rule
    validations: Rule


def rules_of(settings: Settings) -> Rules:
    """Return the rules with the numbers of the settings."""
    guesses = "Too many wrong passwords; please wait a while. Who is logged in, and every token, goes on working."
    resets = "A new password was requested too often; please wait a while."
    return Rules(
        failed_pair=Rule("failed-pair", settings.failed_logins_per_10_minutes, 600, "10 minutes", guesses),
        failed_account=Rule("failed-account", settings.failed_logins_per_hour_and_account, 3600, "hour", guesses),
        failed_address=Rule("failed-address", settings.failed_logins_per_hour_and_address, 3600, "hour", guesses),
        logins_account=Rule(
            "logins-account",
            settings.logins_per_hour_and_account,
            3600,
            "hour",
            "You have logged in very often within the last hour; please wait a while, or use an API token.",
        ),
        passwords_address=Rule(
            "passwords-address",
            settings.passwords_per_hour_and_address,
            3600,
            "hour",
            "Too many passwords were sent from your network within the last hour; please wait a while.",
        ),
        registrations=Rule(
            "registrations",
            settings.registrations_per_hour,
            3600,
            "hour",
            "Too many accounts were made from your network; please wait a while.",
        ),
        registrations_a_day=Rule(
            "registrations-a-day",
            settings.registrations_per_day_and_block,
            24 * 3600,
            "day",
            "Too many accounts were made from your part of the network today; please come back tomorrow, or write to "
            "the organisers.",
        ),
        resets_address=Rule("resets-address", settings.password_resets_per_hour, 3600, "hour", resets),
        resets_account=Rule("resets-account", settings.password_resets_per_hour_and_account, 3600, "hour", resets),
        confirmations=Rule(
            "confirmations",
            settings.password_resets_per_hour_and_account,
            3600,
            "hour",
            "You have requested this mail too often; please check your inbox, and wait a while.",
        ),
        uploads=Rule(
            "uploads",
            settings.uploads_per_minute,
            60,
            "minute",
            "Your team sends more files than this server takes at once; please wait a moment.",
        ),
        questions=Rule(
            "questions",
            settings.questions_per_hour,
            3600,
            "hour",
            "You have asked many questions within the last hour; please give the organisers a while to answer.",
        ),
        validations=Rule(
            "validations",
            settings.validations_per_hour,
            3600,
            "hour",
            "You had many files checked within the last hour; please wait a while, or check them at home with "
            "`evergold validate`.",
        ),
    )


class RateLimits:
    """Hit counts, shared in Redis or of this process only."""

    def __init__(self, settings: Settings) -> None:
        self.rules = rules_of(settings)
        self._own = FixedWindowRateLimiter(MemoryStorage())
        place = place_of_counts(settings)
        self._shared = FixedWindowRateLimiter(SharedCounts(place, WAIT_SECONDS)) if place else None
        self._alone_until = 0.0

    def check(self, rule: Rule, key: str, now: datetime) -> None:
        """Raise LimitReached if the limit is already reached; counts nothing."""
        if rule.limit and not self._counted(lambda counts: counts.test(_item(rule), rule.name, _digest(key))):
            raise self._refusal(rule, key, now)

    def hit(self, rule: Rule, key: str, now: datetime) -> None:
        """Count a hit; raise LimitReached if it exceeds the limit."""
        if rule.limit and not self._counted(lambda counts: counts.hit(_item(rule), rule.name, _digest(key))):
            raise self._refusal(rule, key, now)

    def note(self, rule: Rule, key: str) -> None:
        """Count a hit without enforcing the limit."""
        if rule.limit:
            self._counted(lambda counts: counts.hit(_item(rule), rule.name, _digest(key)))

    def _refusal(self, rule: Rule, key: str, now: datetime) -> LimitReached:
        window = self._counted(lambda counts: counts.get_window_stats(_item(rule), rule.name, _digest(key)))
        wait_seconds = min(max(1.0, window.reset_time - time.time()), rule.seconds)
        return LimitReached(
            rule.message,
            limit=rule.limit,
            used=rule.limit - window.remaining,
            per=rule.per,
            retry_at=(now + timedelta(seconds=wait_seconds)).isoformat(),
        )

    def _counted(self, ask: Callable[[FixedWindowRateLimiter], T]) -> T:
        if self._shared is not None and time.monotonic() >= self._alone_until:
            try:
                return ask(self._shared)
            except OSError as error:
                self._alone_until = time.monotonic() + ALONE_SECONDS
                log.warning(
                    "rate_limits_counted_alone", seconds=ALONE_SECONDS, error=str(error) or type(error).__name__
                )
        return ask(self._own)


def place_of_counts(settings: Settings) -> RedisPlace | None:
    """Return the Redis that counts, or None if this process counts alone."""
    return redis_place(settings.rate_limit_url or settings.broker_url)


def network_of(host: str) -> str:
    """Return the part of a client's address that counts as one client: the first 64 bits of IPv6, all of IPv4."""
    try:
        address = ip_address(host)
    except ValueError:
        return host
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped:
            return str(address.ipv4_mapped)
        return str(ip_network((address, _IPV6_BITS), strict=False))
    return str(address)


def block_of(network: str) -> str:
    """Return the block around a client's network: one provider or institute, or what an attacker rents."""
    try:
        address = ip_network(network).network_address
    except ValueError:
        return network
    bits = _BLOCK_BITS[address.version]
    return str(ip_network((address, bits), strict=False))


def _item(rule: Rule) -> RateLimitItem:
    return RateLimitItemPerSecond(rule.limit, rule.seconds, namespace="evergold")


def _digest(key: str) -> str:
    return hashlib.sha256(key.encode(errors="replace")).hexdigest()[:32]


def limits_of(request: Request) -> RateLimits:
    """Return the hit counts of this server."""
    return cast(RateLimits, request.app.state.rate_limits)


def limit_of_questions(request: Request, user: User, now: datetime) -> Callable[[], None]:
    """Return a function that counts a question of this user, and raises LimitReached if it is one too many."""
    limits = limits_of(request)
    return partial(limits.hit, limits.rules.questions, str(user.id), now)


def limit_of_confirmations(request: Request, user: User, now: datetime) -> Callable[[], None]:
    """Like limit_of_questions, for address confirmation mails; the limit is that of password reset mails."""
    limits = limits_of(request)
    return partial(limits.hit, limits.rules.confirmations, f"user {user.id}", now)


def client_of(request: Request) -> str:
    """Return the network of the client; X-Forwarded-For is honoured only from trusted proxies."""
    if "x-forwarded-for" in request.headers and not request.app.state.server.settings.trusted_proxies:
        _say_ignored()
    return network_of(request.client.host) if request.client else ""


@lru_cache(maxsize=1)
def _say_ignored() -> None:
    """Warn once: behind an unknown proxy all clients share one address, and one limit."""
    log.warning("x_forwarded_for_ignored", advice="name your reverse proxy in EVERGOLD_TRUSTED_PROXIES")
