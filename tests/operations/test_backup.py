"""Backup and restore: the drill on every pair of databases, under load, and with everything that can be wrong."""

from __future__ import annotations

import hashlib
import json
import shutil
import stat
import tarfile
import threading
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import JSON, Engine, delete, insert, select, text
from sqlalchemy.exc import DBAPIError

from app.base.config import Settings, get_settings
from app.base.db import Base, get_engine, make_engine, reading, writing
from app.base.storage import FolderStorage, store_upload, stored_path
from app.boards.leaderboard import build_leaderboard
from app.boards.rows import LeaderboardRow
from app.competitions.find import find_board, find_competition
from app.competitions.visibility import Viewer
from app.models import AuditEntry, OutgoingMail, PhaseTask, RunStatus, ScoreRow, ScoringRun, Submission, User
from app.operations.backup import make_backup
from app.operations.backup_format import MANIFEST, BackupColumn, BackupError, Manifest, kind_of, written
from app.operations.database_revision import is_current
from app.operations.restore import restore_backup
from app.people.act import Act, UserAct
from app.privacy.archives import ready_archive, request_archive
from app.privacy.deletions import carry_out, plan_account_deletion
from app.teams.registration import register, rules_of
from evergold.cli import run
from evergold.cli.output import Code
from tests import postgres
from tests.sealed import files_with, make_key, seal_gold, version_of
from tests.workers.files import GOLD, MACRO_F1, PREDICTION, upload
from tests.workers.test_score import values
from tests.world import COMPETITION, NOW, PHASE, add_competition, add_user, board_version_number, the_run
from workers import gold
from workers.archives import make
from workers.keys import key_file
from workers.score import read_outcomes, score_submission

CANARY = "CANARY-88"


@pytest.fixture(autouse=True)
def _empty_cache() -> None:
    gold._cache.clear()


def serve(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """A server's settings, with sealed gold, a plain gold folder, and a team that submitted twice."""
    monkeypatch.setenv("EVERGOLD_DATABASE_URL", engine.url.render_as_string(hide_password=False))
    get_settings.cache_clear()
    add_competition(engine, per_day=None, ends_at=None)
    ada = add_user(engine, "ada", "Ada")
    plain = get_settings().data_dir / "gold" / "gold.csv"
    plain.parent.mkdir(parents=True)
    plain.write_text(f"plain {CANARY}")
    make_key(engine)
    seal_gold(engine, GOLD.replace("d1", CANARY).encode())
    with writing(engine) as session:
        place = find_competition(session, COMPETITION)
        place.registration = {"terms": "Be kind."}
        register(UserAct(session, ada, NOW, get_settings()), place, accepted=rules_of(place).terms_sha256)
        place.registration = {}  # others of these tests come without having read them
    score_submission(upload(engine, ada))
    score_submission(upload(engine, ada, PREDICTION.replace("zero_shot,0", "zero_shot,9")))
    return get_settings()


@pytest.fixture
def served(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> Iterator[Settings]:
    """A server, on each kind of database."""
    settings = serve(engine, monkeypatch)
    yield settings
    get_engine(settings.database_address).dispose()


@pytest.fixture
def small(sqlite_engine: Engine, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """A server on SQLite, for what no database makes a difference to."""
    return serve(sqlite_engine, monkeypatch)


@pytest.fixture
def empty(tmp_path: Path) -> Settings:
    """Settings of a server on SQLite that has nothing yet."""
    data_dir = tmp_path / "fresh"
    return Settings(data_dir=data_dir, sealed_dir=data_dir / "sealed", database_url="")


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.services)])
def fresh(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Settings]:
    """Settings of a server that has nothing yet."""
    data_dir = tmp_path / "fresh"
    if request.param == "sqlite":
        settings = Settings(data_dir=data_dir, sealed_dir=data_dir / "sealed", database_url="")
        yield settings
        get_engine(settings.database_address).dispose()
        return
    with postgres.database(request.getfixturevalue("postgres_server")) as address:
        yield Settings(data_dir=data_dir, sealed_dir=data_dir / "sealed", database_url=address)
        get_engine(address).dispose()


def rows_of(engine: Engine) -> dict[str, list[tuple[Any, ...]]]:
    """Return every row of every table."""
    with engine.connect() as connection:
        return {
            table.name: [tuple(row) for row in connection.execute(select(table).order_by(*table.primary_key))]
            for table in Base.metadata.sorted_tables
        }


def stored(settings: Settings) -> dict[str, bytes]:
    """Return every file that rows name."""
    return {
        f"{folder.name}/{path.name}": path.read_bytes()
        for folder in (settings.storage_dir, settings.sealed_dir)
        for path in folder.glob("??/*")
    }


def board_of(engine: Engine) -> list[tuple[Any, ...]]:
    with reading(engine) as session:
        place = find_board(find_competition(session, COMPETITION), PHASE, "zero-shot")
        found = build_leaderboard(session, *place, Viewer(None, NOW))
    return [(row.rank, row.team, row.cells, row.achieved_at, row.commitment) for row in found.rows]


def work_on(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Engine:
    """Let workers of this process belong to that server from now on."""
    monkeypatch.setenv("EVERGOLD_DATA_DIR", str(settings.data_dir))
    monkeypatch.setenv("EVERGOLD_DATABASE_URL", settings.database_address)
    get_settings.cache_clear()
    gold._cache.clear()
    return get_engine(settings.database_address)


# --------------------------------------------------------------------------------------------------------------- drill


def test_a_restored_server_is_the_same_server(
    engine: Engine, served: Settings, fresh: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "backup.tar" if fresh.database_url else "backup"
    before, board, files = rows_of(engine), board_of(engine), stored(served)
    key = key_file()
    make_backup(served, tmp_path / name, now=NOW)

    restore_backup(fresh, tmp_path / name)

    restored = work_on(fresh, monkeypatch)
    assert rows_of(restored) == before
    assert stored(fresh) == files
    assert board_of(restored) == board
    assert board[0][1] == "Ada"
    assert "idiom-detection:1|macro_f1" in (board[0][2][0].signature or "")

    # The key file comes by its own way; then new submissions are scored, against the gold that came with the backup.
    key_file().parent.mkdir(parents=True)
    shutil.copy(key, key_file())
    eve = add_user(restored, "eve", "Eve")
    run_id = upload(restored, eve)
    score_submission(run_id)
    assert the_run(restored, run_id).status == RunStatus.SCORED, the_run(restored, run_id).failure
    assert values(restored, run_id)["macro_f1", "zero_shot/all"] == pytest.approx(MACRO_F1, abs=1e-12)
    assert version_of(restored, run_id) == 1
    with reading(restored) as session:
        old = session.scalars(select(ScoringRun.id).where(ScoringRun.outcomes_id.is_not(None))).first()
        assert old is not None
        assert read_outcomes(session, old) is not None
    assert [row[1] for row in board_of(restored)] == ["Ada", "Eve"]


def test_neither_private_keys_nor_any_gold_in_clear_is_in_a_backup(small: Settings, tmp_path: Path) -> None:
    secret = key_file().read_text().splitlines()[-1].split()[-1].encode()
    make_backup(small, tmp_path / "backup", now=NOW)
    assert files_with(tmp_path / "backup", CANARY.encode()) == []
    assert files_with(tmp_path / "backup", secret) == []
    named = sorted(path.name for path in (tmp_path / "backup").rglob("*key*"))
    assert named == ["passkeys.jsonl", "sealed_keys.jsonl", "worker_keys.jsonl"], "public keys, and sealed ones"


def test_nobody_else_may_read_it(small: Settings, tmp_path: Path) -> None:
    make_backup(small, tmp_path / "backup", now=NOW)
    make_backup(small, tmp_path / "backup.tar", now=NOW)
    paths = [tmp_path / "backup.tar", tmp_path / "backup", *(tmp_path / "backup").rglob("*")]
    assert [path for path in paths if stat.S_IMODE(path.stat().st_mode) & 0o077] == []


def test_what_an_upload_left_that_was_refused_is_not_in_it(small: Settings, tmp_path: Path) -> None:
    orphan = store_upload([b"refused"], FolderStorage(small.storage_dir), 100)
    manifest = make_backup(small, tmp_path / "backup", now=NOW)
    assert orphan.sha256 not in {file.sha256 for file in manifest.files}


@pytest.mark.both
def test_a_null_of_the_database_and_one_of_json_stay_what_they_were(
    engine: Engine, served: Settings, fresh: Settings, tmp_path: Path
) -> None:
    with writing(engine) as session:
        for number, value in enumerate((JSON.NULL, [], {"a": None, "ü": 1.5e-300})):
            values = {"at": NOW, "actor": str(number), "action": "a.b", "subject": "s", "details": value}
            session.execute(insert(AuditEntry.__table__).values(**values))  # type: ignore[arg-type]  # a Table
    make_backup(served, tmp_path / "backup", now=NOW)
    restore_backup(fresh, tmp_path / "backup")
    restored = get_engine(fresh.database_address)
    with restored.connect() as connection:
        found = connection.execute(text("SELECT details FROM audit_log WHERE actor IN ('0', '1', '2') ORDER BY actor"))
        raw = [row[0] if not isinstance(row[0], str) else json.loads(row[0]) for row in found]
        nulls = connection.scalar(text("SELECT count(*) FROM audit_log WHERE details IS NULL"))
    assert raw == [None, [], {"a": None, "ü": 1.5e-300}]
    assert nulls == 0


def test_every_column_of_every_table_can_be_written() -> None:
    assert {kind_of(column) for table in Base.metadata.sorted_tables for column in table.columns} == {
        "plain",
        "moment",
        "uuid",
        "bytes",
        "json",
    }


# ---------------------------------------------------------------------------------------------------------- under load


#: Each user's. Without a bound a slow disk makes three threads score for as long as it takes, and the test dear.
MOST_FILES = 60


@pytest.mark.both
def test_a_backup_that_is_made_while_submissions_come_in_is_of_one_moment(
    engine: Engine, served: Settings, empty: Settings, tmp_path: Path
) -> None:
    """Check that all of a scored run, or none of it, is in the backup: each raised the board's version by one and has
    four scores.
    """
    users = [add_user(engine, f"user-{number}") for number in range(3)]
    begun, stop = threading.Barrier(len(users) + 1), threading.Event()

    def submit_and_score(user: User) -> None:
        begun.wait()
        for number in range(1, MOST_FILES + 1):
            score_submission(upload(engine, user, PREDICTION + "\n" * number))
            if stop.is_set():
                return

    threads = [threading.Thread(target=submit_and_score, args=(user,)) for user in users]
    for thread in threads:
        thread.start()
    begun.wait()
    try:
        backups = [tmp_path / f"backup-{number}.tar" for number in range(3)]
        for backup in backups:
            assert make_backup(served, backup, now=NOW).missing == []
    finally:
        stop.set()
        for thread in threads:
            thread.join()

    restore_backup(empty, backups[-1])

    restored = get_engine(empty.database_address)
    with reading(restored) as session:
        submissions = session.scalars(select(Submission)).all()
        runs = session.scalars(select(ScoringRun)).all()
        scores = session.scalars(select(ScoreRow)).all()
        version = session.scalars(select(PhaseTask.board_version)).one()
    scored = {run.id for run in runs if run.status == RunStatus.SCORED}
    assert sorted(submission.id for submission in submissions) == sorted(run.submission_id for run in runs)
    assert len(scores) == 4 * len(scored)
    assert {score.run_id for score in scores} == scored
    assert version == len(scored) + 1, "and one for the gold that was published"
    assert board_version_number(engine) >= version
    for submission in submissions:
        assert stored_path(empty.storage_dir, submission.sha256).exists()


# -------------------------------------------------------------------------------------------------------------- damage


@pytest.fixture
def backup(small: Settings, tmp_path: Path) -> Path:
    make_backup(small, tmp_path / "backup", now=NOW)
    return tmp_path / "backup"


def some_file(backup: Path, folder: str) -> Path:
    files = [path for path in (backup / folder).rglob("*") if path.is_file()]
    return max(files, key=lambda path: path.stat().st_size)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def turn_a_bit(path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))


def test_damage_is_found_before_anything_is_touched(backup: Path, empty: Settings, tmp_path: Path) -> None:
    damages: tuple[Callable[[Path], None], ...] = (cut, turn_a_bit, Path.unlink)
    for damage, folder in product(damages, ("database", "storage", "sealed")):
        damaged = tmp_path / f"{damage.__name__}-{folder}"
        shutil.copytree(backup, damaged)
        path = some_file(damaged, folder)
        damage(path)
        with pytest.raises(BackupError, match=path.name):
            restore_backup(empty, damaged)
        assert not empty.data_dir.exists(), damaged


def test_everything_that_is_damaged_is_said_at_once(backup: Path, empty: Settings) -> None:
    broken = [some_file(backup, folder) for folder in ("database", "storage", "sealed")]
    for path in broken:
        cut(path)
    with pytest.raises(BackupError) as raised:
        restore_backup(empty, backup)
    assert all(path.name in str(raised.value) for path in broken)
    assert "nothing was changed" in str(raised.value)


def change_manifest(backup: Path, **values: Any) -> None:
    path = backup / MANIFEST
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"format": 2}, "format"),
        ({"revision": "9999"}, "newer version"),
        ({"tables": "none"}, "tables"),
        ({"files": [{"folder": "../..", "sha256": "0" * 64, "size_bytes": 1}]}, "folder"),
        ({"files": [{"folder": "storage", "sha256": "../../etc/passwd", "size_bytes": 1}]}, "sha256"),
    ],
)
def test_a_manifest_that_is_not_ours_is_refused_in_words(
    backup: Path, empty: Settings, values: dict[str, Any], words: str
) -> None:
    change_manifest(backup, **values)
    with pytest.raises(BackupError, match=words):
        restore_backup(empty, backup)


def test_what_is_no_backup_is_refused(small: Settings, empty: Settings, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "text.tar").write_text("a text")
    for path in (tmp_path / "empty", tmp_path / "text.tar", tmp_path / "nothing"):
        with pytest.raises(BackupError):
            restore_backup(empty, path)


def test_a_tar_that_was_cut_is_refused(small: Settings, empty: Settings, tmp_path: Path) -> None:
    make_backup(small, tmp_path / "backup.tar", now=NOW)
    whole = (tmp_path / "backup.tar").read_bytes()
    (tmp_path / "cut.tar").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(BackupError):
        restore_backup(empty, tmp_path / "cut.tar")


def test_a_file_that_this_server_lost_is_said_and_the_rest_is_saved(
    small: Settings, empty: Settings, tmp_path: Path
) -> None:
    lost = sorted(small.storage_dir.glob("??/*"))[0]
    lost.unlink()
    manifest = make_backup(small, tmp_path / "backup", now=NOW)
    assert manifest.missing == [f"storage/{lost.name}"]
    restore_backup(empty, tmp_path / "backup")


def test_a_stored_file_whose_content_changed_counts_as_lost(small: Settings, tmp_path: Path) -> None:
    changed = sorted(small.storage_dir.glob("??/*"))[0]
    turn_a_bit(changed)
    assert make_backup(small, tmp_path / "backup", now=NOW).missing == [f"storage/{changed.name}"]


# ------------------------------------------------------------------------------------------------------------ refusals


def test_a_backup_is_never_written_over_another(small: Settings, backup: Path) -> None:
    with pytest.raises(BackupError, match="exists already"):
        make_backup(small, backup, now=NOW)


def test_a_backup_that_failed_leaves_nothing(small: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> Any:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("app.operations.backup._copy_files", fail)
    for name in ("backup", "backup.tar"):
        with pytest.raises(OSError, match="No space"):
            make_backup(small, tmp_path / name, now=NOW)
    assert list(tmp_path.glob("*backup*")) == []


def test_a_server_that_has_anything_is_left_alone(
    sqlite_engine: Engine, small: Settings, backup: Path, empty: Settings
) -> None:
    before = rows_of(sqlite_engine)
    with pytest.raises(BackupError, match="already contains files"):
        restore_backup(small, backup)
    shutil.move(small.storage_dir, small.storage_dir.with_name("elsewhere"))
    shutil.move(small.sealed_dir, small.sealed_dir.with_name("elsewhere too"))
    with pytest.raises(BackupError, match="already has rows"):
        restore_backup(small, backup)
    assert rows_of(sqlite_engine) == before
    restore_backup(empty, backup)
    with pytest.raises(BackupError, match="already"):
        restore_backup(empty, backup)


def test_a_restore_that_fails_in_the_middle_leaves_an_empty_server(
    backup: Path, empty: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> Any:
        raise BackupError("in the middle")

    with monkeypatch.context() as broken:
        broken.setattr("app.operations.restore._continue_numbering", fail)
        broken.setattr("app.operations.restore.in_batches", fail)
        with pytest.raises(BackupError, match="in the middle"):
            restore_backup(empty, backup)
    assert [path for path in empty.storage_dir.rglob("*") if path.is_file()] == []
    restore_backup(empty, backup)


# -------------------------------------------------------------------------------------------------------- old versions


def test_a_backup_of_an_older_version_is_restored_and_brought_up_to_date(fresh: Settings, tmp_path: Path) -> None:
    """Made by hand, as revision 0001 had its tables."""
    columns = {
        "id": "plain",
        "username": "plain",
        "email": "plain",
        "display_name": "plain",
        "password_hash": "plain",
        "is_administrator": "plain",
        "is_approved_organiser": "plain",
        "created_at": "moment",
    }
    described = [BackupColumn(name=name, kind=kind) for name, kind in columns.items()]
    moment = datetime(2024, 2, 29, 23, 59, 59, 123456, tzinfo=UTC)
    values = [7, "grace", "grace@example.org", "Grace", None, True, False, moment]
    line = written(described, values, [value is None for value in values])
    backup = tmp_path / "old"
    (backup / "database").mkdir(parents=True)
    (backup / "database" / "users.jsonl").write_text(line)
    table = {
        "name": "users",
        "columns": [one.model_dump() for one in described],
        "rows": 1,
        "sha256": hashlib.sha256(line.encode()).hexdigest(),
        "size_bytes": len(line.encode()),
    }
    manifest = Manifest.model_validate(
        {"format": 1, "made_at": NOW, "app_version": "0.0.1", "revision": "0001", "tables": [table], "files": []}
    )
    (backup / MANIFEST).write_text(manifest.model_dump_json())

    restore_backup(fresh, backup)

    restored = get_engine(fresh.database_address)
    add_user(restored, "heidi")
    with reading(restored) as session:
        users = session.scalars(select(User).order_by(User.id)).all()
    assert [(user.id, user.username, user.is_administrator) for user in users] == [
        (7, "grace", True),
        (8, "heidi", False),
    ]
    assert users[0].created_at == moment
    with restored.connect() as connection:
        assert is_current(connection)


# -------------------------------------------------------------------------------------------------------- command line


def test_the_commands_make_and_restore_a_backup(
    sqlite_engine: Engine,
    small: Settings,
    empty: Settings,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    target = tmp_path / "server.tar"
    assert run(["backup", str(target)]) == Code.OK
    assert "back them up separately" in capsys.readouterr().err
    assert tarfile.is_tarfile(target)
    assert run(["backup", str(target)]) == Code.ERROR
    assert "never written over another" in capsys.readouterr().err

    monkeypatch.delenv("EVERGOLD_DATABASE_URL")
    get_settings.cache_clear()
    assert run(["restore", str(target), "--data-dir", str(empty.data_dir)]) == Code.OK
    captured = capsys.readouterr()
    assert captured.out.startswith("Restored ")
    assert "evergold gold check" in captured.err
    restored = rows_of(make_engine(f"sqlite:///{empty.data_dir / 'evergold.db'}"))
    assert restored | {"heartbeats": rows_of(sqlite_engine)["heartbeats"]} == rows_of(sqlite_engine)
    assert restored["heartbeats"] == [], "that there is a backup was noted after it was made"
    get_settings.cache_clear()
    assert run(["restore", str(target), "--data-dir", str(empty.data_dir)]) == Code.ERROR
    assert "into an empty server" in capsys.readouterr().err


def test_a_lost_file_makes_the_command_fail_after_it_saved_the_rest(
    small: Settings, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sorted(small.storage_dir.glob("??/*"))[0].unlink()
    assert run(["backup", str(tmp_path / "second.tar")]) == Code.ERROR
    assert "could not be backed up" in capsys.readouterr().err
    assert (tmp_path / "second.tar").exists()


def test_archives_and_deletions_of_accounts_are_in_a_backup(
    small: Settings, empty: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An archive comes back with its file; who was deleted stays deleted, and is named nowhere."""
    engine = get_engine(small.database_address)
    bob = add_user(engine, "bob")
    with writing(engine) as session:
        ada = session.scalars(select(User).where(User.username == "ada")).one()
        archive_id = request_archive(session, bob, NOW).id
    make(engine, small, archive_id)
    with writing(engine) as session:
        plan_account_deletion(Act(session, None, NOW, small), ada, at_once=True)
    with writing(engine) as session:
        assert carry_out(session, ada.id, small, NOW)
        session.execute(delete(OutgoingMail))  # the last one to ada is gone
    manifest = make_backup(small, tmp_path / "backup", now=NOW)
    assert manifest.missing == []
    assert [file.name for file in (tmp_path / "backup").rglob("*") if b"ada@example.org" in read(file)] == []
    restore_backup(empty, tmp_path / "backup")
    restored = work_on(empty, monkeypatch)
    assert len(stored(small).items() - stored(empty).items()) == 1, "the file of ada's rejected submission was released"
    assert stored(empty).items() <= stored(small).items()
    assert [row.team for row in _board(restored)] == ["Deleted participant"]
    with reading(restored) as session:
        assert ready_archive(session, session.get_one(User, bob.id)).sha256 is not None
    with pytest.raises(DBAPIError, match="append-only"), writing(restored) as session:
        session.execute(text("UPDATE audit_log SET actor = 'eve'"))


def read(path: Path) -> bytes:
    return path.read_bytes() if path.is_file() else b""


def _board(engine: Engine) -> Sequence[LeaderboardRow]:
    with reading(engine) as session:
        place = find_board(find_competition(session, COMPETITION), PHASE, "zero-shot")
        return build_leaderboard(session, *place, Viewer(None, NOW)).rows
