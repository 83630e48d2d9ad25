"""Numbers as people write them in files: decimal, with a point, finite; Python's other notations are refused."""

from __future__ import annotations

import math
from collections.abc import Sequence

#: Characters of a finite number.
_SIGNS = b"0123456789.+-eE"


def finite_number(text: str) -> float | None:
    """Return the number written here; None for `1_000`, spaces, other digits than ASCII, NaN, infinity, no number."""
    if "_" in text or not text.isascii() or text != text.strip():
        return None
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def finite_numbers(texts: Sequence[str]) -> list[float] | None:
    """Return `finite_number` of all texts, None if it is None for any; faster than one call per text."""
    # Joined by commas: a comma inside a text is left for float to refuse.
    together = ",".join(texts)
    if not together.isascii() or together.encode().translate(None, _SIGNS + b","):
        return None
    try:
        numbers = list(map(float, texts))
    except ValueError:
        return None
    # A finite sum has finite parts; an overflowing sum proves nothing.
    return numbers if math.isfinite(sum(numbers)) or all(map(math.isfinite, numbers)) else None
