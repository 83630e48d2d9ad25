"""Files that no row names are set aside and removed in time; none that is needed is, whatever happens at once."""

from __future__ import annotations

import hashlib
import os
import random
import time
from pathlib import Path

import pytest
from sqlalchemy import Engine, String, update

import app.operations.unowned
from app.base.db import Base, writing
from app.base.storage import ASIDE, FolderStorage, store_upload, stored_path
from app.declarations.apply.files import keep_file
from app.models import PhaseTask, PublicFile, Submission, User
from app.operations.unowned import (
    ASIDE_SECONDS,
    YOUNG_SECONDS,
    Cleared,
    clear_unowned,
    named_in_tables,
    naming_columns,
)
from tests.threads import in_threads
from tests.world import NOW, add_competition, add_user, submit, the_phase_task

#: Columns of 64 characters that hold something else than a stored file's name.
NOT_FILES = {
    "accepted_terms.sha256",
    "api_tokens.secret_hash",
    "audit_log.request_id",
    "authenticators.secret",
    "bundle_uploads.secret_hash",
    "competitions.neutral_salt",
    "email_confirmations.secret_hash",
    "file_downloads.sha256",  # of what was sent, which need not be stored any more
    "gold_power.key",
    "gold_versions.commitment",
    "held_uploads.secret_hash",
    "joining_codes.secret_hash",
    "judged_texts.text_key",
    "known_devices.secret_hash",
    "login_sessions.csrf_token",
    "login_sessions.secret_hash",
    "mail_choices.salt",
    "password_resets.secret_hash",
    "provider_logins.mailed_hash",
    "provider_logins.nonce",
    "provider_logins.secret_hash",
    "provider_logins.state_hash",
    "recovery_codes.code_hash",
    "registrations.terms_sha256",
    "revisions.fingerprint",
    "role_invitations.secret_hash",
    "run_statistics.key",
    "runs.claim_token",
    "second_steps.secret_hash",
    "team_invitations.secret_hash",
    "validations.claim_token",
    "validations.sha256",  # its file lies apart, and goes when the check has ended
}


@pytest.fixture
def ada(engine: Engine) -> User:
    add_competition(engine, per_day=None, rejected_per_hour=10**6)
    return add_user(engine, "ada")


def store(folder: Path, content: str, age_seconds: float = 0.0) -> Path:
    """A stored file that was last stored so long ago."""
    path = stored_path(folder, store_upload([content.encode()], FolderStorage(folder), 10**6).sha256)
    then = time.time() - age_seconds
    os.utime(path, (then, then))
    return path


def aside(folder: Path) -> list[Path]:
    return sorted((folder / ASIDE).glob("*"))


OLD = YOUNG_SECONDS + 60.0


# -------------------------------------------------------------------------------------------------------------- naming


def test_no_column_that_could_name_a_file_is_forgotten() -> None:
    """Check the width: a sha256 has 64 characters, so a new column of that width names a stored file, or is listed
    above.
    """
    wide = {
        f"{table.name}.{column.name}"
        for table in Base.metadata.sorted_tables
        for column in table.columns
        if isinstance(column.type, String) and column.type.length == len(hashlib.sha256().hexdigest())
    }
    naming = {f"{column.table.name}.{column.name}" for column in naming_columns()}
    assert {"submissions.sha256", "public_files.sha256", "phase_tasks.items_sha256"} <= naming
    assert wide - naming <= NOT_FILES
    assert not naming & NOT_FILES


def test_whatever_a_table_names_is_named(engine: Engine, ada: User) -> None:
    digests = {name: hashlib.sha256(name.encode()).hexdigest() for name in ("sent", "items", "download", "nobody's")}
    submit(engine, ada, content="sent")
    with writing(engine) as session:
        phase_task = the_phase_task(session)
        session.execute(update(PhaseTask).values(items_sha256=digests["items"]))
        session.add(
            PublicFile(
                phase_task_id=phase_task.id,
                name="a.csv",
                title="A",
                sha256=digests["download"],
                size_bytes=8,
                position=1,
            )
        )
    assert named_in_tables(engine, digests.values()) == {digests[name] for name in ("sent", "items", "download")}
    assert named_in_tables(engine, []) == set()


def test_a_file_that_its_row_has_given_up_is_not_named_by_it(engine: Engine, ada: User) -> None:
    given_up, kept = (submit(engine, ada, content=content) for content in ("given up", "kept"))
    with writing(engine) as session:
        session.get_one(Submission, given_up.submission.id).file_cleared_at = NOW
    digests = [one.submission.sha256 for one in (given_up, kept)]
    assert named_in_tables(engine, digests) == {kept.submission.sha256}


# ------------------------------------------------------------------------------------------------------------ clearing


def test_an_old_file_that_nothing_names_is_set_aside_and_a_week_later_gone(engine: Engine, tmp_path: Path) -> None:
    path, now = store(tmp_path, "refused", OLD), time.time()
    assert clear_unowned(engine, FolderStorage(tmp_path), now) == Cleared(set_aside=1)
    assert not path.exists()
    assert [file.read_text() for file in aside(tmp_path)] == ["refused"]
    assert clear_unowned(engine, FolderStorage(tmp_path), now + ASIDE_SECONDS - 60) == Cleared()
    assert clear_unowned(engine, FolderStorage(tmp_path), now + ASIDE_SECONDS + 60) == Cleared(removed=1)
    assert aside(tmp_path) == []


def test_young_files_named_files_and_uploads_under_way_stay(engine: Engine, ada: User, tmp_path: Path) -> None:
    submit(engine, ada, content="sent")
    young, named = store(tmp_path, "young", YOUNG_SECONDS - 60), store(tmp_path, "sent", OLD)
    under_way, strange = tmp_path / "incoming" / "tmp123", tmp_path / "ab" / "notes.txt"
    for path in (under_way, strange):
        path.parent.mkdir(exist_ok=True)
        path.write_text("not ours to judge")
        os.utime(path, (0, 0))
    assert clear_unowned(engine, FolderStorage(tmp_path), time.time()) == Cleared()
    assert all(path.exists() for path in (young, named, under_way, strange))


def test_what_turns_out_to_be_named_is_put_back(engine: Engine, ada: User, tmp_path: Path) -> None:
    """Check a file that is named again, for instance after an older database was restored."""
    path, now = store(tmp_path, "sent", OLD), time.time()
    clear_unowned(engine, FolderStorage(tmp_path), now)
    submit(engine, ada, content="sent")
    assert clear_unowned(engine, FolderStorage(tmp_path), now + 3600) == Cleared(put_back=1)
    assert path.read_text() == "sent"
    assert clear_unowned(engine, FolderStorage(tmp_path), now + 10 * ASIDE_SECONDS) == Cleared()


def test_more_files_than_one_question_to_the_database_can_ask_for(
    engine: Engine, ada: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app.operations.unowned, "_BATCH", 3)
    paths = [store(tmp_path, f"file {n}", OLD) for n in range(10)]
    for number in (2, 7):
        submit(engine, ada, content=f"file {number}")
    assert clear_unowned(engine, FolderStorage(tmp_path), time.time()) == Cleared(set_aside=8)
    assert [n for n, path in enumerate(paths) if path.exists()] == [2, 7]


def test_a_folder_that_is_not_there_is_nothing_to_clear(engine: Engine, tmp_path: Path) -> None:
    assert clear_unowned(engine, FolderStorage(tmp_path / "none"), time.time()) == Cleared()


# --------------------------------------------------------------------------------------------------------------- races


def test_an_upload_between_the_look_and_the_move_is_put_back(
    engine: Engine, ada: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The worst moment: the old file was found, its age looked at, no row named it."""
    path = store(tmp_path, "sent", OLD)
    rename = Path.rename

    def upload_first(self: Path, target: Path) -> Path:
        monkeypatch.undo()
        store(tmp_path, "sent")  # not committed yet: only its age speaks for it
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", upload_first)
    assert clear_unowned(engine, FolderStorage(tmp_path), time.time()) == Cleared()
    assert path.read_text() == "sent"


def test_a_row_that_appears_between_the_look_and_the_move_brings_the_file_back(
    engine: Engine, ada: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = store(tmp_path, "sent", OLD)
    rename = Path.rename

    def submit_first(self: Path, target: Path) -> Path:
        monkeypatch.undo()
        submit(engine, ada, content="sent")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", submit_first)
    assert clear_unowned(engine, FolderStorage(tmp_path), time.time()) == Cleared()
    assert path.read_text() == "sent"


def test_a_sweep_that_was_killed_after_the_move_is_completed_by_the_next(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = store(tmp_path, "sent", OLD)

    class Killed(BaseException):
        pass

    def killed(*_: object) -> bool:
        raise Killed

    rename = Path.rename

    def upload_then_die(self: Path, target: Path) -> Path:
        monkeypatch.setattr(app.operations.unowned, "_is_young", killed)
        store(tmp_path, "sent")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", upload_then_die)
    with pytest.raises(Killed):
        clear_unowned(engine, FolderStorage(tmp_path), time.time())
    monkeypatch.undo()
    assert not path.exists()
    assert clear_unowned(engine, FolderStorage(tmp_path), time.time()) == Cleared(put_back=1)
    assert path.read_text() == "sent"


def test_applying_again_what_is_stored_makes_it_young(engine: Engine, tmp_path: Path) -> None:
    """Check that `evergold apply` does not write existing files, and commits later."""
    source = tmp_path / "items.csv"
    source.write_text("items")
    path = store(tmp_path / "storage", "items", OLD)
    keep_file(source, FolderStorage(tmp_path / "storage"))
    assert clear_unowned(engine, FolderStorage(tmp_path / "storage"), time.time()) == Cleared()
    assert path.exists()


@pytest.mark.both
def test_uploads_and_sweeps_of_one_content_at_once_never_lose_an_accepted_file(
    engine: Engine, ada: User, tmp_path: Path
) -> None:
    """Run two uploads and two sweeps at almost the same moment, repeatedly; the contents are there, old and unnamed."""
    randomly, lost = random.Random(6), []
    for number in range(25):
        content = f"file {number}"
        path = store(tmp_path, content, OLD)
        waits = [randomly.uniform(0, 0.02), randomly.uniform(0, 0.02), 0.0, randomly.uniform(0, 0.005)]

        def play(part: int, content: str = content, waits: list[float] = waits) -> None:
            time.sleep(waits[part])
            if part < 2:
                submit(engine, ada, stored=store_upload([content.encode()], FolderStorage(tmp_path), 10**6))
            else:
                clear_unowned(engine, FolderStorage(tmp_path), time.time())

        in_threads(4, play)
        clear_unowned(engine, FolderStorage(tmp_path), time.time())
        if not path.exists() or path.read_text() != content:
            lost.append(number)
    assert lost == []
