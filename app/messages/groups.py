"""Groups that organisers can mail: all participants, those who entered a phase, those who did not, and organisers."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum

from sqlalchemy import Select, and_, select
from sqlalchemy.orm import Session

from app.base.errors import InvalidForm
from app.models import (
    Competition,
    CompetitionRole,
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
from app.people.rights import check_may_organise
from app.teams.registration import participants_of


class GroupName(StrEnum):
    """Name of a group, used everywhere."""

    ALL = "all"
    ENTERED = "entered"
    WITHOUT_VALID = "without-valid"
    ORGANISERS = "organisers"


OF_A_PHASE = frozenset({GroupName.ENTERED, GroupName.WITHOUT_VALID})


@dataclass(frozen=True, slots=True)
class MailGroup:
    """A group; `phase` is the name for groups of a phase, else empty."""

    name: GroupName
    phase: str = ""

    def __str__(self) -> str:
        return f"{self.name}:{self.phase}" if self.phase else str(self.name)


def group_of(competition: Competition, text: str) -> MailGroup | None:
    """Parse `all`, `entered:PHASE`, `without-valid:PHASE` or `organisers`; None for empty text. Raises InvalidForm.

    competition: with its phases.
    """
    name, _, phase = text.strip().partition(":")
    if not name:
        return None
    known = next((one for one in GroupName if one == name), None)
    if known is None:
        raise _no_group(f"There is no such group; there are {', '.join(all_groups(competition))}.")
    phases = [one.name for one in competition.phases]
    if known not in OF_A_PHASE:
        if phase:
            raise _no_group(f"The group '{known}' is not one of a phase.")
        return MailGroup(known)
    if phase not in phases:
        raise _no_group(f"Name the phase, as in '{known}:{phases[0] if phases else 'evaluation'}'.")
    return MailGroup(known, phase)


def chosen_group(session: Session, competition: Competition, text: str, by: User) -> MailGroup | None:
    """Like `group_of` for an organiser; groups of a phase reveal submissions. Raises RightMissing as well."""
    group = group_of(competition, text)
    if group is not None and group.name in OF_A_PHASE:
        check_may_organise(session, by, competition, Right.SUBMISSIONS)
    return group


def groups_for(competition: Competition, rights: Collection[Right]) -> list[str]:
    """Return every group that an organiser with these rights can mail."""
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
    """Select the users whose team has submitted to this phase."""
    return (
        select(TeamMember.user_id)
        .join(Submission, Submission.team_id == TeamMember.team_id)
        .join(PhaseTask, PhaseTask.id == Submission.phase_task_id)
        .join(Phase, Phase.id == PhaseTask.phase_id)
        .where(Phase.competition_id == competition.id, Phase.name == phase)
    )


def _no_group(sentence: str) -> InvalidForm:
    return InvalidForm(sentence, fields={"mail": sentence})
