"""Folders of imports: in use they stay; those of a process that was killed are removed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import app.base.private_folders as private_folders
from app.base.config import Settings
from app.base.private_folders import clear_left_folders, private_folder
from app.base.stores.folder import INTERRUPTED_SECONDS, clear_interrupted_uploads
from app.base.stores.interface import INCOMING

#: Unpacks "gold" in a private folder, says where, and waits to be killed.
_IMPORTER = """
import sys
from app.base.config import Settings
from app.base import private_folders
from pathlib import Path
private_folders.MEMORY = Path(sys.argv[1])
with private_folders.private_folder(Settings()) as folder:
    (folder / "gold").mkdir()
    (folder / "gold" / "truth.txt").write_text("the answers")
    print(folder, flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder in place of the machine's memory."""
    place = tmp_path / "memory"
    place.mkdir()
    monkeypatch.setattr(private_folders, "MEMORY", place)
    return place


@pytest.fixture
def importer(memory: Path) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """Start a process with an import under way."""
    command = [sys.executable, "-c", _IMPORTER, str(memory)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process, Path(process.stdout.readline().strip())
        process.kill()


def test_what_a_killed_import_left_is_removed(importer: tuple[subprocess.Popen[str], Path], memory: Path) -> None:
    process, folder = importer
    assert (folder / "gold" / "truth.txt").is_file()
    assert clear_left_folders(Settings()) == 0
    assert (folder / "gold" / "truth.txt").is_file()  # its process lives
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert folder.is_dir()
    assert clear_left_folders(Settings()) == 1
    assert list(memory.iterdir()) == []


def test_an_import_that_ends_leaves_nothing(memory: Path) -> None:
    with private_folder(Settings()) as folder:
        (folder / "bundle.zip").write_bytes(b"gold")
        assert clear_left_folders(Settings()) == 0
    assert list(memory.iterdir()) == []


def test_no_link_is_followed(memory: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (memory / "evergold-import-x").symlink_to(tmp_path / "elsewhere")
    assert clear_left_folders(Settings()) == 0
    assert (tmp_path / "elsewhere").is_dir()


def test_where_there_is_no_such_memory_the_folder_of_uploads_serves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(private_folders, "MEMORY", tmp_path / "none")
    settings = Settings(data_dir=tmp_path / "data")
    incoming = settings.storage_dir / INCOMING
    incoming.mkdir(parents=True)
    with private_folder(settings) as folder:
        assert folder.parent == incoming
        old = (time.time() - INTERRUPTED_SECONDS - 1,) * 2
        os.utime(folder, old)
        assert clear_interrupted_uploads(settings.storage_dir, time.time()) == 0  # no file: it raised before
    assert list(incoming.iterdir()) == []
