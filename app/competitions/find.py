"""Looks up competitions with their parts, and submissions that a viewer may see, loaded as pages need them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from sqlalchemy import BindParameter, Select, bindparam, or_, select
from sqlalchemy.orm import Session, contains_eager, selectinload
from sqlalchemy.orm.attributes import set_committed_value

from app.base.errors import NotFound
from app.competitions.access import is_seen_by, no_competition
from app.models import (
    Board,
    Competition,
    CompetitionRole,
    CompetitionTask,
    Phase,
    PhaseTask,
    PublicFile,
    Registration,
    Right,
    Role,
    TeamMember,
    User,
)
from app.people.rights import Needs, check_may_organise, may_organise

Part = TypeVar("Part", CompetitionTask, Board, Phase, PhaseTask, PublicFile)

_OURS: BindParameter[list[int]] = bindparam("competitions", expanding=True)
_TASKS = select(CompetitionTask).where(CompetitionTask.competition_id.in_(_OURS)).order_by(CompetitionTask.position)
_BOARDS = select(Board).where(Board.competition_id.in_(_OURS)).order_by(Board.position)
_PHASES = select(Phase).where(Phase.competition_id.in_(_OURS)).order_by(Phase.position)
_PHASE_TASKS = (
    select(PhaseTask)
    .join(Phase, Phase.id == PhaseTask.phase_id)
    .where(Phase.competition_id.in_(_OURS))
    .order_by(PhaseTask.id)
)
_FILES = (
    select(PublicFile)
    .join(PhaseTask, PhaseTask.id == PublicFile.phase_task_id)
    .join(Phase, Phase.id == PhaseTask.phase_id)
    .where(Phase.competition_id.in_(_OURS))
    .order_by(PublicFile.position)
)


def load_parts(session: Session, competitions: Sequence[Competition]) -> None:
    """Load tasks, boards, phases, phase tasks and their files from the current state of the database."""
    if not competitions:
        return
    ours = {"competitions": [competition.id for competition in competitions]}
    tasks, boards = session.scalars(_TASKS, ours).all(), session.scalars(_BOARDS, ours).all()
    phases, phase_tasks = session.scalars(_PHASES, ours).all(), session.scalars(_PHASE_TASKS, ours).all()
    files = session.scalars(_FILES, ours).all()
    _hand_out(competitions, "tasks", tasks, lambda task: task.competition_id)
    _hand_out(competitions, "boards", boards, lambda board: board.competition_id)
    _hand_out(competitions, "phases", phases, lambda phase: phase.competition_id)
    _hand_out(phases, "phase_tasks", phase_tasks, lambda phase_task: phase_task.phase_id)
    _hand_out(phase_tasks, "files", files, lambda file: file.phase_task_id)
    by_id = {task.id: task for task in tasks}
    for board in boards:
        set_committed_value(board, "task", by_id[board.task_id])
    for phase_task in phase_tasks:
        set_committed_value(phase_task, "task", by_id[phase_task.task_id])


def _hand_out(
    wholes: Iterable[Competition | Phase | PhaseTask], name: str, parts: Iterable[Part], whole_of: Callable[[Part], int]
) -> None:
    """Set the attribute `name` of each object in `wholes` to the list of its parts, in the given order.

    whole_of: returns the id of the object that a part belongs to.
    """
    by_whole: defaultdict[int, list[Part]] = defaultdict(list)
    for part in parts:
        by_whole[whole_of(part)].append(part)
    for whole in wholes:
        set_committed_value(whole, name, by_whole[whole.id])


def find_competition(session: Session, name: str) -> Competition:
    """Return the competition with its tasks, phases and boards. Raises NotFound."""
    competition = named_competition(session, name)
    load_parts(session, [competition])
    return competition


def named_competition(session: Session, name: str) -> Competition:
    """Return the competition without its parts. Raises NotFound."""
    parameters = {"competition": name}
    # PostgreSQL accepts no NUL.
    competition = session.scalar(_NAMED_COMPETITION, parameters) if "\0" not in name else None
    if competition is None:
        raise no_competition(name)
    return competition


def organised(session: Session, user: User | None, name: str, needs: Needs) -> Competition:
    """Return the competition for organisers with these rights.

    Raises NotFound, NotAuthenticated, Forbidden, RightMissing.
    """
    competition = find_competition(session, name)
    check_may_organise(session, user, competition, needs)
    return competition


def organised_task(
    session: Session, user: User | None, competition: str, phase: str, task: str, needs: Needs
) -> PhaseTask:
    """Return a task in a phase for organisers with these rights. Raises the same errors as `organised`."""
    phase_task = find_phase_task(session, competition, phase, task)
    check_may_organise(session, user, phase_task.phase.competition, needs)
    return phase_task


def list_competitions(session: Session) -> list[Competition]:
    """List all competitions in the organisers' order, with tasks, phases and boards."""
    return _in_order(session, select(Competition))


def listed_competitions(session: Session) -> list[Competition]:
    """List the competitions that are visible to everybody, including archived ones."""
    return _in_order(session, select(Competition).where(is_seen_by(None)))


def visible_competitions(session: Session, user: User | None) -> list[Competition]:
    """List the competitions that this user may see, including archived and unlisted ones."""
    return _in_order(session, select(Competition).where(is_seen_by(user)))


def own_competitions(session: Session, user: User) -> list[Competition]:
    """List the competitions in which this user has a role, a team or a registration, newest first, with their parts."""
    belonging = (
        select(belongs.competition_id).where(belongs.user_id == user.id)
        for belongs in (CompetitionRole, TeamMember, Registration)
    )
    query = select(Competition).where(or_(*(Competition.id.in_(those) for those in belonging)), is_seen_by(user))
    found = list(session.scalars(query.order_by(Competition.created_at.desc(), Competition.id.desc())))
    load_parts(session, found)
    return found


def organised_by(session: Session, user: User) -> list[Competition]:
    """List the competitions that this user may edit as a named organiser, by title, without their parts."""
    role = select(CompetitionRole.competition_id).where(
        CompetitionRole.user_id == user.id, CompetitionRole.role == Role.ORGANISER
    )
    found = session.scalars(select(Competition).where(Competition.id.in_(role)).order_by(Competition.title))
    return [one for one in found if may_organise(session, user, one, Right.EDIT)]


def _in_order(session: Session, query: Select[Competition]) -> list[Competition]:
    competitions = list(session.scalars(query.order_by(Competition.position, Competition.name)))
    load_parts(session, competitions)
    return competitions


#: Built once, as every page runs it.
_NAMED_COMPETITION = select(Competition).where(Competition.name == bindparam("competition"))


def find_phase_task(session: Session, competition: str, phase: str, task: str, *, with_files: bool = True) -> PhaseTask:
    """Return a task in a phase with all parent objects.

    Raises NotFound that names the unknown part and the known ones.
    """
    names = (competition, phase, task)
    query = _NAMED_PHASE_TASK.options(selectinload(PhaseTask.files)) if with_files else _NAMED_PHASE_TASK
    parameters = {"competition": competition, "phase": phase, "task": task}
    wanted = session.scalar(query, parameters) if "\0" not in "".join(names) else None  # PostgreSQL accepts no NUL
    if wanted is None:
        raise _no_such_phase_task(session, *names)
    return wanted


#: Built once, as every upload runs it.
_NAMED_PHASE_TASK = (
    select(PhaseTask)
    .join(PhaseTask.phase)
    .join(Phase.competition)
    .join(PhaseTask.task)
    .where(
        Competition.name == bindparam("competition"),
        Phase.name == bindparam("phase"),
        CompetitionTask.name == bindparam("task"),
    )
    .options(
        contains_eager(PhaseTask.phase).contains_eager(Phase.competition),
        contains_eager(PhaseTask.task),
    )
)


def _no_such_phase_task(session: Session, competition: str, phase: str, task: str) -> NotFound:
    found = find_competition(session, competition)
    phase_found = next((p for p in found.phases if p.name == phase), None)
    if phase_found is None:
        return NotFound(f"Competition '{competition}' has no phase '{phase}'; it has {_names(found.phases)}.")
    tasks = [phase_task.task for phase_task in phase_found.phase_tasks]
    return NotFound(f"Phase '{phase}' of '{competition}' has no task '{task}'; it has {_names(tasks)}.")


def find_board(competition: Competition, phase: str, board: str) -> tuple[Phase, Board]:
    """Return a phase and one of its boards. Raises NotFound. competition: from `find_competition`."""
    found = next((p for p in competition.phases if p.name == phase), None)
    if found is None:
        raise NotFound(f"Competition '{competition.name}' has no phase '{phase}'; it has {_names(competition.phases)}.")
    boards = boards_of(competition, found)
    wanted = next((b for b in boards if b.name == board), None)
    if wanted is None:
        raise NotFound(f"Phase '{phase}' of '{competition.name}' has no board '{board}'; it has {_names(boards)}.")
    return found, wanted


def boards_of(competition: Competition, phase: Phase) -> list[Board]:
    """Return the boards of the tasks in this phase."""
    task_ids = {phase_task.task_id for phase_task in phase.phase_tasks}
    return [board for board in competition.boards if board.task_id in task_ids]


def _names(things: Sequence[Phase | CompetitionTask | Board]) -> str:
    return ", ".join(f"'{thing.name}'" for thing in things) or "none"
