"""Preview picture of a board for shared links: title, the first rows, dots on an axis. A PNG of 1200 × 630.

Pillow is loaded when the first picture is drawn: it takes 13 MB, and most processes never draw one. It uses the fonts
of the pages, then fonts of the machine for letters that these lack; a name that no font can draw is left out.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unicodedata import bidirectional

if TYPE_CHECKING:
    from PIL.ImageDraw import ImageDraw
    from PIL.ImageFont import FreeTypeFont

FONTS = Path(__file__).resolve().parents[1] / "static" / "vendor" / "fonts"
SIZE = (1200, 630)
ROWS = 8
#: File names of fallback fonts, which the system looks up in its font folders.
MACHINES = (
    *(str(FONTS / "sans-greek-1.woff2"), "DejaVuSans-Bold.ttf", "NotoSans-Bold.ttf", "NotoSansGeorgian-Bold.ttf"),
    *("NotoSansHebrew-Bold.ttf", "NotoSansArabic-Bold.ttf", "NotoSansCJK-Bold.ttc", "NotoSansJP-Bold.otf"),
)
_PAPER, _CARD, _INK, _SOFT, _LINE, _ACCENT, _GOLD = (
    "#fbfaf6", "#ffffff", "#1b201d", "#5d665f", "#e3e0d6", "#185c42", "#b98b1f",
)  # fmt: skip
_LEFT, _RIGHT, _TOP, _STEP = 64, 1136, 236, 44
_NAME, _SCORE, _AXIS = 128, 800, (830, 1120)


@dataclass(frozen=True, slots=True)
class PictureRow:
    """A row of the picture. place: position on the axis in percent; None if there is no axis."""

    rank: str
    name: str
    score: str
    place: float | None


@dataclass(frozen=True, slots=True)
class PictureServer:
    """The server's name, and its accent in the light scheme."""

    name: str = "Evergold"
    accent: str = _ACCENT


@dataclass(frozen=True, slots=True)
class BoardPicture:
    """The content of the picture. more: number of further rows of the board; day: when it was drawn."""

    competition: str
    board: str
    column: str
    rows: tuple[PictureRow, ...]
    more: int
    day: str
    baseline: float | None = None
    server: PictureServer = PictureServer()


def draw_board(picture: BoardPicture) -> bytes:
    """Return the picture as a PNG."""
    from PIL import Image, ImageDraw

    image = Image.new("RGB", SIZE, _PAPER)
    draw = ImageDraw.Draw(image)
    draw.rectangle((0, 0, SIZE[0], 10), fill=picture.server.accent)
    _text(draw, (_LEFT, 56), picture.competition, _font("serif", 46, 700), _INK, _RIGHT - _LEFT)
    _text(draw, (_LEFT, 122), picture.board, _font("sans", 30, 400), _SOFT, _RIGHT - _LEFT)
    _table(draw, picture)
    foot = " · ".join([*([f"and {picture.more} more"] if picture.more > 0 else []), picture.day])
    _text(draw, (_LEFT, 588), foot, _font("sans", 22, 400), _SOFT, 400)
    font = _font_for(picture.server.name, _font("serif", 24, 600))
    name = _cut(picture.server.name, font, 600)
    draw.text((_RIGHT, 588), name, font=font, fill=picture.server.accent, anchor="ra")
    content = io.BytesIO()
    image.quantize(64).save(content, "PNG", optimize=True)
    return content.getvalue()


def _table(draw: ImageDraw, picture: BoardPicture) -> None:
    heads = _font("sans", 21, 600)
    draw.rounded_rectangle((_LEFT - 16, 178, _RIGHT + 16, 576), 14, fill=_CARD, outline=_LINE)
    draw.text((_NAME, 190), "Team", font=heads, fill=_SOFT)
    draw.text((_SCORE, 190), _cut(picture.column, heads, 300), font=heads, fill=_SOFT, anchor="ra")
    if picture.baseline is not None:
        x = _on_axis(picture.baseline)
        for y in range(226, 570, 10):
            draw.line((x, y, x, y + 4), fill=_GOLD, width=2)
    for number, row in enumerate(picture.rows[:ROWS]):
        _row(draw, row, _TOP + number * (_STEP - 2), picture.server.accent)


def _row(draw: ImageDraw, row: PictureRow, y: int, accent: str) -> None:
    plain, bold = _font("sans", 26, 400), _font("sans", 26, 700)
    draw.line((_LEFT, y - 8, _RIGHT, y - 8), fill=_LINE)
    draw.text((104, y), row.rank, font=plain, fill=_SOFT, anchor="ra")
    _text(draw, (_NAME, y), row.name, _font_for(row.name, bold), _INK, 520)
    draw.text((_SCORE, y), row.score, font=bold, fill=_INK, anchor="ra")
    if row.place is not None:
        x = _on_axis(row.place)
        draw.ellipse((x - 8, y + 8, x + 8, y + 24), fill=accent)


def _on_axis(place: float) -> float:
    return _AXIS[0] + (_AXIS[1] - _AXIS[0]) * place / 100


def _text(draw: ImageDraw, at: tuple[int, int], text: str, font: FreeTypeFont, color: str, width: int) -> None:
    draw.text(at, _cut(text, font, width), font=font, fill=color)


def _cut(text: str, font: FreeTypeFont, width: int) -> str:
    """Return as much of the text as fits, without letters that the font lacks; only an ellipsis if almost nothing is
    left.
    """
    drawable = "".join(letter for letter in text if letter.isspace() or _has(font, letter))
    if 2 * len(drawable) < len(text):
        return "…"
    if font.getlength(drawable) <= width:
        return drawable
    while drawable and font.getlength(f"{drawable}…") > width:
        drawable = drawable[:-1]
    return f"{drawable.rstrip()}…"


def _font_for(text: str, font: FreeTypeFont) -> FreeTypeFont:
    """Return the first font that has all letters; the given one if none does."""
    letters = [letter for letter in text if not letter.isspace()]
    if all(_has(font, letter) for letter in letters) or (_is_right_to_left(text) and not _shapes()):
        return font
    others = (_machines_font(name, round(font.size)) for name in MACHINES)
    return next((one for one in others if one and all(_has(one, letter) for letter in letters)), font)


def _is_right_to_left(text: str) -> bool:
    return any(bidirectional(letter) in ("R", "AL") for letter in text)


def _shapes() -> bool:
    """Return True if Pillow can reorder and join letters, as some scripts require."""
    from PIL import features

    return bool(features.check("raqm"))


@lru_cache(maxsize=16)
def _machines_font(name: str, size: int) -> FreeTypeFont | None:
    from PIL import ImageFont

    try:
        font = ImageFont.truetype(name, size)
    except OSError:
        return None
    if name.startswith(str(FONTS)):
        font.set_variation_by_axes([700])
    return font


def _has(font: FreeTypeFont, letter: str) -> bool:
    """Return True if the font has this letter, that is, draws it differently from a missing one."""
    return _shape(font, letter) != _shape(font, "\N{TIBETAN SYLLABLE OM}")


def _shape(font: FreeTypeFont, letter: str) -> tuple[Any, bytes]:
    mask = font.getmask(letter)
    return mask.size, bytes(mask)


@lru_cache(maxsize=16)
def _font(family: str, size: int, weight: int) -> FreeTypeFont:
    from PIL import ImageFont

    font = ImageFont.truetype(FONTS / f"{family}-latin-1.woff2", size)
    font.set_variation_by_axes([weight])
    return font


def rows_shown(rows: Sequence[PictureRow]) -> tuple[tuple[PictureRow, ...], int]:
    """Return the rows that fit, and the number of the others."""
    return tuple(rows[:ROWS]), max(0, len(rows) - ROWS)
