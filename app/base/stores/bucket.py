"""A bucket of an S3-compatible store as storage: its objects, the cache of fetched files, presigned addresses.

Objects are transferred in bounded memory; errors are our own and contain no secrets. A cached file must match its
sha256.
"""

from __future__ import annotations

import hashlib
import hmac
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import quote, urlsplit

import obstore
from obstore.exceptions import AlreadyExistsError, BaseError, GenericError
from obstore.store import S3Store

from app.base.errors import StorageAway, StorageDamaged
from app.base.logs import log
from app.base.permissions import make_folder
from app.base.stores.cache import Cache
from app.base.stores.interface import ASIDE, INCOMING, Kept, StoredFile, digest_of
from app.base.stores.s3_settings import S3Settings
from app.base.text import attachment

#: Larger files are uploaded in parts of this size, two at a time; smaller ones in one request.
PART_BYTES = 8 * 1024 * 1024
PIECE_BYTES = 1024 * 1024
_CONNECT_SECONDS = 5
#: Limit of a whole request, such as a large body over a slow line; `timeout_seconds` detects stalls.
_REQUEST_SECONDS = 3600


class Bucket:
    """The operations of an object store that are needed here. Raises StorageAway if it does not respond or refuses,
    after retries.
    """

    def __init__(self, settings: S3Settings) -> None:
        self.name = settings.bucket
        self._store = _client(settings)

    def put(self, key: str, file: Path, size_bytes: int) -> None:
        """Upload a file unless there is one of this size already: equal keys mean equal content."""
        with _reaching("put", key, FileNotFoundError):  # if the bucket itself is missing
            if size_bytes <= PART_BYTES and self._is_created(key, file):
                return
            # Too large for a conditional request, or exists already, or the response was lost.
            if self.size(key) != size_bytes:
                obstore.put(self._store, key, file, chunk_size=PART_BYTES, max_concurrency=2)

    def pieces(self, key: str) -> Iterator[bytes]:
        """Yield the content in chunks. Raises FileNotFoundError."""
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
        """Copy an object over any target; return False if it does not exist. A copy counts as new, even onto itself."""
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
    """Turn all errors of the library into StorageAway. Their messages contain addresses, so they are only logged."""
    known: tuple[type[Exception], ...] = (BaseError, *too)
    try:
        yield
    except known as error:
        says = " ".join(str(error).partition("Debug source:")[0].split())  # the store's message may have several lines
        log.warning("storage_away", deed=deed, key=key, kind=type(error).__name__, says=says)
        raise StorageAway("The server's storage cannot be reached right now; please try again in a minute.") from None


#: Time in which a download must begin; it may take any time to finish.
EXPIRY_SECONDS = 600


class Signer:
    """Signs addresses below `public_endpoint`, whose path starts with the bucket."""

    def __init__(self, settings: S3Settings, clock: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._settings = settings
        self._clock = clock

    def address(self, key: str, filename: str) -> str:
        """Return an address from which the object is downloaded as `filename`."""
        now = self._clock()
        endpoint = self._settings.public_endpoint.rstrip("/")
        path = quote(f"/{self._settings.bucket}/{key}", safe="/~")
        query = _query(
            {
                "X-Amz-Algorithm": "AWS4-HMAC-SHA256",
                "X-Amz-Credential": f"{self._settings.access_key_id.get_secret_value()}/{self._scope(now)}",
                "X-Amz-Date": f"{now:%Y%m%dT%H%M%SZ}",
                "X-Amz-Expires": str(EXPIRY_SECONDS),
                "X-Amz-SignedHeaders": "host",
                "response-content-disposition": attachment(filename),
                "response-content-type": "application/octet-stream",
            }
        )
        request = (
            f"GET\n{urlsplit(endpoint).path}{path}\n{query}\nhost:{urlsplit(endpoint).netloc}\n\nhost\nUNSIGNED-PAYLOAD"
        )
        return f"{endpoint}{path}?{query}&X-Amz-Signature={self._signature(request, now)}"

    def _scope(self, now: datetime) -> str:
        return f"{now:%Y%m%d}/{self._settings.region}/s3/aws4_request"

    def _signature(self, request: str, now: datetime) -> str:
        digest = hashlib.sha256(request.encode()).hexdigest()
        text = f"AWS4-HMAC-SHA256\n{now:%Y%m%dT%H%M%SZ}\n{self._scope(now)}\n{digest}"
        key = b"AWS4" + self._settings.secret_access_key.get_secret_value().encode()
        for part in (f"{now:%Y%m%d}", self._settings.region, "s3", "aws4_request"):
            key = hmac.digest(key, part.encode(), "sha256")
        return hmac.digest(key, text.encode(), "sha256").hex()


def _query(values: dict[str, str]) -> str:
    return "&".join(f"{quote(name, safe='~')}={quote(value, safe='~')}" for name, value in sorted(values.items()))


#: Number of attempts to fetch a body that does not match its name, since it may have been damaged in transit.
FETCHES = 3


class BucketStorage:
    """Files of one kind below a prefix of a bucket."""

    rename_keeps_age = False

    def __init__(self, bucket: Bucket, prefix: str, cache: Cache, signer: Signer | None = None) -> None:
        """Use a bucket as storage. prefix: ends with a slash; signer: None if downloads go through the server."""
        self._bucket = bucket
        self._prefix = prefix
        self._cache = cache
        self._signer = signer

    @property
    def folder(self) -> Path:
        return self._cache.folder

    def keep(self, file: Path, name: str, stored: StoredFile) -> None:
        self._bucket.put(self._prefix + name, file, stored.size_bytes)
        self._cache.take(file, name, is_used=False)

    def path(self, name: str, sha256: str) -> Path:
        return self._cache.path(name) or self._cache.take(self._fetched(name, sha256), name)

    @contextmanager
    def lent(self, name: str, sha256: str) -> Iterator[Path]:
        file = self._fetched(name, sha256)
        try:
            yield file
        finally:
            file.unlink(missing_ok=True)

    def find(self, name: str) -> Kept | None:
        kept = self._bucket.find(self._prefix + name)
        return self._named(kept) if kept else None

    def listed(self, prefix: str = "") -> Iterator[Kept]:
        folder = prefix.rpartition("/")[0]
        for kept in self._bucket.listed(self._prefix + (f"{folder}/" if folder else "")):
            found = self._named(kept)
            if found.name.startswith(prefix):
                yield found

    def renew(self, name: str) -> bool:
        # An existing file needs no new age: if it is just being set aside, its reader moves it back (`_fetched`).
        return self.find(name) is not None

    def rename(self, name: str, to: str) -> Kept | None:
        kept = self.find(name)
        if kept is None or not self._bucket.copy(self._prefix + name, self._prefix + to):
            return None
        self._bucket.delete(self._prefix + name)
        self._cache.forget(name)
        return Kept(to, kept.size_bytes, kept.kept_at)

    def remove(self, name: str) -> None:
        self._bucket.delete(self._prefix + name)
        self._cache.forget(name)

    def address(self, name: str, filename: str) -> str | None:
        return self._signer.address(self._prefix + name, filename) if self._signer else None

    def _named(self, kept: Kept) -> Kept:
        return Kept(kept.name.removeprefix(self._prefix), kept.size_bytes, kept.kept_at)

    def _fetched(self, name: str, sha256: str) -> Path:
        """Fetch a verified copy under a temporary name; return its path. Raises FileNotFoundError, StorageAway,
        StorageDamaged.
        """
        for _ in range(FETCHES):
            try:
                file, digest = self._copied(name)
            except FileNotFoundError:
                if not self._taken_back(name):
                    raise FileNotFoundError(f"{self._prefix}{name} is not in bucket {self._bucket.name}") from None
                continue
            if digest == sha256:
                return file
            file.unlink()
            log.error("stored_file_damaged", key=self._prefix + name, sha256=digest)
        raise StorageDamaged("This file is damaged in the server's storage; please contact the organisers.")

    def _copied(self, name: str) -> tuple[Path, str]:
        """Copy the object unverified; return the path of the copy and its sha256."""
        incoming, digest = self.folder / INCOMING, hashlib.sha256()
        make_folder(incoming, self.folder)
        with tempfile.NamedTemporaryFile(dir=incoming, delete=False) as copy:
            file = Path(copy.name)
            try:
                for piece in self._bucket.pieces(self._prefix + name):
                    digest.update(piece)
                    copy.write(piece)
            except BaseException:
                file.unlink()
                raise
        return file, digest.hexdigest()

    def _taken_back(self, name: str) -> bool:
        """Move a file back that the sweep had set aside while it was stored again; return whether there was one.

        A bucket cannot move a file atomically and return its age, so readers that do not find a file call this.
        """
        digest = digest_of(name)
        aside = [kept.name for kept in self.listed(f"{ASIDE}/{digest}.")] if digest else []
        return any(self.rename(one, name) for one in aside)
