"""Blind files: annotated CUPT files as teams may see them."""

from __future__ import annotations

from evergold.scoring.cupt import opened
from evergold.scoring.cupt_codes import UNANNOTATED
from evergold.scoring.errors import InvalidFile, Problems


def blanked(data: bytes) -> bytes:
    """Return the file with `_` in the whole MWE column, and no other byte changed."""
    _, header = opened(data, None, Problems(), InvalidFile)
    first, *rest = data.split(b"\n")
    return b"\n".join([first, *(_without_mwe(line, header.mwe) for line in rest)])


def _without_mwe(line: bytes, column: int) -> bytes:
    if not line.strip() or line.startswith(b"#"):
        return line
    end = b"\r" if line.endswith(b"\r") else b""
    cells = line.removesuffix(b"\r").split(b"\t")
    cells[column] = UNANNOTATED
    return b"\t".join(cells) + end
