"""Numbers as people write them in files: decimal, with a point, finite. Python's extras do not count."""

from __future__ import annotations

import math


def finite_number(text: str) -> float | None:
    """The number written here, None where it is none: `1_000`, spaces, other scripts' digits, NaN, infinity."""
    if "_" in text or not text.isascii() or text != text.strip():
        return None
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None
