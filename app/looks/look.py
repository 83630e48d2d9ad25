"""The looks of a server as one frozen value: name, logos, accents, text of the front page, featured competitions."""

from __future__ import annotations

import hashlib
from base64 import b64decode, b64encode
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from app.base.colours import DARK, LIGHT, nearest_accent, style_sheet
from app.base.config import Settings
from app.base.live_settings import PRODUCT, names_in

#: The keys of stored logos, by the colour scheme of the pages that show them.
LOGO_KEYS = {"light": "logo", "dark": "logo_dark"}
#: A logo at least this many times as wide as high is shown without the server's name, which it contains.
WIDE = 2.5
#: Up to this ratio a logo can be the icon of a browser's tab.
SQUARE = 1.25
#: Maximum height and width of a logo in the header, in CSS pixels.
MOST_HEIGHT, MOST_WIDTH = 32, 200


@dataclass(frozen=True)
class Logo:
    """A logo as shown, made by `app.looks.logos`. width, height: in pixels, or an SVG's own units."""

    content: bytes
    media_type: str
    width: float
    height: float

    @cached_property
    def sha256(self) -> str:
        """The digest of the content."""
        return hashlib.sha256(self.content).hexdigest()

    @property
    def address(self) -> str:
        """The address, which changes with the content."""
        return f"/logo/{self.sha256}"

    @property
    def ratio(self) -> float:
        """The ratio of width to height."""
        return self.width / self.height

    @property
    def drawn(self) -> tuple[int, int]:
        """The width and height in the page header, in CSS pixels."""
        scale = min(MOST_HEIGHT / self.height, MOST_WIDTH / self.width)
        return max(1, round(self.width * scale)), max(1, round(self.height * scale))

    @property
    def is_icon(self) -> bool:
        """True if the logo is square enough for a browser tab."""
        return 1 / SQUARE <= self.ratio <= SQUARE

    def stored(self) -> dict[str, Any]:
        """Return the logo as JSON."""
        about = {"media_type": self.media_type, "width": self.width, "height": self.height}
        return {**about, "content": b64encode(self.content).decode()}

    @staticmethod
    def of_stored(value: Any) -> Logo:
        """Return the logo in its JSON. Raises KeyError, TypeError or ValueError for anything else."""
        content = b64decode(value["content"], validate=True)
        return Logo(content, str(value["media_type"]), float(value["width"]), float(value["height"]))


@dataclass(frozen=True)
class Looks:
    """The looks of a server; the defaults are Evergold's own.

    logo_dark: replaces `logo` on dark pages. accent_dark: "": derived from `accent`. front: Markdown for visitors,
    which replaces the default introduction. featured: names of competitions.
    """

    name: str = PRODUCT
    logo: Logo | None = None
    logo_dark: Logo | None = None
    accent: str = ""
    accent_dark: str = ""
    front: str = ""
    featured: tuple[str, ...] = ()

    @property
    def is_own_name(self) -> bool:
        """True if the name of the server differs from that of the program."""
        return self.name != PRODUCT

    @property
    def shown_logo(self) -> Logo | None:
        """The logo of light pages, and of dark pages if they have no separate one."""
        return self.logo or self.logo_dark

    @property
    def icon(self) -> Logo | None:
        """The logo as the icon of a browser tab; None: the default icon."""
        return self.shown_logo if self.shown_logo is not None and self.shown_logo.is_icon else None

    @property
    def touch_icon(self) -> Logo | None:
        """The logo as the icon of a phone's home screen, which must be a PNG; None: the default icon."""
        return self.icon if self.icon is not None and self.icon.media_type == "image/png" else None

    @property
    def has_name_beside(self) -> bool:
        """True if the header has the name as text; a wide logo already contains it."""
        return self.shown_logo is None or self.shown_logo.ratio < WIDE

    @cached_property
    def accents(self) -> tuple[str, str] | None:
        """The accents in light and dark; None: the defaults."""
        if not self.accent and not self.accent_dark:
            return None
        light = self.accent or nearest_accent(self.accent_dark, LIGHT)
        return light, self.accent_dark or nearest_accent(self.accent, DARK)

    @property
    def style_sheet(self) -> str:
        """The CSS with the accents; "" for the defaults."""
        return _css(self.accents) if self.accents else ""

    @property
    def style_address(self) -> str:
        """The address of the CSS, which changes with it; "" if there is none."""
        return _css_address(self.accents) if self.accents else ""

    def logo_of(self, sha256: str) -> Logo | None:
        """Return the logo with this digest, if it is currently shown."""
        return next((logo for logo in (self.logo, self.logo_dark) if logo is not None and logo.sha256 == sha256), None)


def looks_of(settings: Settings, logo: Logo | None = None, logo_dark: Logo | None = None) -> Looks:
    """Return the looks from these settings, with these logos."""
    return Looks(
        settings.server_name,
        logo,
        logo_dark,
        settings.accent,
        settings.accent_dark,
        settings.front_text,
        tuple(names_in(settings.featured)),
    )


@lru_cache(maxsize=8)
def _css(accents: tuple[str, str]) -> str:
    return style_sheet(*accents)


@lru_cache(maxsize=8)
def _css_address(accents: tuple[str, str]) -> str:
    return f"/looks.css?v={hashlib.sha256(_css(accents).encode()).hexdigest()[:12]}"
