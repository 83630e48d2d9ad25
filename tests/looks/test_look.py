"""The look of a server follows from its settings and its two logos, each of which can replace the other."""

from __future__ import annotations

from app.base.config import Settings
from app.looks.look import Logo, Looks, looks_of

WIDE = Logo(b"wide", "image/svg+xml", 300, 60)
SQUARE = Logo(b"square", "image/png", 64, 64)
DARK = Logo(b"dark", "image/svg+xml", 64, 64)


def test_a_logo_is_found_by_its_digest_among_those_that_are_there() -> None:
    for looks in (Looks(logo=SQUARE), Looks(logo_dark=SQUARE), Looks(logo=WIDE, logo_dark=SQUARE)):
        assert looks.logo_of(SQUARE.sha256) == SQUARE
        assert looks.logo_of(DARK.sha256) is None
    assert Looks().logo_of(SQUARE.sha256) is None


def test_one_logo_is_shown_on_light_pages_and_as_icon_where_its_shape_allows() -> None:
    shown = {
        name: (looks.shown_logo, looks.icon, looks.touch_icon, looks.has_name_beside)
        for name, looks in {
            "none": Looks(),
            "square": Looks(logo=SQUARE, logo_dark=DARK),
            "dark alone": Looks(logo_dark=DARK),
            "wide": Looks(logo=WIDE, logo_dark=SQUARE),
        }.items()
    }
    assert shown == {
        "none": (None, None, None, True),
        "square": (SQUARE, SQUARE, SQUARE, True),
        "dark alone": (DARK, DARK, None, True),
        "wide": (WIDE, None, None, False),
    }


def test_a_logo_keeps_width_and_height_in_its_storage() -> None:
    assert (WIDE.ratio, Logo.of_stored(WIDE.stored()).ratio) == (5.0, 5.0)


def test_accents_follow_from_each_other_and_give_the_style_sheet_its_address() -> None:
    house, light, dark = Looks(), Looks(accent="#8a1c1c"), Looks(accent_dark="#f0a0a0")
    both = Looks(accent="#8a1c1c", accent_dark="#f0a0a0")
    assert (house.accents, house.style_sheet, house.style_address) == (None, "", "")
    assert both.accents == ("#8a1c1c", "#f0a0a0")
    assert light.accents is not None
    assert dark.accents is not None
    assert (light.accents[0], dark.accents[1]) == ("#8a1c1c", "#f0a0a0")
    assert len({one.style_address for one in (light, dark, both)}) == 3
    assert all(one in both.style_sheet for one in ("#8a1c1c", "#f0a0a0"))


def test_settings_say_how_a_server_looks() -> None:
    settings = Settings(server_name="Tasks", accent="#8a1c1c", accent_dark="#f0a0a0", front_text="Hi.", featured="b, a")
    found = looks_of(settings, SQUARE, DARK)
    assert (found.name, found.is_own_name, found.front, found.featured) == ("Tasks", True, "Hi.", ("b", "a"))
    assert (found.logo, found.logo_dark, found.accents) == (SQUARE, DARK, ("#8a1c1c", "#f0a0a0"))
