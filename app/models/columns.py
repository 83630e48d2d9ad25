"""What the tables share."""

from __future__ import annotations

from typing import Any

NAME_CHARACTERS = 100
#: `info` of a column whose sha256 names a stored file: it is in every backup, and nobody clears it away.
STORED_FILE: dict[str, Any] = {"stored_file": True}
