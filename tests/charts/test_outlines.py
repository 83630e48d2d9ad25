"""Outlines of every kind of drawing, wide and narrow, are unchanged: any move in one of them is noticed."""

from __future__ import annotations

import io

from PIL import Image

from app.charts.preview import BoardPicture, PictureRow, draw_board, rows_shown
from tests.charts.outlines import kept, outlines

GOLD, ACCENT, CARD = (185, 139, 31), (24, 92, 66), (255, 255, 255)


def test_drawings_are_as_they_were() -> None:
    """Compare all outlines; intended changes are written by `python -m tests.charts.outlines`, once somebody has looked
    at them.
    """
    found, before = outlines(), kept()
    assert found.keys() == before.keys()
    assert {name: one for name, one in found.items() if one != before[name]} == {}


def test_the_picture_for_links_has_dots_at_scores_and_dashes_at_the_baseline() -> None:
    """Check an axis from 830 to 1120: the baseline's half is at 975, the rows' quarter and end at 902 and 1120."""
    rows = tuple(PictureRow(str(at + 1), f"Team {at}", "0.50", place) for at, place in enumerate((100.0, 25.0, None)))
    picture = BoardPicture("Idioms", "Zero-shot", "Macro F1", rows, 0, "10 Jan 2026", baseline=50.0)
    image = Image.open(io.BytesIO(draw_board(picture))).convert("RGB")
    assert [_alike(image, (975, y), GOLD) for y in (238, 368, 568)] == [True] * 3
    assert [_alike(image, (975, y), CARD) for y in (223, 253, 573)] == [True] * 3
    assert [_alike(image, place, ACCENT) for place in ((1120, 252), (902, 294))] == [True, True]
    assert not any(_alike(image, (x, 336), ACCENT) for x in range(830, 1121, 5)), "no place, no dot"
    assert rows_shown(rows * 4) == (tuple((rows * 4)[:8]), 4)


def _alike(image: Image.Image, place: tuple[int, int], colour: tuple[int, int, int]) -> bool:
    found = image.getpixel(place)
    assert isinstance(found, tuple)
    return all(abs(one - other) < 24 for one, other in zip(found, colour, strict=True))
