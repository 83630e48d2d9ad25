"""Makes an image anew from what stdin holds, in a process of its own with bounds. A script: it imports nothing of us.

What leaves it are pixels written by our encoder alone: no metadata, no colour profile, nothing behind the end. stdout:
a line of JSON (`type`, `width`, `height`), then the image; or (`refused`) why there is none.
"""

from __future__ import annotations

import io
import json
import resource
import sys
import warnings
from typing import Any

READ_BYTES = 16 * 1024 * 1024
MOST_PIXELS = 40_000_000
WIDEST, TALLEST = 1600, 4800
_MEMORY_BYTES = 1024 * 1024 * 1024
_CPU_SECONDS = 20
_HOW: dict[str, dict[str, Any]] = {
    "PNG": {"optimize": True},
    "JPEG": {"quality": 88, "optimize": True},
    "WEBP": {"quality": 88, "method": 4},
}


def main() -> None:
    """Reads, refuses or answers. What goes wrong besides ends the process with a status of its own."""
    for which, bound in ((resource.RLIMIT_AS, _MEMORY_BYTES), (resource.RLIMIT_CPU, _CPU_SECONDS)):
        resource.setrlimit(which, (bound, bound))
    from PIL import Image, ImageOps, UnidentifiedImageError

    Image.MAX_IMAGE_PIXELS = MOST_PIXELS
    warnings.simplefilter("error", Image.DecompressionBombWarning)
    content = sys.stdin.buffer.read(READ_BYTES + 1)
    if len(content) > READ_BYTES:
        return _refuse(f"It is larger than {READ_BYTES // 2**20} MiB.")
    try:
        with Image.open(io.BytesIO(content), formats=tuple(_HOW)) as opened:
            kind = str(opened.format)
            image = ImageOps.exif_transpose(opened)
            image = image.convert("RGBA" if image.has_transparency_data and kind != "JPEG" else "RGB")
    except UnidentifiedImageError:
        return _refuse("It is no PNG, JPEG or WebP.")
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        return _refuse(f"It has more than {MOST_PIXELS // 1_000_000} million pixels.")
    except (OSError, SyntaxError, ValueError, EOFError, MemoryError):
        return _refuse("It is damaged.")
    image.thumbnail((WIDEST, TALLEST))
    image.info.clear()
    made = io.BytesIO()
    image.save(made, kind, **_HOW[kind])
    _say({"type": f"image/{kind.lower()}", "width": image.width, "height": image.height})
    sys.stdout.buffer.write(made.getvalue())
    return None


def _refuse(sentence: str) -> None:
    _say({"refused": sentence})


def _say(words: dict[str, object]) -> None:
    sys.stdout.buffer.write(json.dumps(words).encode() + b"\n")


if __name__ == "__main__":
    main()
