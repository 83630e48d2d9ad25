"""A bucket of an S3-compatible store: objects by key, in bounded memory, with our own errors, free of secrets."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import obstore
from obstore.exceptions import AlreadyExistsError, BaseError, GenericError
from obstore.store import S3Store

from app.base.errors import StorageAway
from app.base.logs import log
from app.base.stores.names import Kept
from app.base.stores.s3_settings import S3Settings

#: Larger files are uploaded in parts of this size, two at a time; smaller ones in one request.
PART_BYTES = 8 * 1024 * 1024
PIECE_BYTES = 1024 * 1024
_CONNECT_SECONDS = 5
#: Limit of a whole request, such as a large body over a slow line; `timeout_seconds` detects stalls.
_REQUEST_SECONDS = 3600


class Bucket:
    """The store operations that we need. Raises StorageAway if it does not answer or refuses, after retries."""

    def __init__(self, settings: S3Settings) -> None:
        self.name = settings.bucket
        self._store = _client(settings)

    def put(self, key: str, file: Path, size_bytes: int) -> None:
        """Upload a file unless there is one of this size already: keys are names of content."""
        with _reaching("put", key, FileNotFoundError):  # if the bucket itself is missing
            if size_bytes <= PART_BYTES and self._is_created(key, file):
                return
            # Too large for a conditional request, or exists already, or the response was lost.
            if self.size(key) != size_bytes:
                obstore.put(self._store, key, file, chunk_size=PART_BYTES, max_concurrency=2)

    def pieces(self, key: str) -> Iterator[bytes]:
        """Yield the content in pieces. Raises FileNotFoundError."""
        with _reaching("get", key):
            for piece in obstore.get(self._store, key).stream(min_chunk_size=PIECE_BYTES):
                yield bytes(piece)

    def size(self, key: str) -> int | None:
        kept = self.find(key)
        return kept.size_bytes if kept else None

    def find(self, key: str) -> Kept | None:
        with _reaching("head", key):
            try:
                found = obstore.head(self._store, key)
            except FileNotFoundError:
                return None
            return Kept(key, found["size"], found["last_modified"].timestamp())

    def listed(self, prefix: str) -> Iterator[Kept]:
        """Yield every object below `prefix`, which ends with a slash or is empty."""
        with _reaching("list", prefix):
            for page in obstore.list(self._store, prefix=prefix or None):
                for one in page:
                    yield Kept(one["path"], one["size"], one["last_modified"].timestamp())

    def copy(self, key: str, to: str) -> bool:
        """Copy an object over any target; a copy is new, even onto itself. False if there is nothing to copy."""
        with _reaching("copy", key):
            try:
                obstore.copy(self._store, key, to)
            except FileNotFoundError:
                return False
            return True

    def delete(self, key: str) -> None:
        with _reaching("delete", key):
            obstore.delete(self._store, key)

    def _is_created(self, key: str, file: Path) -> bool:
        """Create the object if it does not exist; return whether it was created."""
        try:
            obstore.put(self._store, key, file.read_bytes(), mode="create", use_multipart=False)
        except (AlreadyExistsError, GenericError):
            return False
        return True


def _client(settings: S3Settings) -> S3Store:
    keys = {
        "access_key_id": settings.access_key_id.get_secret_value(),
        "secret_access_key": settings.secret_access_key.get_secret_value(),
    }
    places = {"region": settings.region, "endpoint": settings.endpoint}
    return S3Store(
        settings.bucket,
        **{name: value for name, value in {**keys, **places}.items() if value},  # type: ignore[arg-type]
        checksum_algorithm="SHA256",
        client_options={
            "allow_http": settings.endpoint.startswith("http://"),
            "connect_timeout": timedelta(seconds=min(_CONNECT_SECONDS, settings.timeout_seconds)),
            "read_timeout": timedelta(seconds=settings.timeout_seconds),
            "timeout": timedelta(seconds=_REQUEST_SECONDS),
        },
        retry_config={
            "max_retries": settings.tries - 1,
            "retry_timeout": timedelta(seconds=settings.timeout_seconds * settings.tries),
            "backoff": {
                "init_backoff": timedelta(milliseconds=100),
                "max_backoff": timedelta(seconds=3),
                "base": 2,
            },
        },
    )


@contextmanager
def _reaching(deed: str, key: str, *too: type[Exception]) -> Iterator[None]:
    """Turn all errors of the library into StorageAway. Their messages contain addresses and go to the log only."""
    known: tuple[type[Exception], ...] = (BaseError, *too)
    try:
        yield
    except known as error:
        says = " ".join(str(error).partition("Debug source:")[0].split())  # the store's message may have several lines
        log.warning("storage_away", deed=deed, key=key, kind=type(error).__name__, says=says)
        raise StorageAway("The server's storage cannot be reached right now; please try again in a minute.") from None
