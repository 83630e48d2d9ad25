"""Logos from uploaded files: SVG rebuilt from allowed parts, PNG re-encoded, both in the helper."""

from __future__ import annotations

from dataclasses import dataclass

from app.base.errors import EvergoldError
from app.base.text import readable_size
from app.helper.process import Job, TooMuchWork, run
from app.looks.look import Logo

#: Maximum size of an uploaded file, SVG or PNG.
READ_BYTES = 256 * 1024
_MAKE = Job("app.looks.child:make", processor_seconds=5, seconds=20, mebibytes=512, waiting=4)


class InvalidLogo(EvergoldError):
    """The file cannot be converted to a logo."""

    status = 422
    code = "invalid_logo"


@dataclass(frozen=True, slots=True)
class MadeLogo:
    """A logo as shown. removed: what was left out of an SVG, by line."""

    logo: Logo
    removed: tuple[str, ...]


def make_logo(content: bytes) -> MadeLogo:
    """Return a sanitised or re-encoded logo. Raises InvalidLogo with a sentence, or Busy."""
    if not content:
        raise InvalidLogo("The file is empty.")
    if len(content) > READ_BYTES:
        raise InvalidLogo(f"A logo is at most {readable_size(READ_BYTES)}; this file is larger.")
    try:
        made, image = run(_MAKE, {}, content)
    except TooMuchWork:
        raise InvalidLogo("Reading the logo takes too long.") from None
    if "refused" in made:
        raise InvalidLogo(f"This is not an SVG or PNG that can be shown. {made['refused']}")
    if len(image) > READ_BYTES:
        raise InvalidLogo(f"As shown on pages it would be larger than {readable_size(READ_BYTES)}; use a simpler logo.")
    return MadeLogo(Logo(image, made["type"], made["width"], made["height"]), tuple(made["removed"]))
