"""The phase that a competition is in: the nearest deadline, else the next beginning, else the last one."""

from __future__ import annotations

from datetime import datetime

import pytest

from app.competitions.current import current_phase
from app.models import Competition, Phase
from tests.world import DAY, NOW


def phase(name: str, start: int, end: int | None) -> Phase:
    """Return a phase that starts and ends so many days from now."""
    ends_at: datetime | None = None if end is None else NOW + end * DAY
    return Phase(name=name, starts_at=NOW + start * DAY, ends_at=ends_at)


@pytest.mark.parametrize(
    ("phases", "expected"),
    [
        ([("long", -1, 9), ("short", -2, 3), ("ever", -3, None)], ("short", "open")),
        ([("later", 3, 4), ("sooner", 1, 9)], ("sooner", "upcoming")),
        ([("ever", -1, None), ("later", 3, 4)], ("ever", "open")),
        ([("past", -9, -5), ("ever", -1, None)], ("ever", "everlasting")),
        ([("newest", -9, -2), ("past", -8, -5)], ("newest", "closed")),
    ],
)
def test_the_current_phase(phases: list[tuple[str, int, int | None]], expected: tuple[str, str]) -> None:
    found = current_phase(Competition(phases=[phase(*one) for one in phases]), NOW)
    assert found is not None
    assert (found.phase.name, found.group) == expected


def test_a_competition_without_phases_is_in_none() -> None:
    assert current_phase(Competition(phases=[]), NOW) is None
