"""Colours of an accent have the contrast that WCAG demands; one that lacks it is refused with the nearest that passes.

The ratios of the first test are those of the definition in WCAG 2.2 (relative luminance), worked out by hand: of grey
119, (119/255 + 0.055) / 1.055 = 0.4945…, to the power 2.4 = 0.1845; 1.05 / 0.2345 = 4.478, just too little on white.
"""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings, strategies as st

from app.base.colours import (
    DARK,
    LIGHT,
    TEXT_CONTRAST,
    Scheme,
    accent_fault,
    contrast,
    nearest_accent,
    pairs_of,
    palette_of,
    read_colour,
    style_sheet,
)
from app.web.html.rendering import STATIC

CSS = (STATIC / "evergold.css").read_text(encoding="utf-8")
COLOURS = st.integers(0, 0xFFFFFF).map(lambda number: f"#{number:06x}")


@pytest.mark.parametrize(
    ("one", "other", "ratio"),
    [
        ("#000000", "#ffffff", 21.0),
        ("#777777", "#ffffff", 4.478),
        ("#767676", "#ffffff", 4.542),
        ("#123456", "#123456", 1),
    ],
)
def test_contrast_is_that_of_wcag(one: str, other: str, ratio: float) -> None:
    assert contrast(one, other) == pytest.approx(ratio, abs=0.001) == contrast(other, one)


def variables(css: str) -> dict[str, str]:
    return dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6});", css))


@pytest.mark.parametrize(("scheme", "at"), [(LIGHT, 0), (DARK, 1)])
def test_the_grounds_are_those_of_the_style_sheet(scheme: Scheme, at: int) -> None:
    found = variables(re.findall(r":root \{(.*?)\}", CSS, re.DOTALL)[at])
    assert [ground for _, ground in scheme.grounds] == [
        found[name] for name in ("paper", "card", "gold-wash", "bad-wash")
    ]
    assert [text for _, text in scheme.texts] == [found["ink"], found["soft"]]
    assert (scheme.paper, scheme.card) == (found["paper"], found["card"])
    assert accent_fault(found["accent"], scheme) == "", "the house's own accent passes"


@settings(max_examples=60, deadline=None)
@given(COLOURS)
def test_the_nearest_colour_passes_in_all_places(accent: str) -> None:
    for scheme in (LIGHT, DARK):
        near = nearest_accent(accent, scheme)
        for pair in pairs_of(palette_of(near, scheme), scheme):
            assert pair.contrast >= TEXT_CONTRAST, (accent, near, pair)
        assert bool(accent_fault(accent, scheme)) == (near != accent)


def test_a_faint_accent_is_refused_with_its_ratio_and_the_nearest() -> None:
    sentence = accent_fault("#ffcc00", LIGHT)
    near = nearest_accent("#ffcc00", LIGHT)
    assert sentence.startswith("a colour with more contrast in the light scheme: #ffcc00 has 1.")
    assert sentence.endswith(f"the nearest that passes is {near}")
    lightest = min(contrast(near, ground) for _, ground in LIGHT.grounds)
    assert TEXT_CONTRAST <= lightest < 5.2, "no darker than it must be"


def test_a_dark_accent_is_refused_on_dark_pages_alone() -> None:
    assert accent_fault("#00338d", LIGHT) == ""
    assert "in the dark scheme" in accent_fault("#00338d", DARK)


@pytest.mark.parametrize(
    ("text", "colour"),
    [("#1C6047", "#1c6047"), (" 1c6047 ", "#1c6047"), ("#abc", "#aabbcc"), ("green", None), ("#12345", None)]
    + [("#1c6047; } body { display: none", None), ("rgb(1,2,3)", None), ("", None)],
)
def test_a_colour_is_three_or_six_digits(text: str, colour: str | None) -> None:
    assert read_colour(text) == colour


def test_the_style_sheet_sets_what_the_house_sets() -> None:
    css = style_sheet("#00338d", nearest_accent("#00338d", DARK))
    light, dark, printed = re.findall(r":root \{(.*?)\}", css)
    assert set(variables(light)) == {"accent", "accent-strong", "accent-wash", "on-accent"} == set(variables(dark))
    assert variables(light)["accent"] == "#00338d"
    assert light == printed != dark
