"""Participants of a competition, for its organisers: accounts, teams, submissions; and all registrations as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from datetime import UTC, datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.base.text import spreadsheet_safe
from app.exports.views import ParticipantOut
from app.models import Competition, Phase, PhaseTask, Registration, Submission, Team, TeamKind, TeamMember
from app.teams.questions import answer_text
from app.teams.registration import participants_of, rules_of

_COLUMNS = [
    "username",
    "email",
    "display_name",
    "status",
    "registered_at",
    "terms_accepted_at",
    "decided_at",
    "decided_by",
]


def registrations_csv(competition: Competition, rows: Sequence[Registration]) -> str:
    """Return the registrations as CSV. rows: with users loaded. Columns `answer NAME` have the answers to current
    questions.
    """
    text = io.StringIO()
    writer = csv.writer(text)
    questions = [question.name for question in rules_of(competition).questions]
    writer.writerow([*_COLUMNS, *(f"answer {name}" for name in questions)])
    for row in rows:
        person = (row.user.username, row.user.email, row.user.display_name)
        moments = [_moment(at) for at in (row.registered_at, row.terms_accepted_at, row.decided_at)]
        answers = [spreadsheet_safe(answer_text(row.answers.get(name))) for name in questions]
        writer.writerow(
            [*map(spreadsheet_safe, person), row.status, *moments, spreadsheet_safe(row.decided_by or ""), *answers]
        )
    return text.getvalue()


def _moment(at: datetime | None) -> str:
    return at.astimezone(UTC).isoformat() if at else ""


def list_participants(session: Session, competition: Competition) -> list[ParticipantOut]:
    """List the participants by user name. competition: with its phases loaded."""
    teams, registered = _teams(session, competition), _registered(session, competition)
    sent = _sent(session, competition)
    return [
        ParticipantOut(
            username=user.username,
            email=user.email,
            display_name=user.display_name,
            team=teams.get(user.id, ""),
            registered_at=registered.get(user.id),
            submissions={phase.name: sent.get((user.id, phase.id), 0) for phase in competition.phases},
        )
        for user in participants_of(session, competition)
    ]


def participants_csv(competition: Competition, participants: Sequence[ParticipantOut]) -> str:
    """Return a CSV with a row per person and a column per phase."""
    text = io.StringIO()
    writer = csv.writer(text)
    phases = [phase.name for phase in competition.phases]
    writer.writerow(["username", "email", "display_name", "team", "registered_at", *(f"sent {one}" for one in phases)])
    for one in participants:
        cells = [spreadsheet_safe(part) for part in (one.username, one.email, one.display_name, one.team)]
        registered = one.registered_at.astimezone(UTC).isoformat() if one.registered_at else ""
        writer.writerow([*cells, registered, *(one.submissions[phase] for phase in phases)])
    return text.getvalue()


def _teams(session: Session, competition: Competition) -> dict[int, str]:
    rows = session.execute(
        select(TeamMember.user_id, Team.name)
        .join(Team, Team.id == TeamMember.team_id)
        .where(TeamMember.competition_id == competition.id, Team.kind == TeamKind.TEAM)
    )
    return {user_id: name for user_id, name in rows}


def _registered(session: Session, competition: Competition) -> dict[int, datetime]:
    rows = session.execute(
        select(Registration.user_id, Registration.registered_at).where(Registration.competition_id == competition.id)
    )
    return {user_id: at for user_id, at in rows}


def _sent(session: Session, competition: Competition) -> dict[tuple[int, int], int]:
    rows = session.execute(
        select(Submission.user_id, Phase.id, func.count())
        .join(PhaseTask, PhaseTask.id == Submission.phase_task_id)
        .join(Phase, Phase.id == PhaseTask.phase_id)
        .where(Phase.competition_id == competition.id)
        .group_by(Submission.user_id, Phase.id)
    )
    return {(user_id, phase_id): count for user_id, phase_id, count in rows}
