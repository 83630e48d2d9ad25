"""The content of an archive of a user's data: JSON by subject, and the user's files, as parts of one zip.

Scores are those that the user may see at this moment: an archive never shows what a page would hide. Of secrets only
the names are included, because only their hashes are stored. Gold belongs to its competition, not to a user.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Engine, Row, Select, func, or_, select
from sqlalchemy.orm import Session

from app.base.db import in_batches, reading
from app.base.errors import StorageDamaged
from app.base.storage import Storage, lent_file
from app.base.zip_stream import ZipStream
from app.competitions.visibility import Viewer
from app.exports.predictions import safe_name
from app.feedback.scores import own_scores_of_all
from app.feedback.views import describe_submission
from app.models import (
    AcceptedTerms,
    Announcement,
    ApiToken,
    AuditEntry,
    Authenticator,
    Blueprint,
    BlueprintFile,
    BundleUpload,
    CardVersion,
    Competition,
    CompetitionBlock,
    CompetitionRole,
    CompetitionTask,
    DigestItem,
    EntryChoice,
    FileDownload,
    FormerMember,
    HeldUpload,
    HiddenText,
    Identity,
    JudgedText,
    Judgement,
    JudgingAnnotator,
    JudgingRound,
    KnownDevice,
    LoginSession,
    MailChoice,
    MergeOffer,
    OrganisingRequest,
    OutgoingMail,
    Passkey,
    PublicationConsent,
    Question,
    RecoveryCode,
    Registration,
    RoleInvitation,
    Submission,
    System,
    Team,
    TeamMember,
    TextReport,
    User,
    Validation,
    Webhook,
)
from app.runs.stages import stage_of
from app.submissions.find import current_run, load_submissions

#: Number of submissions loaded at a time.
_AT_ONCE = 200

_README = """\
Everything that this server stores about {username}, as of {now}.

account.json        the account, how you log in, tokens, second factors, roles, mail preferences, webhooks
competitions.json   where you take part: registrations, answers, accepted terms, teams, consents
submissions.json    what you submitted, with the scores that you see now; files are below submissions/
cards.json          versions of method cards that you wrote
messages.json       questions, announcements, requests, reports, hidden texts, and mails that are still stored
judgements.json     your marks as an annotator
activity.json       downloads, checked files, and what the audit log has under your name
drafts.json         unfinished declarations; their files are below drafts/

Passwords, secrets of tokens and of log-ins are not stored, only hashes of them. Gold is its competition's, and is not
here. Data that you and others can see anyway, such as boards, are on the server's pages.
"""


_MISSING = """\
The server no longer has these files, or they are damaged, so this archive does not contain them:

"""


def archive_chunks(engine: Engine, storage: Storage, user: User, now: datetime, *, number: int) -> Iterator[bytes]:
    """Yield the zip in chunks. number: id of the archive, which makes its content unique."""
    zipped = ZipStream()
    readme = _README.format(username=user.username, now=now.isoformat()) + f"\nArchive {number}.\n"
    yield zipped.text("README.txt", readme, now)
    for name, collect in _DOCUMENTS.items():
        with reading(engine) as session:
            yield zipped.text(name, _json(collect(session, user, now)), now)
    with reading(engine) as session:
        files = [*_submitted(session, user), *_drafted(session, user), *_held(session, user)]
    lost = []
    for path, sha256, at in files:
        try:
            with lent_file(storage, sha256) as local:
                yield from zipped.file(path, local, at)
        except (FileNotFoundError, StorageDamaged):
            lost.append(path)
    if lost:
        yield zipped.text("missing.txt", _MISSING + "".join(f"{path}\n" for path in lost), now)
    yield zipped.end()


def _json(document: Any) -> str:
    return json.dumps(document, ensure_ascii=False, indent=1, default=_as_text) + "\n"


def _as_text(value: Any) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, UUID):
        return str(value)
    raise TypeError(type(value).__name__)


def _rows(session: Session, query: Select[*tuple[Any, ...]]) -> list[dict[str, Any]]:
    """Return the rows as documents, by column names."""
    return [_document(row) for row in session.execute(query)]


def _document(row: Row[*tuple[Any, ...]]) -> dict[str, Any]:
    return dict(row._mapping)


# ----------------------------------------------------------------------------------------------------------- documents


def _account(session: Session, user: User, now: datetime) -> dict[str, Any]:
    def own(column: Any, *columns: Any) -> list[dict[str, Any]]:
        return _rows(session, select(*columns).where(column == user.id).order_by(columns[0]))

    account = ("username", "email", "email_confirmed_at", "display_name", "is_administrator", "orcid", "created_at")
    block = ("blocked_at", "blocked_reason")
    return {
        "account": {name: getattr(user, name) for name in (*account, *block)} | {"has_password": user.has_password},
        "log_ins": own(
            LoginSession.user_id,
            LoginSession.created_at,
            LoginSession.expires_at,
            LoginSession.seen_at,
            LoginSession.way,
            LoginSession.device,
        ),
        "known_browsers": own(KnownDevice.user_id, KnownDevice.seen_at),
        "tokens": own(
            ApiToken.user_id,
            ApiToken.created_at,
            ApiToken.name,
            ApiToken.prefix,
            ApiToken.scopes,
            ApiToken.expires_at,
            ApiToken.last_used_at,
            ApiToken.revoked_at,
        ),
        "identities": own(
            Identity.user_id,
            Identity.created_at,
            Identity.provider,
            Identity.issuer,
            Identity.subject,
            Identity.label,
            Identity.last_used_at,
        ),
        "authenticator": own(Authenticator.user_id, Authenticator.created_at, Authenticator.confirmed_at),
        "passkeys": own(Passkey.user_id, Passkey.created_at, Passkey.name, Passkey.last_used_at),
        "recovery_codes": own(RecoveryCode.user_id, RecoveryCode.id, RecoveryCode.used_at),
        "mail_choices": own(
            MailChoice.user_id,
            MailChoice.announcements,
            MailChoice.announcements_pace,
            MailChoice.results,
            MailChoice.results_pace,
        ),
        "webhooks": own(
            Webhook.owner_id,
            Webhook.created_at,
            Webhook.name,
            Webhook.form,
            Webhook.audience,
            Webhook.kinds,
            Webhook.address,
        ),
        "roles": _rows(
            session,
            select(
                Competition.name.label("competition"),
                CompetitionRole.role,
                CompetitionRole.rights,
                CompetitionRole.granted_at,
            )
            .join(CompetitionRole, CompetitionRole.competition_id == Competition.id)
            .where(CompetitionRole.user_id == user.id)
            .order_by(Competition.name),
        ),
        "owned_competitions": list(
            session.scalars(select(Competition.name).where(Competition.owner_id == user.id).order_by(Competition.name))
        ),
        "invitations": _rows(
            session,
            select(
                Competition.name.label("competition"),
                RoleInvitation.role,
                RoleInvitation.address,
                RoleInvitation.invited_at,
                RoleInvitation.ended_at,
            )
            .join(RoleInvitation, RoleInvitation.competition_id == Competition.id)
            .where(or_(RoleInvitation.address == _address(user), RoleInvitation.invited_by_id == user.id))
            .order_by(RoleInvitation.id),
        ),
    }


def _address(user: User) -> str:
    """Return the address if it is confirmed, otherwise "": data sent to an unconfirmed address may belong to somebody
    else.
    """
    return user.email if user.email_confirmed else ""


def _competitions(session: Session, user: User, now: datetime) -> dict[str, Any]:
    name = Competition.name.label("competition")
    registrations = (
        select(
            name,
            Registration.status,
            Registration.registered_at,
            Registration.terms_accepted_at,
            AcceptedTerms.text.label("accepted_terms"),
            Registration.decided_at,
            Registration.answers,
        )
        .join(Registration, Registration.competition_id == Competition.id)
        .outerjoin(AcceptedTerms, AcceptedTerms.sha256 == Registration.terms_sha256)
    )
    teams = select(name, Team.name.label("team"), TeamMember.joined_at).join(TeamMember, TeamMember.team_id == Team.id)
    former = select(name, Team.name.label("team"), FormerMember.joined_at, FormerMember.left_at).join(
        FormerMember, FormerMember.team_id == Team.id
    )
    offers = select(name, Team.name.label("asked"), MergeOffer.asked_at, MergeOffer.status).join(
        MergeOffer, MergeOffer.asked_id == Team.id
    )
    consents = select(name, PublicationConsent.given_at).join(
        PublicationConsent, PublicationConsent.competition_id == Competition.id
    )
    here = Competition.id == Team.competition_id
    return {
        "registrations": _rows(session, registrations.where(Registration.user_id == user.id).order_by(name)),
        "teams": _rows(session, teams.join(Competition, here).where(TeamMember.user_id == user.id).order_by(name)),
        "former_teams": _rows(
            session, former.join(Competition, here).where(FormerMember.user_id == user.id).order_by(FormerMember.id)
        ),
        "offers_to_merge": _rows(
            session, offers.join(Competition, here).where(MergeOffer.user_id == user.id).order_by(MergeOffer.id)
        ),
        "consents_to_publication": _rows(session, consents.where(PublicationConsent.user_id == user.id).order_by(name)),
    }


def _submissions(session: Session, user: User, now: datetime) -> dict[str, Any]:
    viewer, listed = Viewer(user, now), []
    for ids in in_batches(_own_ids(session, user), _AT_ONCE):
        found = load_submissions(session, ids)
        own = own_scores_of_all(session, found, viewer)
        for one in found:
            stage = stage_of(session, current_run(one), one.phase_task.task.task_type, now, with_position=False)
            listed.append(describe_submission(one, stage, own[one.id], []).model_dump(mode="json"))
    chosen = select(EntryChoice.submission_id, EntryChoice.chosen_at).where(EntryChoice.user_id == user.id)
    return {"submissions": listed, "choices": _rows(session, chosen.order_by(EntryChoice.chosen_at))}


def _own_ids(session: Session, user: User) -> Sequence[UUID]:
    mine = select(Submission.id).where(Submission.user_id == user.id)
    return session.scalars(mine.order_by(Submission.submitted_at, Submission.id)).all()


def _cards(session: Session, user: User, now: datetime) -> dict[str, Any]:
    query = (
        select(
            Team.name.label("team"),
            CompetitionTask.name.label("task"),
            System.name.label("system"),
            CardVersion.number,
            CardVersion.changed_at,
            CardVersion.document,
        )
        .join(System, System.id == CardVersion.system_id)
        .join(Team, Team.id == System.team_id)
        .join(CompetitionTask, CompetitionTask.id == System.task_id)
        .where(CardVersion.user_id == user.id)
    )
    return {"cards": _rows(session, query.order_by(CardVersion.id))}


def _messages(session: Session, user: User, now: datetime) -> dict[str, Any]:
    name = Competition.name.label("competition")
    questions = select(
        name,
        Question.title,
        Question.text,
        Question.asked_at,
        Question.answer,
        Question.answered_at,
        Question.is_public,
    ).join(Question, Question.competition_id == Competition.id)
    announcements = select(name, Announcement.title, Announcement.text, Announcement.published_at).join(
        Announcement, Announcement.competition_id == Competition.id
    )
    request = OrganisingRequest
    requests = select(request.text, request.asked_at, request.is_approved, request.answer, request.answered_at)
    report = TextReport
    reports = select(name, report.kind, report.shown, report.reason, report.words, report.reported_at).join(
        report, report.competition_id == Competition.id
    )
    hidden = select(name, HiddenText.kind, HiddenText.reason, HiddenText.hidden_at, HiddenText.shown_at).join(
        HiddenText, HiddenText.competition_id == Competition.id
    )
    blocks = select(name, CompetitionBlock.reason, CompetitionBlock.blocked_at).join(
        CompetitionBlock, CompetitionBlock.competition_id == Competition.id
    )
    item = DigestItem
    title = func.coalesce(Announcement.title, item.title).label("title")
    text = func.coalesce(Announcement.text, item.text).label("text")
    digest = (
        select(name, title, text, item.written_at, item.due_at)
        .join(item, item.competition_id == Competition.id)
        .outerjoin(Announcement, Announcement.id == item.announcement_id)
        .where(Announcement.withdrawn_at.is_(None))
    )
    mail = OutgoingMail
    mails = select(mail.recipient, mail.subject, mail.body, mail.status, mail.created_at, mail.ended_at)
    return {
        "questions": _rows(session, questions.where(Question.asker_id == user.id).order_by(Question.id)),
        "announcements": _rows(
            session, announcements.where(Announcement.author_id == user.id).order_by(Announcement.id)
        ),
        "requests_to_organise": _rows(session, requests.where(request.user_id == user.id).order_by(request.id)),
        "reports": _rows(session, reports.where(report.reporter_id == user.id).order_by(report.id)),
        "hidden_texts": _rows(session, hidden.where(HiddenText.author_id == user.id).order_by(HiddenText.id)),
        "blocks": _rows(session, blocks.where(CompetitionBlock.user_id == user.id).order_by(name)),
        "next_digest": _rows(session, digest.where(item.user_id == user.id).order_by(item.id)),
        "mails": _rows(session, mails.where(mail.user_id == user.id).order_by(mail.id)),
    }


def _judgements(session: Session, user: User, now: datetime) -> dict[str, Any]:
    query = (
        select(
            JudgingRound.name.label("round"),
            JudgedText.language,
            JudgedText.item,
            JudgedText.paraphrase,
            Judgement.is_removed,
            Judgement.mwe_sense,
            Judgement.rest_sense,
            Judgement.naturalness,
            Judgement.decided_at,
        )
        .join(JudgingAnnotator, JudgingAnnotator.id == Judgement.annotator_id)
        .join(JudgingRound, JudgingRound.id == JudgingAnnotator.round_id)
        .join(JudgedText, JudgedText.id == Judgement.text_id)
        .where(JudgingAnnotator.user_id == user.id)
    )
    return {"judgements": _rows(session, query.order_by(Judgement.id))}


def _activity(session: Session, user: User, now: datetime) -> dict[str, Any]:
    name = Competition.name.label("competition")
    file = FileDownload
    downloads = select(name, file.phase, file.task, file.file, file.downloaded_at).join(
        file, file.competition_id == Competition.id
    )
    check = Validation
    checks = select(check.id, check.filename, check.size_bytes, check.asked_at, check.status, check.problems)
    entry = AuditEntry
    audit = select(entry.at, entry.actor, entry.action, entry.subject, entry.details)
    about = or_(entry.actor_id == user.id, entry.subject == f"user {user.username}")
    bundles = select(BundleUpload.announced_at, BundleUpload.competition, BundleUpload.details)
    held = select(HeldUpload.filename, HeldUpload.announced_at, HeldUpload.size_bytes)
    return {
        "downloads": _rows(session, downloads.where(file.user_id == user.id).order_by(file.id)),
        "checked_files": _rows(session, checks.where(check.user_id == user.id).order_by(check.asked_at)),
        "uploads_to_submit": _rows(
            session, held.where(HeldUpload.user_id == user.id).order_by(HeldUpload.announced_at)
        ),
        "bundles": _rows(session, bundles.where(BundleUpload.user_id == user.id).order_by(BundleUpload.id)),
        "audit_log": _rows(session, audit.where(about).order_by(entry.id)),
    }


def _drafts(session: Session, user: User, now: datetime) -> dict[str, Any]:
    query = select(Blueprint.id, Blueprint.made_at, Blueprint.changed_at, Blueprint.document)
    return {"drafts": _rows(session, query.where(Blueprint.owner_id == user.id).order_by(Blueprint.id))}


_DOCUMENTS = {
    "account.json": _account,
    "competitions.json": _competitions,
    "submissions.json": _submissions,
    "cards.json": _cards,
    "messages.json": _messages,
    "judgements.json": _judgements,
    "activity.json": _activity,
    "drafts.json": _drafts,
}

# --------------------------------------------------------------------------------------------------------------- files

#: Path in the zip, sha256 of the stored file, and its time.
_File = tuple[str, str, datetime]


def _submitted(session: Session, user: User) -> Iterator[_File]:
    mine = Submission.user_id == user.id, Submission.file_cleared_at.is_(None)
    query = select(Submission.id, Submission.filename, Submission.sha256, Submission.submitted_at).where(*mine)
    for one in session.execute(query.order_by(Submission.submitted_at, Submission.id)):
        yield f"submissions/{one.id}/{safe_name(one.filename) or 'predictions'}", one.sha256, one.submitted_at


def _drafted(session: Session, user: User) -> Iterator[_File]:
    query = (
        select(Blueprint.id, BlueprintFile.path, BlueprintFile.sha256, Blueprint.changed_at)
        .join(BlueprintFile, BlueprintFile.blueprint_id == Blueprint.id)
        .where(Blueprint.owner_id == user.id)
        .order_by(Blueprint.id, BlueprintFile.path)
    )
    for one in session.execute(query):
        path = "/".join(filter(None, map(safe_name, one.path.split("/"))))
        yield f"drafts/{one.id}/{path or 'file'}", one.sha256, one.changed_at


def _held(session: Session, user: User) -> Iterator[_File]:
    mine = HeldUpload.user_id == user.id, HeldUpload.sha256.is_not(None)
    query = select(HeldUpload.key, HeldUpload.filename, HeldUpload.sha256, HeldUpload.announced_at).where(*mine)
    for one in session.execute(query.order_by(HeldUpload.announced_at)):
        yield f"uploads/{one.key}/{safe_name(one.filename) or 'file'}", one.sha256, one.announced_at
