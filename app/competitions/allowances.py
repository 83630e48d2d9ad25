"""What organisers allow one team in one phase: a later close, more submissions; and what comes late by it.

Granted and taken back under the team's lock, as uploads are counted: none is accepted by what was just taken back.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, and_, delete, select
from sqlalchemy.orm import Session, joinedload

from app.base import links
from app.base.addresses import public_address
from app.base.config import Settings
from app.base.errors import InvalidForm, NotFound
from app.base.times import in_aoe, in_utc
from app.competitions.late_entries import LateEntries, late_entries
from app.models import Allowance, Competition, Phase, RowMark, RowStatus, Submission, Team, TeamKind, TeamMember, User
from app.people.audit import record
from app.people.mail import send_mail

REASON_CHARACTERS = 500
MOST_EXTRA = 10_000
#: Below the board, with what stands there without a rank. Organisers can change it as every footnote.
LATE_NOTE = "Submitted after the deadline, with the organisers' permission."


@dataclass(frozen=True, slots=True)
class Wanted:
    """phase, team: by name; until: for this team alone; is_ranked: whether what comes after the close has a rank."""

    phase: str
    team: str
    until: datetime | None = None
    is_ranked: bool = False
    extra_per_day: int = 0
    extra_total: int = 0
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Granted:
    """An allowance for people: granted_by: a user name, None on the command line; late: its ranked late entries."""

    allowance: Allowance
    phase: Phase
    team: str
    granted_by: str | None
    late: LateEntries | None


# -------------------------------------------------------------------------------------------------------- for uploads


def allowance_of(session: Session, team_id: int | None, phase_id: int) -> Allowance | None:
    """What this team is allowed in this phase."""
    if team_id is None:
        return None
    query = select(Allowance).where(Allowance.phase_id == phase_id, Allowance.team_id == team_id)
    return session.scalar(query.execution_options(populate_existing=True))


def late_phase_of(session: Session, competition: Competition, user: User, now: datetime) -> Phase | None:
    """The phase that is closed, and open for the user's team still; of several the one that closes last."""
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
    """When the phase closes for a team with this allowance; None: never."""
    if phase.ends_at is None or allowance is None or allowance.until is None:
        return phase.ends_at
    return max(phase.ends_at, allowance.until)


def note_late_entry(session: Session, submission: Submission, allowance: Allowance, now: datetime) -> None:
    """Of a new, flushed submission that is accepted after the close: unless it is to be ranked, a footnote says so."""
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


def list_allowances(session: Session, competition: Competition) -> list[Granted]:
    """By phase and team. competition: as `find_competition` gives it."""
    found = session.execute(
        select(Allowance, Phase, Team.name, User.username)
        .join(Phase, Phase.id == Allowance.phase_id)
        .join(Team, Team.id == Allowance.team_id)
        .outerjoin(User, User.id == Allowance.user_id)
        .where(Phase.competition_id == competition.id)
        .order_by(Phase.position, Phase.id, Team.name)
    )
    return [Granted(*row, late_entries(session, row[0], row[1])) for row in found.all()]


def allowances_of(session: Session, team: Team) -> list[Allowance]:
    """All that a team is allowed, with the phases."""
    query = select(Allowance).where(Allowance.team_id == team.id).options(joinedload(Allowance.phase))
    return list(session.scalars(query.order_by(Allowance.phase_id)))


def teams_to_allow(session: Session, competition: Competition) -> list[str]:
    """The names of all teams."""
    query = select(Team.name).where(_can_be_allowed(competition))
    return list(session.scalars(query.order_by(Team.name)))


def grant(
    session: Session,
    competition: Competition,
    wanted: Wanted,
    settings: Settings,
    *,
    actor: User | None,
    now: datetime,
) -> Granted:
    """Allow it, and tell the team by mail; what it was allowed in this phase before is replaced. Raises InvalidForm
    with all that is wrong.

    competition: as `find_competition` gives it; actor: None for the command line.
    """
    phase = next((one for one in competition.phases if one.name == wanted.phase), None)
    team = _team(session, competition, wanted.team)
    wrong = _faults(wanted, phase, now)
    if team is None:
        wrong["team"] = "There is no team of this name."
    if wrong or phase is None or team is None:
        raise InvalidForm("Please correct what is marked.", fields=wrong)
    row = allowance_of(session, team.id, phase.id)
    before = _audit_details(row) if row else None
    if row is None:
        row = Allowance(phase_id=phase.id, team_id=team.id)
        session.add(row)
    row.until, row.is_ranked, row.reason = wanted.until, wanted.is_ranked, wanted.reason.strip()
    row.extra_per_day, row.extra_total = wanted.extra_per_day, wanted.extra_total
    row.user_id, row.granted_at = actor.id if actor else None, now
    session.flush()
    told = {"phase": phase.name, "team": team.name, **_audit_details(row), "before": before}
    record(session, actor, "allowance.grant", f"competition {competition.name}", told, now=now)
    late = late_entries(session, row, phase)
    _mail_team(session, competition, phase, row, late, settings, now)
    return Granted(row, phase, team.name, actor.username if actor else None, late)


_MAIL = """\
Hello {username},

the organisers of "{title}" allow your team more in the phase "{phase}":

{lines}

They say: {reason}

{page}
"""


def _mail_team(
    session: Session,
    competition: Competition,
    phase: Phase,
    row: Allowance,
    late: LateEntries | None,
    settings: Settings,
    now: datetime,
) -> None:
    """To every member, with a confirmed address."""
    lines = []
    if row.until is not None:
        ranked = "is ranked" if row.is_ranked else "stands without a rank"
        lines.append(f"- open until {in_utc(row.until)} ({in_aoe(row.until)}); what comes after the close {ranked}")
    lines += [f"- {late.words}"] if late else []
    extra = ((row.extra_per_day, "more a day"), (row.extra_total, "more in all"))
    lines += [f"- {number} {what}, in each task" for number, what in extra if number]
    said = {
        "title": competition.title,
        "phase": phase.title,
        "lines": "\n".join(lines),
        "reason": row.reason,
        "page": public_address(settings, links.team(competition.name)),
    }
    members = select(User).join(TeamMember, TeamMember.user_id == User.id).where(TeamMember.team_id == row.team_id)
    for member in session.scalars(members.order_by(User.id)):
        body = _MAIL.format(username=member.username, **said)
        subject = f"{competition.title}: your team is allowed more"
        send_mail(session, member, subject, body, now=now, competition_id=competition.id)


def take_back(
    session: Session, competition: Competition, allowance_id: int, *, actor: User | None, now: datetime
) -> None:
    """From now on; what was accepted by it stays. Raises NotFound."""
    row = session.scalar(
        select(Allowance)
        .join(Allowance.phase)
        .where(Allowance.id == allowance_id, Phase.competition_id == competition.id)
        .options(joinedload(Allowance.phase), joinedload(Allowance.team))
    )
    if row is None:
        raise NotFound("There is no such allowance here (any more).")
    told = {"phase": row.phase.name, "team": row.team.name, **_audit_details(row)}
    session.execute(select(Team.id).where(Team.id == row.team_id).with_for_update())
    session.execute(delete(Allowance).where(Allowance.id == row.id))
    record(session, actor, "allowance.take-back", f"competition {competition.name}", told, now=now)


def _team(session: Session, competition: Competition, name: str) -> Team | None:
    if not name.isprintable():  # PostgreSQL takes no NUL
        return None
    # Locked at once: a team that merges at this moment is none any more when we get it.
    return session.scalar(select(Team).where(_can_be_allowed(competition), Team.name == name).with_for_update())


def _can_be_allowed(competition: Competition) -> ColumnElement[bool]:
    """Of a team: that there is something that it could do with an allowance."""
    return and_(Team.competition_id == competition.id, Team.kind == TeamKind.TEAM, Team.merged_into_id.is_(None))


def _faults(wanted: Wanted, phase: Phase | None, now: datetime) -> dict[str, str]:
    """What is wrong, by field."""
    wrong = {
        name: f"A whole number from 0 to {MOST_EXTRA}."
        for name, number in (("extra_per_day", wanted.extra_per_day), ("extra_total", wanted.extra_total))
        if not 0 <= number <= MOST_EXTRA
    }
    reason = wanted.reason.strip()
    if not reason:
        wrong["reason"] = "Say why: the team and all organisers read it."
    elif len(reason) > REASON_CHARACTERS or not reason.isprintable():
        wrong["reason"] = f"One line of at most {REASON_CHARACTERS} characters."
    if phase is None:
        wrong["phase"] = "There is no phase of this name."
    elif wanted.until is not None and phase.ends_at is None:
        wrong["until"] = "This phase never closes."
    elif wanted.until is not None and (phase.ends_at or now) >= wanted.until:
        wrong["until"] = "The phase closes later than that for everybody."
    elif wanted.until is not None and wanted.until <= now:
        wrong["until"] = "This is past."
    if wanted.until is None and not wanted.extra_per_day and not wanted.extra_total:
        wrong.setdefault("until", "Allow something: a later close, or more submissions.")
    return wrong


def _audit_details(row: Allowance) -> Mapping[str, str | int | bool | None]:
    return {
        "until": row.until.isoformat() if row.until else None,
        "is_ranked": row.is_ranked,
        "extra_per_day": row.extra_per_day,
        "extra_total": row.extra_total,
        "reason": row.reason,
    }
