"""A bucket of an S3-compatible store: objects by key, in bounded memory, errors in our words, without a secret."""

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

#: Larger files go in parts of this size, two at a time; smaller ones in one request.
PART_BYTES = 8 * 1024 * 1024
PIECE_BYTES = 1024 * 1024
_CONNECT_SECONDS = 5
#: Of a whole request, be it a large body over a slow line; that it goes on at all is watched by `timeout_seconds`.
_REQUEST_SECONDS = 3600


class Bucket:
    """What we ask of a store. Raises StorageAway where it does not answer, or refuses, after some tries."""

    def __init__(self, settings: S3Settings) -> None:
        self.name = settings.bucket
        self._store = _client(settings)

    def put(self, key: str, file: Path, size_bytes: int) -> None:
        """Put the content of a file there, unless there is a file of this size already: keys are names of content."""
        with _reaching("put", key, FileNotFoundError):  # of the bucket itself
            if size_bytes <= PART_BYTES and self._is_created(key, file):
                return
            # Too large for a condition; or there already; or nobody knows, since the answer was lost.
            if self.size(key) != size_bytes:
                obstore.put(self._store, key, file, chunk_size=PART_BYTES, max_concurrency=2)

    def pieces(self, key: str) -> Iterator[bytes]:
        """The content; raises FileNotFoundError."""
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
        """Every object below `prefix`, which ends with a slash or is empty."""
        with _reaching("list", prefix):
            for page in obstore.list(self._store, prefix=prefix or None):
                for one in page:
                    yield Kept(one["path"], one["size"], one["last_modified"].timestamp())

    def copy(self, key: str, to: str) -> bool:
        """Over whatever is there; a copy is new, also one to its own place. False: there is nothing to copy."""
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
        """Whether it was not there, and is now."""
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
    """Whatever the library says becomes StorageAway. Its words have addresses, and stay in the log."""
    known: tuple[type[Exception], ...] = (BaseError, *too)
    try:
        yield
    except known as error:
        says = " ".join(str(error).partition("Debug source:")[0].split())  # the store's words may be of several lines
        log.warning("storage_away", deed=deed, key=key, kind=type(error).__name__, says=says)
        raise StorageAway("The server's storage cannot be reached right now; please try again in a minute.") from None
