"""The workers' key file: private, whole or not there, understood or refused; and rotation from one key to the next."""

from __future__ import annotations

import errno
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import Engine, select, update

from app.base.config import get_settings
from app.base.db import reading, writing
from app.base.errors import EvergoldError
from app.base.storage import FolderStorage, stored_path
from app.competitions.find import find_phase_task
from app.gold.recorded import KeysChanged, current_keys, record_sealed
from app.gold.sealing import Sealed, seal_packed_outcomes
from app.gold.versions import list_gold
from app.models import RunStatus, ScoringRun, SealedFile, SealedKey, User, WorkerKey
from tests.competitions.embargo import add_phase
from tests.processes import wait_until
from tests.rich_rows import forget_gold
from tests.rich_world import fresh
from tests.sealed import a_key, file_and_keys, make_key, seal_gold
from tests.threads import somebody_waits
from tests.workers.files import GOLD, upload
from tests.world import COMPETITION, EARLIER_PHASE, NOW, PHASE, TASK, answer_to, claim, sure
from workers import gold
from workers.gold_commands import check_gold, rotate, tidy
from workers.keys import KeyFileBroken, NoKeyForIt, add_key, ensure_key, key_file, open_file_key, read_keys, write_keys
from workers.score import read_outcomes, score_as_of, score_submission


@pytest.fixture(autouse=True)
def _own_gold_alone(request: pytest.FixtureRequest) -> None:
    for name in {"engine", "postgresql_engine"} & set(request.fixturenames):
        forget_gold(request.getfixturevalue(name))


@pytest.fixture(autouse=True)
def _empty_cache() -> None:
    gold._cache.clear()


# ------------------------------------------------------------------------------------------------------------ the file


def test_keys_lie_beside_the_data_unless_the_worker_is_told_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert key_file() == tmp_path / "var" / "keys" / "workers.key"
    monkeypatch.setenv("EVERGOLD_GOLD_KEY_FILE", str(tmp_path / "secret"))
    assert key_file() == tmp_path / "secret"


def test_the_file_is_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "keys" / "workers.key"
    write_keys(path, dict([a_key()]))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_keys_come_back_in_their_order(tmp_path: Path) -> None:
    keys = dict([a_key(), a_key(), a_key()])
    write_keys(tmp_path / "workers.key", keys)
    found = read_keys(tmp_path / "workers.key")
    assert [(key_id, bytes(key)) for key_id, key in found.items()] == [
        (key_id, bytes(key)) for key_id, key in keys.items()
    ]


def test_no_file_is_no_key(tmp_path: Path) -> None:
    assert read_keys(tmp_path / "workers.key") == {}


@pytest.mark.parametrize("damage", ["cut", "another id", "no key", "another word"])
def test_a_damaged_line_is_said_by_its_number_and_never_quoted(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "workers.key"
    write_keys(path, dict([a_key()]))
    head, line = path.read_text().splitlines()
    word, key_id, secret = line.split()
    lines = {
        "cut": line[:-6],
        "another id": f"{word} {a_key()[0]} {secret}",
        "no key": f"{word} {key_id}",
        "another word": f"ssh-rsa {key_id} {secret}",
    }
    path.write_text(f"{head}\n{lines[damage]}\n")
    with pytest.raises(KeyFileBroken, match="line 2") as raised:
        read_keys(path)
    assert secret[:10] not in str(raised.value)


# ----------------------------------------------------------------------------------------------------------- first key

at_work = pytest.mark.usefixtures("workplace")


@at_work
def test_a_server_on_one_machine_makes_its_first_key_once(engine: Engine) -> None:
    assert ensure_key(engine, key_file(), NOW)
    assert not ensure_key(engine, key_file(), NOW)
    with reading(engine) as session:
        assert list(current_keys(session)) == list(read_keys(key_file()))


@at_work
def test_no_public_key_is_announced_before_its_private_half_is_kept(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check the order: what organisers sealed for such a key, nobody could ever open."""

    def is_full(*_: object) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr("workers.keys.write_keys", is_full)
    with pytest.raises(OSError, match="no space"):
        add_key(engine, key_file(), NOW)
    with reading(engine) as session:
        assert session.scalars(select(WorkerKey)).all() == []


@at_work
def test_a_worker_never_makes_a_key_beside_that_of_others(engine: Engine) -> None:
    make_key(engine)
    key_file().unlink()
    assert not ensure_key(engine, key_file(), NOW)
    assert not key_file().exists()


@at_work
def test_a_key_file_without_a_database_gets_no_second_key(engine: Engine) -> None:
    """Check a file that was kept while the database is new: what its keys open is there to come back. A key that
    somebody adds makes all of them known.
    """
    old_id, old = a_key()
    write_keys(key_file(), {old_id: old})
    before = key_file().read_bytes()
    assert not ensure_key(engine, key_file(), NOW)
    assert key_file().read_bytes() == before
    with reading(engine) as session:
        assert session.scalars(select(WorkerKey)).all() == []
    new_id = add_key(engine, key_file(), NOW)
    with reading(engine) as session:
        assert set(current_keys(session)) == {old_id, new_id}


# ------------------------------------------------------------------------------------------------------------ rotation


def rotated(engine: Engine) -> tuple[str, int, list[str]]:
    with writing(engine) as session:
        done = rotate(session, key_file(), NOW)
    tidy(key_file(), done.newest)
    return done.newest, done.files, done.retired


@at_work
def test_from_a_new_key_on_everything_is_sealed_to_both(engine: Engine, ada: User) -> None:
    old, new = make_key(engine), make_key(engine)
    seal_gold(engine, GOLD.encode())
    with reading(engine) as session:
        assert list(current_keys(session)) == [old, new]
    score_submission(upload(engine, ada))


@at_work
def test_after_rotation_the_new_key_alone_opens_gold_and_outcomes_and_no_file_was_written(
    engine: Engine, ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workers.gold_commands.BATCH", 1)  # more files than are looked at together
    old = make_key(engine)
    seal_gold(engine, GOLD.encode())
    first_run = upload(engine, ada)
    score_submission(first_run)
    with reading(engine) as session:
        before = read_outcomes(session, first_run)
    files = {path: path.read_bytes() for path in get_settings().sealed_dir.rglob("*") if path.is_file()}
    old_keys = read_keys(key_file())
    new = make_key(engine)

    assert rotated(engine) == (new, 2, [old])

    assert {path: path.read_bytes() for path in get_settings().sealed_dir.rglob("*") if path.is_file()} == files
    for path in files:
        _, sealed_keys = file_and_keys(engine, path.name)
        assert set(sealed_keys) == {new}
        with pytest.raises(NoKeyForIt):
            open_file_key(sealed_keys, old_keys)
    assert list(read_keys(key_file())) == [new]
    gold._cache.clear()
    second_run = upload(engine, ada, GOLD.replace("DataID", "x"))  # rejected, but only after gold was read
    score_submission(second_run)
    assert gold._cache, "gold was opened with the new key"
    with reading(engine) as session:
        assert read_outcomes(session, first_run) == before
        assert list(current_keys(session)) == [new]


@at_work
def test_the_retired_key_is_kept_apart_for_old_backups(engine: Engine, ada: User) -> None:
    old, _ = make_key(engine), make_key(engine)
    rotated(engine)
    apart = key_file().with_name("workers.key.retired")
    assert list(read_keys(apart)) == [old]
    assert stat.S_IMODE(apart.stat().st_mode) == 0o600


@at_work
def test_rotating_twice_changes_nothing_more(engine: Engine, ada: User) -> None:
    make_key(engine)
    new = make_key(engine)
    seal_gold(engine, GOLD.encode())
    rotated(engine)
    assert rotated(engine) == (new, 0, [])


@at_work
def test_a_key_comes_to_those_of_a_rotation_that_was_cut_off_before_it_tidied(engine: Engine) -> None:
    """Check that the retired key that is still in the file stays retired."""
    make_key(engine)
    second = make_key(engine)
    with writing(engine) as session:
        rotate(session, key_file(), NOW)
    third = make_key(engine)
    with reading(engine) as session:
        assert set(current_keys(session)) == {second, third}


@at_work
def test_a_file_that_no_key_opens_stops_the_rotation_before_anything_changed(engine: Engine, ada: User) -> None:
    old = make_key(engine)
    seal_gold(engine, GOLD.encode())
    key_file().unlink()
    make_key(engine)
    with pytest.raises(NoKeyForIt, match="does not open"), writing(engine) as session:
        rotate(session, key_file(), NOW)
    with reading(engine) as session:
        assert session.scalars(select(WorkerKey.key_id).where(WorkerKey.retired_at.is_(None))).first() == old


@at_work
def test_what_was_sealed_before_a_rotation_and_is_recorded_after_it_is_refused(engine: Engine, ada: User) -> None:
    """Check it, since only a key that nobody keeps any more could open it."""
    make_key(engine)
    with reading(engine) as session:
        before = current_keys(session)
    make_key(engine)
    rotated(engine)
    sealed = seal_packed_outcomes(b"late", FolderStorage(get_settings().sealed_dir), before)
    with pytest.raises(KeysChanged), writing(engine) as session:
        record_sealed(session, sealed, NOW)
    assert issubclass(KeysChanged, EvergoldError)
    assert stored_path(get_settings().sealed_dir, sealed.file.sha256).exists()


@at_work
def test_a_worker_that_believed_a_key_in_use_hears_of_the_rotation_when_it_records(engine: Engine, ada: User) -> None:
    """Check that it seals once more, for the current keys, and leaves nothing of its first attempt."""
    old = make_key(engine)
    score_submission(upload(engine, ada))
    new = make_key(engine)
    score_submission(upload(engine, ada))
    with writing(engine) as session:
        rotate(session, key_file(), NOW)
    run_id = upload(engine, ada)
    score_submission(run_id)
    with reading(engine) as session:
        run = session.get_one(ScoringRun, run_id)
        assert (run.status, run.attempts) == (RunStatus.SCORED, 1)
        mine = select(SealedKey.key_id).where(SealedKey.sealed_file_id == run.outcomes_id)
        assert session.scalars(mine).all() == [new] != [old]
        known = set(session.scalars(select(SealedFile.sha256)))
    assert {file.name for file in get_settings().sealed_dir.rglob("*") if file.is_file()} == known


@at_work
def test_no_outcomes_are_recorded_that_a_retired_key_opens_too(engine: Engine, ada: User) -> None:
    make_key(engine)
    make_key(engine)
    with reading(engine) as session:
        both = current_keys(session)
    with writing(engine) as session:
        rotate(session, key_file(), NOW)
    sealed = seal_packed_outcomes(b"late", FolderStorage(get_settings().sealed_dir), both)
    with pytest.raises(KeysChanged), writing(engine) as session:
        record_sealed(session, sealed, NOW)


@at_work
def test_who_records_outcomes_waits_for_a_rotation_and_is_refused_then(postgresql_engine: Engine) -> None:
    """Check one that began when the key was still in use."""
    make_key(postgresql_engine)
    with reading(postgresql_engine) as session:
        before = current_keys(session)
    make_key(postgresql_engine)
    sealed = seal_packed_outcomes(b"late", FolderStorage(get_settings().sealed_dir), before)
    with ThreadPoolExecutor(1) as pool:
        with writing(postgresql_engine) as session:
            rotate(session, key_file(), NOW)
            late = pool.submit(recorded, postgresql_engine, sealed)
            wait_until(lambda: somebody_waits(postgresql_engine), "who records waits for the rotation")
        assert late.result(60) == "keys_changed"
    with reading(postgresql_engine) as session:
        assert not session.scalars(fresh(SealedFile)).all()


@at_work
def test_a_rotation_waits_for_who_records_outcomes_and_seals_them_to_the_new_key(postgresql_engine: Engine) -> None:
    make_key(postgresql_engine)
    with reading(postgresql_engine) as session:
        before = current_keys(session)
    new = make_key(postgresql_engine)
    sealed = seal_packed_outcomes(b"in time", FolderStorage(get_settings().sealed_dir), before)
    with ThreadPoolExecutor(1) as pool:
        with writing(postgresql_engine) as session:
            record_sealed(session, sealed, NOW)
            rotation = pool.submit(rotated, postgresql_engine)
            wait_until(lambda: somebody_waits(postgresql_engine), "the rotation waits for who records")
        assert rotation.result(60)[:2] == (new, 1)
    with reading(postgresql_engine) as session:
        assert session.scalars(select(SealedKey.key_id)).all() == [new]


def recorded(engine: Engine, sealed: Sealed) -> str:
    def record() -> None:
        with writing(engine) as session:
            record_sealed(session, sealed, NOW)

    return answer_to(record)


@at_work
def test_a_worker_that_was_too_late_leaves_nothing_of_its_outcomes(engine: Engine, ada: User) -> None:
    make_key(engine)
    late = sure(claim(engine, upload(engine, ada)))
    with writing(engine) as session:
        session.execute(update(ScoringRun).values(claim_token="another's"))
    assert not score_as_of(engine, late, NOW)
    with reading(engine) as session:
        assert not session.scalars(fresh(SealedFile)).all()
        assert not session.scalars(select(SealedKey)).all()
    assert not [file for file in get_settings().sealed_dir.rglob("*") if file.is_file()]


def test_a_key_file_that_cannot_be_put_in_place_leaves_the_old_one_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "secrets" / "keys"
    key_id, key = a_key()
    write_keys(path, {key_id: key})
    before = path.read_bytes()

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "no space left")

    monkeypatch.setattr("workers.keys.os.replace", full)
    with pytest.raises(OSError, match="no space left"):
        write_keys(path, {})
    assert [(one.name, one.read_bytes()) for one in path.parent.iterdir()] == [("keys", before)]


@at_work
def test_a_second_rotation_keeps_the_keys_of_the_first_and_seals_what_came_between(engine: Engine, ada: User) -> None:
    first, second = make_key(engine), make_key(engine)
    seal_gold(engine, GOLD.encode())
    rotated(engine)
    run_id = upload(engine, ada)
    score_submission(run_id)
    third = make_key(engine)
    assert rotated(engine) == (third, 2, [second])
    apart = key_file().with_name("workers.key.retired")
    assert list(read_keys(apart)) == [first, second]
    assert list(read_keys(key_file())) == [third]
    with reading(engine) as session:
        assert read_outcomes(session, run_id) is not None
        assert list(current_keys(session)) == [third]


@at_work
@pytest.mark.parametrize(("mode", "is_told"), [(0o600, False), (0o640, True), (0o604, True), (0o400, False)])
def test_a_key_file_that_others_may_read_is_told(engine: Engine, mode: int, is_told: bool) -> None:
    make_key(engine)
    key_file().chmod(mode)
    with reading(engine) as session:
        (of_file,) = [one for one in check_gold(session, key_file()) if one.what.startswith("key file")]
    assert (of_file.fault is not None and f"mode {mode:o}" in of_file.fault) == is_told
    key_file().chmod(0o600)


@at_work
def test_gold_that_is_put_for_two_phases_has_a_version_in_each_and_in_no_other(engine: Engine, ada: User) -> None:
    """Check that they are numbered and published separately, though the file is one."""
    make_key(engine)
    add_phase(engine, "post", starts_at=NOW)
    seal_gold(engine, GOLD.encode())
    both = [f"{COMPETITION}/{phase}/{TASK}" for phase in (PHASE, "post")]
    seal_gold(engine, GOLD.encode(), places=both)
    with reading(engine) as session:
        listed = {
            phase: [(one.number, one.published_at is not None) for one in list_gold(session, asked)]
            for phase in (PHASE, "post", EARLIER_PHASE)
            for asked in [find_phase_task(session, COMPETITION, phase, TASK)]
        }
    assert listed == {PHASE: [(1, True), (2, False)], "post": [(1, True)], EARLIER_PHASE: []}
