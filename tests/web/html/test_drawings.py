"""Figures of pages as files: the named one, and an error that lists the existing ones."""

from __future__ import annotations

import pytest

from app.base.errors import NotFound
from app.charts.distribution import Figure
from app.web.html.drawings import drawings_of, svg_response

FIGURES = [Figure(name, name.capitalize(), "", "score", (), 0.0, 1.0) for name in ("seen", "unseen")]


def test_each_is_downloaded_by_its_name() -> None:
    for name in ("seen", "unseen"):
        answer = svg_response(FIGURES, name, "idioms")
        assert answer.headers["Content-Disposition"] == f'attachment; filename="idioms-{name}.svg"'
        assert name.capitalize().encode() in bytes(answer.body)
    assert [one.address for one in drawings_of(FIGURES, "/figures", "a b")] == [
        "/figures/seen.svg?split=a%20b",
        "/figures/unseen.svg?split=a%20b",
    ]


def test_another_name_is_told_those_that_there_are() -> None:
    with pytest.raises(NotFound, match="there are seen, unseen"):
        svg_response(FIGURES, "other", "idioms")
