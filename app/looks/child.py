"""Converts an uploaded file to a logo, as a job of the helper (see `app.helper`)."""

from __future__ import annotations

import io
import warnings
from typing import Any

from app.helper.wire import Message
from app.looks.svg import Unusable, sanitise_svg

MOST_PIXELS = 20_000_000
#: Maximum width and height: several times those on pages, for sharp screens and print.
WIDEST, TALLEST = 1200, 240
_PNG = b"\x89PNG\r\n\x1a\n"


def make(head: dict[str, Any], content: bytes) -> Message:
    """Return `type`, `width`, `height`, `removed` (what was left out), and the image; or the reason as `refused`."""
    try:
        return _png(content) if content.startswith(_PNG) else _svg(content)
    except Unusable as unusable:
        return {"refused": str(unusable)}, b""


def _svg(content: bytes) -> Message:
    made = sanitise_svg(content)
    about = {"type": "image/svg+xml", "width": made.width, "height": made.height, "removed": list(made.removed)}
    return about, made.text.encode()


def _png(content: bytes) -> Message:
    """Return the re-encoded pixels: no metadata, no colour profile, no trailing data."""
    from PIL import Image

    Image.MAX_IMAGE_PIXELS = MOST_PIXELS
    warnings.simplefilter("error", Image.DecompressionBombWarning)
    try:
        with Image.open(io.BytesIO(content), formats=("PNG",)) as opened:
            image = opened.convert("RGBA" if opened.has_transparency_data else "RGB")
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        raise Unusable(f"The image has more than {MOST_PIXELS // 1_000_000} million pixels.") from None
    except (OSError, SyntaxError, ValueError, EOFError, MemoryError):
        raise Unusable("The image is damaged.") from None
    image.thumbnail((WIDEST, TALLEST))
    image.info.clear()
    made = io.BytesIO()
    image.save(made, "PNG", optimize=True)
    return {"type": "image/png", "width": image.width, "height": image.height, "removed": []}, made.getvalue()
