"""The archive of somebody's data: made once, by a worker, with everything of theirs and nothing that a page hides."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, select
from sqlalchemy.orm import Session
from structlog.testing import capture_logs

from app.base.config import Settings
from app.base.db import Base, reading, writing
from app.base.storage import FolderStorage, has_file, store_upload
from app.models import AccountDeletion, DataArchive, FileDownload, OutgoingMail, Submission, Team, User
from app.people import auth
from app.people.act import Act
from app.privacy.archives import (
    LEASE,
    ONCE_PER,
    RESEND,
    ArchiveNotReady,
    archives_to_send,
    claim_archive,
    expires_at,
    latest_archive,
    ready_archive,
    record_archive,
    release_archive,
    request_archive,
)
from app.privacy.contents import archive_chunks
from app.privacy.deletions import carry_out, plan_account_deletion
from tests.competitions.embargo import hide
from tests.world import COMPETITION, DAY, HOUR, NOW, add_competition, add_user, score, submit
from workers.archives import make
from workers.sweep import sweep_archives

CONTENT = "ID,Language,Setting,Label\n1,EN,zero_shot,0\n"


@pytest.fixture
def settings() -> Settings:
    return Settings()


@pytest.fixture
def storage(settings: Settings) -> FolderStorage:
    settings.storage_dir.mkdir(parents=True)
    settings.sealed_dir.mkdir(parents=True)
    return FolderStorage(settings.storage_dir)


@pytest.fixture
def ada(engine: Engine, storage: FolderStorage) -> User:
    """Return somebody with a scored submission, whose file exists; others exist, too."""
    add_competition(engine, per_day=None)
    ada, bob = add_user(engine, "ada"), add_user(engine, "bob")
    stored = store_upload([CONTENT.encode()], storage, 10**6)
    score(engine, submit(engine, ada, stored=stored, method="A method").run_id, 0.8125)
    score(engine, submit(engine, bob, content="of bob", method="Bob's secret sauce").run_id, 0.5)
    with writing(engine) as session:
        auth.create_token(session, bob, "bob's laptop", NOW)
    return ada


def ask(engine: Engine, user: User, now: Any = NOW) -> int:
    with writing(engine) as session:
        return request_archive(session, user, now).id


@pytest.fixture
def made(storage: FolderStorage, settings: Settings) -> FolderStorage:
    """Folder that workers write to."""
    return FolderStorage(settings.sealed_dir)


def opened(engine: Engine, made: FolderStorage, user: User) -> zipfile.ZipFile:
    """The user's archive that can be downloaded now."""
    with reading(engine) as session:
        archive = ready_archive(session, user)
    return zipfile.ZipFile(made.folder / (archive.sha256 or "")[:2] / (archive.sha256 or ""))


def document(archive: zipfile.ZipFile, name: str) -> Any:
    return json.loads(archive.read(name))


@pytest.mark.both
def test_it_has_what_is_stored_of_the_person_and_of_nobody_else(
    engine: Engine, made: FolderStorage, ada: User, settings: Settings
) -> None:
    with writing(engine) as session:
        auth.create_token(session, ada, "laptop", NOW)
        sent = session.scalars(select(Submission).where(Submission.user_id == ada.id)).one()
        sent.description = "note to self"
        session.add(
            FileDownload(
                competition_id=sent_competition(session, sent),
                user_id=ada.id,
                phase="evaluation",
                task="detection",
                file="blind.csv",
                sha256="0" * 64,
                downloaded_at=NOW,
            )
        )
    make(engine, settings, ask(engine, ada))
    archive = opened(engine, made, ada)
    assert archive.testzip() is None
    account = document(archive, "account.json")
    assert (account["account"]["email"], account["tokens"][0]["name"]) == ("ada@example.org", "laptop")
    [submission] = document(archive, "submissions.json")["submissions"]
    assert (submission["description"], submission["method"]) == ("note to self", "A method")
    assert {one["value"] for one in submission["scores"]} == {0.8125, 0.40625, None}
    assert archive.read(f"submissions/{submission['id']}/predictions.csv") == CONTENT.encode()
    assert document(archive, "competitions.json")["registrations"][0]["competition"] == COMPETITION
    assert document(archive, "activity.json")["downloads"][0]["file"] == "blind.csv"
    assert "token.create" in {one["action"] for one in document(archive, "activity.json")["audit_log"]}
    everything = b"".join(archive.read(name) for name in archive.namelist())
    assert b"bob" not in everything.lower()


def sent_competition(session: Session, submission: Submission) -> int:
    return session.get_one(Team, submission.team_id).competition_id


def test_hidden_scores_stay_hidden(engine: Engine, made: FolderStorage, ada: User, settings: Settings) -> None:
    hide(engine, board="hidden", own_scores="never")
    make(engine, settings, ask(engine, ada))
    [submission] = document(opened(engine, made, ada), "submissions.json")["submissions"]
    assert submission["scores"] == []
    assert submission["status"] == "scored"


def test_every_table_that_refers_to_people_is_in_it_or_says_why_not() -> None:
    """Check every table, so that each later one is either in the archive or excluded with a reason."""
    source = Path("app/privacy/contents.py").read_text("utf-8")
    left_out = {
        "account_deletions": "the page shows it",
        "allowances": "a decision of organisers about a team",
        "climbing_alerts": "a team's",
        "data_archives": "the archive itself",
        "email_confirmations": "hashes of links",
        "gold_versions": "gold is the competition's",
        "joining_codes": "the competition's",
        "password_resets": "hashes of links",
        "provider_logins": "log-ins under way, for minutes",
        "rescorings": "the competition's",
        "revisions": "the competition's, on its pages",
        "row_marks": "the competition's",
        "second_steps": "log-ins under way, for minutes",
        "team_invitations": "hashes of links",
        "teams": "as memberships",
        "users": "the account",
    }
    classes = {mapper.class_.__tablename__: mapper.class_.__name__ for mapper in Base.registry.mappers}
    refer = {
        table.name
        for table in Base.metadata.sorted_tables
        for key in table.foreign_keys
        if key.column.table.name == "users"
    }
    missing = {name for name in refer - set(left_out) if f"{classes[name]}," not in source}
    assert missing == set()


def test_one_a_day_and_only_when_it_is_ready(
    engine: Engine, made: FolderStorage, ada: User, settings: Settings
) -> None:
    first = ask(engine, ada)
    assert ask(engine, ada, NOW + HOUR) == first, "it is pending"
    with reading(engine) as session, pytest.raises(ArchiveNotReady):
        ready_archive(session, ada)
    make(engine, settings, first)
    assert ask(engine, ada, NOW + HOUR) == first, "it is young"
    second = ask(engine, ada, NOW + ONCE_PER)
    assert second != first
    make(engine, settings, first)  # a message that comes twice
    make(engine, settings, second)
    sweep_archives(engine, settings, NOW + ONCE_PER)
    with reading(engine) as session:
        ended = {one.id: one.ended_at is not None for one in session.scalars(select(DataArchive))}
        assert ended == {first: True, second: False}, "the newer one replaces it"
    assert len([one for one in made.listed() if one.size_bytes > 1000]) == 1


@pytest.mark.both
def test_its_owner_gets_a_mail_with_a_link_that_needs_a_log_in(
    engine: Engine, made: FolderStorage, ada: User, settings: Settings
) -> None:
    make(engine, settings, ask(engine, ada))
    with reading(engine) as session:
        [mail] = session.scalars(select(OutgoingMail).where(OutgoingMail.user_id == ada.id))
    assert mail.subject == "The archive of your data is ready"
    assert "/account/data" in mail.body


@pytest.mark.both
def test_a_lost_message_or_worker_costs_nothing_but_time(engine: Engine, ada: User) -> None:
    archive_id = ask(engine, ada)
    with writing(engine) as session:
        assert archives_to_send(session, NOW + RESEND / 2) == []
        assert archives_to_send(session, NOW + RESEND) == [archive_id]
    later = NOW + 2 * RESEND
    with writing(engine) as session:
        assert claim_archive(session, archive_id, attempts=3, now=later) is not None
        assert claim_archive(session, archive_id, attempts=3, now=later) is None, "another worker has it"
        assert archives_to_send(session, later + RESEND) == []
        assert archives_to_send(session, later + HOUR) == [archive_id], "that worker is lost"


def test_what_is_done_to_one_archive_is_not_done_to_anothers(
    engine: Engine, made: FolderStorage, ada: User, settings: Settings
) -> None:
    with reading(engine) as session:
        bob = session.scalars(select(User).where(User.username == "bob")).one()
    hers, his = ask(engine, ada), ask(engine, bob)
    with writing(engine) as session:
        for archive_id in (hers, his):
            assert claim_archive(session, archive_id, attempts=3, now=NOW) is not None
        release_archive(session, hers)
    with reading(engine) as session:
        leases = {one.user_id: one.lease_expires_at for one in session.scalars(select(DataArchive))}
    assert leases == {ada.id: None, bob.id: NOW + LEASE}
    make(engine, settings, hers)
    later = ask(engine, bob, NOW + 9 * DAY)
    assert later == his, "it is pending, however long"
    sweep_archives(engine, settings, NOW + DAY)
    with reading(engine) as session:
        states = {one.user_id: (one.ready_at is None, one.ended_at) for one in session.scalars(select(DataArchive))}
    assert states == {ada.id: (False, None), bob.id: (True, None)}, "his is newer, and replaces none of hers"


def test_after_the_last_attempt_it_ends_and_may_be_asked_for_again(engine: Engine, ada: User) -> None:
    archive_id = ask(engine, ada)
    for attempt in range(3):
        with writing(engine) as session:
            assert claim_archive(session, archive_id, attempts=3, now=NOW + attempt * HOUR) is not None
    with writing(engine) as session:
        assert claim_archive(session, archive_id, attempts=3, now=NOW + 3 * HOUR) is None
    with reading(engine) as session:
        latest = latest_archive(session, ada)
        assert latest is not None
        assert latest.ended_at == NOW + 3 * HOUR
    assert ask(engine, ada, NOW + 4 * HOUR) != archive_id


def test_its_file_goes_when_its_days_are_over(
    engine: Engine, made: FolderStorage, ada: User, settings: Settings
) -> None:
    make(engine, settings, ask(engine, ada))
    with reading(engine) as session:
        archive = ready_archive(session, ada)
    over, sha256 = expires_at(archive, settings), archive.sha256
    assert over is not None
    assert sha256 is not None
    sweep_archives(engine, settings, over - HOUR)
    assert has_file(made, sha256)
    sweep_archives(engine, settings, over)
    assert not has_file(made, sha256)
    with reading(engine) as session, pytest.raises(ArchiveNotReady):
        ready_archive(session, ada)


def test_a_file_that_cannot_be_removed_keeps_no_other(
    engine: Engine, made: FolderStorage, ada: User, settings: Settings
) -> None:
    for user in (ada, add_user(engine, "cleo")):
        make(engine, settings, ask(engine, user))
    with reading(engine) as session:
        first, second = session.scalars(select(DataArchive).order_by(DataArchive.id))
        over = expires_at(second, settings)
    assert over is not None
    stored = made.folder / str(first.sha256)[:2] / str(first.sha256)
    stored.unlink()
    stored.mkdir()
    (stored / "in-the-way").touch()
    with capture_logs() as logged:
        sweep_archives(engine, settings, over)
    assert ("archive_not_ended", first.id) in {(one["event"], one.get("archive_id")) for one in logged}
    with reading(engine) as session:
        ended = session.scalars(select(DataArchive.ended_at).order_by(DataArchive.id)).all()
    assert ended == [None, over], "the next sweep tries again"


def test_a_file_that_was_lost_is_named_and_keeps_nothing_else(
    engine: Engine, storage: FolderStorage, made: FolderStorage, ada: User, settings: Settings
) -> None:
    lost = submit(engine, ada, stored=store_upload([b"lost"], storage, 10**6)).submission
    (storage.folder / lost.sha256[:2] / lost.sha256).unlink()
    make(engine, settings, ask(engine, ada))
    archive = opened(engine, made, ada)
    assert archive.read("missing.txt").decode().splitlines()[-1] == f"submissions/{lost.id}/predictions.csv"
    assert [name for name in archive.namelist() if name.startswith("submissions/")] != []


def test_it_goes_with_the_account_made_or_not(
    engine: Engine, made: FolderStorage, ada: User, settings: Settings
) -> None:
    make(engine, settings, ask(engine, ada))
    pending = ask(engine, ada, NOW + 2 * DAY)
    with writing(engine) as session:
        claim_archive(session, pending, attempts=3, now=NOW)
        plan_account_deletion(Act(session, None, NOW, settings), ada, at_once=True)
    with writing(engine) as session:
        assert carry_out(session, ada.id, settings, NOW)
    stored = store_upload(archive_chunks(engine, made, ada, NOW, number=pending), made, 10**9)
    with writing(engine) as session:
        assert not record_archive(session, pending, stored, settings, NOW), "made by a worker that did not know"
    sweep_archives(engine, settings, NOW + HOUR)
    with reading(engine) as session:
        assert session.get_one(AccountDeletion, ada.id).done_at is not None
        assert all(one.ended_at is not None for one in session.scalars(select(DataArchive)))
        assert session.scalars(select(OutgoingMail.subject).where(OutgoingMail.recipient == ada.email)).all() == [
            "Your account was deleted"
        ]


def test_the_zip_is_read_by_ordinary_programs(engine: Engine, storage: FolderStorage, ada: User) -> None:
    with reading(engine) as session:
        chunks = b"".join(archive_chunks(engine, storage, session.get_one(User, ada.id), NOW, number=7))
    names = zipfile.ZipFile(io.BytesIO(chunks)).namelist()
    assert names[0] == "README.txt"
    assert len(names) == len(set(names))
