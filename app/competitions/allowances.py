"""Extensions for one team in one phase: a later close, more submissions, and the rank of late entries.

Extensions are granted and revoked under the team lock, which also guards the counting of uploads, so that no upload is
accepted because of an extension that was just revoked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, and_, bindparam, delete, func, select
from sqlalchemy.orm import Session, joinedload

from app.base import links
from app.base.addresses import public_address
from app.base.db import once
from app.base.errors import InvalidForm, NotFound
from app.models import (
    Allowance,
    Competition,
    Phase,
    RowMark,
    RowStatus,
    Snapshot,
    Submission,
    Team,
    TeamKind,
    TeamMember,
    User,
)
from app.people.act import Act
from app.people.mail import send_mail
from evergold.moments import deadline_words, moment_words
from evergold.scoring.characters import can_be_name


@dataclass(frozen=True, slots=True)
class LateEntries:
    """Late entries of an extension.

    frozen_at: when the official results were frozen without them; freezes_at: when they will be frozen, although the
    extension ends later. Both None: the results wait for them.
    """

    frozen_at: datetime | None
    freezes_at: datetime | None = None

    @property
    def count(self) -> bool:
        """True if the late entries can be part of the official results."""
        return self.frozen_at is None and self.freezes_at is None

    @property
    def words(self) -> str:
        """A sentence for organisers and the team."""
        if self.freezes_at is not None:
            close = deadline_words(self.freezes_at)
            return (
                f"The official results are frozen after the phase closes, {close}, before this extension ends: late "
                "entries without rank are not in them."
            )
        if self.frozen_at is None:
            return "The official results wait for late entries."
        return (
            f"Late entries do not count in the official results, which were frozen on {moment_words(self.frozen_at)}."
        )


def late_entries(session: Session, allowance: Allowance, phase: Phase) -> LateEntries | None:
    """Return the late entries; None if the extension admits none or the phase has no official results."""
    if allowance.until is None or not phase.has_snapshot or phase.ends_at is None or allowance.until <= phase.ends_at:
        return None
    of_this_close = (Snapshot.phase_id == phase.id, Snapshot.closed_at >= phase.ends_at)
    frozen_at = session.scalar(select(func.min(Snapshot.made_at)).where(*of_this_close))
    if frozen_at is not None and frozen_at < allowance.until:
        return LateEntries(frozen_at)
    return LateEntries(None, None if allowance.is_ranked else phase.ends_at)


REASON_CHARACTERS = 500
MOST_EXTRA = 10_000
#: Footnote of unranked late entries on the board. Organisers can edit it like any footnote.
LATE_NOTE = "Submitted after the deadline, with the organisers' permission."


@dataclass(frozen=True, slots=True)
class NewExtension:
    """A requested extension.

    phase, team: names. until: the close for this team. is_ranked: submissions after the regular close get a rank.
    """

    phase: str
    team: str
    until: datetime | None = None
    is_ranked: bool = False
    extra_per_day: int = 0
    extra_total: int = 0
    reason: str = ""


@dataclass(frozen=True, slots=True)
class GrantedExtension:
    """An extension for display.

    granted_by: a user name, None for the command line. late: its ranked late entries.
    """

    allowance: Allowance
    phase: Phase
    team: str
    granted_by: str | None
    late: LateEntries | None


# -------------------------------------------------------------------------------------------------------- for uploads


def allowance_of(session: Session, team_id: int | None, phase_id: int) -> Allowance | None:
    """Return the extension of this team in this phase, if any."""
    if team_id is None:
        return None
    where = {"phase": phase_id, "team": team_id}
    return once(session, ("allowance", *where.values()), lambda: session.scalar(_ALLOWANCE, where))


#: Built once: building it takes longer than executing it.
_ALLOWANCE = (
    select(Allowance)
    .where(Allowance.phase_id == bindparam("phase"), Allowance.team_id == bindparam("team"))
    .execution_options(populate_existing=True)
)


def late_phase_of(session: Session, competition: Competition, user: User, now: datetime) -> Phase | None:
    """Return the closed phase that is still open for the user's team; the one that closes last if there are several."""
    query = (
        select(Phase)
        .join(Allowance, Allowance.phase_id == Phase.id)
        .join(TeamMember, TeamMember.team_id == Allowance.team_id)
        .where(Phase.competition_id == competition.id, TeamMember.user_id == user.id)
        .where(Phase.ends_at <= now, Allowance.until > now)
        .order_by(Allowance.until.desc(), Phase.id)
    )
    return session.scalar(query.limit(1))


def closes_at(phase: Phase, allowance: Allowance | None) -> datetime | None:
    """Return the time at which the phase closes for a team with this extension; None if never."""
    if phase.ends_at is None or allowance is None or allowance.until is None:
        return phase.ends_at
    return max(phase.ends_at, allowance.until)


def note_late_entry(session: Session, submission: Submission, allowance: Allowance, now: datetime) -> None:
    """Add a footnote to a flushed submission accepted after the close, unless the extension allows it a rank."""
    if allowance.is_ranked:
        return
    mark = RowMark(
        phase_task_id=submission.phase_task_id,
        team_id=submission.team_id,
        submission_id=submission.id,
        status=RowStatus.UNRANKED,
        note=LATE_NOTE,
        user_id=allowance.user_id,
        set_at=now,
    )
    session.add(mark)
    session.flush()


# ------------------------------------------------------------------------------------------------------- for organisers


def list_allowances(session: Session, competition: Competition) -> list[GrantedExtension]:
    """List extensions by phase and team. competition: from `find_competition`."""
    found = session.execute(
        select(Allowance, Phase, Team.name, User.username)
        .join(Phase, Phase.id == Allowance.phase_id)
        .join(Team, Team.id == Allowance.team_id)
        .outerjoin(User, User.id == Allowance.user_id)
        .where(Phase.competition_id == competition.id)
        .order_by(Phase.position, Phase.id, Team.name)
    )
    return [GrantedExtension(*row, late_entries(session, row[0], row[1])) for row in found.all()]


def allowances_of(session: Session, team: Team) -> list[Allowance]:
    """List all extensions of a team, with their phases loaded."""
    query = select(Allowance).where(Allowance.team_id == team.id).options(joinedload(Allowance.phase))
    return list(session.scalars(query.order_by(Allowance.phase_id)))


def teams_to_allow(session: Session, competition: Competition) -> list[str]:
    """List the names of all teams that may get an extension."""
    query = select(Team.name).where(_can_be_allowed(competition))
    return list(session.scalars(query.order_by(Team.name)))


def grant(act: Act, competition: Competition, wanted: NewExtension) -> GrantedExtension:
    """Grant an extension, replacing an earlier one of this team in this phase, and notify the team by mail.

    Raises InvalidForm with all errors.
    competition: from `find_competition`.
    """
    session = act.session
    phase = next((one for one in competition.phases if one.name == wanted.phase), None)
    team = _team(session, competition, wanted.team)
    wrong = _faults(wanted, phase, act.now)
    if team is None:
        wrong["team"] = "No team has this name."
    if wrong or phase is None or team is None:
        raise InvalidForm("Please correct the marked fields.", fields=wrong)
    row = allowance_of(session, team.id, phase.id)
    before = _audit_details(row) if row else None
    if row is None:
        row = Allowance(phase_id=phase.id, team_id=team.id)
        session.add(row)
    row.until, row.is_ranked, row.reason = wanted.until, wanted.is_ranked, wanted.reason.strip()
    row.extra_per_day, row.extra_total = wanted.extra_per_day, wanted.extra_total
    row.user_id, row.granted_at = act.user.id if act.user else None, act.now
    session.flush()
    details = {"phase": phase.name, "team": team.name, **_audit_details(row), "before": before}
    act.record("allowance.grant", f"competition {competition.name}", details)
    late = late_entries(session, row, phase)
    _mail_team(act, competition, phase, row, late)
    return GrantedExtension(row, phase, team.name, act.user.username if act.user else None, late)


_MAIL = """\
Hello {username},

your team has an extension in the phase "{phase}" of "{title}":

{lines}

Reason: {reason}

{page}
"""


def _mail_team(act: Act, competition: Competition, phase: Phase, row: Allowance, late: LateEntries | None) -> None:
    """Mail every member with a confirmed address about the extension."""
    lines = []
    if row.until is not None:
        ranked = "are ranked" if row.is_ranked else "are shown without a rank"
        lines.append(f"- open until {deadline_words(row.until)}; later submissions {ranked}")
    lines += [f"- {late.words}"] if late else []
    extra = ((row.extra_per_day, "more a day"), (row.extra_total, "more in all"))
    lines += [f"- {number} {what}, in each task" for number, what in extra if number]
    details = {
        "title": competition.title,
        "phase": phase.title,
        "lines": "\n".join(lines),
        "reason": row.reason,
        "page": public_address(act.settings, links.team(competition.name)),
    }
    members = select(User).join(TeamMember, TeamMember.user_id == User.id).where(TeamMember.team_id == row.team_id)
    for member in act.session.scalars(members.order_by(User.id)):
        body = _MAIL.format(username=member.username, **details)
        subject = f"{competition.title}: your team has an extension"
        send_mail(act.session, member, subject, body, now=act.now, competition_id=competition.id)


def take_back(act: Act, competition: Competition, allowance_id: int) -> None:
    """Revoke an extension; submissions already accepted under it are kept. Raises NotFound."""
    session = act.session
    row = session.scalar(
        select(Allowance)
        .join(Allowance.phase)
        .where(Allowance.id == allowance_id, Phase.competition_id == competition.id)
        .options(joinedload(Allowance.phase), joinedload(Allowance.team))
    )
    if row is None:
        raise NotFound("Extension not found.")
    details = {"phase": row.phase.name, "team": row.team.name, **_audit_details(row)}
    session.execute(select(Team.id).where(Team.id == row.team_id).with_for_update())
    session.execute(delete(Allowance).where(Allowance.id == row.id))
    act.record("allowance.take-back", f"competition {competition.name}", details)


def _team(session: Session, competition: Competition, name: str) -> Team | None:
    if not can_be_name(name):  # PostgreSQL accepts no NUL
        return None
    # Lock at once: a team that is being merged right now no longer matches once we get the lock.
    return session.scalar(select(Team).where(_can_be_allowed(competition), Team.name == name).with_for_update())


def _can_be_allowed(competition: Competition) -> ColumnElement[bool]:
    """Return the condition that a Team is an ordinary team of this competition that was not merged into another."""
    return and_(Team.competition_id == competition.id, Team.kind == TeamKind.TEAM, Team.merged_into_id.is_(None))


def _faults(wanted: NewExtension, phase: Phase | None, now: datetime) -> dict[str, str]:
    """Return the errors by field."""
    wrong = {
        name: f"Write a whole number from 0 to {MOST_EXTRA}."
        for name, number in (("extra_per_day", wanted.extra_per_day), ("extra_total", wanted.extra_total))
        if not 0 <= number <= MOST_EXTRA
    }
    reason = wanted.reason.strip()
    if not reason:
        wrong["reason"] = "Give a reason: the team and all organisers see it."
    elif len(reason) > REASON_CHARACTERS or not can_be_name(reason):
        wrong["reason"] = f"Write one line of at most {REASON_CHARACTERS} characters."
    if phase is None:
        wrong["phase"] = "No phase has this name."
    elif wanted.until is not None and phase.ends_at is None:
        wrong["until"] = "This phase never closes."
    elif wanted.until is not None and (phase.ends_at or now) >= wanted.until:
        wrong["until"] = "The phase closes even later for everybody."
    elif wanted.until is not None and wanted.until <= now:
        wrong["until"] = "This moment has passed."
    if wanted.until is None and not wanted.extra_per_day and not wanted.extra_total:
        wrong.setdefault("until", "Grant a later deadline, extra submissions, or both.")
    return wrong


def _audit_details(row: Allowance) -> Mapping[str, str | int | bool | None]:
    return {
        "until": row.until.isoformat() if row.until else None,
        "is_ranked": row.is_ranked,
        "extra_per_day": row.extra_per_day,
        "extra_total": row.extra_total,
        "reason": row.reason,
    }
