"""A chart of a team's scores over time, for pages."""

from __future__ import annotations

from markupsafe import Markup

from app.feedback.chart import chart_svg
from app.feedback.history import History


def chart_of(history: History | None) -> Markup | None:
    """Return the chart, or None for fewer than two submissions."""
    if history is None or len(history.attempts) < 2:
        return None
    title = f"{history.board.title}, {history.place.phase_title}: scores over time"
    return Markup(chart_svg(history.attempts, history.column, title))  # noqa: S704 - escaped by ElementTree
