"""Images for tests, made on the spot."""

from __future__ import annotations

import io
from typing import Any

from PIL import Image


def image(kind: str = "PNG", size: tuple[int, int] = (40, 20), mode: str = "RGB", **save: Any) -> bytes:
    out = io.BytesIO()
    Image.new(mode, size, 128).save(out, kind, **save)
    return out.getvalue()


def with_place() -> bytes:
    """Return a photograph with metadata: where it was taken, who has it, and that it is rotated."""
    exif = Image.Exif()
    exif[0x0112] = 6  # turned by a quarter
    exif[0x013B] = "Ada at home"
    exif.get_ifd(0x8825)[2] = (52.0, 31.0, 12.0)
    return image("JPEG", exif=exif, comment=b"a private remark", icc_profile=b"a profile of a printer at home")
