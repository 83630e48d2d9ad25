"""Erases an account in one transaction, so that it is anonymised completely or not at all.

Submissions that boards depend on are kept, under a neutral name if nobody else was in the team; personal texts, log-ins
and addresses are deleted. `GOES` and `STAYS` decide this for each reference to an account; a test finds references that
are in neither.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

from sqlalchemy import Table, and_, delete, exists, or_, select, update
from sqlalchemy.orm import InstrumentedAttribute, Session

from app.base.addresses import public_address
from app.base.config import Settings
from app.base.dependents import delete_with_dependents
from app.base.errors import NotFound
from app.boards.snapshots import rename_in_snapshots
from app.competitions.changed import boards_changed
from app.models import (
    AccountDeletion,
    ApiToken,
    Authenticator,
    Blueprint,
    BundleUpload,
    Competition,
    CompetitionBlock,
    CompetitionRole,
    DataArchive,
    DigestItem,
    EmailConfirmation,
    FileDownload,
    FormerMember,
    HeldUpload,
    HiddenText,
    Identity,
    JudgingAnnotator,
    KnownDevice,
    LoginSession,
    MailChoice,
    OrganisingRequest,
    OutgoingMail,
    Passkey,
    PasswordReset,
    ProviderLogin,
    PublicationConsent,
    Question,
    RecoveryCode,
    RefusedRequests,
    Registration,
    Revision,
    RoleInvitation,
    RunStatus,
    ScoringHold,
    ScoringRun,
    SecondStep,
    ServerAnnouncement,
    ServerSetting,
    Submission,
    System,
    Team,
    TeamKind,
    TeamMember,
    TextKind,
    TextReport,
    User,
    Validation,
    Webhook,
)
from app.models.accounts import NO_ADDRESS
from app.people import audit
from app.people.act import UserAct
from app.people.mail import send_farewell
from app.privacy.audit_names import Erased, erase_names
from app.rescoring.publishing import rename_in_differences
from app.teams.find import is_name_taken
from app.teams.membership import leave_team

#: Name of a team, and display name of an account, after the owner's data were erased.
NEUTRAL_NAME = "Deleted participant"
#: The actor of the last audit entry about an account.
ACTOR = "deletion of accounts"
#: Title and text that replace a deleted public question whose answer stays.
QUESTION_TITLE, QUESTION_TEXT = "Deleted question", "This question was deleted with its author's account."

#: Rows that are deleted with the account to which they refer.
GOES: tuple[InstrumentedAttribute[Any], ...] = (
    ApiToken.user_id,
    Authenticator.user_id,
    Blueprint.owner_id,
    BundleUpload.user_id,
    CompetitionBlock.user_id,
    CompetitionRole.user_id,
    DigestItem.user_id,
    EmailConfirmation.user_id,
    FileDownload.user_id,
    HeldUpload.user_id,
    HiddenText.author_id,
    Identity.user_id,
    KnownDevice.user_id,
    LoginSession.user_id,
    MailChoice.user_id,
    OrganisingRequest.user_id,
    OutgoingMail.user_id,
    Passkey.user_id,
    PasswordReset.user_id,
    ProviderLogin.linking_id,
    ProviderLogin.mailed_to_id,
    PublicationConsent.user_id,
    RecoveryCode.user_id,
    Registration.user_id,
    SecondStep.user_id,
    TeamMember.user_id,
    TextReport.reporter_id,
    Validation.user_id,
    Webhook.owner_id,  # it sends the owner's view to an address of the owner
)
#: Columns with the user name of the person who decided something for others; it is replaced.
BY_NAME: tuple[InstrumentedAttribute[Any], ...] = (
    CompetitionBlock.blocked_by,
    HiddenText.hidden_by,
    HiddenText.shown_by,
    OrganisingRequest.answered_by,
    Registration.decided_by,
    ScoringHold.held_by,
    ServerAnnouncement.created_by,
    ServerSetting.changed_by,
    TextReport.closed_by,
)
#: References that are kept, to an account without a name, with the reason for each.
STAYS: Mapping[str, str] = {
    "account_deletions.user_id": "says that it was deleted",
    "allowances.user_id": "who granted an extension: the team still has it",
    "announcements.author_id": "announcements are the competition's",
    "audit_log.actor_id": "what was done stays, without a name",
    "competitions.owner_id": "an owner hands over first",
    "data_archives.user_id": "the sweep deletes its file, then the row",
    "entry_choices.user_id": "the choice is the team's",
    "former_members.user_id": "quotas of the teams count by it",
    "gold_versions.created_by_id": "gold is the competition's",
    "joining_codes.made_by_id": "codes are the competition's",
    "judging_annotators.user_id": "set to nobody, with a neutral name: the marks are part of results",
    "merge_offers.user_id": "offers are the team's",
    "method_cards.user_id": "cards describe what boards show",
    "questions.asker_id": "deleted, unless others rely on a public answer; its text goes",
    "questions.answered_by_id": "answers are the competition's",
    "rescorings.created_by_id": "rescorings are the competition's",
    "revisions.author_id": "declarations are the competition's",
    "role_invitations.invited_by_id": "invitations are the competition's",
    "row_marks.user_id": "marks are the competition's",
    "submissions.user_id": "boards depend on them",
    "team_invitations.created_by_id": "links are the team's, and end in days",
    "teams.captain_id": "leaving a team names another one",
}


def erase(session: Session, user: User, settings: Settings, now: datetime) -> None:
    """Erase the account. The caller has locked it, found no obstacle, and commits."""
    deletion = session.get_one(AccountDeletion, user.id)
    deletion.is_erasing = True  # until the end of this function; the audit log's triggers ask for it
    session.flush()
    person = _Person(user.id, user.username, user.email)
    teams = _leave_teams(session, user, settings, now)
    _erase_texts(session, user)
    questions = _erase_questions(session, user)
    was_reachable = user.email_confirmed_at is not None
    _delete_rows(session, person, now)
    if was_reachable:
        _write_farewell(session, person.email, settings, now)
    _make_nobody(session, user)
    renamed = _settle_teams(session, teams, now)
    _erase_moderation(session, questions, renamed)
    names = Erased(person.id, person.username, person.email, neutral_username(person.id), renamed, questions)
    erase_names(session, names)
    audit.record(session, ACTOR, "account.deleted", f"user {neutral_username(person.id)}", now=now)
    deletion.is_erasing, deletion.done_at = False, now
    session.flush()


@dataclass(frozen=True, slots=True)
class _Person:
    """The user of the account, before it is erased."""

    id: int
    username: str
    email: str


def neutral_username(user_id: int) -> str:
    """Return the user name of a deleted account, which nobody can choose because it contains a space."""
    return f"{NEUTRAL_NAME.lower()} {user_id}"


_FAREWELL = """\
Hello,

Your account on {server} was deleted. This was its last mail.
"""


def _write_farewell(session: Session, address: str, settings: Settings, now: datetime) -> None:
    """Queue the last mail to a deleted account; it is deleted as soon as it is sent or given up
    (`app.people.mail.forget_ended`).
    """
    body = _FAREWELL.format(server=public_address(settings, "/"))
    send_farewell(session, address, "Your account was deleted", body, now)


# --------------------------------------------------------------------------------------------------------------- teams


def _leave_teams(session: Session, user: User, settings: Settings, now: datetime) -> dict[int, str]:
    """Leave every team, which continues with its other members; return id and name of those that had no other member
    ever.
    """
    is_theirs = or_(
        Team.id.in_(select(TeamMember.team_id).where(TeamMember.user_id == user.id)),
        Team.id.in_(select(FormerMember.team_id).where(FormerMember.user_id == user.id)),
        Team.id.in_(select(Submission.team_id).where(Submission.user_id == user.id)),
        Team.id.in_(select(Submission.sent_for_id).where(Submission.user_id == user.id)),
        Team.captain_id == user.id,
    )
    known = {
        row.id: row.name
        for row in session.execute(select(Team.id, Team.name).where(Team.kind == TeamKind.TEAM, is_theirs))
    }
    joined = select(Competition).join(TeamMember, TeamMember.competition_id == Competition.id)
    for competition in session.scalars(joined.where(TeamMember.user_id == user.id).order_by(Competition.id)).all():
        try:
            leave_team(UserAct(session, user, now, settings), competition)
        except NotFound:  # removed by the captain meanwhile
            continue
    return {team_id: name for team_id, name in sorted(known.items()) if not _has_others(session, team_id, user)}


def _has_others(session: Session, team_id: int, user: User) -> bool:
    """Return whether anybody else is or was a member of the team."""
    of_others = (
        exists().where(TeamMember.team_id == team_id),
        exists().where(FormerMember.team_id == team_id, FormerMember.user_id != user.id),
        exists().where(
            or_(Submission.team_id == team_id, Submission.sent_for_id == team_id), Submission.user_id != user.id
        ),
    )
    return bool(session.scalar(select(or_(*of_others))))


def _settle_teams(session: Session, teams: Mapping[int, str], now: datetime) -> Mapping[int, tuple[str, str]]:
    """Delete teams on which no board depends; give the others neutral names, and return old and new name by team."""
    names = {team_id: (before, NEUTRAL_NAME) for team_id, before in teams.items()}
    for team_id, before in teams.items():
        team = session.get(Team, team_id, with_for_update=True, populate_existing=True)
        if team is None:  # without submissions: it was deleted when its last member left
            continue
        if not _matters(session, team_id):
            session.expunge(team)
            table = cast(Table, Team.__table__)
            delete_with_dependents(session, table, table.c.id == team_id)
            continue
        team.name, team.captain_id = _free_name(session, team), None
        session.flush()
        names[team_id] = (before, team.name)
        _release_rejected_files(session, team_id, now)
        rename_in_snapshots(session, team)
        rename_in_differences(session, team)
        boards_changed(session, select(Submission.phase_task_id).where(Submission.team_id == team_id))
    return names


def _matters(session: Session, team_id: int) -> bool:
    """Return whether anything of the team was ever scored, or now belongs to another team."""
    was_scored = exists().where(
        Submission.team_id == team_id, ScoringRun.submission_id == Submission.id, ScoringRun.status == RunStatus.SCORED
    )
    is_merged = exists().where(
        or_(Team.id == team_id, Team.merged_into_id == team_id), Team.merged_into_id.is_not(None)
    )
    is_elsewhere = exists().where(Submission.sent_for_id == team_id)
    return bool(session.scalar(select(or_(was_scored, is_merged, is_elsewhere))))


def _free_name(session: Session, team: Team) -> str:
    number = 1
    while True:
        name = NEUTRAL_NAME if number == 1 else f"{NEUTRAL_NAME} {number}"
        if not is_name_taken(session, team.competition_id, name, team):
            return name
        number += 1


def _release_rejected_files(session: Session, team_id: int, now: datetime) -> None:
    """Release the files of rejected submissions, which `app.operations.unowned` then deletes."""
    runs = exists().where(ScoringRun.submission_id == Submission.id)
    rejected = runs.where(ScoringRun.status == RunStatus.REJECTED)
    others = runs.where(ScoringRun.status != RunStatus.REJECTED)
    session.execute(
        update(Submission)
        .where(Submission.team_id == team_id, Submission.file_cleared_at.is_(None), rejected, ~others)
        .values(file_cleared_at=now)
        .execution_options(synchronize_session=False)
    )


# --------------------------------------------------------------------------------------------------------------- texts


def _erase_texts(session: Session, user: User) -> None:
    """Erase texts that the user wrote only for organisers: notes to files, and names of files."""
    sent = update(Submission).where(Submission.user_id == user.id)
    session.execute(
        sent.values(description="", filename="", idempotency_key=None).execution_options(synchronize_session=False)
    )
    session.execute(update(Revision).where(Revision.author_id == user.id).values(author=neutral_username(user.id)))


def _erase_questions(session: Session, user: User) -> frozenset[int]:
    """Delete the user's questions, except for public answers, which are kept. Return all their ids."""
    questions = session.scalars(select(Question).where(Question.asker_id == user.id)).all()
    for question in questions:
        if question.is_public and question.answered_at is not None:
            question.title, question.text, question.key = QUESTION_TITLE, QUESTION_TEXT, None
            question.shows_name = False
        else:
            session.delete(question)
    session.flush()
    return frozenset(question.id for question in questions)


def _erase_moderation(session: Session, questions: Collection[int], teams: Collection[int]) -> None:
    """Delete reports and hidden texts about the user's questions, and about teams without other members."""
    systems = session.scalars(select(System.id).where(System.team_id.in_(teams))).all()
    subjects = {TextKind.QUESTION: questions, TextKind.TEAM: teams, TextKind.SYSTEM: systems}
    for model in (TextReport, HiddenText):
        is_about_them = or_(*(and_(model.kind == kind, model.subject_id.in_(ids)) for kind, ids in subjects.items()))
        session.execute(delete(model).where(is_about_them).execution_options(synchronize_session=False))


# ---------------------------------------------------------------------------------------------------------------- rows


def _delete_rows(session: Session, person: _Person, now: datetime) -> None:
    for column in GOES:
        table = cast(Table, column.class_.__table__)
        delete_with_dependents(session, table, column == person.id)
    session.execute(delete(RoleInvitation).where(RoleInvitation.address == person.email))
    session.execute(delete(OutgoingMail).where(OutgoingMail.recipient == person.email))
    neutral = neutral_username(person.id)
    for column in BY_NAME:
        session.execute(update(column.class_).where(column == person.username).values({column.key: neutral}))
    session.execute(delete(RefusedRequests).where(RefusedRequests.who == f"user {person.id}"))
    judging = update(JudgingAnnotator).where(JudgingAnnotator.user_id == person.id)
    session.execute(judging.values(name=neutral, user_id=None))
    waiting = DataArchive.user_id == person.id, DataArchive.ready_at.is_(None), DataArchive.ended_at.is_(None)
    session.execute(update(DataArchive).where(*waiting).values(ended_at=now))


def _make_nobody(session: Session, user: User) -> None:
    """Remove name, address and all rights from the account; the row stays because other rows refer to it."""
    user.username, user.display_name = neutral_username(user.id), NEUTRAL_NAME
    user.email, user.email_confirmed_at = f"{secrets.token_hex(12)}@{NO_ADDRESS}", None
    user.password_hash, user.orcid = None, None
    user.is_administrator = user.is_approved_organiser = user.is_barred_organiser = False
    user.blocked_at, user.blocked_reason = None, ""
    session.flush()
