"""Permissions of files: written ones are only their user's; those that web, workers and sweep share are their group's.
Tried as other users.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from app.base.config import InvalidSettings, Settings
from app.base.db import make_engine
from app.base.permissions import keep_private, prepare_folders
from app.base.storage import FolderStorage, StoredFile, store_upload, stored_path
from app.base.stores.cache import USED_SECONDS, Cache
from app.operations.host_check import Answer, Places, Users, check_host
from app.operations.migrate import upgrade
from evergold.cli import run
from evergold.cli.output import Code
from tests.processes import START_SECONDS, short_folder, stop
from tests.services import environment_of, evergold

#: Numbers without accounts, as containers have them.
WEB, WORKER, SWEEP, OTHER, GROUP = 61001, 61002, 61003, 61004, 61000
#: A command that everybody can run, with `--version`.
EVERYBODYS = Path("/bin/true")
USERS = Users(WEB, WORKER, SWEEP, OTHER)
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as other users")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def acting_as(user: int, act: Callable[[], object]) -> bool:
    """Return whether a process of this user, in the shared group, can do it."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.setgroups([GROUP] if user != OTHER else [])
            os.setgid(user)
            os.setuid(user)
            keep_private()
            act()
            code = 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.fixture
def data() -> Iterator[Path]:
    """A data folder of the web's, which all three may enter."""
    with short_folder() as folder:
        folder.chmod(0o755)
        place = folder / "data"
        place.mkdir()
        os.chown(place, WEB, GROUP)
        yield place


def settings_of(data: Path) -> Settings:
    return Settings(data_dir=data, files_group=str(GROUP), database_url="postgresql://elsewhere/evergold")


@as_root
def test_web_and_worker_of_two_users_share_what_they_store_and_nothing_else(data: Path) -> None:
    settings = settings_of(data)
    assert acting_as(WEB, lambda: prepare_folders(settings))
    upload = store_in(settings.storage_dir, b"a prediction", WEB)
    path = stored_path(settings.storage_dir, upload)
    assert (mode(path), path.stat().st_uid, path.stat().st_gid) == (0o640, WEB, GROUP)
    assert acting_as(WORKER, path.read_bytes)
    assert not acting_as(WORKER, lambda: path.write_bytes(b"another"))
    assert not acting_as(OTHER, path.read_bytes)
    outcome = store_in(settings.sealed_dir, b"sealed", WORKER)
    assert acting_as(WEB, stored_path(settings.sealed_dir, outcome).read_bytes)
    again = store_in(settings.sealed_dir, b"of the web", WEB, beside=outcome)
    assert acting_as(WORKER, stored_path(settings.sealed_dir, again).read_bytes)
    assert acting_as(SWEEP, lambda: path.rename(settings.storage_dir / "aside"))


@as_root
def test_copies_of_a_bucket_s_files_are_shared_as_the_files_would_be(data: Path) -> None:
    settings = settings_of(data).model_copy(update={"storage": "s3"})
    assert acting_as(WEB, lambda: prepare_folders(settings))
    folder = settings.cache_dir / "storage"

    def take(name: str) -> None:
        source = folder / f"of-{os.geteuid()}"
        source.write_bytes(b"a prediction")
        Cache(folder, 1000).take(source, name)

    assert acting_as(WEB, lambda: take("ab/one"))
    assert acting_as(WORKER, lambda: take("ab/two"))
    assert acting_as(WORKER, (folder / "ab/one").read_bytes)
    assert acting_as(WORKER, lambda: Cache(folder, 1000).path("ab/one"))
    assert acting_as(WEB, (folder / "ab/two").read_bytes)
    assert not acting_as(OTHER, (folder / "ab/one").read_bytes)
    assert acting_as(SWEEP, lambda: Cache(folder, 1).shrink(time.time() + 2 * USED_SECONDS))


def store_in(folder: Path, content: bytes, user: int, beside: str = "") -> str:
    """Store as that user; beside: in the folder that the other one's file has made."""
    wanted = content
    for n in range(100_000):
        wanted = content + str(n).encode()
        digest = hashlib.sha256(wanted).hexdigest()
        if digest.startswith(beside[:2]):
            break

    def store() -> StoredFile:
        return store_upload([wanted], FolderStorage(folder), 1_000)

    assert acting_as(user, store)
    return digest


@as_root
def test_check_host_says_what_holds_and_what_does_not(data: Path) -> None:
    settings = settings_of(data)
    assert acting_as(WEB, lambda: prepare_folders(settings))
    keys = data.parent / "keys"
    keys.mkdir(mode=0o700)
    os.chown(keys, WORKER, WORKER)
    key = keys / "workers.key"
    assert acting_as(WORKER, lambda: key.write_text("secret"))
    places = Places(
        None, settings.storage_dir, settings.sealed_dir, data / "mail", key, data / "gold", data / "vectors"
    )
    assert {one.answer for one in check_host(USERS, places, EVERYBODYS, GROUP)} == {Answer.HOLDS}
    keys.chmod(0o755)
    key.chmod(0o644)
    broken = {one.promise for one in check_host(USERS, places, EVERYBODYS, GROUP) if one.answer is Answer.BROKEN}
    assert broken == {
        "web cannot read the workers' key",
        "sweep cannot read the workers' key",
        "other users of this machine cannot read the workers' key",
    }
    one_user = Users(WEB, WEB, SWEEP, OTHER)
    assert "web and worker run as different users" in {
        one.promise for one in check_host(one_user, places, EVERYBODYS, GROUP) if one.answer is Answer.BROKEN
    }


@as_root
def test_the_command_speaks_plainly_and_as_json(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    users = ["--web-user", str(WEB), "--worker-user", str(WEB), "--sweep-user", str(SWEEP), "--other-user", str(OTHER)]
    assert run(["check-host", *users, "--data-dir", str(data), "--json"]) == Code.ERROR
    document = json.loads(capsys.readouterr().out)
    answers = {one["promise"]: one["answer"] for one in document["separations"]}
    assert answers["web and worker run as different users"] == "broken"
    assert answers["web and sweep run as different users"] == "holds"
    assert answers["web, worker and sweep do not share one file as their database"] == "broken"
    assert document["broken"] == list(answers.values()).count("broken")
    assert run(["check-host", "--web-user", "nobody-of-that-name"]) == Code.USAGE


def test_what_cannot_be_tried_is_unknown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 4242)
    places = Places(None, tmp_path, tmp_path, tmp_path, tmp_path, tmp_path, tmp_path)
    answers = {one.promise: one.answer for one in check_host(USERS, places, EVERYBODYS)}
    assert answers["web cannot read the workers' key"] is Answer.UNKNOWN


def test_an_unknown_group_stops_the_start_in_words(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path, files_group="no-such-group")
    with pytest.raises(InvalidSettings, match="there is no group 'no-such-group'"):
        prepare_folders(settings)


def test_without_a_group_everything_is_its_users_alone(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path / "var")
    prepare_folders(settings)
    stored = store_upload([b"x"], FolderStorage(settings.storage_dir), 10)
    path = stored_path(settings.storage_dir, stored.sha256)
    assert [mode(one) for one in (settings.data_dir, settings.storage_dir, path.parent, path)] == [0o700] * 3 + [0o600]


def test_what_an_older_version_left_open_is_closed_at_the_next_start(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path / "var")
    settings.data_dir.mkdir(mode=0o755)
    database = settings.data_dir / "evergold.db"
    engine = make_engine(settings.database_address)
    upgrade(engine)
    assert mode(database) == 0o644
    prepare_folders(settings)
    engine.dispose()
    assert (mode(settings.data_dir), mode(database)) == (0o700, 0o600)


def test_a_fresh_server_is_closed_to_others(tmp_path: Path) -> None:
    """Check the files of a process of its own: `evergold init`, then everything that a start does."""
    environment = environment_of(data_dir=tmp_path / "var")
    folder = tmp_path / "server"
    command = ["init", str(folder), "--admin-username", "ada", "--admin-email", "a@example.org", "--password-stdin"]
    done = subprocess.run(
        [sys.executable, "-P", "-m", "evergold.cli", *command],
        env=environment,
        input="correct horse battery",
        text=True,
        capture_output=True,
    )
    assert done.returncode == 0, done.stderr
    made = evergold("migrate", tmp_path, environment, "migrate")
    assert made.process.wait(START_SECONDS) == 0, made.said()
    stop(made)
    open_ones = [path for path in (tmp_path / "var").rglob("*") if mode(path) & 0o077]
    assert open_ones == []
    assert mode(folder / "phases.yaml") == 0o600
