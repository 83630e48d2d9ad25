"""A bar for each hour: as high as what came, its part in vain on top, and the same in words."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from xml.etree import ElementTree

from app.charts.hours import Hour, description, draw_hours

SVG = "{http://www.w3.org/2000/svg}"
START = datetime(2026, 1, 8, 13, tzinfo=UTC)
COUNTS = {3: (4, 1), 11: (2, 0)}
HOURS = [Hour(START + timedelta(hours=at), *COUNTS.get(at, (0, 0))) for at in range(48)]


def test_bars_are_as_high_as_the_counts() -> None:
    """The axis ends at 4 and is 110 high: three quarters of that, a quarter, and a half."""
    svg = ElementTree.fromstring(draw_hours("hours", "Submissions", HOURS).wide)  # noqa: S314 - our own text
    bars = [(bar.get("class"), bar.get("height")) for bar in svg.iter(f"{SVG}rect")]
    assert bars == [("fig-bar", "82.5"), ("fig-bar fig-vain", "27.5"), ("fig-bar", "55")]
    assert [title.text for title in svg.iter(f"{SVG}title")][1:] == ["16:00 UTC: 4, 1 in vain", "00:00 UTC: 2"]


def test_it_is_said_in_words() -> None:
    assert description(HOURS) == (
        "6 in the last 48 hours, 1 of them rejected or failed. The busiest hour was 8 Jan 2026, 16:00 UTC with 4."
    )
    assert description([Hour(START, 0, 0)] * 48) == "No submissions arrived in the last 48 hours."


def test_an_empty_day_is_drawn_too() -> None:
    drawn = draw_hours("hours", "Submissions", [Hour(START, 0, 0)] * 48)
    for text in (drawn.wide, drawn.narrow):
        svg = ElementTree.fromstring(text)  # noqa: S314 - our own text
        assert not list(svg.iter(f"{SVG}rect"))
