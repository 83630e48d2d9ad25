"""A bucket as seen by a worker without its keys: requests go to the keeper, a separate process that has them.

The keeper (`workers.store_keeper`) fetches files into the cache on the shared disk and stores sealed files. It lists,
renames and deletes nothing, so that a compromised scoring process can do no more than it needs.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

from app.base.errors import StorageAway, StorageDamaged
from app.base.stores.cache import Cache
from app.base.stores.interface import Kept, StoredFile

#: The keeper's socket; the keeper sets it for the worker that it starts.
SOCKET_VARIABLE = "EVERGOLD_STORE_KEEPER"
#: A line of JSON each way, never a pickle: clients are not trusted.
LINE_BYTES = 64 * 1024
#: Errors that a keeper returns instead of a result, by name.
FAULTS: dict[str, type[Exception]] = {
    "missing": FileNotFoundError,
    "away": StorageAway,
    "damaged": StorageDamaged,
    "refused": PermissionError,
}


class KeeperStorage:
    """Files of one kind, `storage` or `sealed`, accessed through the keeper."""

    rename_keeps_age = False

    def __init__(self, socket_path: str, kind: str, cache: Cache) -> None:
        self._socket_path = socket_path
        self._kind = kind
        self._cache = cache

    @property
    def folder(self) -> Path:
        return self._cache.folder

    def keep(self, file: Path, name: str, stored: StoredFile) -> None:
        self._ask("keep", name=name, file=file.name, sha256=stored.sha256)

    def path(self, name: str, sha256: str) -> Path:
        return self._cache.path(name) or Path(self._ask("path", name=name, sha256=sha256))

    @contextmanager
    def lent(self, name: str, sha256: str) -> Iterator[Path]:
        yield self.path(name, sha256)

    def find(self, name: str) -> Kept | None:
        kept = self._ask("find", name=name)
        return Kept(**kept) if kept else None

    def listed(self, prefix: str = "") -> Iterator[Kept]:
        _refuse()

    def renew(self, name: str) -> bool:
        return self.find(name) is not None

    def rename(self, name: str, to: str) -> Kept | None:
        _refuse()

    def remove(self, name: str) -> None:
        """Do nothing, because the sweep deletes unreferenced files."""

    def address(self, name: str, filename: str) -> str | None:
        return None

    def _ask(self, deed: str, **more: str) -> Any:
        try:
            with socket.socket(socket.AF_UNIX) as way:
                way.connect(self._socket_path)
                way.sendall(json.dumps({"deed": deed, "kind": self._kind, **more}).encode() + b"\n")
                with way.makefile("rb") as lines:
                    answer = json.loads(lines.readline(LINE_BYTES))
        except PermissionError:  # from a confined run: the keeper is not away
            raise
        except (OSError, ValueError):
            raise StorageAway("The process that keeps this worker's files does not answer.") from None
        if "fault" in answer:
            raise FAULTS[answer["fault"]](answer["message"])
        return answer["result"]


def _refuse() -> NoReturn:
    raise PermissionError("a worker without keys of the store cannot list or rename files")
