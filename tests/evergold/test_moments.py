"""Moments in words: each expected text was read off a calendar and a world clock."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from evergold.moments import aoe_words, deadline_words, moment_words

BERLIN_IN_WINTER = timezone(timedelta(hours=1))
MIDNIGHT = datetime(2026, 12, 8, tzinfo=UTC)


@pytest.mark.parametrize(
    ("moment", "own_zone", "words"),
    [
        (MIDNIGHT, None, "Mon 7 Dec 2026, 12:00 AoE (8 Dec, 00:00 UTC)"),
        (MIDNIGHT, BERLIN_IN_WINTER, "Mon 7 Dec 2026, 12:00 AoE (8 Dec, 01:00 your time)"),
        (MIDNIGHT.astimezone(BERLIN_IN_WINTER), None, "Mon 7 Dec 2026, 12:00 AoE (8 Dec, 00:00 UTC)"),
        (datetime(2027, 1, 1, 11, 59, tzinfo=UTC), None, "Thu 31 Dec 2026, 23:59 AoE (1 Jan 2027, 11:59 UTC)"),
        (datetime(2028, 2, 29, 23, 0, 5, tzinfo=UTC), None, "Tue 29 Feb 2028, 11:00:05 AoE (29 Feb, 23:00:05 UTC)"),
    ],
)
def test_a_deadline_names_its_day_in_aoe_and_a_second_clock(
    moment: datetime, own_zone: timezone | None, words: str
) -> None:
    assert deadline_words(moment, own_zone) == words
    assert words.startswith(aoe_words(moment))


def test_an_event_is_in_utc_without_fractions_of_a_second() -> None:
    assert (
        moment_words(datetime(2026, 1, 10, 1, 0, 30, 999_999, tzinfo=BERLIN_IN_WINTER)) == "10 Jan 2026, 00:00:30 UTC"
    )
