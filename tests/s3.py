"""An S3-compatible store in a process of its own (moto's server), and storages in its buckets."""

from __future__ import annotations

import secrets
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
from pydantic import SecretStr

from app.base.stores.bucket import Bucket, BucketStorage, Signer
from app.base.stores.cache import Cache
from app.base.stores.s3_settings import S3Settings
from tests.processes import kill, short_folder, start, wait_until
from tests.services import free_port

KEY_ID = "AKIDEXAMPLE"
#: Anew in each process of tests.
SECRET = f"{secrets.token_hex(12)}/+{secrets.token_hex(7)}"


@contextmanager
def s3_server() -> Iterator[str]:
    """Yield the address of a store that holds all in memory."""
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    with short_folder() as folder:
        command = [sys.executable, "-P", "-m", "moto.server", "--host", "127.0.0.1", "--port", str(port)]
        environment = {"MOTO_IAM_LOAD_MANAGED_POLICIES": "false", "PATH": "/usr/bin:/bin"}
        service = start("s3", command, folder, environment)
        try:
            wait_until(lambda: _answers(address), "the store answers", service)
            yield address
        finally:
            kill(service)


def _answers(address: str) -> bool:
    with suppress(httpx.TransportError):
        return httpx.get(address, timeout=1.0).is_success
    return False


def new_bucket(address: str) -> str:
    """Make an empty bucket of the test's own; return its name."""
    name = f"evergold-{secrets.token_hex(6)}"
    httpx.put(f"{address}/{name}", timeout=60.0).raise_for_status()
    return name


def s3_environment(address: str, bucket: str) -> dict[str, str]:
    """Return the settings of a server whose files are in this bucket."""
    return {
        "EVERGOLD_STORAGE": "s3",
        "EVERGOLD_S3_ENDPOINT": address,
        "EVERGOLD_S3_BUCKET": bucket,
        "EVERGOLD_S3_ACCESS_KEY_ID": KEY_ID,
        "EVERGOLD_S3_SECRET_ACCESS_KEY": SECRET,
    }


def s3_settings(address: str, bucket: str, **more: Any) -> S3Settings:
    values: dict[str, Any] = {"bucket": bucket, "endpoint": address, "timeout_seconds": 5.0, **more}
    return S3Settings(access_key_id=SecretStr(KEY_ID), secret_access_key=SecretStr(SECRET), **values)


def storage_in(settings: S3Settings, folder: Path, *, cache_bytes: int = 2**30) -> BucketStorage:
    """Return the storage of a machine with this folder."""
    folder.mkdir(exist_ok=True)
    signer = Signer(settings) if settings.public_endpoint else None
    return BucketStorage(Bucket(settings), "storage/", Cache(folder, cache_bytes), signer)
