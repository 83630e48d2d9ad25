"""How often is too often: log-ins (above all wrong ones), registrations, resets, confirmations of addresses, uploads.

Counted by the library `limits`, in Redis where there is one, so that all web processes count together; else in this
process alone. A Redis that is away locks nobody out: the log says so, and each process counts for itself meanwhile.
A window begins with its first hit. Addresses and names are only kept as digests.
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

#: Nobody's request waits longer than this for the Redis that counts …
WAIT_SECONDS = 0.5
#: … and after it did not answer, it is left alone for this long.
ALONE_SECONDS = 10.0
_IPV6_BITS = 64  # what one customer usually has to choose addresses from
_BLOCK_BITS = {4: 24, 6: 48}
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Rule:
    """At most `limit` hits in `seconds`, for each key; 0: as many as one likes."""

    name: str
    limit: int
    seconds: int
    per: str
    message: str


@dataclass(frozen=True, slots=True)
class Rules:
    """All of them, as the settings have them."""

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
    """The rules with the settings' numbers."""
    guesses = "Too many wrong passwords; please wait a while. Who is logged in, and every token, goes on working."
    resets = "A new password was asked for too often; please wait a while."
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
            "You have asked for this mail too often; please look for it, and wait a while.",
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
    """The counts, shared or of this process."""

    def __init__(self, settings: Settings) -> None:
        self.rules = rules_of(settings)
        self._own = FixedWindowRateLimiter(MemoryStorage())
        place = place_of_counts(settings)
        self._shared = FixedWindowRateLimiter(SharedCounts(place, WAIT_SECONDS)) if place else None
        self._alone_until = 0.0

    def check(self, rule: Rule, key: str, now: datetime) -> None:
        """Raises LimitReached if there were too many already; counts nothing."""
        if rule.limit and not self._counted(lambda counts: counts.test(_item(rule), rule.name, _digest(key))):
            raise self._refusal(rule, key, now)

    def hit(self, rule: Rule, key: str, now: datetime) -> None:
        """Count one; raises LimitReached if it is one too many."""
        if rule.limit and not self._counted(lambda counts: counts.hit(_item(rule), rule.name, _digest(key))):
            raise self._refusal(rule, key, now)

    def note(self, rule: Rule, key: str) -> None:
        """Count one that has happened, whatever the sum."""
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
    """The Redis that counts; None: this process alone."""
    return redis_place(settings.rate_limit_url or settings.broker_url)


def network_of(host: str) -> str:
    """What of a client's address counts as one: of IPv6 the first half, for its owner has all of the second."""
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
    """The block of addresses around a client's network: what one provider or institute has, or one attacker rents."""
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
    """The counts of this server."""
    return cast(RateLimits, request.app.state.rate_limits)


def limit_of_questions(request: Request, user: User, now: datetime) -> Callable[[], None]:
    """What counts a question of this user, and raises LimitReached if it is one too many."""
    limits = limits_of(request)
    return partial(limits.hit, limits.rules.questions, str(user.id), now)


def limit_of_confirmations(request: Request, user: User, now: datetime) -> Callable[[], None]:
    """The same for a mail that confirms an address: as rare as those for a forgotten password."""
    limits = limits_of(request)
    return partial(limits.hit, limits.rules.confirmations, f"user {user.id}", now)


def client_of(request: Request) -> str:
    """The network that the request came from. What X-Forwarded-For says is in it only if a proxy of ours said so."""
    if "x-forwarded-for" in request.headers and not request.app.state.server.settings.trusted_proxies:
        _say_ignored()
    return network_of(request.client.host) if request.client else ""


@lru_cache(maxsize=1)
def _say_ignored() -> None:
    """Once: behind a proxy that we do not know of, all the world has one address, and one limit."""
    log.warning("x_forwarded_for_ignored", advice="name your reverse proxy in EVERGOLD_TRUSTED_PROXIES")
