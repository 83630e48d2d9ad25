"""Rate limits: counted together in Redis, alone without it, and never a reason to lock somebody out by mistake."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest
import redis
from limits.storage import memory
from structlog.testing import capture_logs

from app.base.config import Settings
from app.base.errors import LimitReached
from app.web.http import rate_limits
from app.web.http.rate_limits import RateLimits, address_of_counts, block_of, network_of
from tests.services import Valkey
from tests.threads import in_threads
from tests.world import NOW, answer_to


class Clock:
    """Replaces the module `time` where `limits` uses it."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def time(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    found = Clock()
    monkeypatch.setattr(memory, "time", found)
    monkeypatch.setattr(rate_limits, "time", _With(found))
    return found


class _With:
    def __init__(self, clock: Clock) -> None:
        self.time = clock.time
        self.monotonic = clock.time


def limits(**settings: Any) -> RateLimits:
    return RateLimits(Settings(**settings))


def hit(counts: RateLimits, key: str = "team 1") -> str:
    return answer_to(lambda: counts.hit(counts.rules.uploads, key, NOW))


def test_one_too_many_is_refused_and_says_when_to_come_back(clock: Clock) -> None:
    counts = limits(uploads_per_minute=2)
    assert [hit(counts), hit(counts)] == ["accepted", "accepted"]
    clock.now += 20
    with pytest.raises(LimitReached) as refused:
        counts.hit(counts.rules.uploads, "team 1", NOW)
    details = refused.value.details
    assert (details["limit"], details["used"], details["per"]) == (2, 2, "minute")
    assert (datetime.fromisoformat(details["retry_at"]) - NOW).total_seconds() == pytest.approx(40, abs=1)


def test_each_key_and_each_rule_counts_for_itself() -> None:
    counts = limits(uploads_per_minute=1, registrations_per_hour=1)
    assert [hit(counts, "team 1"), hit(counts, "team 2"), hit(counts, "team 1")] == [
        "accepted",
        "accepted",
        "limit_reached",
    ]
    counts.hit(counts.rules.registrations, "team 1", NOW)


def test_after_its_window_a_key_begins_anew(clock: Clock) -> None:
    counts = limits(uploads_per_minute=1)
    assert [hit(counts), hit(counts)] == ["accepted", "limit_reached"]
    clock.now += 61
    assert hit(counts) == "accepted"


@pytest.mark.parametrize(
    ("rule", "setting", "seconds", "per"),
    [
        ("failed_pair", "failed_logins_per_10_minutes", 600, "10 minutes"),
        ("failed_account", "failed_logins_per_hour_and_account", 3600, "hour"),
        ("failed_address", "failed_logins_per_hour_and_address", 3600, "hour"),
        ("logins_account", "logins_per_hour_and_account", 3600, "hour"),
        ("passwords_address", "passwords_per_hour_and_address", 3600, "hour"),
        ("providers_address", "passwords_per_hour_and_address", 3600, "hour"),
        ("failed_second", "failed_logins_per_hour_and_account", 3600, "hour"),
        ("registrations", "registrations_per_hour", 3600, "hour"),
        ("registrations_a_day", "registrations_per_day_and_block", 86_400, "day"),
        ("resets_address", "password_resets_per_hour", 3600, "hour"),
        ("resets_account", "password_resets_per_hour_and_account", 3600, "hour"),
        ("confirmations", "password_resets_per_hour_and_account", 3600, "hour"),
        ("uploads", "uploads_per_minute", 60, "minute"),
        ("questions", "questions_per_hour", 3600, "hour"),
        ("validations", "validations_per_hour", 3600, "hour"),
    ],
)
def test_each_limit_is_the_one_of_its_setting_and_lasts_as_long_as_that_says(
    clock: Clock, rule: str, setting: str, seconds: int, per: str
) -> None:
    counts = limits(**{setting: 2})
    asked = getattr(counts.rules, rule)
    told = []
    for later in (0, 0, seconds - 1, 0):
        clock.now += later
        told.append(answer_to(lambda: counts.hit(asked, "ada", NOW)))
    assert told == ["accepted", "accepted", "limit_reached", "limit_reached"]
    clock.now += 2
    assert answer_to(lambda: counts.hit(asked, "ada", NOW)) == "accepted"
    assert asked.per == per


def test_every_rule_has_its_own_number_and_none_counts_what_another_does() -> None:
    """Set each setting to another number, next to the two that no setting has."""
    names = [
        "failed_logins_per_10_minutes",
        "failed_logins_per_hour_and_account",
        "failed_logins_per_hour_and_address",
        "logins_per_hour_and_account",
        "passwords_per_hour_and_address",
        "registrations_per_hour",
        "registrations_per_day_and_block",
        "password_resets_per_hour",
        "password_resets_per_hour_and_account",
        "uploads_per_minute",
        "questions_per_hour",
        "validations_per_hour",
    ]
    rules = limits(**{name: 101 + number for number, name in enumerate(names)}).rules
    every = {name: getattr(rules, name) for name in rules.__slots__}
    assert {name: rule.limit for name, rule in every.items()} == {
        "failed_pair": 101,
        "failed_account": 102,
        "failed_address": 103,
        "logins_account": 104,
        "passwords_address": 105,
        "providers_address": 105,
        "failed_second": rate_limits.SECONDS_AN_HOUR,
        "registrations": 106,
        "registrations_a_day": 107,
        "resets_address": 108,
        "resets_account": 109,
        "confirmations": 109,
        "uploads": 110,
        "questions": 111,
        "validations": 112,
        "codes": rate_limits.CODES_PER_HOUR,
        "reports": rate_limits.REPORTS_PER_HOUR,
    }
    assert [name.replace("_", "-") for name in every] == [rule.name for rule in every.values()]
    assert limits(failed_logins_per_hour_and_account=2).rules.failed_second.limit == 2, "the stricter of both"


@pytest.mark.parametrize(
    ("rule", "key", "account"),
    [
        ("reports", "5", 5),
        ("confirmations", "user 5", 5),
        ("uploads", "team 5", None),
        ("uploads", "user 7", 7),
        ("failed_account", "5", None),
        ("codes", "²", None),
    ],
)
def test_a_refusal_names_the_account_that_its_rule_counts_and_no_team_or_address(
    rule: str, key: str, account: int | None
) -> None:
    counts, told = limits(uploads_per_minute=1, failed_logins_per_hour_and_account=1), list[Any]()
    counts.on_refused = lambda *said: told.append(said)
    wanted = getattr(counts.rules, rule)
    for _ in range(wanted.limit):
        counts.hit(wanted, key, NOW)
    assert told == []
    assert answer_to(lambda: counts.hit(wanted, key, NOW)) == "limit_reached"
    assert told == [(wanted.name, account, NOW)]


def test_zero_means_no_limit() -> None:
    counts = limits(uploads_per_minute=0)
    assert {hit(counts) for _ in range(50)} == {"accepted"}


def test_looking_counts_nothing() -> None:
    counts = limits(uploads_per_minute=1)
    for _ in range(3):
        counts.check(counts.rules.uploads, "team 1", NOW)
    counts.note(counts.rules.uploads, "team 1")
    with pytest.raises(LimitReached):
        counts.check(counts.rules.uploads, "team 1", NOW)


def test_thirty_at_once_pass_as_often_as_the_limit_says() -> None:
    counts = limits(uploads_per_minute=7)
    answers = in_threads(30, lambda _: hit(counts))
    assert answers.count("accepted") == 7


# -------------------------------------------------------------------------------------------------------------- Redis


def test_two_processes_with_one_redis_count_together(valkey: Valkey) -> None:
    here, there = (
        limits(broker_url=valkey.address, uploads_per_minute=2),
        limits(rate_limit_url=valkey.address, uploads_per_minute=2),
    )
    assert [hit(here), hit(there), hit(here), hit(there)] == [
        "accepted",
        "accepted",
        "limit_reached",
        "limit_reached",
    ]
    with pytest.raises(LimitReached) as refused:
        there.hit(there.rules.uploads, "team 1", NOW)
    assert 1 < (datetime.fromisoformat(refused.value.details["retry_at"]) - NOW).total_seconds() <= 60


def test_redis_learns_neither_names_nor_addresses(valkey: Valkey) -> None:
    counts = limits(broker_url=valkey.address, failed_logins_per_10_minutes=3)
    counts.note(counts.rules.failed_pair, "198.51.100.7 ada@example.org")
    with redis.Redis.from_url(valkey.address) as client:
        [key] = client.keys()
        assert b"ada" not in key
        assert b"198" not in key
        assert 0 < client.ttl(key) <= 600, "nothing is kept longer than it counts"


@pytest.mark.parametrize("outage", ["stop", "hang"])
def test_without_its_redis_a_process_counts_alone_and_says_so_once(valkey: Valkey, outage: str) -> None:
    counts = limits(broker_url=valkey.address, uploads_per_minute=2)
    assert hit(counts) == "accepted"
    getattr(valkey, outage)()
    with capture_logs() as logged:
        answers = [hit(counts) for _ in range(3)]
    valkey.wake() if outage == "hang" else valkey.start()
    assert answers == ["accepted", "accepted", "limit_reached"], "nobody is locked out, nobody is let through for ever"
    assert [line["event"] for line in logged] == ["rate_limits_counted_alone"]
    counts._alone_until = 0.0  # as if the pause were over
    with redis.Redis.from_url(valkey.address) as client:
        before = client.dbsize()
        assert hit(counts, "team 2") == "accepted"
        assert client.dbsize() == before + 1, "Redis is asked again"


def test_a_redis_that_is_down_at_the_start_does_not_keep_the_server_from_starting(valkey: Valkey) -> None:
    valkey.stop()
    counts = limits(broker_url=valkey.address, uploads_per_minute=1)
    assert [hit(counts), hit(counts)] == ["accepted", "limit_reached"]


@pytest.mark.parametrize(
    ("broker", "named", "counted_in"),
    [
        ("", "", None),
        ("redis://redis:6379/0", "", "redis://redis:6379/0"),
        ("redis://redis:6379/0", "redis://other:6379/1", "redis://other:6379/1"),
        ("redis://redis:6379/0", "memory://", None),
    ],
)
def test_what_counts_is_the_broker_unless_another_is_named(broker: str, named: str, counted_in: str | None) -> None:
    assert address_of_counts(Settings(broker_url=broker, rate_limit_url=named)) == counted_in


@pytest.mark.parametrize(
    ("host", "network"),
    [
        ("198.51.100.7", "198.51.100.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::ffff", "2001:db8:1:2::/64"),
        ("2001:db8:1:3::1", "2001:db8:1:3::/64"),
        ("::ffff:198.51.100.7", "198.51.100.7"),
        ("testclient", "testclient"),
    ],
)
def test_whoever_owns_a_network_of_ipv6_counts_once(host: str, network: str) -> None:
    assert network_of(host) == network


@pytest.mark.parametrize(
    ("network", "block"),
    [
        ("198.51.100.7", "198.51.100.0/24"),
        ("2001:db8:1:2::/64", "2001:db8:1::/48"),
        ("testclient", "testclient"),
    ],
)
def test_a_block_is_what_one_provider_has(network: str, block: str) -> None:
    assert block_of(network) == block
