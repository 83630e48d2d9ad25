"""What the tables share."""

from __future__ import annotations

from typing import Any

NAME_CHARACTERS = 100
#: `info` of a column whose sha256 names a stored file: it is in every backup, and nobody clears it away.
STORED_FILE: dict[str, Any] = {"stored_file": True}


def stored_file_unless(column: str) -> dict[str, Any]:
    """The same, but for rows where that column of the table says when the file was given up."""
    return {**STORED_FILE, "unless": column}
