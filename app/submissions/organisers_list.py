"""All submissions of a competition, for its organisers: a filtered list in pages.

Callers must be organisers: an embargo hides nothing here.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Annotated, Any
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import ColumnElement, Row, Select, and_, exists, func, or_, select
from sqlalchemy.orm import Session

from app.base import links
from app.base.errors import NotFound
from app.models import (
    Competition,
    CompetitionTask,
    Phase,
    PhaseTask,
    RowMark,
    RunStatus,
    ScoringRun,
    Submission,
    Team,
    User,
)
from app.submissions.find import has_current_status, newest_in
from app.submissions.views import ListedSubmissionOut

#: Maximum number of submissions per action.
CHOSEN_LIMIT = 200


Name = Annotated[str, Field(max_length=200, description="a name; empty: all")]
Flag = Annotated[bool | None, Field(description="absent: both")]
Day = Annotated[date | None, Field(description="a day (UTC), inclusive")]


class SubmissionFilter(BaseModel):
    """The filters of the list, as in its address; empty and None: no filter."""

    model_config = ConfigDict(frozen=True)

    team: Name = ""
    phase: Name = ""
    task: Name = ""
    status: RunStatus | None = Field(None, description="only in this state")
    marked: Flag = None
    withdrawn: Flag = None
    late: Flag = None
    since: Day = None
    until: Day = None

    @property
    def parameters(self) -> dict[str, object]:
        """The set filters as query parameters."""
        flags = {True: "yes", False: "no"}
        return {
            name: flags[value] if isinstance(value, bool) else value
            for name, value in ((name, getattr(self, name)) for name in SubmissionFilter.model_fields)
            if value not in ("", None)
        }


class ListedSubmission(ListedSubmissionOut):
    """A submission in the organisers' list, with ids that actions on it need but responses omit."""

    model_config = ConfigDict(json_schema_extra=None)

    phase_task_id: int
    team_id: int
    run_id: int


def list_all_submissions(
    session: Session, competition: Competition, wanted: SubmissionFilter, *, after: UUID | None = None, limit: int = 50
) -> tuple[list[ListedSubmission], UUID | None]:
    """Return a page, newest first, and the start of the next page (None for the last page). Raises NotFound."""
    conditions = _conditions(wanted)
    if after is not None:
        conditions.append(_older_than(session, competition, after))
    newest = newest_in(session, _places(session, competition, wanted), conditions, limit + 1)
    rows = session.execute(_listed(competition).where(Submission.id.in_(newest[:limit])))
    by_id = {row.id: _listed_submission(row) for row in rows}
    return [by_id[one] for one in newest[:limit]], (newest[limit - 1] if len(newest) > limit else None)


def _places(session: Session, competition: Competition, wanted: SubmissionFilter) -> list[ColumnElement[bool]]:
    """Return a condition for each task of a phase, restricted to a team's submissions if a team is named."""
    query = (
        select(PhaseTask.id)
        .join(Phase, Phase.id == PhaseTask.phase_id)
        .join(CompetitionTask, CompetitionTask.id == PhaseTask.task_id)
        .where(Phase.competition_id == competition.id)
        .order_by(PhaseTask.id)
    )
    for column, name in ((Phase.name, wanted.phase), (CompetitionTask.name, wanted.task)):
        query = query.where(column == name) if name else query
    places = [Submission.phase_task_id == phase_task_id for phase_task_id in session.scalars(query)]
    if not wanted.team:
        return places
    team_id = session.scalar(select(Team.id).where(Team.competition_id == competition.id, Team.name == wanted.team))
    return [and_(Submission.team_id == team_id, place) for place in places] if team_id is not None else []


def chosen_submissions(session: Session, competition: Competition, ids: Collection[UUID]) -> list[ListedSubmission]:
    """List the submissions with these ids, sorted by team so that actions on them lock teams in a fixed order.

    Raises NotFound unless all belong to this competition.
    """
    rows = session.execute(_listed(competition).where(Submission.id.in_(set(ids))))
    found = [_listed_submission(row) for row in rows]
    if missing := set(ids) - {one.id for one in found}:
        raise NotFound(f"There is no submission {min(map(str, missing))} to this competition.")
    return sorted(found, key=lambda one: (one.team_id, one.submitted_at, one.id))


def teams_that_submitted(session: Session, competition: Competition) -> Sequence[str]:
    """List the names of teams with submissions, including baselines."""
    sent = exists().where(Submission.team_id == Team.id)
    query = select(Team.name).where(Team.competition_id == competition.id, sent).order_by(Team.name)
    return session.scalars(query).all()


def _listed(competition: Competition) -> Select[*tuple[Any, ...]]:
    of_submission = select(RowMark.status).where(RowMark.submission_id == Submission.id).limit(1).scalar_subquery()
    of_team = select(RowMark.status).where(_is_of_team()).limit(1).scalar_subquery()
    return (
        select(
            Submission.id,
            Submission.phase_task_id,
            Submission.team_id,
            ScoringRun.id.label("run_id"),
            Submission.submitted_at,
            Team.name.label("team"),
            Team.kind,
            User.username.label("submitted_by"),
            Phase.name.label("phase"),
            CompetitionTask.name.label("task"),
            ScoringRun.status,
            func.coalesce(of_submission, of_team).label("mark"),
            Submission.is_late,
            Submission.withdrawn_at,
            Submission.method,
            Submission.filename,
            Submission.size_bytes,
        )
        .join(Team, Team.id == Submission.team_id)
        .join(User, User.id == Submission.user_id)
        .join(PhaseTask, PhaseTask.id == Submission.phase_task_id)
        .join(Phase, Phase.id == PhaseTask.phase_id)
        .join(CompetitionTask, CompetitionTask.id == PhaseTask.task_id)
        .join(ScoringRun, and_(ScoringRun.submission_id == Submission.id, ScoringRun.is_current))
        .where(Phase.competition_id == competition.id)
    )


def _listed_submission(row: Row[*tuple[Any, ...]]) -> ListedSubmission:
    return ListedSubmission(**row._mapping, page=links.submission(row.id))


def _is_of_team() -> ColumnElement[bool]:
    """Return the condition for marks that apply to all submissions of a team to this task in this phase."""
    return and_(
        RowMark.submission_id.is_(None),
        RowMark.team_id == Submission.team_id,
        RowMark.phase_task_id == Submission.phase_task_id,
    )


def _conditions(wanted: SubmissionFilter) -> list[ColumnElement[bool]]:
    """Return the conditions of all filters other than those of `_places`."""
    found: list[ColumnElement[bool]] = []
    if wanted.status is not None:
        found.append(has_current_status(wanted.status))
    if wanted.marked is not None:
        is_marked = exists().where(or_(RowMark.submission_id == Submission.id, _is_of_team())).correlate(Submission)
        found.append(is_marked if wanted.marked else ~is_marked)
    if wanted.withdrawn is not None:
        found.append(Submission.withdrawn_at.is_not(None) if wanted.withdrawn else Submission.withdrawn_at.is_(None))
    if wanted.late is not None:
        found.append(Submission.is_late.is_(wanted.late))
    if wanted.since is not None:
        found.append(Submission.submitted_at >= _midnight(wanted.since))
    if wanted.until is not None and wanted.until < date.max:
        found.append(Submission.submitted_at < _midnight(wanted.until + timedelta(days=1)))
    return found


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)


def _older_than(session: Session, competition: Competition, submission_id: UUID) -> ColumnElement[bool]:
    moment = session.scalar(
        select(Submission.submitted_at)
        .join(PhaseTask, PhaseTask.id == Submission.phase_task_id)
        .join(Phase, Phase.id == PhaseTask.phase_id)
        .where(Submission.id == submission_id, Phase.competition_id == competition.id)
    )
    if moment is None:
        raise NotFound("This page of the list no longer exists; go back to the first page.")
    same = and_(Submission.submitted_at == moment, Submission.id < submission_id)
    return or_(Submission.submitted_at < moment, same)
