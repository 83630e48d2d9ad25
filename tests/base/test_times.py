"""Moments: offsets and AoE exactly, and no moment that leaves room for doubt."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone

import pytest

from app.base.times import MOMENT_PATTERN, in_aoe, in_utc, parse_moment


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-01-10 12:00 UTC", datetime(2026, 1, 10, 12, 0, tzinfo=UTC)),
        ("2026-01-10 12:00:30 UTC", datetime(2026, 1, 10, 12, 0, 30, tzinfo=UTC)),
        ("2026-01-10T12:00:00Z", datetime(2026, 1, 10, 12, 0, tzinfo=UTC)),
        ("2026-01-10T12:00+02:00", datetime(2026, 1, 10, 10, 0, tzinfo=UTC)),
        ("2026-01-10 12:00 -0930", datetime(2026, 1, 10, 21, 30, tzinfo=UTC)),
        ("2026-01-10 12:00 +14:00", datetime(2026, 1, 9, 22, 0, tzinfo=UTC)),
        # Anywhere on Earth the day is over when it is over at UTC-12: the next noon in UTC.
        ("2026-01-10 23:59 AoE", datetime(2026, 1, 11, 11, 59, tzinfo=UTC)),
        ("2026-12-31 12:00 aoe", datetime(2027, 1, 1, 0, 0, tzinfo=UTC)),
        ("  2026-01-10 12:00 UTC ", datetime(2026, 1, 10, 12, 0, tzinfo=UTC)),
    ],
)
def test_moment_with_a_zone_is_read_exactly(text: str, expected: datetime) -> None:
    assert parse_moment(text) == expected
    assert parse_moment(text).tzinfo is UTC


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("2026-01-10 12:00", "has no time zone"),
        ("2026-01-10", "no time of day"),
        ("2026-01-10 UTC", "no time of day"),
        ("tomorrow", "is not a date and time"),
        ("10.01.2026 12:00 UTC", "is not a date and time"),
        ("2026-01-10 12:00 CET", "is not a date and time"),
        ("2026-02-30 12:00 UTC", "no such date"),
        ("2026-01-10 25:00 UTC", "no such date or time"),
        ("2026-01-10 24:00 AoE", "00:00 of the next day"),
        ("2026-01-10 12:00 +15:00", "not an offset"),
        ("2026-01-10 12:00 +14:30", "not an offset"),
        ("2026-01-10 12:00 -13:00", "not an offset"),
        ("2026-01-10 12:00 +02:75", "not an offset"),
        ("0001-01-01 00:00 +14:00", "check the year"),
        ("9999-12-31 23:59 AoE", "check the year"),
        ("٢٠٢٦-01-10 12:00 UTC", "is not a date and time"),
        ("x" * 10_000, "is not a date and time"),
        ("", "is not a date and time"),
        (20260110, "must be text"),
        (None, "must be text"),
        (datetime(2026, 1, 10), "must be text"),  # noqa: DTZ001 - naive on purpose: it must be refused
    ],
)
def test_doubtful_moment_is_refused_in_words(value: object, said: str) -> None:
    with pytest.raises(ValueError, match=re.escape(said)) as refused:
        parse_moment(value)
    assert len(str(refused.value)) < 250


def test_aware_datetime_becomes_utc() -> None:
    there = datetime(2026, 1, 10, 12, 0, tzinfo=timezone(timedelta(hours=5, minutes=30)))
    assert parse_moment(there).isoformat() == "2026-01-10T06:30:00+00:00"


def test_moments_are_written_in_utc_and_aoe() -> None:
    moment = datetime(2026, 1, 11, 11, 59, tzinfo=UTC)
    assert (in_utc(moment), in_aoe(moment)) == ("2026-01-11 11:59 UTC", "2026-01-10 23:59 AoE")
    assert in_utc(moment + timedelta(seconds=5)) == "2026-01-11 11:59:05 UTC"


@pytest.mark.parametrize("moment", [datetime(2026, 1, 11, 11, 59, 7, tzinfo=UTC), datetime(2027, 1, 1, tzinfo=UTC)])
def test_what_is_written_can_be_read_again(moment: datetime) -> None:
    assert parse_moment(in_utc(moment)) == parse_moment(in_aoe(moment)) == moment


@pytest.mark.parametrize("text", ["2026-01-10 12:00 UTC", "2026-01-10T12:00:00Z", "2026-01-10 23:59 AoE"])
def test_editors_accept_what_the_server_accepts(text: str) -> None:
    assert re.fullmatch(MOMENT_PATTERN, text)
    assert not re.fullmatch(MOMENT_PATTERN, text.rstrip("UTCZAoE "))
