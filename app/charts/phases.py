"""Phases as bars on a time axis, as SVG, with overlaps marked. Pure functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from xml.etree.ElementTree import Element, SubElement

from app.charts.axes import time_ticks
from app.charts.labels import cut_to, text_width
from app.charts.sheet import Drawn, draw_both, sheet
from evergold.figures.svg import add, add_line, add_names, add_rect, add_text, clean, number

_WIDE, _NARROW = 720, 340
_LEFT, _RIGHT, _TOP, _ROW, _BAR, _BELOW = 4.0, 12.0, 6.0, 40.0, 14.0, 26.0
#: Minimum share of the axis for a phase without an end.
_OPEN_SHARE = 0.2
#: Minimum width, so that a bar of a few minutes is visible.
_LEAST = 3.0
_LABEL_SIZE, _TICK_ROOM = 12.5, 64


@dataclass(frozen=True, slots=True)
class Span:
    """A phase. words: tooltip of its bar; end: None if it stays open; marks: times with a line across its row."""

    title: str
    words: str
    start: datetime
    end: datetime | None
    marks: tuple[datetime, ...] = ()


@dataclass(frozen=True, slots=True)
class Band:
    """A time range marked across all phases. end: None if it stays open."""

    start: datetime
    end: datetime | None


def draw_phases(name: str, description: str, spans: Sequence[Span], bands: Sequence[Band], now: datetime) -> Drawn:
    """Draw the phases for a page. name: an id; now: marked if on the axis; spans: at least one."""

    def draw(width: int) -> Element:
        size = "wide" if width == _WIDE else "narrow"
        svg = sheet(width, _TOP + _ROW * len(spans) + _BELOW, size=size)
        add_names(svg, f"{name}-{size}", "Phases in time", description)
        _draw(svg, spans, bands, width, now)
        return svg

    return draw_both(draw, _WIDE, _NARROW)


def _draw(svg: Element, spans: Sequence[Span], bands: Sequence[Band], width: int, now: datetime) -> None:
    first, last = _reach(spans)
    plot = width - _LEFT - _RIGHT
    bottom = _TOP + _ROW * len(spans)

    def place(moment: datetime) -> float:
        return _LEFT + plot * ((moment - first) / (last - first))

    _draw_axis(svg, first, last, width, bottom)
    for band in bands:
        left, right = place(band.start), place(band.end or last)
        add_rect(svg, "fig-overlap", left, _TOP, max(_LEAST, right - left), bottom - _TOP)
    if first <= now <= last:
        add_line(svg, "fig-own-rule", place(now), _TOP, place(now), bottom)
    for row, span in enumerate(spans):
        top = _TOP + _ROW * row
        _draw_span(svg, span, top, place(span.start), place(span.end or last), plot)
        for moment in span.marks:
            add_line(svg, "fig-ideal", place(moment), top + 2, place(moment), top + _ROW - 2)


def _draw_axis(svg: Element, first: datetime, last: datetime, width: int, bottom: float) -> None:
    for moment, words in time_ticks(first, last, max(2, int(width // _TICK_ROOM))):
        x = _LEFT + (width - _LEFT - _RIGHT) * ((moment - first) / (last - first))
        add_line(svg, "fig-grid", x, _TOP, x, bottom)
        half = text_width(words, 12) / 2
        add_text(svg, words, "fig-tick", min(max(x, half), width - half), bottom + 18, "middle")
    add_line(svg, "fig-axis", _LEFT, bottom, width - _RIGHT, bottom)


def _draw_span(svg: Element, span: Span, top: float, left: float, right: float, plot: float) -> None:
    """Draw the title above its bar, moved left to stay inside the drawing. A bar without an end gets a pointed tip."""
    group = SubElement(svg, "g")
    SubElement(group, "title").text = clean(span.words)
    words = cut_to(span.title, _LABEL_SIZE, plot)
    start = max(_LEFT, min(left, _LEFT + plot - text_width(words, _LABEL_SIZE)))
    add_text(group, words, "fig-name", start, top + 14)
    y, right = top + 20, max(right, left + _LEAST)
    if span.end is None:
        corners = [(left, y), (right, y), (right + 8, y + _BAR / 2), (right, y + _BAR), (left, y + _BAR)]
        add(group, "polygon", "fig-bar", points=" ".join(f"{number(x)},{number(at)}" for x, at in corners))
    else:
        add_rect(group, "fig-bar", left, y, right - left, _BAR)


def _reach(spans: Sequence[Span]) -> tuple[datetime, datetime]:
    """Return the first and the last time on the axis, with extra room for phases that stay open."""
    first = min(min([span.start, *span.marks]) for span in spans)
    last = max(max([span.end or span.start, *span.marks]) for span in spans)
    last = max(last, first + timedelta(days=1))
    if any(span.end is None for span in spans):
        last += (last - first) * _OPEN_SHARE / (1 - _OPEN_SHARE)
    return first, last
