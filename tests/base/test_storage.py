"""Files are stored whole, under their sha256, or not at all: too large, empty, disk full, killed half-way."""

from __future__ import annotations

import errno
import hashlib
import io
import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app.base.errors import EmptyUpload, StorageFull, UploadTooLarge
from app.base.storage import (
    INTERRUPTED_SECONDS,
    FolderStorage,
    Kept,
    StoredFile,
    UploadWriter,
    clear_interrupted_uploads,
    store_file,
    store_upload,
    stored_name,
    stored_path,
)
from app.base.stores import folder
from tests.threads import in_threads

CONTENT = b"ID,Language,Setting,Label\n1,EN,zero_shot,0\n"
SHA256 = hashlib.sha256(CONTENT).hexdigest()


def files_in(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if not path.is_dir())


# ----------------------------------------------------------------------------------------------------------- stored


def test_a_file_is_found_under_its_sha256(tmp_path: Path) -> None:
    stored = store_upload([CONTENT[:7], CONTENT[7:]], FolderStorage(tmp_path), limit_bytes=1000)
    assert stored == StoredFile(SHA256, len(CONTENT))
    assert stored_path(tmp_path, SHA256).read_bytes() == CONTENT
    assert files_in(tmp_path) == [stored_path(tmp_path, SHA256)], "no temporary file is left"


def test_the_sha256_is_the_well_known_one(tmp_path: Path) -> None:
    # FIPS 180-2, example B.1: SHA-256 of "abc".
    stored = store_upload([b"abc"], FolderStorage(tmp_path), limit_bytes=3)
    assert stored.sha256 == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


def test_a_stored_file_and_its_name_survive_a_power_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Check that the content is on the disk before it has its name, and the name before anybody is notified."""
    target, synced = stored_path(tmp_path, SHA256), []

    def note(descriptor: int) -> None:
        synced.append((os.fstat(descriptor).st_ino, target.exists()))

    monkeypatch.setattr(os, "fsync", note)
    store_upload([CONTENT], FolderStorage(tmp_path), limit_bytes=1000)
    content, folder, name = (path.stat().st_ino for path in (target, tmp_path, target.parent))
    assert synced == [(content, False), (folder, False), (name, True)]


def test_the_same_content_twice_is_one_file(tmp_path: Path) -> None:
    assert store_upload([CONTENT], FolderStorage(tmp_path), 1000) == store_upload(
        [CONTENT], FolderStorage(tmp_path), 1000
    )
    assert len(files_in(tmp_path)) == 1


def test_the_same_content_from_many_threads_is_one_whole_file(tmp_path: Path) -> None:
    content = os.urandom(300_000)
    stored = in_threads(
        8, lambda _: store_upload([content[:100_000], content[100_000:]], FolderStorage(tmp_path), 10**6)
    )
    assert len(set(stored)) == 1
    assert [path.read_bytes() for path in files_in(tmp_path)] == [content]


def test_local_files_of_any_size_can_be_stored(tmp_path: Path) -> None:
    source = tmp_path / "blind.csv"
    source.write_bytes(CONTENT * 60_000)  # more than one chunk
    stored = store_file(source, FolderStorage(tmp_path / "storage"))
    assert stored.size_bytes == len(CONTENT) * 60_000
    assert stored_path(tmp_path / "storage", stored.sha256).read_bytes() == source.read_bytes()


def test_a_file_of_exactly_the_limit_is_accepted(tmp_path: Path) -> None:
    assert store_upload([CONTENT], FolderStorage(tmp_path), limit_bytes=len(CONTENT)).size_bytes == len(CONTENT)


@pytest.mark.parametrize("name", ["", "abc", "../" + "a" * 61, "A" * 64, "g" * 64, "a" * 63 + "/"])
def test_only_a_sha256_names_a_stored_file(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match="not a sha256"):
        stored_path(tmp_path, name)


def test_what_goes_while_it_is_listed_is_not_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Check a file that the sweep of another machine deletes meanwhile."""
    gone, stays = (store_upload([content], FolderStorage(tmp_path), 1000) for content in (b"gone", b"stays"))
    real = folder._kept

    def too_late(path: Path, name: str) -> Kept | None:
        if gone.sha256 in name:
            path.unlink()
        return real(path, name)

    monkeypatch.setattr(folder, "_kept", too_late)
    assert [kept.name for kept in FolderStorage(tmp_path).listed()] == [stored_name(stays.sha256)]


# --------------------------------------------------------------------------------------------------------- refused


def test_a_file_beyond_the_limit_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(UploadTooLarge, match="larger than the 2 KiB allowed") as refused:
        store_upload([b"x" * 1024, b"x" * 1024, b"x"], FolderStorage(tmp_path), limit_bytes=2048)
    assert refused.value.details == {"limit_bytes": 2048}
    assert files_in(tmp_path) == []


def test_an_endless_stream_is_cut_at_the_limit(tmp_path: Path) -> None:
    """10 GB of zeros: no more is read than the limit, and a piece."""
    asked = 0

    def zeros() -> Iterator[bytes]:
        nonlocal asked
        while True:
            asked += 1
            yield bytes(64 * 1024)

    with pytest.raises(UploadTooLarge):
        store_upload(zeros(), FolderStorage(tmp_path), limit_bytes=1024 * 1024)
    assert asked == 17  # 16 × 64 KiB are 1 MiB
    assert files_in(tmp_path) == []


@pytest.mark.parametrize("chunks", [[], [b""], [b"", b""]])
def test_an_empty_file_is_refused_and_leaves_nothing(tmp_path: Path, chunks: list[bytes]) -> None:
    with pytest.raises(EmptyUpload, match="empty"):
        store_upload(chunks, FolderStorage(tmp_path), limit_bytes=1000)
    assert files_in(tmp_path) == []


def test_a_connection_that_breaks_leaves_nothing(tmp_path: Path) -> None:
    def broken() -> Iterator[bytes]:
        yield CONTENT
        raise ConnectionResetError("the client is gone")

    with pytest.raises(ConnectionResetError):
        store_upload(broken(), FolderStorage(tmp_path), limit_bytes=1000)
    assert files_in(tmp_path) == []


def test_discard_leaves_nothing_and_may_be_repeated(tmp_path: Path) -> None:
    writer = UploadWriter(FolderStorage(tmp_path), 1000)
    writer.write(CONTENT)
    assert len(files_in(tmp_path)) == 1, "it is streamed to disk, not held in memory"
    writer.discard()
    writer.discard()
    assert files_in(tmp_path) == []


def test_discard_after_finish_keeps_what_was_stored(tmp_path: Path) -> None:
    writer = UploadWriter(FolderStorage(tmp_path), 1000)
    writer.write(CONTENT)
    stored = writer.finish()
    writer.discard()
    assert stored_path(tmp_path, stored.sha256).read_bytes() == CONTENT


def test_after_a_refusal_nothing_can_be_stored_under_the_name_of_the_whole(tmp_path: Path) -> None:
    writer = UploadWriter(FolderStorage(tmp_path), len(CONTENT))
    writer.write(CONTENT)
    with pytest.raises(UploadTooLarge):
        writer.write(b"one more")
    with pytest.raises(RuntimeError, match="has ended"):
        writer.write(b"")
    with pytest.raises(RuntimeError, match="has ended"):
        writer.finish()
    assert files_in(tmp_path) == []


# --------------------------------------------------------------------------------------------------------- disk full


class FullDisk(io.BytesIO):
    """A file on a disk that is full after `room` bytes."""

    def __init__(self, room: int, number: int = errno.ENOSPC) -> None:
        super().__init__()
        self.room, self.number = room, number

    def write(self, data: Any) -> int:
        self.room -= len(data)
        if self.room < 0:
            raise OSError(self.number, os.strerror(self.number))
        return super().write(data)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_is_said_and_nothing_half_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def open_on_full_disk(descriptor: int, mode: str) -> FullDisk:
        os.close(descriptor)
        return FullDisk(room=100, number=number)

    monkeypatch.setattr("app.base.stores.folder.os.fdopen", open_on_full_disk)
    writer = UploadWriter(FolderStorage(tmp_path), limit_bytes=1000)
    writer.write(b"x" * 60)
    with pytest.raises(StorageFull, match="Nothing was stored"):
        writer.write(b"x" * 60)
    assert files_in(tmp_path) == []
    with pytest.raises(RuntimeError, match="has ended"):
        writer.write(b"x")


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_disk_that_fills_up_at_the_last_moment_is_said_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    if step == "fsync":
        monkeypatch.setattr("app.base.stores.folder.os.fsync", full)
    else:
        monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(StorageFull):
        store_upload([CONTENT], FolderStorage(tmp_path), limit_bytes=1000)
    assert files_in(tmp_path) == []


def test_other_disk_errors_are_not_called_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr("app.base.stores.folder.os.fsync", broken)
    with pytest.raises(OSError, match="Input/output error") as failed:
        store_upload([CONTENT], FolderStorage(tmp_path), limit_bytes=1000)
    assert not isinstance(failed.value, StorageFull)
    assert files_in(tmp_path) == []


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """Yield a real file system of 256 KiB."""
    folder = tmp_path / "tiny"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=256k", "evergold-test", folder], capture_output=True, text=True
    )
    if mounted.returncode:
        pytest.skip(f"mounting a file system is not permitted here: {mounted.stderr.strip()}")
    yield folder
    subprocess.run(["umount", folder], check=True)


def test_a_really_full_disk(tiny_disk: Path) -> None:
    small = store_upload([CONTENT], FolderStorage(tiny_disk), limit_bytes=10**6)
    with pytest.raises(StorageFull):
        store_upload([bytes(100 * 1024)] * 4, FolderStorage(tiny_disk), limit_bytes=10**6)
    assert files_in(tiny_disk) == [stored_path(tiny_disk, small.sha256)]
    assert store_upload([bytes(100 * 1024)], FolderStorage(tiny_disk), limit_bytes=10**6).size_bytes == 100 * 1024, (
        "there is room again"
    )


def test_uploads_that_a_killed_process_left_half_written_are_cleared_after_a_day(tmp_path: Path) -> None:
    stored = store_upload([CONTENT], FolderStorage(tmp_path), limit_bytes=1000)
    abandoned, under_way = UploadWriter(FolderStorage(tmp_path), 1000), UploadWriter(FolderStorage(tmp_path), 1000)
    abandoned.write(b"abandoned")
    (left,) = (tmp_path / "incoming").iterdir()
    under_way.write(b"under way")
    now = time.time()
    os.utime(left, (now - INTERRUPTED_SECONDS - 1,) * 2)
    assert clear_interrupted_uploads(tmp_path, now) == 1
    assert not left.exists()
    assert under_way.finish().size_bytes == 9
    assert stored_path(tmp_path, stored.sha256).read_bytes() == CONTENT
    assert clear_interrupted_uploads(tmp_path / "nothing yet", now) == 0
    abandoned.discard()
