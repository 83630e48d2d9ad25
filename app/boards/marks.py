"""Marks of organisers on rows: unranked with a footnote, disqualified with a reason, or hidden; and their removal.

A mark applies to a team on a task in a phase, or to one of its submissions. `app.boards.entries` and `app.boards.view`
apply them; frozen official boards never change.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import Select, and_, bindparam, delete, exists, select
from sqlalchemy.orm import Session

from app.base.db import once
from app.base.errors import InvalidForm, NotFound
from app.boards.views import RowMarkOut
from app.competitions.changed import boards_changed
from app.models import Competition, CompetitionTask, Phase, PhaseTask, RowMark, RowStatus, Submission, Team, User
from app.people.act import Act
from app.standings.renew import renew_team
from app.submissions.organisers_list import ListedSubmission
from app.teams.find import lock_team
from evergold.scoring.characters import can_be_name

NOTE_CHARACTERS = 500


@dataclass(frozen=True, slots=True)
class Mark:
    """A status with its note."""

    status: RowStatus
    note: str


@dataclass(frozen=True, slots=True)
class Marks:
    """The marks of a task in a phase: those of teams by team id, and those of submissions by submission id."""

    teams: Mapping[int, Mark]
    submissions: Mapping[UUID, Mark]


# ----------------------------------------------------------------------------------------------------------- for boards


def marks_of(session: Session, phase_task: PhaseTask) -> Marks:
    """Return all marks of a task in a phase; cached in sessions that only read."""
    return once(session, ("marks", phase_task.id), lambda: _read_marks(session, phase_task.id))


def _read_marks(session: Session, phase_task_id: int) -> Marks:
    teams: dict[int, Mark] = {}
    submissions: dict[UUID, Mark] = {}
    for row in session.scalars(_MARKS, {"phase_task": phase_task_id}):
        mark = Mark(RowStatus(row.status), row.note)
        if row.submission_id is None:
            teams[row.team_id] = mark
        else:
            submissions[row.submission_id] = mark
    return Marks(teams, submissions)


_MARKS = select(RowMark).where(RowMark.phase_task_id == bindparam("phase_task"))


def has_hidden(session: Session, phase_task_ids: Iterable[int]) -> bool:
    """Return True if a row is hidden in one of these phase tasks."""
    here = and_(RowMark.phase_task_id.in_(list(phase_task_ids)), RowMark.status == RowStatus.HIDDEN)
    return session.scalar(select(RowMark.id).where(here).limit(1)) is not None


def mark_of_submission(session: Session, submission: Submission) -> Mark | None:
    """Return the mark that a submission's team may see: that of the team, or else of the submission."""
    marks = marks_of(session, submission.phase_task)
    return marks.teams.get(submission.team_id) or marks.submissions.get(submission.id)


# ------------------------------------------------------------------------------------------------------- for organisers


def list_marks(session: Session, phase_task: PhaseTask) -> list[RowMarkOut]:
    """List the marks, sorted by team; the mark of a whole team comes before those of its submissions."""
    found = session.execute(
        select(RowMark, Team.name, User.username)
        .join(Team, Team.id == RowMark.team_id)
        .outerjoin(User, User.id == RowMark.user_id)
        .where(RowMark.phase_task_id == phase_task.id)
        .order_by(Team.name, RowMark.submission_id.is_not(None), RowMark.id)
    )
    return [_view(*one) for one in found]


def _view(row: RowMark, team: str, username: str | None) -> RowMarkOut:
    return RowMarkOut(
        id=row.id,
        team=team,
        submission=row.submission_id,
        status=RowStatus(row.status),
        note=row.note,
        marked_by=username,
        set_at=row.set_at,
    )


def entrants(session: Session, phase_task: PhaseTask) -> list[str]:
    """List the names of all teams with submissions to a task in a phase, including baselines."""
    sent = exists().where(Submission.team_id == Team.id, Submission.phase_task_id == phase_task.id)
    competition = select(Phase.competition_id).where(Phase.id == phase_task.phase_id).scalar_subquery()
    there = select(Team.name).where(Team.competition_id == competition, sent)
    return list(session.scalars(there.order_by(Team.name)))


def mark_row(
    act: Act,
    phase_task: PhaseTask,
    *,
    team: str = "",
    submission_id: UUID | None = None,
    status: RowStatus,
    note: str = "",
) -> RowMarkOut:
    """Set the status of a team, by name, or of one submission, replacing an earlier mark; return the mark.

    Raises InvalidForm with all errors.
    """
    session = act.session
    note, wrong = note.strip(), _note_fault(status, note.strip())
    marked_team, fault = _team_to_mark(session, phase_task, team, submission_id)
    if wrong or fault or marked_team is None:
        raise InvalidForm("Please correct the marked fields.", fields=wrong | fault)
    lock_team(session, marked_team)
    session.refresh(marked_team, ["merged_into_id"])
    if marked_team.merged_into_id is not None:  # while we waited for the lock
        raise InvalidForm(
            "Please correct the marked fields.", fields={"team": "This team has just merged into another team."}
        )
    row = session.scalar(_same(phase_task, marked_team, submission_id).execution_options(populate_existing=True))
    before = {"status": row.status, "note": row.note} if row else None
    if row is None:
        row = RowMark(phase_task_id=phase_task.id, team_id=marked_team.id, submission_id=submission_id)
        session.add(row)
    row.status, row.note, row.user_id, row.set_at = status, note, act.user.id if act.user else None, act.now
    details = {**_audit_details(marked_team, submission_id), "status": status, "note": note, "before": before}
    _changed(act, phase_task, marked_team.id, "row.mark", details)
    return _view(row, marked_team.name, act.user.username if act.user else None)


def mark_submissions(act: Act, chosen: Iterable[ListedSubmission], *, status: RowStatus, note: str) -> None:
    """Set the same mark on each submission. chosen: sorted by team, from `chosen_submissions`. Raises InvalidForm."""
    for one in chosen:
        place = act.session.get_one(PhaseTask, one.phase_task_id)
        mark_row(act, place, submission_id=one.id, status=status, note=note)


def clear_mark(act: Act, phase_task: PhaseTask, mark_id: int) -> None:
    """Remove a mark, so that the row counts as if it had never been set. Raises NotFound."""
    gone = act.session.execute(
        delete(RowMark)
        .where(RowMark.id == mark_id, RowMark.phase_task_id == phase_task.id)
        .returning(RowMark.team_id, RowMark.submission_id, RowMark.status, RowMark.note)
    ).first()
    if gone is None:
        raise NotFound("Mark not found.")
    about = _audit_details(act.session.get_one(Team, gone.team_id), gone.submission_id)
    details = {**about, "status": gone.status, "note": gone.note}
    _changed(act, phase_task, gone.team_id, "row.clear", details)


def _note_fault(status: RowStatus, note: str) -> dict[str, str]:
    if len(note) > NOTE_CHARACTERS:
        return {"note": f"At most {NOTE_CHARACTERS} characters; this has {len(note)}."}
    if note and not can_be_name(note):
        return {"note": "Write one line, without control characters."}
    if not note and status is not RowStatus.HIDDEN:
        return {"note": "Give a reason: boards show it."}
    return {}


def _team_to_mark(
    session: Session, phase_task: PhaseTask, team: str, submission_id: UUID | None
) -> tuple[Team | None, dict[str, str]]:
    """Return the team with submissions here, found by its name or by its submission, and the errors by field."""
    if bool(team) == (submission_id is not None):
        return None, {"team": "Name a team, or one submission."}
    if team and not can_be_name(team):  # PostgreSQL does not accept NUL
        return None, {"team": "Team not found."}
    query = select(Team).join(Submission, Submission.team_id == Team.id)
    query = query.where(Submission.phase_task_id == phase_task.id)
    found = session.scalar(query.where(Team.name == team if team else Submission.id == submission_id).limit(1))
    if found is None and team:
        return None, {"team": "No team of this name has a submission to this task in this phase."}
    return found, {} if found else {"submission": "There is no submission with this ID to this task in this phase."}


def _same(phase_task: PhaseTask, team: Team, submission_id: UUID | None) -> Select[RowMark]:
    which = RowMark.submission_id.is_(None) if submission_id is None else RowMark.submission_id == submission_id
    return select(RowMark).where(RowMark.phase_task_id == phase_task.id, RowMark.team_id == team.id, which)


def _audit_details(team: Team, submission_id: UUID | None) -> dict[str, str | None]:
    return {"team": team.name, "submission": str(submission_id) if submission_id else None}


def _changed(act: Act, phase_task: PhaseTask, team_id: int, action: str, details: Mapping[str, object]) -> None:
    """Bump the board versions, recompute the team's standings and write an audit entry."""
    session = act.session
    boards_changed(session, [phase_task.id])
    session.flush()
    renew_team(session, phase_task.id, team_id)
    names = session.execute(
        select(Competition.name, Phase.name, CompetitionTask.name)
        .join(Phase, Phase.competition_id == Competition.id)
        .join(CompetitionTask, CompetitionTask.competition_id == Competition.id)
        .where(Phase.id == phase_task.phase_id, CompetitionTask.id == phase_task.task_id)
    ).one()
    act.record(action, f"task {'/'.join(names)}", details)
