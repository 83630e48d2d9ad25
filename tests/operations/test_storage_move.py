"""A server moves from a folder to a bucket and back while it runs: every file arrives whole, and is looked at."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from sqlalchemy import Engine

from app.base.config import InvalidSettings, Settings, get_settings
from app.base.errors import StorageAway
from app.base.storage import (
    FolderStorage,
    Storage,
    UploadWriter,
    check_name,
    local_file,
    sealed_storage_of,
    storage_of,
    store_upload,
    stored_name,
    stored_path,
)
from app.base.stores.places import both_of, check_bucket_settings
from app.models import User
from app.operations.backup import make_backup
from app.operations.health import parts
from app.operations.restore import restore_backup
from app.operations.storage_check import StorageCheck, check_storage, move_storage
from app.operations.unowned import ASIDE_SECONDS, Cleared, clear_unowned
from evergold.cli import run
from evergold.cli.output import Code
from tests.faulty_store import FaultyStore, faulty_store
from tests.s3 import SECRET, new_bucket, s3_environment, s3_server
from tests.world import NOW, add_competition, add_user, submit

CONTENTS = [f"ID,Label\n{number},0\n".encode() for number in range(6)]


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with s3_server() as address:
        yield address


@pytest.fixture
def store(server: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[FaultyStore]:
    """A new bucket, by way of a proxy."""
    with faulty_store(server) as proxy:
        for name, value in s3_environment(proxy.address, new_bucket(server)).items():
            monkeypatch.setenv(name, value)
        monkeypatch.setenv("EVERGOLD_S3_TRIES", "1")
        yield proxy


@pytest.fixture
def ada(sqlite_engine: Engine) -> User:
    add_competition(sqlite_engine, per_day=None)
    return add_user(sqlite_engine, "ada")


def use(monkeypatch: pytest.MonkeyPatch, storage: str, before: str = "") -> Settings:
    """Return settings, as after a restart with these values."""
    monkeypatch.setenv("EVERGOLD_STORAGE", storage)
    monkeypatch.setenv("EVERGOLD_STORAGE_BEFORE", before)
    get_settings.cache_clear()
    settings = get_settings()
    for folder in (settings.storage_dir, settings.sealed_dir):
        folder.mkdir(parents=True, exist_ok=True)
    return settings


def fill(storage: Storage) -> list[str]:
    return [store_upload([content], storage, 1000).sha256 for content in CONTENTS]


def names(storage: Storage) -> list[str]:
    return sorted(kept.name for kept in storage.listed())


@pytest.mark.parametrize(("before", "after"), [("folder", "s3"), ("s3", "folder")])
def test_everything_moves_and_is_read_where_it_arrived(
    store: FaultyStore, monkeypatch: pytest.MonkeyPatch, before: str, after: str
) -> None:
    settings = use(monkeypatch, before)
    digests = fill(storage_of(settings))
    sealed = store_upload([b"ciphertext"], sealed_storage_of(settings), 100).sha256
    settings = use(monkeypatch, after, before)
    assert local_file(storage_of(settings), digests[0]).read_bytes() == CONTENTS[0], "before it has moved"
    late = store_upload([b"sent while it moves"], storage_of(settings), 100).sha256
    moved = move_storage(settings)
    assert (moved.seen, moved.copied, moved.damaged) == (7, 7, [])
    settings = use(monkeypatch, after)
    assert names(storage_of(settings)) == sorted(map(stored_name, [*digests, late]))
    assert names(sealed_storage_of(settings)) == [stored_name(sealed)]
    assert [local_file(storage_of(settings), one).read_bytes() for one in digests] == CONTENTS


def test_a_move_that_was_interrupted_is_taken_up_again(store: FaultyStore, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(storage_of(use(monkeypatch, "folder")))
    settings = use(monkeypatch, "s3", "folder")

    def lose_the_store(_: object) -> None:
        store.always = "refuse"

    with pytest.raises(StorageAway):
        move_storage(settings, lose_the_store)
    store.always = "pass"
    assert len(names(both_of(settings, "s3")["storage"])) == 1
    moved = move_storage(settings)
    assert (moved.seen, moved.copied) == (6, 5)
    assert move_storage(settings).copied == 0


def test_a_copy_that_is_damaged_is_made_again_and_a_damaged_original_is_told(
    store: FaultyStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = use(monkeypatch, "s3", "folder")
    old, new = both_of(settings, "folder")["storage"], both_of(settings, "s3")["storage"]
    digests = fill(old)
    bad_copy = settings.data_dir / "bad"
    bad_copy.write_bytes(b"x" * len(CONTENTS[0]))
    new._bucket.put(f"storage/{stored_name(digests[0])}", bad_copy, len(CONTENTS[0]))  # type: ignore[attr-defined]
    stored_path(settings.storage_dir, digests[1]).write_bytes(b"not this")
    moved = move_storage(settings)
    assert (moved.seen, moved.copied, moved.damaged) == (5, 5, [stored_name(digests[1])])
    assert local_file(new, digests[0]).read_bytes() == CONTENTS[0]


def test_the_two_places_are_different_ones_and_a_bucket_has_a_name(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("EVERGOLD_STORAGE_BEFORE", "folder")
    with pytest.raises(InvalidSettings, match="must differ from storage"):
        get_settings()
    monkeypatch.setenv("EVERGOLD_STORAGE_BEFORE", "")
    monkeypatch.setenv("EVERGOLD_STORAGE", "s3")
    with pytest.raises(InvalidSettings, match="EVERGOLD_S3_BUCKET is empty"):
        storage_of(get_settings())
    monkeypatch.setenv("EVERGOLD_S3_BUCKET", "b")
    monkeypatch.setenv("EVERGOLD_S3_SECRET_ACCESS_KEY", SECRET)
    with pytest.raises(InvalidSettings, match="or neither") as raised:
        storage_of(get_settings())
    assert SECRET not in str(raised.value)
    assert run(["storage", "check"]) == Code.USAGE
    assert "or neither" in capsys.readouterr().err, "in a sentence, before anything starts"
    monkeypatch.setenv("EVERGOLD_S3_SECRET_ACCESS_KEY", "")
    monkeypatch.setenv("EVERGOLD_S3_PUBLIC_ENDPOINT", "https://store.example.org")
    with pytest.raises(InvalidSettings, match="are signed with"):
        storage_of(get_settings())
    monkeypatch.setenv("EVERGOLD_S3_PUBLIC_ENDPOINT", "")
    monkeypatch.setattr("app.base.stores.places.find_spec", lambda name: None)
    with pytest.raises(InvalidSettings, match="evergold-server.s3"):
        check_bucket_settings()


# ------------------------------------------------------------------------------------------------------------ the rest


@pytest.mark.parametrize("faults", [{"lost": ["storage/a"]}, {"damaged": ["sealed/b"]}])
def test_a_storage_is_well_only_without_any_fault(faults: dict[str, list[str]]) -> None:
    assert StorageCheck(files=3, unnamed=1).is_well
    assert not StorageCheck(files=3, **faults).is_well  # type: ignore[arg-type]


def test_a_file_that_is_only_checked_is_none_that_nobody_owns(
    sqlite_engine: Engine, ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = storage_of(use(monkeypatch, "folder"))
    submit(sqlite_engine, ada, stored=store_upload([CONTENTS[0]], storage, 100))
    store_upload([CONTENTS[1]], storage, 100)
    writer = UploadWriter(storage, 100, name=check_name(uuid4()))
    writer.write(CONTENTS[2])
    writer.finish()
    assert check_storage(sqlite_engine, get_settings()) == StorageCheck(files=1, unnamed=1)


def test_lost_and_damaged_files_are_found(
    sqlite_engine: Engine, ada: User, store: FaultyStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = use(monkeypatch, "s3")
    digests = fill(storage_of(settings))
    for content in CONTENTS[:3]:
        submit(sqlite_engine, ada, stored=store_upload([content], storage_of(settings), 100))
    found = check_storage(sqlite_engine, settings)
    assert (found.files, found.unnamed, found.is_well) == (3, 3, True)
    first, second = sorted(digests[:3])[:2]
    storage_of(settings).remove(stored_name(first))
    store.methods = frozenset({"GET"})
    store.fates = ["pass", "pass", "spoil", "spoil", "spoil"]  # what is lost, looked for aside; what is damaged, thrice
    found = check_storage(sqlite_engine, settings)
    assert (found.lost, found.damaged) == ([f"storage/{first}"], [f"storage/{second}"])


def test_the_sweep_clears_a_bucket_as_it_does_a_folder(
    sqlite_engine: Engine, ada: User, store: FaultyStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = storage_of(use(monkeypatch, "s3"))
    named, unnamed = (store_upload([content], storage, 100) for content in CONTENTS[:2])
    submit(sqlite_engine, ada, stored=named)
    now = next(storage.listed()).kept_at
    assert clear_unowned(sqlite_engine, storage, now + 3600) == Cleared(), "both are young"
    later = now + 2 * 24 * 3600
    assert clear_unowned(sqlite_engine, storage, later) == Cleared(set_aside=1)
    assert clear_unowned(sqlite_engine, storage, later + 3600) == Cleared(), "a week to notice"
    submit(sqlite_engine, ada, stored=unnamed)
    assert clear_unowned(sqlite_engine, storage, later + 7200) == Cleared(put_back=1)
    assert local_file(storage, unnamed.sha256).read_bytes() == CONTENTS[1]
    orphan = store_upload([CONTENTS[2]], storage, 100)
    assert clear_unowned(sqlite_engine, storage, later) == Cleared(set_aside=1)
    assert clear_unowned(sqlite_engine, storage, later + ASIDE_SECONDS + 1) == Cleared(removed=1)
    assert storage.find(stored_name(orphan.sha256)) is None


def test_a_backup_of_a_bucket_is_restored_into_another(
    sqlite_engine: Engine, ada: User, store: FaultyStore, server: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("EVERGOLD_DATABASE_URL", sqlite_engine.url.render_as_string(hide_password=False))
    settings = use(monkeypatch, "s3")
    stored = store_upload([CONTENTS[0]], storage_of(settings), 100)
    submit(sqlite_engine, ada, NOW, stored=stored)
    manifest = make_backup(settings, tmp_path / "backup", now=NOW)
    assert ([file.sha256 for file in manifest.files], manifest.missing) == ([stored.sha256], [])
    monkeypatch.setenv("EVERGOLD_S3_BUCKET", new_bucket(server))
    monkeypatch.setenv("EVERGOLD_DATABASE_URL", f"sqlite:///{tmp_path / 'restored.db'}")
    monkeypatch.setenv("EVERGOLD_CACHE_DIR", str(tmp_path / "another-cache"))
    settings = use(monkeypatch, "s3")
    restore_backup(settings, tmp_path / "backup")
    assert names(storage_of(settings)) == [stored_name(stored.sha256)]


def test_the_pages_of_health_say_whether_the_bucket_answers(
    sqlite_engine: Engine, store: FaultyStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def of_storage(settings: Settings) -> list[bool]:
        return [part.is_well for part in parts(sqlite_engine, settings, NOW) if part.name == "storage"]

    assert of_storage(use(monkeypatch, "folder")) == []
    settings = use(monkeypatch, "s3")
    assert of_storage(settings) == [True]
    store.always = "refuse"
    assert of_storage(settings) == [False]


def test_the_commands_say_what_there_is_to_say(
    sqlite_engine: Engine,
    ada: User,
    store: FaultyStore,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("EVERGOLD_DATABASE_URL", sqlite_engine.url.render_as_string(hide_password=False))
    settings = use(monkeypatch, "folder")
    submit(sqlite_engine, ada, stored=store_upload([CONTENTS[0]], FolderStorage(settings.storage_dir), 100))
    assert run(["storage", "move"]) == 1
    assert "EVERGOLD_STORAGE_BEFORE" in capsys.readouterr().err
    use(monkeypatch, "s3", "folder")
    assert run(["storage", "move", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"seen": 1, "copied": 1, "damaged": []}
    use(monkeypatch, "s3")
    assert run(["storage", "check", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"files": 1, "lost": [], "damaged": [], "unnamed": 0}
    storage_of(get_settings()).remove(next(storage_of(get_settings()).listed()).name)
    assert run(["storage", "check"]) == 1
    assert "lost: storage/" in capsys.readouterr().err
