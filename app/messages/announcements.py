"""Announcements of a competition: written, edited and withdrawn by organisers, and mailed to a group of their choice.

The mails are created in the transaction that publishes, so all or none are sent, even after a crash. Publishing again
with the same key returns the existing announcement and sends no further mail.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sqlalchemy import Select, and_, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session, joinedload

from app.base import links
from app.base.addresses import public_address
from app.base.errors import IdempotencyConflict, InvalidForm, NotFound
from app.base.text import many_lines, one_line, refuse, wrong_text
from app.competitions.changed import boards_changed
from app.messages.views import ReceiversOut
from app.models import (
    Announcement,
    Competition,
    CompetitionRole,
    MailChoice,
    Phase,
    PhaseTask,
    Right,
    Role,
    RunStatus,
    ScoringRun,
    Submission,
    TeamMember,
    User,
)
from app.models.messages import KEY_CHARACTERS, TITLE_CHARACTERS
from app.people.act import UserAct
from app.people.digests import hold_back
from app.people.mail import MailKind, choices_of, rows_of, send_mail, unsubscribe_address, wants
from app.people.rights import check_may_organise
from app.teams.registration import participants_of
from app.texts.html import text_fault


class GroupName(StrEnum):
    """The name of a group of recipients."""

    ALL = "all"
    ENTERED = "entered"
    WITHOUT_VALID = "without-valid"
    ORGANISERS = "organisers"


OF_A_PHASE = frozenset({GroupName.ENTERED, GroupName.WITHOUT_VALID})


@dataclass(frozen=True, slots=True)
class MailGroup:
    """A group of recipients of announcements. phase: its name for groups of a phase, otherwise ""."""

    name: GroupName
    phase: str = ""

    def __str__(self) -> str:
        return f"{self.name}:{self.phase}" if self.phase else str(self.name)


def group_of(competition: Competition, text: str) -> MailGroup | None:
    """Return the group named `all`, `entered:PHASE`, `without-valid:PHASE` or `organisers`; None for "". Raises
    InvalidForm.

    competition: with its phases loaded.
    """
    name, _, phase = text.strip().partition(":")
    if not name:
        return None
    known = next((one for one in GroupName if one == name), None)
    if known is None:
        raise _no_group(f"Unknown group; the groups are {', '.join(all_groups(competition))}.")
    phases = [one.name for one in competition.phases]
    if known not in OF_A_PHASE:
        if phase:
            raise _no_group(f"The group '{known}' is not one of a phase.")
        return MailGroup(known)
    if phase not in phases:
        raise _no_group(f"Name the phase, as in '{known}:{phases[0] if phases else 'evaluation'}'.")
    return MailGroup(known, phase)


def chosen_group(session: Session, competition: Competition, text: str, by: User) -> MailGroup | None:
    """Return the group named by an organiser, as `group_of` does; groups of a phase reveal submissions.

    Raises InvalidForm, RightMissing.
    """
    group = group_of(competition, text)
    if group is not None and group.name in OF_A_PHASE:
        check_may_organise(session, by, competition, Right.SUBMISSIONS)
    return group


def groups_for(competition: Competition, rights: Collection[Right]) -> list[str]:
    """Return every group that an organiser with these rights may mail."""
    found = all_groups(competition)
    return found if Right.SUBMISSIONS in rights else [one for one in found if ":" not in one]


def all_groups(competition: Competition) -> list[str]:
    """Return every group of this competition."""
    of_phases = [f"{name}:{phase.name}" for phase in competition.phases for name in sorted(OF_A_PHASE)]
    return [GroupName.ALL, *of_phases, GroupName.ORGANISERS]


def people_in(session: Session, competition: Competition, group: MailGroup) -> list[User]:
    """Return all members of the group, by user name."""
    if group.name is GroupName.ORGANISERS:
        return list(session.scalars(_organisers(competition).order_by(User.username)))
    people = participants_of(session, competition)
    if group.name is GroupName.ENTERED:
        entered = set(session.scalars(_members_who_sent(competition, group.phase)))
        return [user for user in people if user.id in entered]
    if group.name is GroupName.WITHOUT_VALID:
        is_scored = and_(
            ScoringRun.is_current, ScoringRun.status == RunStatus.SCORED, Submission.withdrawn_at.is_(None)
        )
        scored = (
            _members_who_sent(competition, group.phase)
            .join(ScoringRun, ScoringRun.submission_id == Submission.id)
            .where(is_scored)
        )
        valid = set(session.scalars(scored))
        return [user for user in people if user.id not in valid]
    return people


def _organisers(competition: Competition) -> Select[User]:
    return (
        select(User)
        .join(CompetitionRole, CompetitionRole.user_id == User.id)
        .where(CompetitionRole.competition_id == competition.id, CompetitionRole.role == Role.ORGANISER)
    )


def _members_who_sent(competition: Competition, phase: str) -> Select[int]:
    """Return a query for the users whose team has submitted to this phase."""
    return (
        select(TeamMember.user_id)
        .join(Submission, Submission.team_id == TeamMember.team_id)
        .join(PhaseTask, PhaseTask.id == Submission.phase_task_id)
        .join(Phase, Phase.id == PhaseTask.phase_id)
        .where(Phase.competition_id == competition.id, Phase.name == phase)
    )


def _no_group(sentence: str) -> InvalidForm:
    return InvalidForm(sentence, fields={"mail": sentence})


TEXT_CHARACTERS = 20_000

_MAIL = """\
{title}

{text}

--
Announced in {competition}: {page}
You get it because {why}.
Stop mails with announcements: {unsubscribe}
"""
_WHY = {
    GroupName.ALL: "you take part",
    GroupName.ENTERED: "your team has sent submissions",
    GroupName.WITHOUT_VALID: "you take part, and your team has no scored submission in this phase yet",
    GroupName.ORGANISERS: "you organise it",
}


@dataclass(frozen=True, slots=True)
class AnnouncementForm:
    """An announcement as written by an organiser. text: Markdown."""

    title: str
    text: str
    is_pinned: bool = False

    def checked(self) -> AnnouncementForm:
        """Return the announcement normalised for storage. Raises InvalidForm with a sentence for each field."""
        tidy = AnnouncementForm(one_line(self.title), many_lines(self.text), self.is_pinned)
        refuse(
            {
                "title": wrong_text(tidy.title, TITLE_CHARACTERS),
                "text": wrong_text(tidy.text, TEXT_CHARACTERS) or text_fault(tidy.text),
            },
        )
        return tidy


# ------------------------------------------------------------------------------------------------------------- reading


def announcements_of(session: Session, competition: Competition, *, with_withdrawn: bool = False) -> list[Announcement]:
    """List announcements, pinned ones first, then the newest, with authors."""
    query = (
        select(Announcement)
        .where(Announcement.competition_id == competition.id)
        .options(joinedload(Announcement.author, innerjoin=True))
        .order_by(Announcement.is_pinned.desc(), Announcement.published_at.desc(), Announcement.id.desc())
    )
    if not with_withdrawn:
        query = query.where(Announcement.withdrawn_at.is_(None))
    return list(session.scalars(query))


def find_announcement(session: Session, competition: Competition, announcement_id: int) -> Announcement:
    """Return an announcement that is not withdrawn, locked until the transaction ends. Raises NotFound."""
    found = session.scalar(
        select(Announcement)
        .where(
            Announcement.id == announcement_id,
            Announcement.competition_id == competition.id,
            Announcement.withdrawn_at.is_(None),
        )
        .with_for_update()
    )
    if found is None:
        raise NotFound(f"Competition '{competition.name}' has no announcement {announcement_id}.")
    return found


def receivers(session: Session, competition: Competition, group: MailGroup | None) -> ReceiversOut:
    """Return the number of people whom a mail to this group would reach now."""
    people = people_in(session, competition, group) if group is not None else []
    willing = _willing(people, choices_of(session, [user.id for user in people]))
    return ReceiversOut(group=str(group or ""), receivers=len(willing), switched_off=len(people) - len(willing))


# ------------------------------------------------------------------------------------------------------------- writing


def publish(
    act: UserAct, competition: Competition, form: AnnouncementForm, *, group: MailGroup | None, key: str | None
) -> Announcement:
    """Publish an announcement, mail it to all members of the group who want such mails, and return it.

    Raises InvalidForm, IdempotencyConflict.
    """
    session = act.session
    form = form.checked()
    key = _checked_key(key)
    announcement = Announcement(
        competition_id=competition.id,
        title=form.title,
        text=form.text,
        is_pinned=form.is_pinned,
        author_id=act.user.id,
        published_at=act.now,
        mailed_to=str(group or ""),
        mailed_count=0,
        key=key,
    )
    try:
        with session.begin_nested():
            session.add(announcement)
    except IntegrityError:  # the key exists: this form was sent twice
        return _published_before(session, competition, form, group, key)
    if group is not None:
        announcement.mailed_count = _mail_all(act, competition, announcement, group)
    _record(act, "publish", competition, announcement, mailed=announcement.mailed_count)
    _shown_otherwise(session, competition)
    return announcement


def edit(act: UserAct, competition: Competition, announcement_id: int, form: AnnouncementForm) -> Announcement:
    """Change an announcement, mark it as edited and return it; no mail is sent. Raises NotFound, InvalidForm."""
    session = act.session
    form = form.checked()
    announcement = find_announcement(session, competition, announcement_id)
    if (announcement.title, announcement.text) != (form.title, form.text):
        announcement.edited_at = act.now
    before = {"title": announcement.title, "is_pinned": announcement.is_pinned}
    announcement.title, announcement.text, announcement.is_pinned = form.title, form.text, form.is_pinned
    session.flush()
    _record(act, "edit", competition, announcement, before=before)
    _shown_otherwise(session, competition)
    return announcement


def withdraw(act: UserAct, competition: Competition, announcement_id: int) -> None:
    """Hide an announcement from all but organisers; sent mails cannot be recalled. Raises NotFound."""
    session = act.session
    announcement = find_announcement(session, competition, announcement_id)
    announcement.withdrawn_at = act.now
    session.flush()
    _record(act, "withdraw", competition, announcement)
    _shown_otherwise(session, competition)


def _checked_key(key: str | None) -> str | None:
    key = key or None
    if key is not None:
        refuse({"Idempotency-Key": wrong_text(key, KEY_CHARACTERS)})
    return key


def _published_before(
    session: Session, competition: Competition, form: AnnouncementForm, group: MailGroup | None, key: str | None
) -> Announcement:
    earlier = session.scalars(
        select(Announcement).where(Announcement.competition_id == competition.id, Announcement.key == key)
    ).one()
    if (earlier.title, earlier.text, earlier.mailed_to) != (form.title, form.text, str(group or "")):
        raise IdempotencyConflict(
            "This key was already used for another announcement; use a new key for a new one.", announcement=earlier.id
        )
    return earlier


def _record(
    act: UserAct,
    deed: str,
    competition: Competition,
    announcement: Announcement,
    **more: Any,
) -> None:
    details: Mapping[str, Any] = {
        "announcement": announcement.id,
        "title": announcement.title,
        **({"mailed_to": announcement.mailed_to} if deed == "publish" else {}),
        **more,
    }
    act.record(f"announcement.{deed}", f"competition {competition.name}", details)


def _shown_otherwise(session: Session, competition: Competition) -> None:
    """Invalidate the cached pages of the competition."""
    boards_changed(session, select(PhaseTask.id).join(Phase).where(Phase.competition_id == competition.id))


# ---------------------------------------------------------------------------------------------------------------- mail


def _mail_all(act: UserAct, competition: Competition, announcement: Announcement, group: MailGroup) -> int:
    """Queue one mail per person, or store the news for a digest; return their number. Recipients stay hidden."""
    session = act.session
    people = people_in(session, competition, group)
    rows = rows_of(session, [user.id for user in people])
    willing = _willing(people, rows)
    for user in willing:
        address = unsubscribe_address(rows[user.id], MailKind.ANNOUNCEMENTS, act.settings)
        body = _MAIL.format(
            title=announcement.title,
            text=announcement.text,
            competition=competition.title,
            page=public_address(act.settings, links.competition(competition.name)),
            why=_WHY[group.name],
            unsubscribe=address,
        )
        subject = f"[{competition.title}] {announcement.title}"
        about, choice = competition.id, rows[user.id]
        if not hold_back(session, choice, MailKind.ANNOUNCEMENTS, announcement, competition_id=about, now=act.now):
            send_mail(session, user, subject, body, now=act.now, competition_id=about, unsubscribe=address)
    return len(willing)


def _willing(people: Sequence[User], choices: Mapping[int, MailChoice]) -> list[User]:
    return [user for user in people if wants(choices.get(user.id), MailKind.ANNOUNCEMENTS)]
