"""Rate limits: logins (above all failed ones), registrations, password resets, address confirmations, uploads.

Counted by the library `limits`, in Redis if configured, so that all web processes share the counts; otherwise in this
process alone. If Redis is down, nobody is locked out: the failure is logged, and each process counts separately in the
meantime. A window begins with its first hit. Addresses and names are stored only as digests.
"""

from __future__ import annotations

import asyncio
import hashlib
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import lru_cache, partial
from ipaddress import IPv6Address, ip_address, ip_network
from typing import TypeVar, cast
from urllib.parse import parse_qs

from anyio.to_thread import run_sync
from fastapi import Request
from limits import RateLimitItem, RateLimitItemPerSecond
from limits.errors import StorageError
from limits.storage import MemoryStorage, RedisStorage
from limits.strategies import FixedWindowRateLimiter
from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import SQLAlchemyError
from starlette.datastructures import Headers
from starlette.types import Scope

from app.administration.live import LiveState
from app.base.config import Settings
from app.base.db import engine_for_reading
from app.base.errors import LimitReached
from app.base.logs import log
from app.base.redis_address import redis_address
from app.base.redis_client import redis_connections
from app.models import User

_PREFIX = "EVERGOLD"


@dataclass(eq=False, slots=True)
class Try:
    """One attempt of an upload, that is, one request.

    upload: identifies all attempts of an upload; None: no key, so never a repeated attempt. is_refused: it will be
    refused, and only waits for the results of other attempts.
    """

    upload: tuple[str, ...] | None
    answered: asyncio.Event = field(default_factory=asyncio.Event)
    is_refused: bool = False


class InFlightUploads:
    """Attempts that have fully arrived and have no response yet, in order of arrival."""

    def __init__(self) -> None:
        self._whole: dict[tuple[str, ...], list[Try]] = {}

    @contextmanager
    def request(self, scope: Scope) -> Iterator[Try]:
        """Register this request as an attempt during the block, and mark it as answered at its end, whatever the
        result.
        """
        one = scope.setdefault("state", {})["upload_try"] = Try(_upload_of(scope))
        try:
            yield one
        finally:
            one.answered.set()
            self._forget(one)

    def note_whole(self, current: Try) -> None:
        """Mark the attempt as fully received; later attempts wait for its result."""
        if current.upload is not None and current not in self._whole.setdefault(current.upload, []):
            self._whole[current.upload].append(current)

    async def earlier_answered(self, current: Try) -> None:
        """Wait until every attempt that had fully arrived before this one has a response."""
        for earlier in tuple(self._whole.get(current.upload or (), ())):
            if earlier is current:
                return
            await earlier.answered.wait()

    def on_their_way(self) -> frozenset[tuple[str, ...]]:
        """Return the uploads with an attempt that has fully arrived and may still be stored."""
        uploads = self._whole.items()
        return frozenset(upload for upload, tries in uploads if not all(one.is_refused for one in tries))

    def _forget(self, one: Try) -> None:
        whole = self._whole.get(one.upload or (), [])
        if one in whole:
            whole.remove(one)
        if not whole:
            self._whole.pop(one.upload or (), None)


def _upload_of(scope: Scope) -> tuple[str, ...] | None:
    """Return the sender's credentials and the key, from the header (programs) or the query string (the form)."""
    headers = Headers(scope=scope)
    of_form = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("key", [""])[0]
    key = headers.get("idempotency-key") or of_form
    return (headers.get("authorization", ""), headers.get("cookie", ""), key) if key else None


#: Poll interval; no client repeats an upload sooner than some seconds after the first attempt.
LOOK_SECONDS = 0.5
#: Time until others can see an upload: it is noticed at one poll and published at the next.
TELLING_SECONDS = 1.2
#: Longest wait for the result of an attempt elsewhere before refusing one.
PATIENCE_SECONDS = 60.0
#: Takes all locks of a poll in one statement: in a rush every waiting upload is published.
_LOCK = text("SELECT pg_try_advisory_lock_shared(number) FROM unnest(CAST(:numbers AS bigint[])) AS number")
_UNLOCK = text("SELECT pg_advisory_unlock_shared(number) FROM unnest(CAST(:numbers AS bigint[])) AS number")
_IS_HELD = text(
    "SELECT EXISTS (SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND granted AND pid <> :ours"
    " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
    " AND (classid::bigint << 32) | objid::bigint = :number)"
)


class Elsewhere:
    """In-flight uploads of other processes, and those of this process, published on one database connection."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._connection: Connection | None = None
        self._process = 0
        self._listened_to: set[int] = set()
        self._one_at_a_time = threading.Lock()

    def tell(self, uploads: Iterable[tuple[str, ...]]) -> None:
        """Publish exactly these uploads as in flight in this process; the next poll retries if the database is down."""
        wanted = set(map(lock_number, uploads))
        with self._one_at_a_time:
            if wanted == self._listened_to:
                return
            try:
                connection = self._connected()
                connection.execute(_LOCK, {"numbers": list(wanted - self._listened_to)})
                connection.execute(_UNLOCK, {"numbers": list(self._listened_to - wanted)})
                self._listened_to = wanted
            except SQLAlchemyError as error:
                log.warning("tries_not_told", error=type(error).__name__)
                self._forget()

    def has(self, upload: tuple[str, ...]) -> bool:
        """Return True if another process has published this upload as in flight."""
        with engine_for_reading(self._engine).connect() as connection:
            parameters = {"number": lock_number(upload), "ours": self._process}
            return bool(connection.scalar(_IS_HELD, parameters))

    async def answered(self, upload: tuple[str, ...]) -> None:
        """Wait until no other process has the upload in flight, after giving each of them time to publish it."""
        with suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE_SECONDS):
                await asyncio.sleep(TELLING_SECONDS)
                while await run_sync(self.has, upload):
                    await asyncio.sleep(LOOK_SECONDS)

    def close(self) -> None:
        with self._one_at_a_time:
            self._forget()

    def _connected(self) -> Connection:
        if self._connection is None:
            self._connection = self._engine.connect().execution_options(isolation_level="AUTOCOMMIT")
            self._process = self._connection.scalar(text("SELECT pg_backend_pid()")) or 0
        return self._connection

    def _forget(self) -> None:
        """Close the connection, which releases its locks, instead of returning it to the pool."""
        connection, self._connection, self._listened_to = self._connection, None, set()
        if connection is not None:
            with suppress(SQLAlchemyError):
                connection.invalidate()
            connection.close()


async def publish_in_flight(tries: InFlightUploads, elsewhere: Elsewhere) -> None:
    """Publish, as long as the process runs, those uploads that were already in flight at the previous poll."""
    before: frozenset[tuple[str, ...]] = frozenset()
    try:
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            now = tries.on_their_way()
            if now or before:
                await run_sync(elsewhere.tell, now & before)
            before = now
    finally:
        elsewhere.close()


def lock_number(upload: tuple[str, ...]) -> int:
    """Return the number of an upload's lock: 63 bits of a sha256, as PostgreSQL needs."""
    return int.from_bytes(hashlib.sha256("\0".join(upload).encode()).digest()[:8], "big") >> 1


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
    """All rules, with their limits from the settings."""

    failed_pair: Rule
    failed_account: Rule
    failed_address: Rule
    logins_account: Rule
    passwords_address: Rule
    providers_address: Rule
    failed_second: Rule
    registrations: Rule
    registrations_a_day: Rule
    resets_address: Rule
    resets_account: Rule
    confirmations: Rule
    uploads: Rule
    questions: Rule
    validations: Rule
    codes: Rule
    reports: Rule


#: Limit of joining codes that one person may type: one of 2^60 codes is right.
CODES_PER_HOUR = 10


#: Limit of texts that one person may report.
REPORTS_PER_HOUR = 10


#: Limit of wrong second factors of an account: three of a million codes are right, so guessing one takes a thousand
#: days with a probability of one half.
SECONDS_AN_HOUR = 20


def rules_of(settings: Settings) -> Rules:
    """Return the rules with the limits of the settings."""
    guesses = "Too many wrong passwords; please wait a while. Existing log-ins and tokens still work."
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
        failed_second=Rule(
            "failed-second",
            min(SECONDS_AN_HOUR, settings.failed_logins_per_hour_and_account),
            3600,
            "hour",
            "Too many wrong codes; please wait a while. Existing log-ins and tokens still work.",
        ),
        providers_address=Rule(
            "providers-address",
            settings.passwords_per_hour_and_address,
            3600,
            "hour",
            "Too many log-ins were started from your network within the last hour; please wait a while.",
        ),
        registrations=Rule(
            "registrations",
            settings.registrations_per_hour,
            3600,
            "hour",
            "Too many accounts were created from your network; please wait a while.",
        ),
        registrations_a_day=Rule(
            "registrations-a-day",
            settings.registrations_per_day_and_block,
            24 * 3600,
            "day",
            "Too many accounts were created from your part of the network today; please come back tomorrow, or write "
            "to the organisers.",
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
            "Your team is sending too many files at once; please wait a moment.",
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
            "You have validated many files within the last hour; please wait a while, or check them locally with "
            "`evergold validate`.",
        ),
        codes=Rule(
            "codes",
            CODES_PER_HOUR,
            3600,
            "hour",
            "You have entered many codes within the last hour; please ask your organisers for the right one, and "
            "wait a while.",
        ),
        reports=Rule(
            "reports",
            REPORTS_PER_HOUR,
            3600,
            "hour",
            "You have reported many texts within the last hour; please give the organisers a while to look at them.",
        ),
    )


class RateLimits:
    """Hit counts, shared in Redis or local to this process."""

    def __init__(self, settings: Settings) -> None:
        self._settings = self._followed = settings
        self.rules = rules_of(settings)
        #: Called with the rule's name, the account that it counts (None: it counts others) and the time of a refusal.
        self.on_refused: Callable[[str, int | None, datetime], None] = lambda *_: None
        self._own = FixedWindowRateLimiter(MemoryStorage())
        address = address_of_counts(settings)
        self._shared = FixedWindowRateLimiter(_redis_storage(address)) if address else None
        self._alone_until = 0.0

    def follow(self, live: LiveState) -> None:
        """Use the current limits, including those changed by administrators."""
        wanted = self._settings if live.settings is live.environment else live.settings
        if wanted is not self._followed:
            self.rules, self._followed = rules_of(wanted), wanted

    def check(self, rule: Rule, key: str, now: datetime) -> None:
        """Raise LimitReached if the limit is already reached, without counting a hit."""
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
        self.on_refused(rule.name, _account_in(rule, key), now)
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
            except StorageError as error:
                self._alone_until = time.monotonic() + ALONE_SECONDS
                log.warning(
                    "rate_limits_counted_alone", seconds=ALONE_SECONDS, error=str(error) or type(error).__name__
                )
        return ask(self._own)


def address_of_counts(settings: Settings) -> str | None:
    """Return the address of the Redis that holds the counts, or None if this process counts alone."""
    return redis_address(settings.rate_limit_url or settings.broker_url)


def _redis_storage(address: str) -> RedisStorage:
    connections = redis_connections(address, WAIT_SECONDS)
    return RedisStorage(address, connection_pool=connections, key_prefix=_PREFIX, wrap_exceptions=True)


def network_of(host: str) -> str:
    """Return the part of a client's address that counts as one client: the first 64 bits of IPv6, the whole of IPv4."""
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
    """Return the block around a client's network: about what one provider or institute has, or an attacker can rent."""
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


#: The rules whose keys name an account by its number.
_BY_ACCOUNT = frozenset({"questions", "validations", "uploads", "codes", "reports", "confirmations"})


def _account_in(rule: Rule, key: str) -> int | None:
    """Return the account id in a key (`5`, `user 5`); None for keys of teams, addresses and others."""
    if rule.name not in _BY_ACCOUNT:
        return None
    number = key.removeprefix("user ")
    return int(number) if number.isascii() and number.isdigit() else None


def limits_of(request: Request) -> RateLimits:
    """Return the rate limits of this server, with the current limits."""
    limits = cast(RateLimits, request.app.state.rate_limits)
    limits.follow(request.app.state.server.live)
    return limits


def limit_of_questions(request: Request, user: User, now: datetime) -> Callable[[], None]:
    """Return a function that counts a question of this user, and raises LimitReached above the limit."""
    limits = limits_of(request)
    return partial(limits.hit, limits.rules.questions, str(user.id), now)


def limit_of_confirmations(request: Request, user: User, now: datetime) -> Callable[[], None]:
    """Return a function that counts a mail to confirm an address, and raises LimitReached above the limit of reset
    mails.
    """
    limits = limits_of(request)
    return partial(limits.hit, limits.rules.confirmations, f"user {user.id}", now)


def limit_of_codes(request: Request, user: User, now: datetime) -> Callable[[], None]:
    """Return a function that counts a typed joining code, and raises LimitReached above the limit."""
    limits = limits_of(request)
    return partial(limits.hit, limits.rules.codes, str(user.id), now)


def limit_of_reports(request: Request, user: User, now: datetime) -> Callable[[], None]:
    """Return a function that counts a report of a text, and raises LimitReached above the limit."""
    limits = limits_of(request)
    return partial(limits.hit, limits.rules.reports, str(user.id), now)


def client_of(request: Request) -> str:
    """Return the network of the client; X-Forwarded-For is honoured only from trusted proxies."""
    if "x-forwarded-for" in request.headers and not request.app.state.server.settings.trusted_proxies:
        _say_ignored()
    return network_of(request.client.host) if request.client else ""


@lru_cache(maxsize=1)
def _say_ignored() -> None:
    """Warn once that X-Forwarded-For is ignored: behind an unknown proxy all clients share an address and a limit."""
    log.warning("x_forwarded_for_ignored", advice="name your reverse proxy in EVERGOLD_TRUSTED_PROXIES")
