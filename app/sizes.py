"""Sizes of files in words."""

from __future__ import annotations

_UNITS = (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10))


def readable_size(size_bytes: int) -> str:
    """`512 bytes`, `1.5 KiB`, `16 MiB`."""
    for unit, size in _UNITS:
        if size_bytes >= size:
            amount = f"{size_bytes / size:.1f}" if size_bytes < 10 * size else f"{size_bytes / size:.0f}"
            return f"{amount.removesuffix('.0')} {unit}"
    return "1 byte" if size_bytes == 1 else f"{size_bytes} bytes"
