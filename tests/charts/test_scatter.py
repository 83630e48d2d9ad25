"""Scatters: the positions of their parts, their descriptions, and that nothing in them can break a page or a file."""

from __future__ import annotations

from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import pytest

from app.charts.scatter import Scatter, ScatterPoint, scatter_svg
from evergold.figures.axes import Axis, axis_around

SVG = "{http://www.w3.org/2000/svg}"


def scatter(*points: ScatterPoint) -> Scatter:
    x, y = Axis("Entropy", 0.0, 4.0), Axis("BERTScore", 0.0, 1.0, 1, 100, " %")
    return Scatter("quality", "Quality", x, y, points, "Demo, PT")


def drawn(one: Scatter, *, is_file: bool = False) -> Element:
    return ElementTree.fromstring(scatter_svg(one, is_file=is_file))  # noqa: S314 - our own text


def of_class(svg: Element, name: str) -> list[Element]:
    return [element for element in svg.iter() if name in element.get("class", "").split()]


def centre(mark: Element) -> tuple[float, float]:
    return float(mark.get("cx", "")), float(mark.get("cy", ""))


def test_points_stand_between_the_ends_of_both_axes() -> None:
    """Check that a point in the middle of both values is in the middle of both axes; up is more."""
    svg = drawn(
        scatter(ScatterPoint("low", 0.0, 0.0), ScatterPoint("middle", 2.0, 0.5), ScatterPoint("high", 4.0, 1.0))
    )
    low, middle, high = (centre(mark) for mark in of_class(svg, "fig-mark"))
    assert middle == pytest.approx(((low[0] + high[0]) / 2, (low[1] + high[1]) / 2), abs=0.1)
    assert low[0] < high[0]
    assert low[1] > high[1]


def test_names_never_lie_on_each_other_nor_on_points() -> None:
    """Check ten systems in one heap: some have no name, and still show theirs when pointed at."""
    points = tuple(ScatterPoint(f"Team {n}", 2.0 + 0.03 * (n % 3), 0.5 + 0.01 * n) for n in range(10))
    svg = drawn(scatter(*points))
    names = of_class(svg, "fig-name")
    assert 0 < len(names) < 10
    boxes = [_box(name) for name in names]
    assert not [(a, b) for a in boxes for b in boxes if a is not b and _meet(a, b)]
    assert [group.get("aria-label", "").split(":")[0] for group in of_class(svg, "fig-point")] == [
        f"Team {n}" for n in range(10)
    ]


def _box(name: Element) -> tuple[float, float, float, float]:
    """Return the box of a text, with letters 6 wide and 12 high, a little less than what is reserved."""
    x, y, width = float(name.get("x", "")), float(name.get("y", "")), 6 * len(name.text or "")
    left = {"start": x, "middle": x - width / 2, "end": x - width}[name.get("text-anchor", "")]
    return left, y - 10, left + width, y + 1


def _meet(a: tuple[float, ...], b: tuple[float, ...]) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


@pytest.mark.parametrize(
    ("values", "ends"),
    [
        ([0.65, 0.81], (0.6, 0.85)),
        ([0.0, 0.9], (0.0, 1.0)),
        ([3.7, 4.7], (3.6, 4.8)),
        ([-0.2, 0.7], (-0.4, 0.8)),
        ([], (0.0, 1.2)),
    ],
)
def test_an_axis_ends_at_round_numbers_around_its_values(values: list[float], ends: tuple[float, float]) -> None:
    axis = axis_around(values, "x")
    assert (axis.low, axis.high) == pytest.approx(ends)


def test_one_value_alone_has_an_axis() -> None:
    axis = axis_around([0.5], "x", scale=100)
    assert axis.low < 0.5 < axis.high


def test_a_point_without_a_value_is_not_drawn_but_told() -> None:
    one = scatter(
        ScatterPoint("Ada", 1.0, 0.5), ScatterPoint("Copy", None, 0.0, "baseline", reason="there is no new word")
    )
    assert len(of_class(drawn(one), "fig-point")) == 1
    assert "Copy: not drawn, there is no new word" in one.description


def test_kinds_are_told_apart_by_shape_and_explained() -> None:
    svg = drawn(scatter(ScatterPoint("a", 1, 0.1), ScatterPoint("b", 2, 0.5, "baseline")))
    marks = [mark.tag.removeprefix(SVG) + str(mark.get("d", "").count("h")) for mark in of_class(svg, "fig-mark")][:2]
    assert marks == ["circle0", "path2"]
    assert [text.text for text in of_class(svg, "fig-remark")] == ["Team", "Baseline"]
    assert not of_class(drawn(scatter(ScatterPoint("a", 1, 0.1))), "fig-remark"), "one kind needs no explanation"


def test_on_a_page_points_are_reached_by_keyboard_and_say_what_they_are() -> None:
    svg = drawn(scatter(ScatterPoint("Ada", 1.0, 0.5)))
    [point], [tip] = of_class(svg, "fig-point"), of_class(svg, "fig-tip")
    assert (point.get("tabindex"), point.get("role")) == ("0", "img")
    assert point.get("aria-label") == tip.text == "Ada: BERTScore 50.0 %, Entropy 1.00"
    assert tip.get("visibility") == "hidden", "until a stylesheet shows it"
    assert svg.get("role") == "group", "the parts of an image could not be reached"


def test_a_file_is_an_image_with_its_title_and_colours() -> None:
    svg = drawn(scatter(ScatterPoint("Ada", 1.0, 0.5)), is_file=True)
    assert svg.get("role") == "img"
    assert [text.text for text in of_class(svg, "fig-title")] == ["Quality"]
    assert [text.text for text in of_class(svg, "fig-remark")] == ["Demo, PT"]
    assert not of_class(svg, "fig-tip")
    assert [group.findtext(f"{SVG}title") for group in of_class(svg, "fig-point")] == [
        "Ada: BERTScore 50.0 %, Entropy 1.00"
    ]
    shapes = [e for e in svg.iter() if e.tag.removeprefix(SVG) in ("rect", "path", "line", "circle", "text")]
    assert all(shape.get("fill") or shape.get("stroke") for shape in shapes)


@pytest.mark.parametrize("is_file", [False, True])
def test_there_is_no_style_and_no_script_in_it(is_file: bool) -> None:
    svg = drawn(scatter(ScatterPoint("Ada", 1.0, 0.5)), is_file=is_file)
    for element in svg.iter():
        assert element.tag.removeprefix(SVG) not in ("style", "script", "foreignObject", "a", "image")
        assert not [name for name in element.attrib if name in ("style", "href") or name.startswith("on")]


@pytest.mark.parametrize("name", ["</title><script>", "a & b", 'quoted "name"', "tab\tand\x01control"])
def test_whatever_a_team_is_called_it_stays_text(name: str) -> None:
    svg = drawn(scatter(ScatterPoint(name, 1.0, 0.5)))
    [label] = of_class(svg, "fig-name")
    assert label.text == "".join(c if c.isprintable() else " " for c in name)


def test_a_long_name_is_cut_short_in_the_drawing_and_whole_for_who_hears_it() -> None:
    name = "A Team with a Rather Long Name, from Somewhere Far Away"
    svg = drawn(scatter(ScatterPoint(name, 1.0, 0.5)))
    [label], [point] = of_class(svg, "fig-name"), of_class(svg, "fig-point")
    assert label.text == "A Team with a Rather Lo…"
    assert point.get("aria-label", "").startswith(f"{name}: ")
