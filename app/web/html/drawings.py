"""Figures on pages: inline SVG, with the address of the same drawing as a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote

from fastapi import Response
from markupsafe import Markup

from app.base.errors import NotFound
from app.charts.distribution import Figure, svg_of
from app.charts.scatter import Scatter, scatter_svg

SVG = "image/svg+xml"

#: Anything that can be drawn.
Drawable = Figure | Scatter


@dataclass(frozen=True, slots=True)
class Drawing:
    """A figure, its drawing, and its download address."""

    figure: Drawable
    svg: Markup
    address: str


def drawings_of(figures: Sequence[Drawable], folder: str, split: str) -> list[Drawing]:
    """Return the drawings of one split; folder: the base address of their downloads."""
    query = f"?split={quote(split, safe='/')}"
    return [
        Drawing(figure, Markup(_svg(figure)), f"{folder}/{figure.name}.svg{query}")  # noqa: S704 - escaped by ElementTree
        for figure in figures
    ]


def svg_response(figures: Sequence[Drawable], name: str, filename: str) -> Response:
    """Return one of the figures as a download; raise NotFound."""
    found = next((figure for figure in figures if figure.name == name), None)
    if found is None:
        raise NotFound(f"This figure does not exist; there are {', '.join(figure.name for figure in figures)}.")
    headers = {"Content-Disposition": f'attachment; filename="{filename}-{found.name}.svg"'}
    return Response(_svg(found, is_file=True), media_type=SVG, headers=headers)


def _svg(figure: Drawable, *, is_file: bool = False) -> str:
    return scatter_svg(figure, is_file=is_file) if isinstance(figure, Scatter) else svg_of(figure, is_file=is_file)
