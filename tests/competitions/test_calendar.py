"""Phases in time: what overlaps and what is a gap, to the minute, in words and in the picture."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from xml.etree import ElementTree

from app.competitions.calendar import Dates, calendar_of, gaps_of, overlaps_of, sentences

DAY = timedelta(days=1)
START = datetime(2027, 1, 10, 12, tzinfo=UTC)


def dates(title: str, first: float, last: float | None) -> Dates:
    return Dates(title, START + first * DAY, None if last is None else START + last * DAY)


def test_a_phase_that_begins_as_another_ends_neither_overlaps_it_nor_leaves_a_gap() -> None:
    both = [dates("Practice", 0, 5), dates("Evaluation", 5, 10)]
    assert overlaps_of(both) == []
    assert gaps_of(both) == []
    assert sentences(both) == []


def test_an_overlap_is_told_with_both_clocks_and_how_long_it_lasts() -> None:
    told = sentences([dates("Practice", 0, 7), dates("Evaluation", 5, 10)])
    assert told == [
        "“Practice” and “Evaluation” are both open from Fri 15 Jan 2027, 00:00 AoE (15 Jan, 12:00 UTC) "
        "to Sun 17 Jan 2027, 00:00 AoE (17 Jan, 12:00 UTC), 2 days."
    ]


def test_two_phases_without_an_end_overlap_for_ever() -> None:
    (found,) = overlaps_of([dates("Practice", 0, None), dates("After", 9, None)])
    assert (found.start, found.end) == (START + 9 * DAY, None)


def test_a_gap_is_where_nothing_at_all_is_open() -> None:
    """Practice ends on day 5; the long phase covers what looks like a gap; after day 12 nothing is open until 14."""
    phases = [dates("Practice", 0, 5), dates("Long", 1, 12), dates("Evaluation", 8, 10), dates("After", 14, None)]
    (gap,) = gaps_of(phases)
    assert (gap.before.title, gap.after.title, gap.start, gap.end) == (
        "Long",
        "After",
        START + 12 * DAY,
        START + 14 * DAY,
    )


def test_minutes_and_hours_are_told_as_such() -> None:
    told = sentences([dates("A", 0, 1 + 5 / 24), dates("B", 1, 2), dates("C", 2 + 1 / 1440, 3)])
    assert told[0].endswith(", 5 hours.")
    assert told[1].endswith(", 1 minute.")


def test_the_picture_has_a_bar_for_each_phase_and_marks_every_overlap() -> None:
    phases = [dates("Practice <b>", 0, 7), dates("Evaluation", 5, 10), dates("After", 10, None)]
    calendar = calendar_of(phases, START + 6 * DAY)
    assert calendar is not None
    for drawing in (calendar.wide, calendar.narrow):
        svg = ElementTree.fromstring(drawing)  # noqa: S314 - our own
        kinds = [element.get("class") for element in svg.iter()]
        assert kinds.count("fig-bar") == 3
        assert kinds.count("fig-overlap") == 1
        assert kinds.count("fig-own-rule") == 1, "now"
        assert svg.findtext("{http://www.w3.org/2000/svg}desc") == calendar.words
        wide = float(svg.attrib["viewBox"].split()[2])
        for bar in svg.iter("{http://www.w3.org/2000/svg}rect"):
            assert 0 <= float(bar.attrib["x"]) <= float(bar.attrib["x"]) + float(bar.attrib["width"]) <= wide


def test_a_dashed_line_marks_when_scores_are_public_and_the_words_say_so() -> None:
    """Ten days after the end of five days: the axis reaches there, and the bar takes a third of it."""
    late = Dates("Evaluation", START, START + 5 * DAY, (START + 15 * DAY,))
    calendar = calendar_of([late], START - DAY)
    assert calendar is not None
    assert calendar.sentences == (
        "One phase.",
        "Scores of “Evaluation” are public from Mon 25 Jan 2027, 00:00 AoE (25 Jan, 12:00 UTC) (the dashed line in its "
        "row).",
    )
    svg = ElementTree.fromstring(calendar.wide)  # noqa: S314 - our own
    [line] = [one for one in svg.iter() if one.get("class") == "fig-ideal"]
    [bar] = [one for one in svg.iter() if one.get("class") == "fig-bar"]
    left, width = float(bar.attrib["x"]), float(bar.attrib["width"])
    assert line.attrib["x1"] == line.attrib["x2"]
    assert round((float(line.attrib["x1"]) - left) / width, 1) == 3.0


def test_an_overlap_is_drawn_where_the_bars_are() -> None:
    """Days 5 to 7 of 10: from the middle of the axis on, a fifth of it wide."""
    calendar = calendar_of([dates("Practice", 0, 7), dates("Evaluation", 5, 10)], START - DAY)
    assert calendar is not None
    svg = ElementTree.fromstring(calendar.wide)  # noqa: S314 - our own
    bars = {one.get("class"): one for one in svg.iter("{http://www.w3.org/2000/svg}rect")}
    assert float(bars["fig-overlap"].attrib["x"]) == float(bars["fig-bar"].attrib["x"]), "Evaluation begins there"
    assert round(float(bars["fig-overlap"].attrib["width"]) / float(bars["fig-bar"].attrib["width"]), 2) == 0.4
    assert "fig-own-rule" not in calendar.wide, "now lies before it all"


def test_nothing_is_drawn_of_nothing() -> None:
    assert calendar_of([], START) is None
