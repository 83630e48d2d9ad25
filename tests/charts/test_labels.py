"""Positions of words: on nothing else, inside, and cut short rather than outside."""

from __future__ import annotations

from app.charts.labels import Box, Room, around, cut_to, text_place, text_width


def test_a_name_goes_to_the_right_of_its_point_or_else_to_the_next_free_side() -> None:
    room = Room(Box(0, 0, 200, 100))
    room.take(Box(95, 45, 105, 55))
    first = room.find(around("Bo", 10, 100, 50, 8))
    second = room.find(around("Bo", 10, 100, 50, 8))
    assert first is not None
    assert second is not None
    assert (first.anchor, first.x) == ("start", 108)
    assert (second.anchor, second.x) == ("end", 92)


def test_where_everything_is_taken_nothing_is_written() -> None:
    room = Room(Box(0, 0, 200, 100))
    room.take(Box(0, 0, 200, 100))
    assert room.find(around("Bo", 10, 100, 50, 8)) is None


def test_nothing_stands_outside() -> None:
    room = Room(Box(0, 0, 20, 100))
    assert not room.is_free(text_place("Saudade Lab", 10, 5, 50).box)


def test_boxes_far_from_each_other_are_found_however_large_they_are() -> None:
    """A rule across the whole plot touches many squares of the grid."""
    room = Room(Box(0, 0, 1000, 500))
    room.take(Box(0, 249, 1000, 251))
    assert not room.is_free(Box(970, 240, 990, 260))
    assert room.is_free(Box(970, 252, 990, 262))


def test_wide_letters_take_more_room_and_marks_on_letters_none() -> None:
    """Check that two Japanese letters are two em wide, and a combining accent adds nothing."""
    assert text_width("東京", 10) == 20
    assert text_width("e\u0301", 10) == text_width("e", 10)
    assert text_width("mm", 10) > text_width("ii", 10)


def test_a_text_is_cut_to_its_width() -> None:
    assert cut_to("Saudade Lab", 10, 500) == "Saudade Lab"
    short = cut_to("Saudade Lab", 10, 50)
    assert short.endswith("…")
    assert text_width(short, 10) <= 50
    assert cut_to("Saudade Lab", 10, 1) == "…"
