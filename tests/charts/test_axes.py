"""The moments of an axis that get a number: round ones, no more than there is room for."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from app.charts.axes import time_ticks


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("first", "last", "most", "words"),
    [
        ("2026-01-10T11:30", "2026-01-10T14:30", 4, ["12:00", "13:00", "14:00"]),
        ("2026-01-10T20:00", "2026-01-11T08:00", 4, ["21:00", "11 Jan", "03:00", "06:00"]),
        ("2026-01-05T07:00", "2026-01-12T12:00", 4, ["7 Jan", "9 Jan", "11 Jan"]),
        ("2026-01-05", "2026-03-20", 3, ["Feb 2026", "Mar 2026"]),
        ("2024-11-02", "2026-03-20", 3, ["Jan 2025", "Jul 2025", "Jan 2026"]),
        ("1990-06-01", "2026-06-01", 4, ["Jan 2000", "Jan 2010", "Jan 2020"]),
    ],
)  # fmt: skip
def test_ticks_are_round_and_few(first: str, last: str, most: int, words: list[str]) -> None:
    assert [words for _, words in time_ticks(at(first), at(last), most)] == words
