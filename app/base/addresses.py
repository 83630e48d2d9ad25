"""The public address of this server, for links in mails, on pages, in feeds and on terminals.

EVERGOLD_BASE_URL takes precedence. Without it, pages and feeds use the address of the request; everything else uses the
address at which the server listens, which it writes to the data folder for worker, sweep and commands. This module
needs only the standard library, because the supervisor imports it.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.base.config import Settings

NOTE_NAME = "address"
#: The default before any server has used this folder.
USUAL_ADDRESS = "http://127.0.0.1:8321"
_MOST_CHARACTERS = 300


def public_address(settings: Settings, path: str, *, requested: str = "") -> str:
    """Return the full address of a path.

    requested: the address in the request for a page. Never pass it for mails: a forged Host header could redirect their
    links.
    """
    base = settings.base_url or requested or _noted(settings.data_dir) or USUAL_ADDRESS
    return base.rstrip("/") + path


def note_address(data_dir: Path, address: str) -> None:
    """Write the address at which a server listens to its data folder, for the processes that share the folder."""
    path = data_dir / NOTE_NAME
    unfinished = path.with_name(f"{NOTE_NAME}.{os.getpid()}")
    with suppress(OSError):  # a web process that may not write to the folder: links then need EVERGOLD_BASE_URL
        unfinished.write_text(address, encoding="utf-8")
        unfinished.chmod(0o640 if data_dir.stat().st_mode & stat.S_ISGID else 0o600)  # as in app.base.permissions
        unfinished.replace(path)


def _noted(data_dir: Path) -> str:
    try:
        with (data_dir / NOTE_NAME).open(encoding="utf-8") as file:
            address = file.read(_MOST_CHARACTERS).strip()
    except (OSError, UnicodeError):
        return ""
    return address if address.startswith("http://") and address.isprintable() else ""
