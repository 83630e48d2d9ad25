"""Numbers as people write them in files: decimal, with a point, finite. Python's extras do not count."""

from __future__ import annotations

import math
from collections.abc import Sequence

#: What a finite number is written with.
_SIGNS = b"0123456789.+-eE"


def finite_number(text: str) -> float | None:
    """The number written here, None where it is none: `1_000`, spaces, other scripts' digits, NaN, infinity."""
    if "_" in text or not text.isascii() or text != text.strip():
        return None
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def finite_numbers(texts: Sequence[str]) -> list[float] | None:
    """`finite_number` of all of them, None where one of them is none; faster than asking for each."""
    # A comma between them: within one it is left for float to refuse.
    together = ",".join(texts)
    if not together.isascii() or together.encode().translate(None, _SIGNS + b","):
        return None
    try:
        numbers = list(map(float, texts))
    except ValueError:
        return None
    # A finite sum has finite parts; one that is too large says nothing of them.
    return numbers if math.isfinite(sum(numbers)) or all(map(math.isfinite, numbers)) else None
