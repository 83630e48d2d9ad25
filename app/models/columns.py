"""Definitions shared by the tables."""

from __future__ import annotations

from typing import Any

NAME_CHARACTERS = 100
#: `info` of a column with the sha256 of a stored file: the file is in every backup and never cleaned up.
STORED_FILE: dict[str, Any] = {"stored_file": True}


def stored_file_unless(column: str) -> dict[str, Any]:
    """Return the `info` of a stored file, except for rows where that column has the time at which it was deleted."""
    return {**STORED_FILE, "unless": column}
