"""Finding things: competitions with their parts, and the submissions a viewer may see, loaded as pages need them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from sqlalchemy import ColumnElement, Select, and_, or_, select
from sqlalchemy.orm import Session, contains_eager, defer, joinedload, selectinload

from app.errors import NotFound
from app.models import (
    Board,
    Competition,
    CompetitionTask,
    Phase,
    PhaseTask,
    RunStatus,
    ScoringRun,
    Submission,
    TeamMember,
    User,
)
from app.roles import may_organise


def current_run(submission: Submission) -> ScoringRun:
    """The run that counts; `submission.runs` must be loaded."""
    return next(run for run in submission.runs if run.is_current)


def find_competition(session: Session, name: str) -> Competition:
    """The competition with its tasks, phases and boards; raises NotFound."""
    query = _whole_competitions().where(Competition.name == name)
    competition = session.scalar(query) if "\0" not in name else None  # PostgreSQL takes no NUL
    if competition is None:
        raise NotFound(f"There is no competition '{name}' on this server.")
    return competition


def list_competitions(session: Session) -> list[Competition]:
    """All competitions in the organiser's order, with tasks, phases and boards."""
    return list(session.scalars(_whole_competitions().order_by(Competition.position, Competition.name)))


def _whole_competitions() -> Select[Competition]:
    return select(Competition).options(
        selectinload(Competition.tasks),
        selectinload(Competition.boards).joinedload(Board.task),
        selectinload(Competition.phases).selectinload(Phase.phase_tasks).joinedload(PhaseTask.task),
        selectinload(Competition.phases).selectinload(Phase.phase_tasks).selectinload(PhaseTask.files),
    )


def find_phase_task(session: Session, competition: str, phase: str, task: str, *, with_files: bool = True) -> PhaseTask:
    """A task of a phase with everything above it; raises NotFound, saying which part is unknown and what there is."""
    names = (competition, phase, task)
    query = (
        select(PhaseTask)
        .join(PhaseTask.phase)
        .join(Phase.competition)
        .join(PhaseTask.task)
        .where(Competition.name == competition, Phase.name == phase, CompetitionTask.name == task)
        .options(
            contains_eager(PhaseTask.phase).contains_eager(Phase.competition),
            contains_eager(PhaseTask.task),
            *([selectinload(PhaseTask.files)] if with_files else ()),
        )
    )
    wanted = session.scalar(query) if not any("\0" in name for name in names) else None  # PostgreSQL takes no NUL
    if wanted is None:
        raise _no_such_phase_task(session, *names)
    return wanted


def other_open_tasks(session: Session, phase_task: PhaseTask, now: datetime) -> list[PhaseTask]:
    """Where else in its competition a file can be sent now, in the organiser's order."""
    found = session.scalars(
        select(PhaseTask)
        .join(PhaseTask.phase)
        .join(PhaseTask.task)
        .where(
            Phase.competition_id == phase_task.phase.competition_id,
            PhaseTask.id != phase_task.id,
            PhaseTask.gold.is_not(None),
            Phase.starts_at <= now,
            or_(Phase.ends_at.is_(None), Phase.ends_at > now),
        )
        .options(contains_eager(PhaseTask.phase), contains_eager(PhaseTask.task))
        .order_by(Phase.starts_at, Phase.id, CompetitionTask.id)
    )
    return list(found)


def _no_such_phase_task(session: Session, competition: str, phase: str, task: str) -> NotFound:
    found = find_competition(session, competition)
    phase_found = next((p for p in found.phases if p.name == phase), None)
    if phase_found is None:
        return NotFound(f"Competition '{competition}' has no phase '{phase}'; it has {_names(found.phases)}.")
    tasks = [phase_task.task for phase_task in phase_found.phase_tasks]
    return NotFound(f"Phase '{phase}' of '{competition}' has no task '{task}'; it has {_names(tasks)}.")


def find_board(competition: Competition, phase: str, board: str) -> tuple[Phase, Board]:
    """A phase and one of its boards, of a competition as `find_competition` gives it; raises NotFound."""
    found = next((p for p in competition.phases if p.name == phase), None)
    if found is None:
        raise NotFound(f"Competition '{competition.name}' has no phase '{phase}'; it has {_names(competition.phases)}.")
    boards = boards_of(competition, found)
    wanted = next((b for b in boards if b.name == board), None)
    if wanted is None:
        raise NotFound(f"Phase '{phase}' of '{competition.name}' has no board '{board}'; it has {_names(boards)}.")
    return found, wanted


def boards_of(competition: Competition, phase: Phase) -> list[Board]:
    """The boards of the tasks that this phase asks."""
    asked = {phase_task.task_id for phase_task in phase.phase_tasks}
    return [board for board in competition.boards if board.task_id in asked]


def _names(things: Sequence[Phase | CompetitionTask | Board]) -> str:
    return ", ".join(f"'{thing.name}'" for thing in things) or "none"


def get_submission(session: Session, submission_id: UUID, viewer: User | None) -> Submission:
    """The submission with all a page needs; for members of its team, whoever sent it, and organisers; else NotFound."""
    return _visible(session, _whole_submissions().where(Submission.id == submission_id), viewer)


def get_submission_with_report(session: Session, submission_id: UUID, viewer: User | None) -> Submission:
    """As `get_submission`, but its current run has the report, which holds every score, and no rows of scores."""
    runs = selectinload(Submission.runs.and_(ScoringRun.is_current))
    return _visible(session, _located_submissions().options(runs).where(Submission.id == submission_id), viewer)


def _visible(session: Session, query: Select[Submission], viewer: User | None) -> Submission:
    submission = session.scalar(query)
    if submission is None or viewer is None or not _may_see(session, submission, viewer):
        raise NotFound("There is no such submission, or it is not yours.")
    return submission


def _may_see(session: Session, submission: Submission, viewer: User) -> bool:
    """Who has left a team sees what they sent themselves, and nothing else of it."""
    if submission.user_id == viewer.id:
        return True
    member = select(TeamMember.user_id).where(TeamMember.team_id == submission.team_id, TeamMember.user_id == viewer.id)
    competition = submission.phase_task.phase.competition
    return session.scalar(member) is not None or may_organise(session, viewer, competition)


def list_submissions(
    session: Session,
    user: User,
    *,
    competition: str | None = None,
    phase: str | None = None,
    task: str | None = None,
    status: RunStatus | None = None,
    after: UUID | None = None,
    limit: int = 50,
) -> tuple[list[Submission], UUID | None]:
    """The submissions of the user's teams, and what they sent for teams that they have left, newest first; and where
    the next page goes on (None: this was the last)."""
    if any("\0" in (name or "") for name in (competition, phase, task)):  # PostgreSQL takes no NUL
        return [], None
    query = (
        _whole_submissions()
        .join(Submission.phase_task)
        .join(PhaseTask.phase)
        .join(PhaseTask.task)
        .join(Phase.competition)
        .where(is_ones_own(user))
        .order_by(Submission.submitted_at.desc(), Submission.id.desc())
        .limit(limit + 1)
    )
    for column, wanted in ((Competition.name, competition), (Phase.name, phase), (CompetitionTask.name, task)):
        if wanted is not None:
            query = query.where(column == wanted)
    if status is not None:
        query = query.where(Submission.runs.any(and_(ScoringRun.is_current, ScoringRun.status == status)))
    if after is not None:
        query = query.where(_older_than(session, user, after))
    found = list(session.scalars(query).unique())
    return found[:limit], (found[limit - 1].id if len(found) > limit else None)


def _older_than(session: Session, user: User, submission_id: UUID) -> ColumnElement[bool]:
    own = select(Submission.submitted_at).where(Submission.id == submission_id, is_ones_own(user))
    moment = session.scalar(own)
    if moment is None:
        raise NotFound("This page of the list does not exist any more; start again from its beginning.")
    same = and_(Submission.submitted_at == moment, Submission.id < submission_id)
    return or_(Submission.submitted_at < moment, same)


def is_ones_own(user: User) -> ColumnElement[bool]:
    """Of the user's teams, or sent by the user."""
    teams = select(TeamMember.team_id).where(TeamMember.user_id == user.id)
    return or_(Submission.team_id.in_(teams), Submission.user_id == user.id)


def _whole_submissions() -> Select[Submission]:
    return _located_submissions().options(
        selectinload(Submission.runs.and_(ScoringRun.is_current)).options(
            defer(ScoringRun.report, raiseload=True), selectinload(ScoringRun.scores)
        ),
    )


def _located_submissions() -> Select[Submission]:
    """With everything above them, but no runs."""
    above = joinedload(Submission.phase_task)
    return select(Submission).options(
        above.joinedload(PhaseTask.phase).joinedload(Phase.competition),
        above.joinedload(PhaseTask.task),
        joinedload(Submission.team),
        joinedload(Submission.user),
    )
