"""Rows of the neighbours that no rule needs to make: gold, declarations, messages, a round, a download."""

from __future__ import annotations

import hashlib
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Engine, delete, update

from app.base.db import writing
from app.competitions.find import find_board, find_competition, find_phase_task
from app.gold.versions import list_gold
from app.models import (
    Allowance,
    Announcement,
    Blueprint,
    BlueprintFile,
    BundleUpload,
    Competition,
    FileDownload,
    GoldCheck,
    GoldVersion,
    HistoricRow,
    ImageFile,
    JudgedEntry,
    JudgingAnnotator,
    JudgingRound,
    MailChoice,
    Question,
    RescoredTask,
    Revision,
    RevisionFile,
    RevisionSource,
    RoundSource,
    ScoringRun,
    SealedFile,
    SealedKind,
    Submission,
    User,
    Validation,
    ValidationStatus,
)
from tests.world import DAY, HOUR, NOW, PHASE, TASK

#: No sweep takes what was written then for something that its owner has left.
NEVER_LEFT = NOW + 4_000 * DAY


def add_gold(engine: Engine, competition: str, phase: str, task: str, at: datetime, *, in_use: bool = True) -> None:
    """Add the next version of a task's gold, as if a worker had found it right; its file does not exist."""
    with writing(engine) as session:
        phase_task = find_phase_task(session, competition, phase, task)
        number = len(list_gold(session, phase_task)) + 1
        digest = hashlib.sha256(f"{competition}/{phase}/{task} {number}".encode()).hexdigest()
        file = SealedFile(kind=SealedKind.GOLD, sha256=digest, size_bytes=1_000, sealed_at=at)
        session.add(file)
        session.flush()
        session.add(
            GoldVersion(
                phase_task_id=phase_task.id,
                number=number,
                commitment=digest[::-1],
                filename=f"gold-{number}.csv",
                content_bytes=900,
                sealed_file_id=file.id,
                created_at=at,
                published_at=at if in_use else None,
                check_state=GoldCheck.VALID,
                checked_at=at,
                check_sent_at=at,
            )
        )


def forget_gold(engine: Engine) -> None:
    """Delete the neighbours' sealed gold, for tests that open every sealed file: it was sealed for nobody."""
    with writing(engine) as session:
        for table in (ScoringRun, RescoredTask):
            session.execute(update(table).values(gold_version_id=None))
        session.execute(delete(GoldVersion))
        session.execute(delete(SealedFile))


def add_rest(
    engine: Engine, competition: Competition, *, gus: User, nina: User, anton: User, submission_id: UUID
) -> None:
    """Add the remaining rows: gus takes part, nina organises, anton judges. submission_id: one of gus's."""
    _add_declarations(engine, competition, nina)
    _add_messages(engine, competition, gus, nina)
    _add_round(engine, competition, anton, submission_id)
    _add_what_is_allowed_and_done(engine, competition, gus, submission_id)


def _add_declarations(engine: Engine, competition: Competition, nina: User) -> None:
    """Add four revisions with the names of a test's own, written by others, a draft of nina's, and a bundle of hers."""
    at = NOW - 8 * DAY
    with writing(engine) as session:
        for number, source in enumerate(
            (RevisionSource.FILE, RevisionSource.EDIT, RevisionSource.FILE, RevisionSource.EDIT)
        ):
            revision = Revision(
                competition_id=competition.id,
                number=number + 1,
                source=source,
                made_at=at + number * DAY,
                author="next door",
                note="Next door.",
                document=_declared(competition.name, number),
                fingerprint=f"next door {number}",
                changes=["changed next door"],
            )
            session.add(revision)
            session.flush()
            session.add(RevisionFile(revision_id=revision.id, path="items.csv", sha256="2" * 64, size_bytes=20))
        blueprint = Blueprint(owner_id=nina.id, competition_id=competition.id, base=4, made_at=at)
        blueprint.document, blueprint.changed_at = _declared(competition.name, 4), NEVER_LEFT
        session.add(blueprint)
        session.flush()
        session.add(BlueprintFile(blueprint_id=blueprint.id, path="items.csv", sha256="2" * 64, size_bytes=20))
        session.add(ImageFile(competition_id=competition.id, sha256="3" * 64))
        bundle = BundleUpload(user_id=nina.id, secret_hash="4" * 64, announced_at=NOW - HOUR, claimed_at=NOW - HOUR)
        bundle.finished_at, bundle.competition = NOW - HOUR, competition.name
        session.add(bundle)


def _declared(name: str, number: int) -> dict[str, Any]:
    column = {"metric": "macro_f1", "split": "zero_shot/all"}
    return {
        "name": name,
        "title": f"Next door {number}",
        "tasks": [{"name": TASK, "type": "idiom-detection", "title": "Next door"}],
        "boards": [{"name": "zero-shot", "title": "Next door", "task": TASK, "columns": [column]}],
        "phases": [
            {
                "name": PHASE,
                "title": "Next door",
                "start": "2026-01-01 12:00 UTC",
                "tasks": {TASK: {"gold": "other.csv"}},
            }
        ],
    }


def _add_messages(engine: Engine, competition: Competition, gus: User, nina: User) -> None:
    """Add an announcement and a withdrawn one; a public answer, a private one, and a question without an answer."""
    here, at = competition.id, NOW - 5 * DAY
    with writing(engine) as session:
        for title, withdrawn_at in (("Next door opens", None), ("Next door closes", at + HOUR)):
            announcement = Announcement(competition_id=here, title=title, text="Look.", author_id=nina.id)
            announcement.published_at, announcement.withdrawn_at = at, withdrawn_at
            session.add(announcement)
        for title, answer, is_public in (("Public?", "Yes.", True), ("Private?", "No.", False), ("Open?", "", False)):
            answered = {"answered_at": at + HOUR, "answered_by_id": nina.id} if answer else {}
            question = Question(competition_id=here, asker_id=gus.id, title=title, text="Next door.", asked_at=at)
            question.answer, question.is_public = answer, is_public
            for name, value in answered.items():
                setattr(question, name, value)
            session.add(question)
        session.add(MailChoice(user_id=gus.id, announcements=True, results=True, salt="salt"))


def _add_round(engine: Engine, competition: Competition, anton: User, submission_id: UUID) -> None:
    """Add a round that has begun and is not published."""
    with writing(engine) as session:
        phase_task = find_phase_task(session, competition.name, PHASE, TASK)
        judging = JudgingRound(
            competition_id=competition.id,
            phase_task_id=phase_task.id,
            name="human",
            source=RoundSource.BROWSER,
            seed=1,
            created_at=NOW - 2 * DAY,
        )
        session.add(judging)
        session.flush()
        session.add(JudgedEntry(round_id=judging.id, submission_id=submission_id, languages=["en"]))
        session.add(JudgingAnnotator(round_id=judging.id, language="en", name=anton.username, user_id=anton.id))


def _add_what_is_allowed_and_done(engine: Engine, competition: Competition, gus: User, submission_id: UUID) -> None:
    """Add an extension that has passed, a published result from elsewhere, a download, a check."""
    with writing(engine) as session:
        submission = session.get_one(Submission, submission_id)
        phase, board = find_board(find_competition(session, competition.name), PHASE, "zero-shot")
        session.add_all(
            [
                Allowance(
                    phase_id=phase.id,
                    team_id=submission.team_id,
                    until=NOW - 2 * DAY,
                    extra_total=3,
                    reason="Next door was ill.",
                    granted_at=NOW - 4 * DAY,
                ),
                HistoricRow(
                    phase_id=phase.id,
                    board_id=board.id,
                    team="Next Door 2019",
                    scores={"macro_f1 zero_shot/all": 0.97},
                    source="A paper",
                ),
                FileDownload(
                    competition_id=competition.id,
                    user_id=gus.id,
                    phase=PHASE,
                    task=TASK,
                    file="blind.csv",
                    sha256="0" * 64,
                    downloaded_at=NOW - 8 * DAY,
                ),
                Validation(
                    user_id=gus.id,
                    phase_task_id=find_phase_task(session, competition.name, "post", TASK).id,
                    sha256="1" * 64,
                    size_bytes=10,
                    status=ValidationStatus.VALID,
                    attempts=1,
                    asked_at=NOW - HOUR,
                    finished_at=NOW - HOUR,
                ),
            ]
        )
