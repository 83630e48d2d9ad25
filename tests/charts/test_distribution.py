"""Figures: the positions of their parts, their descriptions, and that nothing in them can break a page or a file."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import pytest

from app.charts.distribution import WIDTH, Distribution, Figure, Histogram, Marker, Row, axis_ends, svg_of
from evergold.figures.svg import number_text

SVG = "{http://www.w3.org/2000/svg}"
#: The axis of `figure` goes from 0 to 1 over this span.
LEFT, RIGHT = 20, WIDTH - 20


def figure(*rows: Row, low: float = 0.0, high: float = 1.0) -> Figure:
    return Figure("probes", "Probes", "What is shown.", "similarity", rows, low, high, context="PT, neutral")


def one(*quantiles: float, mean: float | None = 0.5, histogram: Histogram | None = None) -> Distribution:
    return Distribution(quantiles, mean, histogram)


def drawn(figure: Figure, *, is_file: bool = False) -> Element:
    return ElementTree.fromstring(svg_of(figure, is_file=is_file))  # noqa: S314 - our own text


def of_class(svg: Element, name: str) -> list[Element]:
    return [element for element in svg.iter() if name in element.get("class", "").split()]


def x(value: float) -> float:
    """Return the position of a value on an axis from 0 to 1."""
    return LEFT + value * (RIGHT - LEFT)


# -------------------------------------------------------------------------------------------------------------- places


def test_a_box_reaches_from_quarter_to_quarter_and_whiskers_beyond() -> None:
    svg = drawn(figure(Row("Syn", (one(0.1, 0.25, 0.5, 0.75, 0.9),))))
    [box] = of_class(svg, "fig-box")
    assert float(box.get("x", "")) == pytest.approx(x(0.25), abs=0.1)
    assert float(box.get("width", "")) == pytest.approx(x(0.75) - x(0.25), abs=0.1)
    [median] = of_class(svg, "fig-median")
    assert float(median.get("x1", "")) == pytest.approx(x(0.5), abs=0.1)
    whisker = of_class(svg, "fig-whisker")[0]
    assert [float(whisker.get(end, "")) for end in ("x1", "x2")] == pytest.approx([x(0.1), x(0.9)], abs=0.1)


def test_the_mean_and_the_ideal_stand_at_their_values() -> None:
    svg = drawn(figure(Row("Syn", (one(mean=0.25),), ideal=1.0), Row("Rand", (one(mean=0.75),), ideal=0.0)))
    assert [float(mean.get("cx", "")) for mean in of_class(svg, "fig-mean")] == pytest.approx(
        [x(0.25), x(0.75)], abs=0.1
    )
    assert [float(line.get("x1", "")) for line in of_class(svg, "fig-ideal")] == pytest.approx([RIGHT, LEFT])
    assert [text.text for text in of_class(svg, "fig-ideal-text")] == ["ideal 1", "ideal 0"]


def test_an_ideal_that_all_rows_have_is_one_line_through_all_of_them() -> None:
    rows = [Row(name, (one(0.1, 0.2, 0.3, 0.4, 0.5),), ideal=1.0) for name in ("Ada", "Bo", "Cy")]
    svg = drawn(figure(*rows))
    [line] = of_class(svg, "fig-ideal")
    labels = [float(label.get("y", "")) for label in of_class(svg, "fig-label")]
    assert float(line.get("y1", "")) < labels[1] < labels[2] < float(line.get("y2", ""))


def test_a_ridge_is_as_high_as_its_share_of_the_fullest_bin() -> None:
    """Four bins over 0 to 1 with 0, 4, 2, 0 values: from 0.25 full height, from 0.5 half, back down at 0.75."""
    ridge = Histogram(0.0, 1.0, (0, 4, 2, 0))
    [path] = of_class(drawn(figure(Row("Syn", (one(histogram=ridge),)))), "fig-ridge")
    steps = path.get("d", "").replace("Z", "").replace("V", " V").replace("H", " H").split()
    assert steps[0].startswith(f"M{x(0.25):.1f},")
    base = float(steps[0].split(",")[1])
    heights = [base - float(step[1:]) for step in steps if step.startswith("V")]
    assert heights[1] == pytest.approx(heights[0] / 2, abs=0.1)
    assert heights[2] == 0
    assert [float(step[1:]) for step in steps if step.startswith("H")] == pytest.approx([x(0.5), x(0.75)], abs=0.1)


def test_what_lies_beyond_the_axis_is_cut_off_at_its_end() -> None:
    svg = drawn(figure(Row("A", (one(-3.0, 0.2, 0.3, 0.4, 9.0),))))
    whisker = of_class(svg, "fig-whisker")[0]
    assert [float(whisker.get(end, "")) for end in ("x1", "x2")] == pytest.approx([LEFT, RIGHT])


@pytest.mark.parametrize(
    ("row", "ends"),
    [
        (Row("inside", (one(0.1, 0.2, 0.3, 0.4, 0.5),)), (0.0, 1.0)),
        (Row("below", (one(-0.3, 0.2, 0.3, 0.4, 0.5),)), (-0.5, 1.0)),
        (Row("above", (one(0.1, 0.2, 0.3, 0.4, 1.3),)), (0.0, 1.5)),
        (Row("exactly", (one(-0.25, 0.2, 0.3, 0.4, 0.5),)), (-0.25, 1.0)),
        (Row("ridge", (one(mean=None, histogram=Histogram(-1, 1, (1, 0, 0, 0))),)), (-1.0, 1.0)),
        (Row("ideal", (), ideal=2.0), (0.0, 2.0)),
        (Row("nothing", ()), (0.0, 1.0)),
    ],
    ids=lambda value: value.label if isinstance(value, Row) else None,
)
def test_the_axis_reaches_as_far_as_what_is_drawn_in_quarters(row: Row, ends: tuple[float, float]) -> None:
    assert axis_ends([row], 0.0, 1.0) == ends


@pytest.mark.parametrize(("low", "high", "ticks"), [(0, 1, 6), (-1, 1, 5), (-0.25, 1, 6), (0, 0.25, 6), (-2, 2, 5)])
def test_there_are_as_many_round_ticks_as_one_can_read(low: float, high: float, ticks: int) -> None:
    svg = drawn(figure(Row("A", ()), low=low, high=high))
    assert len(of_class(svg, "fig-grid")) == ticks


# ------------------------------------------------------------------------------------------------ for everybody, safely


def test_it_is_an_image_with_a_title_and_a_description() -> None:
    svg = drawn(figure(Row("Syn", (one(),))))
    assert (svg.tag, svg.get("role")) == (f"{SVG}svg", "img")
    named = {element.get("id"): element.text for element in svg.iter() if element.get("id")}
    assert [named[name] for name in svg.get("aria-labelledby", "").split()] == ["Probes", "What is shown."]


@pytest.mark.parametrize("is_file", [False, True])
def test_there_is_no_style_and_no_script_in_it(is_file: bool) -> None:
    """Check the content security policy, which would refuse them."""
    svg = drawn(figure(Row("Syn", (one(0.1, 0.2, 0.3, 0.4, 0.5),), ideal=1.0)), is_file=is_file)
    for element in svg.iter():
        assert element.tag.removeprefix(SVG) not in ("style", "script", "foreignObject", "a", "image")
        assert not [name for name in element.attrib if name in ("style", "href") or name.startswith("on")]


def test_a_file_says_its_title_and_has_its_colours_with_it() -> None:
    svg = drawn(figure(Row("Syn", (one(0.1, 0.2, 0.3, 0.4, 0.5),), ideal=1.0)), is_file=True)
    assert [text.text for text in of_class(svg, "fig-title")] == ["Probes"]
    assert [text.text for text in of_class(svg, "fig-remark")] == ["PT, neutral"]
    assert svg.get("width") == str(WIDTH)
    shapes = [e for e in svg.iter() if e.tag.removeprefix(SVG) in ("rect", "path", "line", "circle", "text")]
    assert all(shape.get("fill") or shape.get("stroke") for shape in shapes)
    assert not of_class(drawn(figure(Row("Syn", ()))), "fig-title"), "on a page the caption says it"


def test_a_long_title_has_several_lines_in_a_file() -> None:
    whole = replace(figure(Row("Syn", (one(),))), title="A(Syn|Rand): the synonym against random compounds")
    svg = drawn(whole, is_file=True)
    lines = of_class(svg, "fig-title")
    assert [line.text for line in lines] == ["A(Syn|Rand): the synonym against random", "compounds"]
    [label] = of_class(svg, "fig-label")
    assert float(lines[0].get("y", "")) < float(lines[1].get("y", "")) < float(label.get("y", ""))


@pytest.mark.parametrize("name", ["</title><script>alert(1)</script>", "a & b", 'quoted "name"', "tab\tand\x01control"])
def test_whatever_a_team_is_called_it_stays_text(name: str) -> None:
    svg = drawn(figure(Row(name, (one(),))))
    [label] = of_class(svg, "fig-label")
    assert label.text == "".join(c if c.isprintable() else " " for c in name)


def test_a_long_name_is_cut_short_and_stands_whole_in_the_tooltip() -> None:
    name = "A Team with a Rather Long Name, from Somewhere Far Away"
    svg = drawn(figure(Row(name, (one(0.1, 0.2, 0.3, 0.4, 0.5, mean=0.25),))))
    assert [label.text for label in of_class(svg, "fig-label")] == ["A Team with a Rather Long Name, from Some…"]
    [row] = of_class(svg, "fig-row")
    assert row.findtext(f"{SVG}title") == f"{name}: mean 0.25, median 0.30"


def test_classes_are_told_apart_by_shape() -> None:
    markers: tuple[Marker, ...] = ("circle", "square", "triangle")
    classes = tuple(Distribution((0.1, 0.2, 0.3, 0.4, 0.5), 0.3, label=name, marker=name) for name in markers)
    svg = drawn(figure(Row("Ada", classes)))
    tags = [mark.tag.removeprefix(SVG) + str(mark.get("d", "").count("h")) for mark in of_class(svg, "fig-mean")]
    assert tags == ["circle0", "path2", "path1"]
    assert len({box.get("class") for box in of_class(svg, "fig-box")}) == 3


def test_a_row_without_values_says_why() -> None:
    svg = drawn(figure(Row("Partly (3 compounds)", (), remark="fewer than 10")))
    assert [text.text for text in of_class(svg, "fig-remark")] == ["fewer than 10"]
    assert not of_class(svg, "fig-box")


@pytest.mark.parametrize(
    ("number", "text"), [(0.126, "0.13"), (-0.5, "\N{MINUS SIGN}0.50"), (-0.001, "0.00"), (0.0, "0.00"), (1.0, "1.00")]
)
def test_numbers_have_a_real_minus_and_no_negative_zero(number: float, text: str) -> None:
    assert number_text(number) == text
