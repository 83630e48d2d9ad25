"""Storage of the command line's server address and token: one file, readable by its owner only.

A token is only ever sent to the server that issued it, even if EVERGOLD_SERVER names another.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

DEFAULT_SERVER = "http://127.0.0.1:8321"


@dataclass(frozen=True)
class Credentials:
    """A log-in of the command line; `token_id` is known if the command line created the token itself."""

    server: str
    token: str
    username: str
    token_id: int | None = None


class BadAddress(ValueError):
    """The server's address does not begin with http:// or https://."""


def credentials_path() -> Path:
    """Return `evergold/credentials.json` in the user's configuration folder (XDG, or APPDATA on Windows)."""
    folder = os.environ.get("XDG_CONFIG_HOME") or (os.environ.get("APPDATA") if _is_windows() else None)
    return Path(folder or Path.home() / ".config") / "evergold" / "credentials.json"


def _is_windows() -> bool:
    return sys.platform == "win32"


def load() -> Credentials | None:
    """Load the stored log-in; an unreadable file counts as none."""
    try:
        return Credentials(**json.loads(credentials_path().read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def store(credentials: Credentials) -> Path:
    """Store the log-in and return the file's path; the file is never readable by others, not even for a moment."""
    path = credentials_path()
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    new = path.with_name(f"{path.name}.{os.getpid()}")
    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        json.dump(asdict(credentials), file, indent=2)
    new.replace(path)
    return path


def forget() -> None:
    """Remove the stored log-in."""
    credentials_path().unlink(missing_ok=True)


def choose(server: str | None) -> tuple[str, str | None]:
    """Return the server's address and the token to use (None: no token).

    The server is that of the option, else of the environment, else of the stored log-in, else the local default. The
    token is that of the environment, else the stored one if it is for this server.
    """
    stored = load()
    named = server or os.environ.get("EVERGOLD_SERVER")
    address = normal_address(named) if named else stored.server if stored else DEFAULT_SERVER
    token = os.environ.get("EVERGOLD_TOKEN")
    if not token and stored and stored.server == address:
        token = stored.token
    return address, token or None


def normal_address(server: str) -> str:
    """Return the address without a slash at its end; raises BadAddress if it is not one."""
    address = server.strip().rstrip("/")
    if not address.startswith(("http://", "https://")):
        raise BadAddress(f"'{server}' is not a server's address: it must begin with http:// or https://.")
    return address
