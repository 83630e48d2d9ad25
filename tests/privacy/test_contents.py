"""An archive has every row of its person, under the names of its columns, and no row of anybody else's."""

from __future__ import annotations

import io
import json
import zipfile
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import Engine, select

from app.base.db import reading, writing
from app.base.storage import FolderStorage, store_upload
from app.competitions.find import find_competition
from app.models import (
    Announcement,
    Blueprint,
    BlueprintFile,
    Board,
    CardVersion,
    CompetitionBlock,
    DigestItem,
    EntryChoice,
    FormerMember,
    HeldUpload,
    HiddenText,
    Identity,
    JudgedText,
    Judgement,
    JudgingAnnotator,
    JudgingRound,
    MergeOffer,
    OrganisingRequest,
    OutgoingMail,
    PublicationConsent,
    Question,
    ReportReason,
    Right,
    Role,
    RoleInvitation,
    RoundSource,
    Submission,
    System,
    Team,
    TextKind,
    TextReport,
    User,
)
from app.people import auth
from app.people.rights import grant_role
from app.privacy.contents import archive_chunks
from tests import world
from tests.competitions.embargo import MINUTE
from tests.world import COMPETITION, DAY, HOUR, NOW, add_user

#: No two moments of a row are the same.
LATER, LAST = NOW + HOUR, NOW + DAY
AT, AFTER, AT_LAST = NOW.isoformat(), LATER.isoformat(), LAST.isoformat()
DATES = {"asked_at": NOW, "answered_at": LATER}


@pytest.fixture
def storage(tmp_path: Path) -> FolderStorage:
    folder = tmp_path / "stored"
    folder.mkdir()
    return FolderStorage(folder)


@pytest.fixture
def ada(sqlite_engine: Engine, storage: FolderStorage) -> User:
    """Add one row of each kind of Ada's and of Bob's, with their name in its words, Bob's first; return Ada."""
    world.add_competition(sqlite_engine, per_day=None)
    bob, ada = (add_user(sqlite_engine, name) for name in ("bob", "ada"))
    for user in (bob, ada):
        _take_part(sqlite_engine, user, storage)
        _say_something(sqlite_engine, user)
        _do_something_else(sqlite_engine, user, storage)
    return ada


def _take_part(engine: Engine, user: User, storage: FolderStorage) -> None:
    content = f"file of {user.username}"
    stored = store_upload([content.encode()], storage, 10**6)
    sent = world.submit(engine, user, NOW, stored=stored)
    with writing(engine) as session:
        submission = session.get_one(Submission, sent.submission.id)
        submission.filename = f"{user.username}.csv"
        here, team = find_competition(session, COMPETITION), session.get_one(Team, submission.team_id)
        board = session.scalars(select(Board).where(Board.competition_id == here.id, Board.name == "zero-shot")).one()
        left = Team(competition_id=here.id, name=f"Left by {user.username}", created_at=NOW)
        system = System(team_id=team.id, task_id=board.task_id, name=f"System of {user.username}", created_at=NOW)
        session.add_all([left, system])
        session.flush()
        place = {"team_id": team.id, "phase_task_id": submission.phase_task_id, "board_id": board.id}
        member = {"team_id": left.id, "user_id": user.id, "competition_id": here.id}
        card = {"system_id": system.id, "user_id": user.id, "document": {"method": f"Card of {user.username}"}}
        session.add_all(
            [
                EntryChoice(**place, submission_id=submission.id, user_id=user.id, chosen_at=LATER),
                FormerMember(**member, joined_at=NOW, left_at=LATER),
                CardVersion(**card, number=7, changed_at=LAST),
                MergeOffer(asking_id=team.id, asked_id=left.id, user_id=user.id, asked_at=NOW, answered_at=LATER),
                PublicationConsent(competition_id=here.id, user_id=user.id, given_at=LAST),
            ]
        )


def _say_something(engine: Engine, user: User) -> None:
    words = f"of {user.username}"
    with writing(engine) as session:
        here = find_competition(session, COMPETITION).id
        mine = {"competition_id": here, "user_id": user.id}
        news, gone = (
            Announcement(competition_id=here, author_id=user.id, title=f"{title} {words}", text=words, published_at=NOW)
            for title in ("News", "Gone")
        )
        gone.withdrawn_at = LATER
        session.add_all([news, gone])
        session.flush()
        item = {**mine, "kind": "results", "title": "", "text": "", "written_at": NOW, "due_at": LATER}
        report = {"competition_id": here, "kind": TextKind.QUESTION, "subject_id": 1, "shown": words, "words": words}
        hidden = {"competition_id": here, "kind": TextKind.QUESTION, "subject_id": 1, "places": [], "reason": words}
        mail = {"recipient": user.email, "user_id": user.id, "subject": words, "body": f"body {words}"}
        session.add_all(
            [
                DigestItem(**{**item, "title": f"Place {words}", "text": words}),
                DigestItem(**item, announcement_id=news.id),
                DigestItem(**item, announcement_id=gone.id),
                Question(competition_id=here, asker_id=user.id, title=words, text="Why?", answer=words, **DATES),
                OrganisingRequest(user_id=user.id, text=words, answer=f"No {words}", is_approved=False, **DATES),
                TextReport(**report, reason=ReportReason.SPAM, reporter_id=user.id, reported_at=LATER),
                HiddenText(**hidden, author_id=user.id, hidden_at=NOW, hidden_by="olga", shown_at=LATER),
                CompetitionBlock(**mine, reason=words, blocked_at=LATER, blocked_by="olga"),
                OutgoingMail(**mail, status="sent", created_at=NOW, next_attempt_at=LAST, ended_at=LATER),
            ]
        )


def _do_something_else(engine: Engine, user: User, storage: FolderStorage) -> None:
    words = f"of {user.username}"
    file = store_upload([f"draft {words}".encode()], storage, 10**6)
    with writing(engine) as session:
        here = find_competition(session, COMPETITION)
        grant_role(session, here, user, Role.ORGANISER, LATER, rights=[Right.GOLD])
        token, _ = auth.create_token(session, user, f"laptop {words}", NOW, days=9)
        token.last_used_at = LATER
        identity = {"provider": "uni", "issuer": "https://uni.example", "subject": words, "label": words}
        asked = {"competition_id": here.id, "role": Role.ANNOTATOR, "invited_at": NOW, "expires_at": LAST}
        judging = JudgingRound(
            competition_id=here.id,
            phase_task_id=world.the_phase_task(session).id,
            name=f"round {words}",
            source=RoundSource.BROWSER,
            seed=1,
            created_at=NOW,
        )
        draft = Blueprint(owner_id=user.id, document={"title": words}, made_at=NOW, changed_at=LATER)
        session.add_all([judging, draft])
        session.flush()
        annotator = JudgingAnnotator(round_id=judging.id, language="en", name=user.username, user_id=user.id)
        text = JudgedText(round_id=judging.id, language="en", item="7", paraphrase=words)
        text.text_key, text.sentence = f"{user.id:064d}", "A sentence."
        session.add_all([annotator, text])
        session.flush()
        marks = {"is_removed": True, "mwe_sense": 3, "rest_sense": 2, "naturalness": 1, "decided_at": LATER}
        held = {"filename": f"{user.username}.zip", "secret_hash": f"{user.id:064d}", "announced_at": NOW}
        session.add_all(
            [
                Identity(user_id=user.id, **identity, created_at=NOW, last_used_at=LATER),
                RoleInvitation(**asked, address=user.email, ended_at=LATER),
                RoleInvitation(**asked, address=f"friend-{words}@example.org", invited_by_id=user.id),
                Judgement(annotator_id=annotator.id, text_id=text.id, **marks),
                BlueprintFile(blueprint_id=draft.id, path="data/blind.csv", sha256=file.sha256, size_bytes=3),
                HeldUpload(user_id=user.id, **held, sha256=file.sha256, size_bytes=3),
            ]
        )


@pytest.fixture
def archive(sqlite_engine: Engine, storage: FolderStorage, ada: User) -> zipfile.ZipFile:
    made = b"".join(archive_chunks(sqlite_engine, storage, ada, LAST, number=3))
    return zipfile.ZipFile(io.BytesIO(made))


def document(archive: zipfile.ZipFile, name: str) -> Any:
    return json.loads(archive.read(f"{name}.json"))


def test_nothing_of_anybody_else_is_in_it(archive: zipfile.ZipFile) -> None:
    everything = b"".join(archive.read(name) for name in archive.namelist()) + " ".join(archive.namelist()).encode()
    assert b"of ada" in everything
    assert b"bob" not in everything.lower()


def test_where_one_takes_part_is_told_with_its_moments(sqlite_engine: Engine, archive: zipfile.ZipFile) -> None:
    found = document(archive, "competitions")
    assert [one["competition"] for name in found for one in found[name]] == [COMPETITION] * 5
    assert [one["status"] for one in found["registrations"]] == ["approved"]
    assert [one["team"] for one in found["teams"]] == ["Ada"]
    [former] = found["former_teams"]
    assert (former["team"], former["joined_at"], former["left_at"]) == ("Left by ada", AT, AFTER)
    assert [(one["asked"], one["asked_at"], one["status"]) for one in found["offers_to_merge"]] == [
        ("Left by ada", AT, "open")
    ]
    assert [one["given_at"] for one in found["consents_to_publication"]] == [AT_LAST]
    sent = document(archive, "submissions")
    assert [one["chosen_at"] for one in sent["choices"]] == [AFTER]
    assert [one["id"] for one in sent["submissions"]] == [one["submission_id"] for one in sent["choices"]]
    [card] = document(archive, "cards")["cards"]
    assert {key: card[key] for key in ("team", "task", "system", "number", "changed_at")} == {
        "team": "Ada",
        "task": "detection",
        "system": "System of ada",
        "number": 7,
        "changed_at": AT_LAST,
    }


def test_what_one_wrote_and_got_is_told_with_its_moments(archive: zipfile.ZipFile) -> None:
    found = document(archive, "messages")
    [question] = found["questions"]
    assert (question["title"], question["text"], question["answer"]) == ("of ada", "Why?", "of ada")
    assert (question["asked_at"], question["answered_at"]) == (AT, AFTER)
    assert [one["title"] for one in found["announcements"]] == ["News of ada", "Gone of ada"]
    [request] = found["requests_to_organise"]
    assert (request["asked_at"], request["answered_at"], request["is_approved"]) == (AT, AFTER, False)
    assert [(one["shown"], one["reported_at"]) for one in found["reports"]] == [("of ada", AFTER)]
    assert [(one["hidden_at"], one["shown_at"]) for one in found["hidden_texts"]] == [(AT, AFTER)]
    assert [one["blocked_at"] for one in found["blocks"]] == [AFTER]
    digest = [(one["title"], one["text"], one["written_at"], one["due_at"]) for one in found["next_digest"]]
    assert digest == [("Place of ada", "of ada", AT, AFTER), ("News of ada", "of ada", AT, AFTER)], "none withdrawn"
    [mail] = [one for one in found["mails"] if one["subject"] == "of ada"]
    assert (mail["body"], mail["status"], mail["created_at"], mail["ended_at"]) == ("body of ada", "sent", AT, AFTER)


def test_ways_in_and_roles_are_told_with_their_moments(archive: zipfile.ZipFile) -> None:
    found = document(archive, "account")
    [token] = found["tokens"]
    assert (token["name"], token["created_at"], token["last_used_at"]) == ("laptop of ada", AT, AFTER)
    assert token["expires_at"] == (NOW + 9 * DAY).isoformat()
    [identity] = found["identities"]
    assert (identity["subject"], identity["created_at"], identity["last_used_at"]) == ("of ada", AT, AFTER)
    assert [(one["role"], one["rights"], one["granted_at"]) for one in found["roles"]] == [("organiser", "gold", AFTER)]
    invitations = [(one["address"], one["invited_at"], one["ended_at"]) for one in found["invitations"]]
    assert invitations == [("ada@example.org", AT, AFTER), ("friend-of ada@example.org", AT, None)]
    assert found["owned_competitions"] == []


def test_marks_drafts_and_files_are_in_it(archive: zipfile.ZipFile) -> None:
    [mark] = document(archive, "judgements")["judgements"]
    assert (mark["round"], mark["item"], mark["paraphrase"]) == ("round of ada", "7", "of ada")
    assert (mark["mwe_sense"], mark["rest_sense"], mark["naturalness"], mark["decided_at"]) == (3, 2, 1, AFTER)
    [draft] = document(archive, "drafts")["drafts"]
    assert (draft["document"], draft["made_at"], draft["changed_at"]) == ({"title": "of ada"}, AT, AFTER)
    activity = document(archive, "activity")
    assert [(one["filename"], one["size_bytes"]) for one in activity["uploads_to_submit"]] == [("ada.zip", 3)]
    [submission] = document(archive, "submissions")["submissions"]
    contents = {name: archive.read(name) for name in archive.namelist() if "/" in name}
    assert contents.pop(f"submissions/{submission['id']}/ada.csv") == b"file of ada"
    assert contents.pop(f"drafts/{draft['id']}/data/blind.csv") == b"draft of ada"
    [(held, content)] = contents.items()
    assert (held.split("/")[0], UUID(held.split("/")[1]).version, held.split("/")[2]) == ("uploads", 4, "ada.zip")
    assert content == b"draft of ada"
    moments = {name: datetime(*archive.getinfo(name).date_time, tzinfo=NOW.tzinfo) for name in archive.namelist()}
    assert moments[f"submissions/{submission['id']}/ada.csv"] == NOW
    assert moments[f"drafts/{draft['id']}/data/blind.csv"] == LATER


def test_an_address_that_nobody_confirmed_has_no_invitations(
    sqlite_engine: Engine, storage: FolderStorage, ada: User
) -> None:
    """Check that messages sent to it are left out: they may be another person's."""
    with writing(sqlite_engine) as session:
        session.get_one(User, ada.id).email_confirmed_at = None
    with reading(sqlite_engine) as session:
        user = session.get_one(User, ada.id)
    made = b"".join(archive_chunks(sqlite_engine, storage, user, LAST + MINUTE, number=3))
    found = document(zipfile.ZipFile(io.BytesIO(made)), "account")["invitations"]
    assert [one["address"] for one in found] == ["friend-of ada@example.org"]
