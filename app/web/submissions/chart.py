"""The course of a team's scores as a drawing for pages."""

from __future__ import annotations

from markupsafe import Markup

from app.feedback.chart import chart_svg
from app.feedback.history import History


def chart_of(history: History | None) -> Markup | None:
    """Of two or more: one point is no course."""
    if history is None or len(history.attempts) < 2:
        return None
    title = f"{history.board.title}, {history.place.phase_title}: scores over time"
    return Markup(chart_svg(history.attempts, history.column, title))  # noqa: S704 - escaped by ElementTree
