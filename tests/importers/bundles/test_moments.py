"""Moments of bundles, with every way of writing that public bundles have (see docs/moving-from-codabench.md)."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from app.importers.bundles.moments import (
    Assumed,
    DateOrder,
    Read,
    find_zone,
    read_moment,
    shown_moment,
)


def _read(written: str, zone: str | None = None, order: str | None = None) -> str:
    found = read_moment(written, Assumed(find_zone(zone) if zone else None, DateOrder(order) if order else None))
    assert isinstance(found, Read), found
    return found.moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S")


@pytest.mark.parametrize(
    ("written", "moment"),
    [
        ("2024-12-31 14:30:00+00:00", "2024-12-31 14:30:00"),
        ("2024-12-31 14:30:00+02:00", "2024-12-31 12:30:00"),
        ("2024-12-31T14:30:00Z", "2024-12-31 14:30:00"),
        ("2024-12-31T14:30:00.250Z", "2024-12-31 14:30:00"),
        ("2024-12-31 23:59 AoE", "2025-01-01 11:59:00"),
        ("2024-12-31 14:30 UTC", "2024-12-31 14:30:00"),
        ("2024-12-31 14:30 GMT+2", "2024-12-31 12:30:00"),
        ("2024-07-01 00:00 Europe/Paris", "2024-06-30 22:00:00"),
        ("13-7-2019 10:00 UTC", "2019-07-13 10:00:00"),
        ("7-13-2019 10:00 UTC", "2019-07-13 10:00:00"),
        ("8-8-2019 10:00 UTC", "2019-08-08 10:00:00"),
        ("12/31/2024 11:59 PM UTC", "2024-12-31 23:59:00"),
        ("12/31/2024 12:05 AM UTC", "2024-12-31 00:05:00"),
        ("2012-10-1 00:00 UTC", "2012-10-01 00:00:00"),
        ("October 1, 2019 12:00 UTC", "2019-10-01 12:00:00"),
        ("Tue, 1st Oct 2019 12:00 UTC", "2019-10-01 12:00:00"),
    ],
)
def test_time_offset_and_aoe_are_kept(written: str, moment: str) -> None:
    assert _read(written) == moment


@pytest.mark.parametrize(
    ("written", "zone", "order", "moment"),
    [
        ("2024-12-31 14:30:00", "UTC", None, "2024-12-31 14:30:00"),
        ("2024-12-31 14:30:00", "AoE", None, "2025-01-01 02:30:00"),
        ("2024-07-01 14:30:00", "Europe/Paris", None, "2024-07-01 12:30:00"),
        ("2019-01-01", "UTC", None, "2019-01-01 00:00:00"),
        ("8-7-2019", "UTC", "mdy", "2019-08-07 00:00:00"),
        ("8-7-2019", "UTC", "dmy", "2019-07-08 00:00:00"),
        ("13-7-2019", "UTC", "mdy", "2019-07-13 00:00:00"),
        ("9-30-2019", "UTC", "dmy", "2019-09-30 00:00:00"),
    ],
)
def test_answers_fill_only_what_is_open(written: str, zone: str, order: str | None, moment: str) -> None:
    assert _read(written, zone, order) == moment


@pytest.mark.parametrize(
    ("written", "asked"),
    [
        ("2024-12-31 14:30:00", ["zone"]),
        ("2019-01-01", ["zone"]),
        ("8-7-2019", ["order", "zone"]),
        ("8/7/2019 12:00 UTC", ["order"]),
        ("9-30-2019", ["zone"]),
    ],
)
def test_what_has_two_readings_is_asked(written: str, asked: list[str]) -> None:
    found = read_moment(written, Assumed())
    assert isinstance(found, list)
    assert [one.about for one in found] == asked


def test_the_question_names_both_days() -> None:
    found = read_moment("8-7-2019", Assumed(UTC))
    assert isinstance(found, list)
    assert [one.text for one in found] == ["'8-7-2019' is 7 August or 8 July 2019"]


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("soon", "not a date"),
        ("2024-02-30 00:00 UTC", "no such date"),
        ("31-31-2024", "no such date"),
        ("2024-12-31 25:00 UTC", "no such time"),
        ("2024-12-31 24:00 UTC", "23:59"),
        ("2024-12-31 12:00 EST", "not a time zone"),
        ("2024-12-31 12:00 +19:00", "not a time zone"),
        ("1024-12-31 12:00 UTC", "year"),
        ("2024-03-31 02:30 Europe/Paris", "this time does not exist"),
        ("2024-10-27 02:30 Europe/Paris", "occurs twice"),
        ("2024-12-31 " * 30, "too long"),
    ],
)
def test_what_is_no_moment_is_refused_in_words(written: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        read_moment(written, Assumed())


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("2024-12-31 23:59 AoE", "2024-12-31 23:59 AoE"),
        ("2024-12-31 23:59 UTC", "2024-12-31 23:59 UTC"),
        ("2024-07-01 12:00 Europe/Paris", "2024-07-01 12:00 +02:00"),
        ("2024-07-01 12:00:30 -03:30", "2024-07-01 12:00:30 -03:30"),
    ],
)
def test_a_moment_is_declared_in_its_own_zone(written: str, shown: str) -> None:
    found = read_moment(written, Assumed())
    assert isinstance(found, Read)
    assert shown_moment(found.moment) == shown


def test_notes_say_what_was_not_written() -> None:
    found = read_moment("2019-01-01", Assumed(UTC))
    assert isinstance(found, Read)
    assert found.moment == datetime(2019, 1, 1, tzinfo=UTC)
    assert len(found.notes) == 2
