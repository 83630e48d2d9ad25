"""Colours of the pages derived from one accent, with the contrast that WCAG 2.2 AA requires of text on every
background.

The colour library is loaded only to check or to draw an accent: most servers use the default accent.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from coloraide import Color

#: Minimum contrast of text and its background (WCAG 2.2, 1.4.3).
TEXT_CONTRAST = 4.5
_HEX = re.compile(r"#[0-9a-f]{6}")
_SHORT = re.compile(r"#[0-9a-f]{3}")
#: Share of the accent in the wash behind chosen and good things.
_WASH = 0.1
#: Change of lightness from the accent to what is below the pointer.
_STRONGER = 0.09
_STEP = 0.002


@dataclass(frozen=True, slots=True)
class Scheme:
    """The default colours of light or dark pages, as in `static/evergold.css`.

    grounds: backgrounds of links and buttons, by their names in messages; texts: colours of other text.
    """

    name: str
    card: str
    paper: str
    grounds: tuple[tuple[str, str], ...]
    texts: tuple[tuple[str, str], ...]
    on_accent: str
    is_dark: bool = False


LIGHT = Scheme(
    "light",
    card="#ffffff",
    paper="#fbfaf6",
    grounds=(("the page", "#fbfaf6"), ("a card", "#ffffff"), ("a notice", "#faf3df"), ("an error", "#fbece7")),
    texts=(("text", "#1b211e"), ("quiet text", "#59625c")),
    on_accent="#ffffff",
)
DARK = Scheme(
    "dark",
    card="#1a1f1c",
    paper="#131715",
    grounds=(("the page", "#131715"), ("a card", "#1a1f1c"), ("a notice", "#262213"), ("an error", "#2e1e1a")),
    texts=(("text", "#e8e6dd"), ("quiet text", "#a2aaa3")),
    on_accent="#131715",
    is_dark=True,
)


@dataclass(frozen=True, slots=True)
class Palette:
    """The accent in one scheme, and the colours derived from it: under the pointer, as a wash, and for button text."""

    accent: str
    strong: str
    wash: str
    on_accent: str


@dataclass(frozen=True, slots=True)
class Pair:
    """Text on a background, described in words and colours."""

    words: str
    text: str
    ground: str

    @property
    def contrast(self) -> float:
        """The contrast ratio of WCAG, from 1 to 21."""
        return contrast(self.text, self.ground)


def read_colour(text: str) -> str | None:
    """Return the colour as `#1c6047`; None for anything but three or six hexadecimal digits."""
    wanted = f"#{text.strip().lower().removeprefix('#')}"
    if _SHORT.fullmatch(wanted):
        return "#" + "".join(2 * digit for digit in wanted[1:])
    return wanted if _HEX.fullmatch(wanted) else None


def contrast(one: str, other: str) -> float:
    """Return the contrast ratio of two colours by WCAG 2.2, from 1 to 21."""
    lighter, darker = sorted((_color(one).luminance(), _color(other).luminance()), reverse=True)
    return float((lighter + 0.05) / (darker + 0.05))


@lru_cache(maxsize=64)
def palette_of(accent: str, scheme: Scheme) -> Palette:
    """Return the colours derived from the accent, whether or not their contrast suffices."""
    wash = _color(scheme.card).mix(_color(accent), _WASH, space="oklab")
    return Palette(
        accent,
        strong=_with_lightness(accent, _lightness(accent) + (_STRONGER if scheme.is_dark else -_STRONGER)),
        wash=_hex(wash),
        on_accent=scheme.on_accent,
    )


def pairs_of(palette: Palette, scheme: Scheme) -> Iterator[Pair]:
    """Yield all pairs of text and background in which the accent occurs."""
    for words, ground in (*scheme.grounds, ("its own wash", palette.wash)):
        yield Pair(f"on {words}", palette.accent, ground)
        yield Pair(f"below the pointer, on {words}", palette.strong, ground)
    yield Pair("under the text of buttons", palette.on_accent, palette.accent)
    yield Pair("under the text of buttons below the pointer", palette.on_accent, palette.strong)
    for words, text in scheme.texts:
        yield Pair(f"as a wash under {words}", text, palette.wash)


def faint_pairs(accent: str, scheme: Scheme) -> list[Pair]:
    """Return the pairs with too little contrast, worst first; empty if the accent can be used."""
    faint = [pair for pair in pairs_of(palette_of(accent, scheme), scheme) if pair.contrast < TEXT_CONTRAST]
    return sorted(faint, key=lambda pair: pair.contrast)


def nearest_accent(accent: str, scheme: Scheme) -> str:
    """Return the accent if its contrast suffices, or else the colour of its hue with the nearest sufficient lightness.

    Darker ones suffice in the light scheme, lighter ones in the dark scheme; black and white always do.
    """
    if not faint_pairs(accent, scheme):
        return accent
    lightness, towards = _lightness(accent), _STEP if scheme.is_dark else -_STEP
    last = int(1 / _STEP)
    step = bisect_left(
        range(last), True, key=lambda step: not faint_pairs(_with_lightness(accent, lightness + towards * step), scheme)
    )
    return _with_lightness(accent, lightness + towards * step)


def accent_fault(accent: str, scheme: Scheme) -> str:
    """Return a sentence on the accent's lack of contrast, with the nearest usable colour; "" if it can be used."""
    faint = faint_pairs(accent, scheme)
    if not faint:
        return ""
    worst = faint[0]
    return (
        f"a colour with more contrast in the {scheme.name} scheme: {accent} has {worst.contrast:.1f}:1 {worst.words}, "
        f"and reading takes {TEXT_CONTRAST}:1; the nearest that passes is {nearest_accent(accent, scheme)}"
    )


def style_sheet(light: str, dark: str) -> str:
    """Return the CSS that replaces the default accents by these."""
    return (
        f":root {{ {_variables(palette_of(light, LIGHT))} }}\n"
        f"@media (prefers-color-scheme: dark) {{ :root {{ {_variables(palette_of(dark, DARK))} }} }}\n"
        f"@media print {{ :root {{ {_variables(palette_of(light, LIGHT))} }} }}\n"
    )


def _variables(palette: Palette) -> str:
    return (
        f"--accent: {palette.accent}; --accent-strong: {palette.strong}; "
        f"--accent-wash: {palette.wash}; --on-accent: {palette.on_accent};"
    )


@lru_cache(maxsize=256)
def _color(text: str) -> Color:
    from coloraide import Color

    return Color(text)


def _lightness(accent: str) -> float:
    """Return the lightness of a colour in OKLCH, from 0 to 1."""
    return float(_color(accent).convert("oklch").get("lightness"))


def _with_lightness(accent: str, lightness: float) -> str:
    """Return the accent with this lightness, its hue and, as far as screens can show it, its chroma."""
    return _hex(_color(accent).convert("oklch").set("lightness", min(1.0, max(0.0, lightness))))


def _hex(color: Color) -> str:
    return str(color.convert("srgb").fit(method="oklch-chroma").to_string(hex=True, fit=False))
