"""Drawings of boards: words overlap nothing and are inside, marks are where the numbers put them, and all is in words,
too. Boxes are measured from the SVG itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import combinations, pairwise
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import pytest

from app.charts.axes import left_of_ticks
from app.charts.draw import draw, draw_file
from app.charts.labels import Box, text_width
from app.charts.picture import AxisOut, Picture, PointOut, SeriesOut
from app.charts.sheet import TICK_SIZE
from evergold.figures.axes import Axis
from tests.charts.made_pictures import F1, made

SVG = "{http://www.w3.org/2000/svg}"
#: In em: what letters take up on average in the fonts that browsers have.
LETTER = 0.55
SIZES = {
    "fig-name": 12.5, "fig-you": 12.5, "fig-end": 11, "fig-value": 12.5, "fig-ideal-text": 12, "fig-tick": 12,
    "fig-label": 13, "fig-cell-text": 11,
}  # fmt: skip
#: Words that stand where there is room; numbers in the squares of a matrix belong into them.
PLACED = ("fig-name", "fig-you", "fig-end", "fig-value", "fig-ideal-text")
MARKS = ("fig-mark", "fig-entry")
RULES = ("fig-ideal", "fig-own-rule")

#: A text with its box.
Words = tuple[str, str, Box]


def kind(element: Element) -> str:
    return element.get("class", "").split(" ")[0]


def texts(svg: Element) -> Iterator[Words]:
    for text in svg.iter(f"{SVG}text"):
        if text.get("transform"):
            continue
        words, size = text.text or "", SIZES[kind(text)]
        x, y, width = float(text.get("x", "")), float(text.get("y", "")), LETTER * size * len(words)
        left = {"start": x, "middle": x - width / 2, "end": x - width}[text.get("text-anchor", "start")]
        yield kind(text), words, Box(left, y - 0.7 * size, left + width, y + 0.15 * size)


def marks(svg: Element) -> Iterator[Box]:
    for element in svg.iter():
        if kind(element) in MARKS:
            found = re.match(r"M([\d.-]+),([\d.-]+)", element.get("d", ""))
            x, y = (found[1], found[2]) if found else (element.get("cx", "0"), element.get("cy", "0"))
            yield Box(float(x) - 3.5, float(y) - 3.5, float(x) + 3.5, float(y) + 3.5)


def rules(svg: Element) -> Iterator[Box]:
    """Yield the reference lines and the steps of the record; for the diagonal small pieces."""
    for line in svg.iter(f"{SVG}line"):
        if kind(line) in RULES:
            x1, y1, x2, y2 = (float(line.get(name, "")) for name in ("x1", "y1", "x2", "y2"))
            pieces = 400 if x1 != x2 and y1 != y2 else 1
            ends = [(x1 + (x2 - x1) * at / pieces, y1 + (y2 - y1) * at / pieces) for at in range(pieces + 1)]
            for (left, one), (right, other) in pairwise(ends):
                yield Box(left, min(one, other), right + 0.1, max(one, other) + 0.1)
    for path in svg.iter(f"{SVG}path"):
        if kind(path) == "fig-record":
            yield from _steps(path.get("d", ""))


def _steps(path: str) -> Iterator[Box]:
    x = y = 0.0
    for letter, values in re.findall(r"([MHV])([\d.,-]+)", path):
        before = x, y
        if letter == "M":
            x, y = map(float, values.split(","))
            continue
        x, y = (float(values), y) if letter == "H" else (x, float(values))
        yield Box(min(before[0], x), min(before[1], y), max(before[0], x) + 0.1, max(before[1], y) + 0.1)


def parsed(text: str) -> Element:
    return ElementTree.fromstring(text)  # noqa: S314 - our own text


def wrong(svg: Element) -> list[str]:
    """Return what overlaps, and what is outside."""
    found = list(texts(svg))
    placed = [one for one in found if one[0] in PLACED]
    width, height = map(float, svg.get("viewBox", "").split()[2:])
    sheet = Box(0, 0, width, height)
    said = [f"'{words}' lies outside" for _, words, box in found if not box.within(sheet)]
    for what, boxes in (("a mark", list(marks(svg))), ("a rule", list(rules(svg)))):
        said += [f"'{words}' lies on {what}" for _, words, box in placed if any(box.meets(one) for one in boxes)]
    is_matrix = any(kind(element) == "fig-cell" for element in svg.iter())
    said += [
        f"'{one[1]}' lies on '{other[1]}'"
        for one, other in combinations(found, 2)
        if one[2].meets(other[2]) and not (is_matrix and "fig-cell-text" in (one[0], other[0]))
    ]
    return said


SEEDS = [*range(3), *(pytest.param(seed, marks=pytest.mark.soak) for seed in range(3, 200))]


@pytest.mark.parametrize("seed", SEEDS)
def test_words_lie_on_no_mark_no_rule_no_other_words_and_inside(seed: int) -> None:
    said = [
        f"{picture.name} {size}: {one}"
        for picture in made(seed)
        for size in ("wide", "narrow")
        for one in wrong(parsed(getattr(draw(picture), size)))
    ]
    assert said == []


def one_of(kind: str, seed: int = 1) -> Picture:
    return next(picture for picture in made(seed) if picture.kind == kind)


def test_the_measure_sees_what_lies_on_something() -> None:
    """Check the names of a scatter moved onto its first point."""
    svg = parsed(draw(one_of("scatter")).wide)
    assert wrong(svg) == []
    mark = next(marks(svg))
    for text in svg.iter(f"{SVG}text"):
        if kind(text) == "fig-name":
            text.set("x", str(mark.left))
            text.set("y", str(mark.bottom))
    assert len(wrong(svg)) > 2


def test_the_reader_is_named_in_every_picture_of_systems() -> None:
    for kind_of in ("steps", "histogram", "dots", "scatter", "forest", "matrix"):
        words = [text for _, text, _ in texts(parsed(draw(one_of(kind_of)).wide))]
        assert any("you" in text.lower() for text in words), kind_of


def test_dots_of_a_forest_stand_where_scores_are_and_intervals_reach_their_ends() -> None:
    """Half way between the lines of 40 and 60 % is 50 %; its interval from 45 to 55 % is a quarter of that wide each
    way."""
    point = PointOut(x=0.5, y="Bo", label="Bo", low=0.45, high=0.55, rank="1–2")
    others = (
        PointOut(x=0.4, y="Low", label="Low", low=0.4, high=0.4),
        PointOut(x=0.6, y="High", label="High", low=0.6, high=0.6),
    )
    y = AxisOut(title="System", kind="category", categories=("High", "Bo", "Low"))
    picture = Picture(
        name="forest",
        title="T",
        kind="forest",
        about="a",
        summary="s",
        x=F1,
        y=y,
        series=(SeriesOut(name="T", look="team", points=(*others, point)),),
        table=made(1)[0].table,
    )
    svg = parsed(draw(picture).wide)
    ticks = {text.text: float(text.get("x", "")) for text in svg.iter(f"{SVG}text") if kind(text) == "fig-tick"}
    middle, half = (ticks["40"] + ticks["60"]) / 2, (ticks["60"] - ticks["40"]) / 4
    dots = [float(mark.get("cx", "")) for mark in svg.iter(f"{SVG}circle")]
    assert dots == pytest.approx([ticks["60"], middle, ticks["40"]], abs=0.2), "in the order of the board"
    spans = [
        line for line in svg.iter(f"{SVG}line") if kind(line) == "fig-interval" and line.get("y1") == line.get("y2")
    ]
    assert [float(spans[1].get(end, "")) for end in ("x1", "x2")] == pytest.approx(
        [middle - half, middle + half], abs=0.2
    )


def test_a_page_has_no_colour_of_its_own_and_a_file_has_all() -> None:
    for picture in made(3):
        page, file = draw(picture), draw_file(picture, "Idioms · zero-shot")
        for size in (page.wide, page.narrow):
            assert not re.search(r'(fill|stroke|style)="#?', size), picture.name
        svg = parsed(file)
        assert svg.findtext(f"{SVG}title") == picture.title
        assert svg.findtext(f"{SVG}desc") == picture.summary
        assert {picture.title, "Idioms · zero-shot"} <= {text.text for text in svg.iter(f"{SVG}text")}
        assert 'fill="#ffffff"' in file
        assert not [part for part in ("<script", "<style", "style=", "href") if part in file]


def test_names_are_only_text() -> None:
    name = "<b>&\"'\x07"
    series = (
        SeriesOut(
            name="Teams", look="team", points=(PointOut(x=0.2, y=0.3, label=name), PointOut(x=0.5, y=0.6, label="Bo"))
        ),
    )
    picture = Picture(
        name="plane",
        title=name,
        kind="scatter",
        about="a",
        summary=name,
        x=F1,
        y=F1,
        series=series,
        table=made(1)[0].table,
    )
    svg = parsed(draw(picture).wide)
    assert svg.findtext(f"{SVG}title") == "<b>&\"' "
    assert not list(svg.iter(f"{SVG}b"))


def test_readers_of_the_same_picture_share_its_drawing_and_whoever_is_marked_in_it_has_another() -> None:
    mine, again = made(3)[0], made(3)[0]
    assert draw(mine) is draw(again), "asked for by another request"
    points = tuple(point.model_copy(update={"is_mine": False}) for point in mine.series[0].points)
    entries = mine.series[0].model_copy(update={"points": points})
    others = mine.model_copy(update={"series": (entries, *mine.series[1:])})
    assert draw(others).wide != draw(mine).wide
    assert ("fig-you" in draw(mine).wide, "fig-you" in draw(others).wide) == (True, False)


def test_the_plot_begins_right_of_its_longest_number() -> None:
    axis = Axis("Submissions", 0, 1_000, decimals=0)
    widths = sorted({text_width(axis.tick_text(tick), TICK_SIZE) for tick in axis.ticks()})
    assert len(widths) > 1
    assert left_of_ticks(axis) > widths[-1] + TICK_SIZE
