"""Curves: the positions of line, band and mark, and their descriptions."""

from __future__ import annotations

from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import pytest

from evergold.figures.axes import Axis
from evergold.figures.curve import Curve, CurvePoint, curve_svg

CURVE = Curve(
    "ratio",
    "Unseen <b>MWEs</b>",
    Axis("Size", 0, 100, 0),
    Axis("Unseen", 0, 1, 0, 100, " %"),
    [CurvePoint(0, 0.25, 0.5, 0.75), CurvePoint(100, 0.5, 0.5, 1.0)],
    (25, 0.5),
    "chosen: 25",
    ["Mean of 10 splits."],
)


def drawn(curve: Curve) -> Element:
    return ElementTree.fromstring(curve_svg(curve))  # noqa: S314 - our own text


def of_class(svg: Element, name: str) -> list[Element]:
    return [element for element in svg.iter() if name in element.get("class", "").split()]


def places(element: Element) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in (pair.split(",") for pair in element.get("points", "").split())]


def test_the_band_lies_around_the_mean_and_the_mark_on_it() -> None:
    """Half way up the axis is the mean; a quarter of the plot's height above and below it the band begins."""
    svg = drawn(CURVE)
    (left, middle), (right, end) = places(*of_class(svg, "fig-curve"))
    high, high_end, low_end, low = places(*of_class(svg, "fig-band"))
    assert middle == end
    assert high[1] < middle < low[1]
    assert middle - high[1] == pytest.approx(low[1] - middle)
    assert low_end == pytest.approx((right, middle))
    assert high_end[1] == pytest.approx(2 * high[1] - middle)
    [mark] = of_class(svg, "fig-mark")
    assert float(mark.get("cx", "")) == pytest.approx(left + (right - left) / 4, abs=0.1)
    assert float(mark.get("cy", "")) == pytest.approx(middle)


def test_it_is_said_in_words_and_nothing_in_a_name_is_markup() -> None:
    svg = drawn(CURVE)
    description = svg.findtext("{http://www.w3.org/2000/svg}desc")
    assert description == "Unseen against Size: 50 % at 0 to 50 % at 100. Marked: chosen: 25."
    assert svg.findtext("{http://www.w3.org/2000/svg}title") == "Unseen <b>MWEs</b>"
    assert [element.text for element in of_class(svg, "fig-remark")] == ["Mean of 10 splits."]
