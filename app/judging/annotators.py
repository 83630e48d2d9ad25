"""Annotators: assigned to a language of a round; their marks are kept when they leave.

Judging requires both an assignment and the role `annotator` in the competition. Revoking the role therefore ends all
judging of that person there.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import delete, func, or_, select
from sqlalchemy.orm import Session, joinedload

from app.base import links
from app.base.addresses import public_address
from app.base.config import get_settings
from app.base.errors import Forbidden, NotFound
from app.base.text import refuse
from app.judging.errors import CannotJudge
from app.judging.rounds import check_unpublished, languages_of, lock_round, subject_of
from app.judging.selection import AUTOMATIC_METRICS
from app.models import (
    Competition,
    CompetitionRole,
    FormerMember,
    JudgedEntry,
    Judgement,
    JudgingAnnotator,
    JudgingRound,
    PhaseTask,
    Right,
    Role,
    RoundSource,
    Submission,
    Team,
    TeamKind,
    TeamMember,
    User,
)
from app.people.act import UserAct
from app.people.mail import send_mail
from app.people.rights import find_user, grant_role, has_role, may_organise
from evergold.scoring.characters import can_be_name

_MAIL = """\
Hello {username},

The organisers of {competition} assigned you outputs in {language} to judge:

{page}

Every mark is saved at once, so you can stop and continue at any time.
"""


@dataclass(frozen=True, slots=True)
class Assignment:
    """A language of a round, assigned to a user. judging: with phase and task loaded."""

    competition: Competition
    judging: JudgingRound
    annotator: JudgingAnnotator


def appoint(
    act: UserAct, competition: Competition, judging: JudgingRound, *, language: str, username: str
) -> JudgingAnnotator:
    """Assign a user to a language and return the assignment; idempotent.

    Raises InvalidForm for an unknown language or account, Forbidden for a member of a judged team, CannotJudge for an
    imported round, RoundPublished.
    """
    session = act.session
    lock_round(session, judging)
    check_unpublished(judging)
    if judging.source == RoundSource.IMPORT:
        raise CannotJudge("The marks of this round come from files, so nobody judges it in the browser.")
    user = _check_appointment(session, judging, language, username)
    found = _find(session, judging, language, user.username)
    if found is None:
        found = JudgingAnnotator(round_id=judging.id, language=language, name=user.username, user_id=user.id)
        session.add(found)
    elif found.user_id == user.id and has_role(session, user, competition, Role.ANNOTATOR):
        return found
    found.user_id = user.id
    grant_role(session, competition, user, Role.ANNOTATOR, act.now, actor=act.user)
    session.flush()
    what = {"language": language, "annotator": user.username}
    act.record("judging.appoint", subject_of(competition, judging), what)
    _mail_annotator(act, competition, judging, language, user)
    return found


def _mail_annotator(act: UserAct, competition: Competition, judging: JudgingRound, language: str, user: User) -> None:
    """Mail the address of the judging page to the annotator, if the annotator's address is confirmed."""
    page = public_address(get_settings(), links.judging(competition.name, judging.name, "items", language))
    body = _MAIL.format(username=user.username, language=language.upper(), competition=competition.title, page=page)
    subject = f"{competition.title}: paraphrases to judge"
    send_mail(act.session, user, subject, body, competition_id=competition.id, now=act.now)


def dismiss(act: UserAct, competition: Competition, judging: JudgingRound, *, language: str, username: str) -> None:
    """End a user's assignment; marks are kept. Raises NotFound, RoundPublished."""
    session = act.session
    lock_round(session, judging)
    check_unpublished(judging)
    found = _find(session, judging, language, username.strip().lower())
    if found is None or found.user_id is None:
        raise NotFound(f"'{username}' does not judge {language} in this round.")
    given = session.scalar(select(func.count()).where(Judgement.annotator_id == found.id))
    if given:
        found.user_id = None
    else:
        session.execute(delete(JudgingAnnotator).where(JudgingAnnotator.id == found.id))
    what = {"language": language, "annotator": found.name, "judgements": given}
    act.record("judging.dismiss", subject_of(competition, judging), what)


def list_assignments(session: Session, user: User, competition: Competition | None = None) -> list[Assignment]:
    """List the user's assignments: unpublished rounds first, and the newest of each first."""
    query = (
        select(JudgingAnnotator, JudgingRound, Competition)
        .join(JudgingRound, JudgingRound.id == JudgingAnnotator.round_id)
        .join(Competition, Competition.id == JudgingRound.competition_id)
        .join(
            CompetitionRole,
            (CompetitionRole.competition_id == Competition.id)
            & (CompetitionRole.user_id == JudgingAnnotator.user_id)
            & (CompetitionRole.role == Role.ANNOTATOR),
        )
        .options(joinedload(JudgingRound.phase_task).options(joinedload(PhaseTask.phase), joinedload(PhaseTask.task)))
        .where(JudgingAnnotator.user_id == user.id)
        .order_by(JudgingRound.published_at.is_not(None), JudgingRound.id.desc(), JudgingAnnotator.language)
    )
    if competition is not None:
        query = query.where(Competition.id == competition.id)
    return [Assignment(found, judging, annotator) for annotator, judging, found in session.execute(query)]


def may_judge_or_organise(session: Session, user: User | None, competition: Competition) -> bool:
    """Return True if the user may open judging pages, as an annotator, or as an organiser who may assign annotators."""
    if user is None:
        return False
    has_task = any(task.task_type in AUTOMATIC_METRICS for task in competition.tasks)
    return (has_task and may_organise(session, user, competition, Right.SUBMISSIONS)) or bool(
        list_assignments(session, user, competition)
    )


def find_assignment(
    session: Session, competition: Competition, judging: JudgingRound, language: str, user: User
) -> JudgingAnnotator:
    """Return the user's assignment in this round. Raises NotFound for everybody else."""
    query = select(JudgingAnnotator).where(
        JudgingAnnotator.round_id == judging.id,
        JudgingAnnotator.language == language,
        JudgingAnnotator.user_id == user.id,
    )
    found = session.scalar(query) if language.isprintable() else None  # PostgreSQL accepts no NUL
    if found is None or not has_role(session, user, competition, Role.ANNOTATOR):
        raise NotFound("This round of judgements does not exist, or you have no assignment in it.")
    return found


def _check_appointment(session: Session, judging: JudgingRound, language: str, username: str) -> User:
    fields: dict[str, str] = {}
    languages = languages_of(session, judging)
    if language not in languages:
        fields["language"] = f"There is nothing to judge in '{language}', only in {', '.join(languages)}."
    try:
        user = find_user(session, username)
    except NotFound as unknown:
        fields["username"] = unknown.message
    refuse(fields)
    team = _judged_team(session, judging, user)
    if team is not None:
        raise Forbidden(f"'{user.username}' belongs to team {team}, whose submission is judged in this round.")
    return user


def _judged_team(session: Session, judging: JudgingRound, user: User) -> str | None:
    """Return a current or former team of this user whose submissions are judged, None if there is none; baselines have
    no members.
    """
    present = select(TeamMember.team_id).where(TeamMember.user_id == user.id)
    past = select(FormerMember.team_id).where(FormerMember.user_id == user.id)
    return session.scalar(
        select(Team.name)
        .join(Submission, Submission.team_id == Team.id)
        .join(JudgedEntry, JudgedEntry.submission_id == Submission.id)
        .where(JudgedEntry.round_id == judging.id, Team.kind == TeamKind.TEAM)
        .where(
            or_(
                Submission.user_id == user.id,
                Team.id.in_(present),
                Team.id.in_(past),
                Submission.sent_for_id.in_(past),  # it has since merged into the team
            )
        )
        .limit(1)
    )


def _find(session: Session, judging: JudgingRound, language: str, name: str) -> JudgingAnnotator | None:
    query = select(JudgingAnnotator).where(
        JudgingAnnotator.round_id == judging.id,
        JudgingAnnotator.language == language,
        JudgingAnnotator.name == name,
    )
    return session.scalar(query) if can_be_name(f"{language}{name}") else None
