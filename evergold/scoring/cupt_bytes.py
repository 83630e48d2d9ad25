"""Scan all bytes of a file, with numpy if it is loaded, since that does not stop at every line.

Works a piece at a time, so that a large file takes no extra memory.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from typing import Any

_PIECE_BYTES = 1024 * 1024
_BLANK_AT_AN_END = re.compile(rb" [\t\n]")
_TAB, _NEWLINE, _BLANK = b"\t\n "


def count_lines(data: bytes) -> int:
    """Count the line ends."""
    if (numpy := sys.modules.get("numpy")) is None:
        return data.count(b"\n")
    return sum(int(numpy.count_nonzero(piece == _NEWLINE)) for piece in _pieces(numpy, data))


def has_blank_at_an_end(data: bytes) -> bool:
    """Return whether a field or line ends with a blank."""
    if data.endswith(b" "):
        return True
    if (numpy := sys.modules.get("numpy")) is None:
        return _BLANK_AT_AN_END.search(data) is not None
    for piece in _pieces(numpy, data, overlap=1):
        behind = piece[numpy.flatnonzero(piece[:-1] == _BLANK) + 1]
        if ((behind == _TAB) | (behind == _NEWLINE)).any():
            return True
    return False


def _pieces(numpy: Any, data: bytes, overlap: int = 0) -> Iterator[Any]:
    """Yield the bytes as numbers, piece by piece; overlap: how many bytes of the next piece each one includes."""
    numbers = numpy.frombuffer(data, numpy.uint8)
    for start in range(0, len(data), _PIECE_BYTES):
        yield numbers[start : start + _PIECE_BYTES + overlap]
