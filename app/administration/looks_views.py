"""API schemas for the looks of the server, shared by pages, API and commands."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from app.base.answers import ApiModel, Mirror, example

_LOGO_EXAMPLE: dict[str, Any] = {
    "address": "/logo/9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "media_type": "image/svg+xml",
    "width": 120,
    "height": 40,
    "size_bytes": 1834,
}
LOOKS_EXAMPLE: dict[str, Any] = {
    "name": "Scores of Example University",
    "logo": _LOGO_EXAMPLE,
    "logo_dark": None,
    "accent": "#00338d",
    "accent_dark": "",
    "light": {"accent": "#00338d", "strong": "#001b6d", "wash": "#e3e9f5", "on_accent": "#ffffff"},
    "dark": {"accent": "#568cee", "strong": "#73a9ff", "wash": "#202936", "on_accent": "#131715"},
    "front": "Markdown.",
    "featured": ["demo"],
    "removed": [],
}


class LogoOut(ApiModel):
    """A logo as shown: sanitised SVG, or PNG."""

    address: str = Field(description="changes with the content")
    media_type: str
    width: float = Field(description="in pixels, or an SVG's own units")
    height: float
    size_bytes: int


class PaletteOut(Mirror):
    """The colours derived from an accent."""

    accent: str
    strong: str = Field(description="accent under the pointer")
    wash: str = Field(description="background of selected elements")
    on_accent: str = Field(description="colour of text on buttons")


class LooksOut(ApiModel):
    """The looks of this server."""

    model_config = example(LOOKS_EXAMPLE)

    name: str
    logo: LogoOut | None = Field(description="null: the default logo")
    logo_dark: LogoOut | None = Field(description="logo on dark pages; null: the same as `logo`")
    accent: str = Field(description="empty: the default, or derived from `accent_dark`")
    accent_dark: str = Field(description="accent on dark pages; empty: derived from `accent`")
    light: PaletteOut | None = Field(description="colours of light pages; null: the default colours")
    dark: PaletteOut | None
    front: str = Field(description="Markdown for visitors on the front page; empty: the default introduction")
    featured: list[str] = Field(description="names of competitions that come first on the front page")
    removed: list[str] = Field(description="after the upload of an SVG: parts that were removed, by line")
