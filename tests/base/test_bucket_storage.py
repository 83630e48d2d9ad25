"""A bucket as storage, against a real store: whole files or clear errors, whatever happens to requests on their way."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

import botocore.auth
import botocore.awsrequest
import botocore.credentials
import httpx
import pytest
from structlog.testing import capture_logs

from app.base.errors import StorageAway, StorageDamaged, UploadTooLarge
from app.base.storage import (
    UNLIMITED_BYTES,
    FolderStorage,
    StoredFile,
    UploadWriter,
    has_file,
    keep_young,
    lent_file,
    local_file,
    remove_file,
    store_file,
    store_upload,
    stored_name,
)
from app.base.stores.bucket import EXPIRY_SECONDS, FETCHES, PART_BYTES, Bucket, BucketStorage, Signer, _client
from app.base.stores.cache import USED_SECONDS, Cache
from app.base.stores.places import MovingStorage
from app.base.stores.s3_settings import S3Settings
from tests.faulty_store import Fate, FaultyStore, faulty_store
from tests.s3 import KEY_ID, SECRET, new_bucket, s3_server, s3_settings, storage_in
from tests.threads import in_threads

CONTENT = b"ID,Language,Setting,Label\n1,EN,zero_shot,0\n"
SHA256 = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with s3_server() as address:
        yield address


@pytest.fixture(scope="module")
def proxy(server: str) -> Iterator[FaultyStore]:
    with faulty_store(server) as store:
        yield store


@pytest.fixture
def bucket(server: str) -> str:
    return new_bucket(server)


@pytest.fixture
def ours(server: str, bucket: str, tmp_path: Path) -> BucketStorage:
    return storage_in(s3_settings(server, bucket), tmp_path / "ours")


@pytest.fixture
def theirs(server: str, bucket: str, tmp_path: Path) -> BucketStorage:
    """Return another machine's storage."""
    return storage_in(s3_settings(server, bucket), tmp_path / "theirs")


@pytest.fixture
def faulty(proxy: FaultyStore) -> Iterator[FaultyStore]:
    proxy.fates, proxy.always, proxy.asked, proxy.conditions = [], "pass", [], []
    yield proxy
    proxy.fates, proxy.always = [], "pass"


@pytest.fixture
def shaky(faulty: FaultyStore, bucket: str, tmp_path: Path) -> BucketStorage:
    """Return the same bucket, accessed through the proxy."""
    return storage_in(s3_settings(faulty.address, bucket, timeout_seconds=0.5, tries=3), tmp_path / "shaky")


def files_in(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def store(storage: BucketStorage, content: bytes = CONTENT) -> StoredFile:
    return store_upload([content[:7], content[7:]], storage, UNLIMITED_BYTES)


def test_what_is_not_set_is_left_to_the_library() -> None:
    """Check that an empty key is not sent, where the machine has a role of its own."""
    found = _client(S3Settings(bucket="b", region="", endpoint="")).config
    assert not {"access_key_id", "secret_access_key", "region", "endpoint"} & set(found)
    named = _client(S3Settings(bucket="b", region="eu-1", endpoint="http://store.example")).config
    assert (named["region"], named["endpoint"]) == ("eu-1", "http://store.example")


# ------------------------------------------------------------------------------------------------------------- stored


def test_what_one_machine_stores_another_reads(ours: BucketStorage, theirs: BucketStorage) -> None:
    assert store(ours) == StoredFile(SHA256, len(CONTENT))
    assert has_file(theirs, SHA256)
    assert local_file(theirs, SHA256).read_bytes() == CONTENT
    assert files_in(theirs.folder) == [stored_name(SHA256)], "the copy is kept, and nothing half-written"


def test_what_is_not_there_is_said_to_be_missing(ours: BucketStorage) -> None:
    assert not has_file(ours, SHA256)
    assert not keep_young(ours, SHA256)
    with pytest.raises(FileNotFoundError, match=SHA256):
        local_file(ours, SHA256)
    remove_file(ours, SHA256)


def test_the_same_content_from_many_threads_is_one_object(ours: BucketStorage, theirs: BucketStorage) -> None:
    stored = in_threads(6, lambda number: store((ours, theirs)[number % 2]))
    assert set(stored) == {StoredFile(SHA256, len(CONTENT))}
    assert [kept.name for kept in ours.listed()] == [stored_name(SHA256)]


def test_a_put_is_bound_to_there_being_none(shaky: BucketStorage, faulty: FaultyStore, theirs: BucketStorage) -> None:
    store(theirs)
    store(shaky)
    assert [method for method, _ in faulty.asked] == ["PUT", "HEAD"], "refused, and its size looked at"
    assert faulty.conditions == ["*"]


def test_an_object_that_is_not_what_it_is_called_is_written_anew(
    ours: BucketStorage, theirs: BucketStorage, bucket: str, server: str, tmp_path: Path
) -> None:
    (tmp_path / "half").write_bytes(CONTENT[:5])
    Bucket(s3_settings(server, bucket)).put(f"storage/{stored_name(SHA256)}", tmp_path / "half", 5)
    store(ours)
    assert local_file(theirs, SHA256).read_bytes() == CONTENT


def test_a_large_file_goes_and_comes_in_parts(ours: BucketStorage, theirs: BucketStorage, tmp_path: Path) -> None:
    source = tmp_path / "large"
    source.write_bytes(os.urandom(1000) * (PART_BYTES // 1000 + 1000))
    stored = store_file(source, ours)
    assert stored.size_bytes > PART_BYTES
    assert local_file(theirs, stored.sha256).read_bytes() == source.read_bytes()
    assert store_file(source, theirs) == stored


def test_a_refused_upload_reaches_no_bucket(ours: BucketStorage) -> None:
    with pytest.raises(UploadTooLarge):
        store_upload([b"x" * 1024, b"x"], ours, limit_bytes=1024)
    assert list(ours.listed()) == []
    assert files_in(ours.folder) == []


def test_names_ages_and_sizes_are_listed_by_their_beginning(ours: BucketStorage) -> None:
    stored = store(ours)
    writer = UploadWriter(ours, 100, name="checks/one")
    writer.write(b"checked")
    writer.finish()
    listed = {kept.name: kept for kept in ours.listed()}
    assert {name: kept.size_bytes for name, kept in listed.items()} == {
        stored_name(stored.sha256): len(CONTENT),
        "checks/one": 7,
    }
    assert abs(listed["checks/one"].kept_at - time.time()) < 60
    assert [kept.name for kept in ours.listed("checks/")] == ["checks/one"]
    assert [kept.name for kept in ours.listed("checks/t")] == []


def test_what_is_lent_is_gone_afterwards(ours: BucketStorage, theirs: BucketStorage) -> None:
    store(ours)
    with lent_file(theirs, SHA256) as path:
        assert path.read_bytes() == CONTENT
    assert files_in(theirs.folder) == []


def test_a_large_file_is_never_in_memory_whole(ours: BucketStorage, server: str, bucket: str, tmp_path: Path) -> None:
    """A process that sends and fetches 48 MiB has less than 40 MiB more than one that does nothing."""
    program = """
import re, sys
from pathlib import Path
from app.base.storage import local_file, store_file
from tests.s3 import s3_settings, storage_in
settings = s3_settings(sys.argv[1], sys.argv[2])
here, there, source = (Path(sys.argv[3]) / name for name in ("here", "there", "source"))
before = storage_in(settings, here), storage_in(settings, there)
stored = store_file(before[0].folder.parent / "small", before[0])
peak = lambda: int(re.search(r"VmHWM:\\s*(\\d+)", Path("/proc/self/status").read_text())[1]) // 1024
idle = peak()
stored = store_file(source, before[0])
assert local_file(before[1], stored.sha256).stat().st_size == stored.size_bytes
print(peak() - idle)
"""
    (tmp_path / "small").write_bytes(b"small")
    with (tmp_path / "source").open("wb") as source:
        source.truncate(48 * 1024 * 1024)
    arguments = [sys.executable, "-c", program, server, bucket, str(tmp_path)]
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 40


# -------------------------------------------------------------------------------------------------------------- faults


@pytest.mark.parametrize("fate", ["refuse", "hang", "lose-answer"])
def test_a_put_that_fails_is_tried_again_and_stored_once(
    shaky: BucketStorage, faulty: FaultyStore, theirs: BucketStorage, fate: Fate
) -> None:
    faulty.fates = [fate]
    assert store(shaky).sha256 == SHA256
    assert [kept.name for kept in theirs.listed()] == [stored_name(SHA256)]
    assert local_file(theirs, SHA256).read_bytes() == CONTENT


@pytest.mark.parametrize("fate", ["refuse", "hang", "cut", "spoil", "other"])
def test_a_get_that_fails_is_tried_again_and_nothing_wrong_is_given(
    shaky: BucketStorage, faulty: FaultyStore, theirs: BucketStorage, fate: Fate
) -> None:
    store(theirs)
    faulty.fates = [fate]
    assert local_file(shaky, SHA256).read_bytes() == CONTENT
    assert files_in(shaky.folder) == [stored_name(SHA256)]


def test_a_store_that_is_away_is_said_and_nothing_is_kept(shaky: BucketStorage, faulty: FaultyStore) -> None:
    faulty.always = "refuse"
    for failing in (lambda: store(shaky), lambda: local_file(shaky, SHA256), lambda: has_file(shaky, SHA256)):
        with pytest.raises(StorageAway, match="cannot be reached right now"):
            failing()
    assert files_in(shaky.folder) == []
    faulty.always = "pass"
    assert not has_file(shaky, SHA256)
    assert store(shaky).sha256 == SHA256, "and it works as before when it is back"


def test_a_store_that_denies_is_away_and_no_secret_is_logged(shaky: BucketStorage, faulty: FaultyStore) -> None:
    faulty.always = "deny"
    with capture_logs() as logs, pytest.raises(StorageAway) as raised:
        store(shaky)
    assert [line["event"] for line in logs] == ["storage_away"]
    assert logs[0]["kind"] == "PermissionDeniedError"
    said = f"{logs} {raised.value!r} {raised.value.__cause__!r}"
    assert SECRET not in said
    assert KEY_ID not in said


@pytest.mark.parametrize("size_bytes", [10, PART_BYTES + 1], ids=["at once", "in parts"])
def test_a_bucket_that_nobody_made_is_away_and_the_log_says_why(server: str, tmp_path: Path, size_bytes: int) -> None:
    source = tmp_path / "file"
    source.write_bytes(bytes(size_bytes))
    with capture_logs() as logs, pytest.raises(StorageAway):
        store_file(source, storage_in(s3_settings(server, "never-made"), tmp_path / "ours"))
    assert [line["event"] for line in logs] == ["storage_away"]
    assert "NoSuchBucket" in logs[0]["says"]


@pytest.mark.parametrize("fate", ["spoil", "other"])
def test_a_body_that_stays_wrong_goes_to_nobody(
    shaky: BucketStorage, faulty: FaultyStore, theirs: BucketStorage, fate: Fate
) -> None:
    store(theirs)
    faulty.always = fate
    with capture_logs() as logs, pytest.raises(StorageDamaged):
        local_file(shaky, SHA256)
    assert [line["event"] for line in logs] == ["stored_file_damaged"] * FETCHES
    assert files_in(shaky.folder) == []


def test_a_connection_that_is_cut_each_time_is_no_file(
    shaky: BucketStorage, faulty: FaultyStore, theirs: BucketStorage
) -> None:
    store(theirs)
    faulty.always = "cut"
    with pytest.raises((StorageAway, StorageDamaged)):
        local_file(shaky, SHA256)
    assert files_in(shaky.folder) == []


def test_a_large_put_that_is_refused_in_the_middle_leaves_no_object(
    shaky: BucketStorage, faulty: FaultyStore, theirs: BucketStorage, tmp_path: Path
) -> None:
    source = tmp_path / "large"
    source.write_bytes(bytes(PART_BYTES + 1000))
    faulty.fates = [
        "pass",
        "pass",
        "refuse",
        "refuse",
        "refuse",
        "refuse",
        "refuse",
        "refuse",
    ]  # HEAD, POST, then parts
    with pytest.raises(StorageAway):
        store_file(source, shaky)
    faulty.fates = []
    assert list(theirs.listed()) == []
    stored = store_file(source, shaky)
    assert local_file(theirs, stored.sha256).stat().st_size == stored.size_bytes


# --------------------------------------------------------------------------------------------------------- set aside


def test_a_file_that_is_set_aside_while_it_is_stored_again_is_taken_back_by_its_reader(
    ours: BucketStorage, theirs: BucketStorage
) -> None:
    """Check a sweep that looks before the upload and moves after it; the row that names the file comes later still."""
    store(ours)
    aside = f"unowned/{SHA256}.1700000000.abcd"
    moved = theirs.rename(stored_name(SHA256), aside)
    assert moved is not None
    assert not has_file(theirs, SHA256)
    assert local_file(theirs, SHA256).read_bytes() == CONTENT
    assert [kept.name for kept in theirs.listed()] == [stored_name(SHA256)]


def test_renaming_says_how_old_it_was(ours: BucketStorage) -> None:
    store(ours)
    kept = ours.find(stored_name(SHA256))
    moved = ours.rename(stored_name(SHA256), "unowned/x")
    assert kept
    assert moved
    assert (moved.name, moved.kept_at) == ("unowned/x", kept.kept_at)
    assert ours.rename(stored_name(SHA256), "unowned/y") is None


# --------------------------------------------------------------------------------------------------------------- cache


def test_the_cache_is_bounded_and_what_was_used_longest_ago_goes_first(tmp_path: Path) -> None:
    now = time.time()
    for age, name in enumerate(("a/new", "b/old", "a/older", "b/oldest")):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"0123456789")
        then = now - USED_SECONDS - 1 - age
        os.utime(tmp_path / name, (then, then))
    cache = Cache(tmp_path, 25)
    assert cache.path("b/oldest") is not None, "used now"
    assert cache.shrink(now) == 2
    assert files_in(tmp_path) == ["a/new", "b/oldest"]


def test_what_a_run_may_be_about_to_read_stays_whatever_the_bound(tmp_path: Path) -> None:
    cache = Cache(tmp_path, 1)
    source = tmp_path / "source"
    source.write_bytes(b"0123456789")
    path = cache.take(source, "a/b")
    assert path.read_bytes() == b"0123456789"
    assert cache.shrink(time.time() + USED_SECONDS + 1) == 1


def test_a_cached_copy_needs_no_store(shaky: BucketStorage, faulty: FaultyStore) -> None:
    store(shaky)
    faulty.always = "refuse"
    assert local_file(shaky, SHA256).read_bytes() == CONTENT


# ----------------------------------------------------------------------------------------------------------- addresses


def test_an_address_is_signed_as_amazons_own_library_does(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = s3_settings("http://inside", "a-bucket", public_endpoint="https://store.example:9000", region="eu-1")
    now = datetime(2026, 11, 22, 20, 15, tzinfo=UTC)
    address = Signer(settings, lambda: now).address(f"storage/{stored_name(SHA256)}", "Übung 1~(b)+c&d.csv")
    plain, _, signature = address.partition("&X-Amz-Signature=")
    parameters = [one for one in urlsplit(plain).query.split("&") if not one.startswith("X-Amz-")]
    monkeypatch.setattr(botocore.auth, "get_current_datetime", lambda remove_tzinfo=True: now.replace(tzinfo=None))
    request = botocore.awsrequest.AWSRequest("GET", f"{plain.partition('?')[0]}?{'&'.join(parameters)}")
    credentials = botocore.credentials.Credentials(KEY_ID, SECRET)
    botocore.auth.S3SigV4QueryAuth(credentials, "s3", "eu-1", EXPIRY_SECONDS).add_auth(request)
    assert request.url.partition("&X-Amz-Signature=")[2] == signature
    assert sorted(urlsplit(request.url).query.split("&")) == sorted(urlsplit(address).query.split("&"))


def test_a_signed_address_gives_the_file_as_a_download(server: str, bucket: str, tmp_path: Path) -> None:
    storage = storage_in(s3_settings(server, bucket, public_endpoint=server), tmp_path / "public")
    store(storage)
    address = storage.address(stored_name(SHA256), "items.csv")
    assert address
    answer = httpx.get(address, timeout=60)
    assert answer.content == CONTENT
    assert answer.headers["content-disposition"].startswith('attachment; filename="items.csv"')


def test_without_a_public_endpoint_downloads_go_through_the_server(ours: BucketStorage, tmp_path: Path) -> None:
    assert ours.address(stored_name(SHA256), "items.csv") is None
    assert FolderStorage(tmp_path).address(stored_name(SHA256), "items.csv") is None


# -------------------------------------------------------------------------------------------------------------- moving


@pytest.mark.parametrize("to_bucket", [True, False])
def test_while_a_server_moves_old_files_are_read_and_new_ones_go_to_the_new_place(
    ours: BucketStorage, tmp_path: Path, to_bucket: bool
) -> None:
    folder = FolderStorage(tmp_path / "folder")
    folder.folder.mkdir()
    new, old = (ours, folder) if to_bucket else (folder, ours)
    store_upload([b"old"], old, 10)
    storage = MovingStorage(new, old)
    stored = store_upload([b"new"], storage, 10)
    names = {content: stored_name(hashlib.sha256(content).hexdigest()) for content in (b"old", b"new")}
    assert storage.path(names[b"old"], names[b"old"][3:]).read_bytes() == b"old"
    assert storage.path(names[b"new"], names[b"new"][3:]).read_bytes() == b"new"
    assert [kept.name for kept in new.listed()] == [stored_name(stored.sha256)]
    assert sorted(kept.name for kept in storage.listed()) == sorted(names.values())
    with storage.lent(names[b"old"], names[b"old"][3:]) as path:
        assert path.read_bytes() == b"old"
    assert not storage.renew(names[b"old"]), "it is stored once more, in the new place"
    storage.remove(names[b"old"])
    assert storage.find(names[b"old"]) is None
