"""Outlines of drawings: for each class of elements their number and the sum of their numbers.

`python -m tests.charts.outlines` rewrites outlines.json. Look at the pictures of a server first: the numbers show that
a drawing has changed, not that it is right.
"""

from __future__ import annotations

import json
import re
import zlib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from xml.etree import ElementTree

from app.charts.draw import draw
from app.charts.history import draw_history
from app.charts.phases import Band, Span, draw_phases
from app.charts.picture import AxisOut, Picture, PointOut
from tests.charts.made_pictures import made

GOLDEN = Path(__file__).with_name("outlines.json")
START = datetime(2026, 1, 5, tzinfo=UTC)
DAY = timedelta(days=1)
_PLACES = ("x", "y", "x1", "y1", "x2", "y2", "cx", "cy", "r", "width", "height", "d", "points", "transform")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")

Outline = Mapping[str, list[float]]
"""By class: how many elements, what all their numbers add up to, and every second one of them alone."""


def drawings() -> Iterator[tuple[str, str]]:
    """Yield the name and the SVG of each drawing."""
    for seed in (0, 1):
        for picture in made(seed):
            drawn = draw(picture)
            yield f"{picture.name} {seed} wide", drawn.wide
            yield f"{picture.name} {seed} narrow", drawn.narrow
    for picture in made(2):
        if picture.kind in ("scatter", "dots"):
            drawn = draw(_with_gaps(picture))
            yield f"{picture.name} with gaps wide", drawn.wide
            yield f"{picture.name} with gaps narrow", drawn.narrow
    yield "history", _history()
    for now in (START + 2 * DAY, START + 90 * DAY):
        phases = draw_phases("phases", "Three phases.", SPANS, BANDS, now)
        yield f"phases {now:%d %b} wide", phases.wide
        yield f"phases {now:%d %b} narrow", phases.narrow


SPANS = (
    Span("Practice", "Practice, long", START, START + 30 * DAY),
    Span("Evaluation", "Evaluation, short", START + 20 * DAY, START + 20 * DAY + timedelta(minutes=5)),
    Span("Post-evaluation", "Stays open", START + 31 * DAY, None),
)
BANDS = (Band(START + 20 * DAY, START + 24 * DAY), Band(START + 35 * DAY, None))


def _with_gaps(picture: Picture) -> Picture:
    """Return the picture with a point that lacks one value, and another one that lacks the other."""
    first, *others = picture.series
    one, other, *points = first.points
    lacking = {"y": None} if picture.kind == "scatter" else {"x": None}
    gaps = (one.model_copy(update={"x": None}), other.model_copy(update=lacking), *points)
    return picture.model_copy(update={"series": (first.model_copy(update={"points": gaps}), *others)})


def _history() -> str:
    values = (0.5, 0.625, 0.55, 0.75)
    points = [
        PointOut(x=(START + number**2 * DAY).isoformat(), y=value, label=f"no. {number}")
        for number, value in enumerate(values)
    ]
    axis = AxisOut(title="Macro F1", decimals=2, percent=True)
    return draw_history("Your scores", axis, points, [points[0], points[1], points[3]], points[1])


def outline(svg: str) -> Outline:
    root = ElementTree.fromstring(svg)  # noqa: S314 - our own text
    numbers: defaultdict[str, list[float]] = defaultdict(list)
    count: defaultdict[str, int] = defaultdict(int)
    words = []
    for element in root.iter():
        kind = element.get("class") or element.tag.rpartition("}")[2]
        count[kind] += 1
        for name in _PLACES:
            numbers[kind] += [float(one) for one in _NUMBER.findall(element.get(name, ""))]
        words.append(element.text or "")
    found = {
        kind: [count[kind], round(sum(numbers[kind]), 1), round(sum(numbers[kind][::2]), 1)] for kind in sorted(count)
    }
    return {**found, "words": [zlib.crc32("\n".join(words).encode())]}


def outlines() -> dict[str, Outline]:
    return {name: outline(svg) for name, svg in drawings()}


def kept() -> dict[str, Outline]:
    found: dict[str, Outline] = json.loads(GOLDEN.read_text(encoding="utf-8"))
    return found


if __name__ == "__main__":
    lines = [f"{json.dumps(name)}: {json.dumps(one)}" for name, one in outlines().items()]
    GOLDEN.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
