"""The declaration inside a bundle for another platform: its location, and whether the bundle was changed since."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

#: The key of a bundle's main file that other systems ignore; its folder has the declaration with all files.
KEY, FOLDER = "evergold", "evergold"
#: Folder of gold in a bundle, if it has any: GOLD/PHASE/TASK/.
GOLD = "gold"


def marked(main: Mapping[str, Any]) -> dict[str, Any]:
    """Return a bundle's main file with the key that names the declaration inside the bundle."""
    return {**main, KEY: {"declaration": f"{FOLDER}/competition.yaml", "of": digest_of(main)}}


def is_unchanged(main: Mapping[str, Any]) -> bool:
    """Return whether a main file is unchanged since `marked`, so that the declaration in the bundle is valid."""
    key = main.get(KEY)
    return isinstance(key, dict) and key.get("of") == digest_of(main)


def digest_of(main: Mapping[str, Any]) -> str:
    """Return a digest of all keys except our own."""
    others = {name: value for name, value in main.items() if name != KEY}
    return hashlib.sha256(json.dumps(others, sort_keys=True).encode()).hexdigest()
