"""Scoring processes have no keys of the store, neither in their environment nor in memory; a keeper does what needs
them.

The keeper responds to a taken-over worker as to an honest one, so what it refuses is tested, too.
"""

from __future__ import annotations

import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from sqlalchemy import Engine

from app.base.config import get_settings
from app.base.errors import StorageAway
from app.base.queue import send_run
from app.base.storage import local_file, storage_of, store_upload
from app.base.stores.cache import Cache
from app.base.stores.interface import INCOMING, StoredFile, stored_name
from app.base.stores.keeper import SOCKET_VARIABLE, KeeperStorage
from app.models import RunStatus, User
from tests.processes import kill, short_folder, wait_until
from tests.s3 import KEY_ID, SECRET, new_bucket, s3_environment, s3_server, s3_settings, storage_in
from tests.services import environment_of, start_worker
from tests.workers.files import PREDICTION
from tests.world import submit, the_run
from workers import store_keeper
from workers.store_keeper import Keeper, without_keys


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with s3_server() as address:
        yield address


# ------------------------------------------------------------------------------------------------- a worker's processes


def test_no_process_that_scores_has_the_keys(
    server: str, engine: Engine, ada: User, workplace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bucket = new_bucket(server)
    of_store = {**s3_environment(server, bucket), "EVERGOLD_S3_REGION": "us-somewhere"}
    for name, value in of_store.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("EVERGOLD_DATA_DIR", str(workplace))
    get_settings.cache_clear()
    stored = store_upload([PREDICTION.encode()], storage_of(get_settings()), 10**6)
    local_file(storage_of(get_settings()), stored.sha256).unlink()
    run_id = submit(engine, ada, stored=stored).run_id
    environment = environment_of(
        database_url=engine.url.render_as_string(hide_password=False),
        data_dir=workplace,
        make_gold_key="true",
    )
    worker = start_worker(tmp_path, {**environment, **of_store})
    try:
        send_run(run_id)
        wait_until(lambda: the_run(engine, run_id).status == RunStatus.SCORED, "it is scored", worker)
        scoring = [pid for child in children(worker.process.pid) for pid in (child, *children(child))]
        assert len(scoring) == 2, "Celery's main process and the one that scored"
        for pid in scoring:
            seen = Path(f"/proc/{pid}/environ").read_bytes() + memory(pid)
            assert bucket.encode() in seen, "this is a look at what the process knows"
            assert SECRET.encode() not in seen
            assert KEY_ID.encode() not in seen
    finally:
        kill(worker)
    sealed = list(storage_in(s3_settings(server, bucket), tmp_path / "another").listed())
    assert [kept.name for kept in sealed] == [stored_name(stored.sha256)]


def children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def memory(pid: int) -> bytes:
    """Return all memory of a process that is private and can be read."""
    pieces = []
    with Path(f"/proc/{pid}/mem").open("rb", 0) as content:
        for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
            where, rights, *_ = line.split()
            if rights.startswith("rw"):
                start, end = (int(address, 16) for address in where.split("-"))
                with suppress(OSError):
                    content.seek(start)
                    pieces.append(content.read(end - start))
    return b"\n".join(pieces)


def test_a_worker_is_started_without_what_opens_the_store() -> None:
    kept = {"EVERGOLD_S3_BUCKET": "bucket", "PATH": "/bin"}
    keys = {
        "EVERGOLD_S3_ACCESS_KEY_ID": "a",
        "EVERGOLD_S3_SECRET_ACCESS_KEY": "b",
        "AWS_SESSION_TOKEN": "c",
        "AWS_WEB_IDENTITY_TOKEN_FILE": "/d",
    }
    assert without_keys(kept | keys) == kept


# ----------------------------------------------------------------------------------------------------------- the keeper


@pytest.fixture
def kept(server: str, tmp_path: Path) -> Iterator[KeeperStorage]:
    """The storage of a worker whose keeper runs."""
    folder = tmp_path / "cache"
    behind = storage_in(s3_settings(server, new_bucket(server)), folder)
    with short_folder() as place, Keeper(str(place / "socket"), {"storage": behind}) as keeper:
        threading.Thread(target=keeper.serve_forever, daemon=True).start()
        yield KeeperStorage(str(place / "socket"), "storage", Cache(folder, 2**30))
        keeper.shutdown()


def test_what_was_kept_can_be_read_again(kept: KeeperStorage) -> None:
    stored = store_upload([b"sealed"], kept, 100)
    local_file(kept, stored.sha256).unlink()
    assert local_file(kept, stored.sha256).read_bytes() == b"sealed"
    found = kept.find(stored_name(stored.sha256))
    assert found is not None
    assert (found.name, found.size_bytes) == (stored_name(stored.sha256), 6)


def test_what_is_not_there_is_missing_as_in_any_storage(kept: KeeperStorage) -> None:
    with pytest.raises(FileNotFoundError):
        local_file(kept, "0" * 64)
    assert kept.find(stored_name("0" * 64)) is None


def test_nothing_can_be_put_under_the_name_of_something_else(kept: KeeperStorage) -> None:
    gold = store_upload([b"gold"], kept, 100)
    (kept.folder / INCOMING / "mine").write_bytes(b"fool's gold")
    with pytest.raises(PermissionError):
        kept.keep(kept.folder / INCOMING / "mine", stored_name(gold.sha256), StoredFile(gold.sha256, 4))
    local_file(kept, gold.sha256).unlink()
    assert local_file(kept, gold.sha256).read_bytes() == b"gold"


@pytest.mark.parametrize("name", ["../sealed/secret", "checks/../../secret", "", "unowned/x"])
def test_no_name_leads_out_of_the_storage(kept: KeeperStorage, name: str) -> None:
    with pytest.raises(PermissionError):
        kept._ask("path", name=name, sha256="0" * 64)


def test_nothing_is_listed_renamed_or_removed(kept: KeeperStorage) -> None:
    stored = store_upload([b"gold"], kept, 100)
    with pytest.raises(PermissionError):
        list(kept.listed())
    with pytest.raises(PermissionError):
        kept.rename(stored_name(stored.sha256), "elsewhere")
    kept.remove(stored_name(stored.sha256))
    assert kept.find(stored_name(stored.sha256)) is not None, "left to the sweep"
    with pytest.raises(PermissionError):
        kept._ask("remove", name=stored_name(stored.sha256))


def test_a_worker_that_starts_looks_whether_its_keeper_is_still_there(
    kept: KeeperStorage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check a keeper that has died before the worker registers to be notified of its death."""
    asked: list[int] = []
    monkeypatch.setattr(store_keeper, "_prctl", lambda *what: asked.extend(what))
    monkeypatch.setenv(SOCKET_VARIABLE, kept._socket_path)
    store_keeper.end_with_keeper()
    assert asked == [1, signal.SIGTERM]
    gone = tmp_path / "gone"
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(gone))  # as after kill -9: the file is there, and nobody listens
    monkeypatch.setenv(SOCKET_VARIABLE, str(gone))
    with pytest.raises(SystemExit, match="has ended"):
        store_keeper.end_with_keeper()


def test_without_a_keeper_the_store_is_away(tmp_path: Path) -> None:
    with pytest.raises(StorageAway):
        KeeperStorage(str(tmp_path / "none"), "storage", Cache(tmp_path, 100)).find("anything")
