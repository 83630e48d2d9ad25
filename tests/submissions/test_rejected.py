"""The files of rejected submissions are given up in time; nothing that a score rests on ever is."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import Engine

from app.base.config import Settings
from app.base.db import reading, writing
from app.base.storage import FolderStorage, store_upload, stored_path
from app.models import RunStatus, ScoringRun, Submission, User
from app.operations.backup import make_backup
from app.operations.unowned import ASIDE_SECONDS, YOUNG_SECONDS, clear_unowned, named_in_tables
from app.submissions.rejected import clear_rejected_files
from tests import world
from tests.rich_world import own
from tests.world import DAY, NOW, SECOND, add_competition, add_user, submit, upload_of

DAYS = 30


@pytest.fixture
def ada(engine: Engine) -> User:
    add_competition(engine, per_day=None, rejected_per_hour=10**6)
    return add_user(engine, "ada")


def clear(engine: Engine, now: datetime, days: int = DAYS) -> int:
    with writing(engine) as session:
        return clear_rejected_files(session, days, now)


def named(engine: Engine, *contents: str) -> set[str]:
    digests = {upload_of(content).sha256: content for content in contents}
    return {digests[digest] for digest in named_in_tables(engine, digests)}


def test_only_what_was_rejected_long_ago_is_given_up(engine: Engine, ada: User) -> None:
    for content in ("rejected", "scored", "failed", "waiting", "shared"):
        accepted = submit(engine, ada, content=content)
        if content != "waiting":
            finish_as(engine, accepted.run_id, content)
    finish_as(engine, submit(engine, ada, content="shared").run_id, "scored")
    contents = ("rejected", "scored", "failed", "waiting", "shared")
    assert clear(engine, NOW + DAYS * DAY - SECOND) == 0
    assert clear(engine, NOW + DAYS * DAY) == 2, "'rejected', and the rejected one of those that share a file"
    assert clear(engine, NOW + DAYS * DAY) == 0
    assert named(engine, *contents) == {"scored", "failed", "waiting", "shared"}


def finish_as(engine: Engine, run_id: int, content: str) -> None:
    if content == "failed":
        world.fail(engine, run_id)
    elif content == "scored":
        world.score(engine, run_id, 0.5)
    else:
        world.reject(engine, run_id)


def test_for_ever_is_for_ever(engine: Engine, ada: User) -> None:
    world.reject(engine, submit(engine, ada, content="rejected").run_id)
    assert clear(engine, NOW + 10_000 * DAY, days=0) == 0


def test_what_a_rescoring_set_looks_at_is_kept(engine: Engine, ada: User) -> None:
    accepted = submit(engine, ada, content="rejected")
    world.reject(engine, accepted.run_id)
    with writing(engine) as session:
        beside = ScoringRun(
            submission_id=accepted.submission.id,
            is_current=False,
            status=RunStatus.QUEUED,
            gold="gold.csv",
            attempts=0,
            queued_at=NOW,
        )
        session.add(beside)
    assert clear(engine, NOW + 2 * DAYS * DAY) == 0
    with writing(engine) as session:
        run = session.scalars(own(ScoringRun).where(~ScoringRun.is_current)).one()
        run.status, run.finished_at = RunStatus.REJECTED, NOW + 2 * DAYS * DAY
    assert clear(engine, NOW + 2 * DAYS * DAY) == 0, "it was looked at a moment ago"
    assert clear(engine, NOW + 3 * DAYS * DAY) == 1


def test_the_file_is_gone_in_time_and_no_backup_misses_it(
    sqlite_engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings(data_dir=tmp_path, database_url=sqlite_engine.url.render_as_string(hide_password=False))
    add_competition(sqlite_engine, per_day=None)
    person = add_user(sqlite_engine, "ada")
    paths = {}
    for content, end in (("rejected", world.reject), ("scored", lambda engine, run: world.score(engine, run, 0.5))):
        stored = store_upload([content.encode()], FolderStorage(settings.storage_dir), 10**6)
        paths[content] = stored_path(settings.storage_dir, stored.sha256)
        end(sqlite_engine, submit(sqlite_engine, person, content=content).run_id)
    clear(sqlite_engine, NOW + DAYS * DAY)
    later = paths["rejected"].stat().st_mtime + YOUNG_SECONDS + 1
    clear_unowned(sqlite_engine, FolderStorage(settings.storage_dir), later)
    clear_unowned(sqlite_engine, FolderStorage(settings.storage_dir), later + ASIDE_SECONDS + 1)
    assert {content: path.exists() for content, path in paths.items()} == {"rejected": False, "scored": True}
    assert list((settings.storage_dir / "unowned").iterdir()) == []
    manifest = make_backup(settings, tmp_path / "backup", now=NOW)
    assert len(manifest.files) == 1
    assert not [name for name in manifest.missing for path in paths.values() if path.name in name]


def test_nothing_but_the_file_is_given_up(engine: Engine, ada: User) -> None:
    sent = submit(engine, ada, content="rejected")
    world.reject(engine, sent.run_id)
    clear(engine, NOW + timedelta(days=DAYS))
    with reading(engine) as session:
        submission, run = session.get_one(Submission, sent.submission.id), session.get_one(ScoringRun, sent.run_id)
    assert (submission.file_cleared_at, run.status) == (NOW + timedelta(days=DAYS), RunStatus.REJECTED)
    assert run.problems
