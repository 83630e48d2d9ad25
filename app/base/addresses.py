"""The address at which people reach this server, for every link in mails, on pages, in feeds and on terminals.

EVERGOLD_BASE_URL wins. Without it a page or feed uses the address of the request, and whatever is made without a
request the one at which the server listens. The server notes it in its data folder, where worker, sweep and commands
read it. Needs nothing but the standard library, for the supervisor.
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
#: Where no server has served from this folder yet.
USUAL_ADDRESS = "http://127.0.0.1:8321"
_MOST_CHARACTERS = 300


def public_address(settings: Settings, path: str, *, requested: str = "") -> str:
    """Return the whole address of a path.

    requested: the address by which the reader of a page came here. Never for mails: whoever has one sent would choose
    where its links lead, by a request's Host.
    """
    base = settings.base_url or requested or _noted(settings.data_dir) or USUAL_ADDRESS
    return base.rstrip("/") + path


def note_address(data_dir: Path, address: str) -> None:
    """Note the address at which a server listens, for those who share its data folder."""
    path = data_dir / NOTE_NAME
    unfinished = path.with_name(f"{NOTE_NAME}.{os.getpid()}")
    with suppress(OSError):  # a folder in which a web process may not write: links then need EVERGOLD_BASE_URL
        unfinished.write_text(address, encoding="utf-8")
        unfinished.chmod(0o640 if data_dir.stat().st_mode & stat.S_ISGID else 0o600)  # as app.base.permissions has it
        unfinished.replace(path)


def _noted(data_dir: Path) -> str:
    try:
        with (data_dir / NOTE_NAME).open(encoding="utf-8") as file:
            address = file.read(_MOST_CHARACTERS).strip()
    except (OSError, UnicodeError):
        return ""
    return address if address.startswith("http://") and address.isprintable() else ""
