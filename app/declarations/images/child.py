"""Re-encodes an uploaded image, as a job of the helper (see `app.helper`).

The result contains only pixels written by our encoder: no metadata, no colour profile, no trailing data.
"""

from __future__ import annotations

import io
import warnings
from typing import Any

from PIL import Image, ImageOps, UnidentifiedImageError

from app.declarations.images.making import READ_BYTES
from app.helper.wire import Message

MOST_PIXELS = 40_000_000
WIDEST, TALLEST = 1600, 4800
_HOW: dict[str, dict[str, Any]] = {
    "PNG": {"optimize": True},
    "JPEG": {"quality": 88, "optimize": True},
    "WEBP": {"quality": 88, "method": 4},
}


def make(head: dict[str, Any], content: bytes) -> Message:
    """Return `type`, `width`, `height` and the image, or the reason as `refused`."""
    Image.MAX_IMAGE_PIXELS = MOST_PIXELS
    warnings.simplefilter("error", Image.DecompressionBombWarning)
    if len(content) > READ_BYTES:
        return _refusal(f"The image is larger than {READ_BYTES // 2**20} MiB.")
    try:
        with Image.open(io.BytesIO(content), formats=tuple(_HOW)) as opened:
            kind = str(opened.format)
            image = ImageOps.exif_transpose(opened)
            image = image.convert("RGBA" if image.has_transparency_data and kind != "JPEG" else "RGB")
    except UnidentifiedImageError:
        return _refusal("The file is not a PNG, JPEG or WebP.")
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        return _refusal(f"The image has more than {MOST_PIXELS // 1_000_000} million pixels.")
    except (OSError, SyntaxError, ValueError, EOFError, MemoryError):
        return _refusal("The image is damaged.")
    image.thumbnail((WIDEST, TALLEST))
    image.info.clear()
    made = io.BytesIO()
    image.save(made, kind, **_HOW[kind])
    return {"type": f"image/{kind.lower()}", "width": image.width, "height": image.height}, made.getvalue()


def _refusal(sentence: str) -> Message:
    return {"refused": sentence}, b""
