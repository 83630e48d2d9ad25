"""The workspace of a competition: the header shared by all its pages, and its tabs.

Each tab leads directly to its page for the current phase and board.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from sqlalchemy.orm import Session

from app.base import links
from app.boards.activity import Activity, activity_of
from app.competitions.allowances import late_phase_of
from app.competitions.current import current_phase
from app.competitions.find import boards_of, find_competition
from app.competitions.limits import PhaseState, phase_state
from app.competitions.visibility import Viewer, views_of
from app.models import Board, Competition, CompetitionTask, Phase, PhaseTask, Right, User
from app.people.rights import rights_of
from app.submissions.find import MOST_COUNTED, count_own

TabName = Literal["overview", "data", "submit", "runs", "leaderboard", "pictures", "questions", "cite", "desk"]

#: Tabs that organisers may also view as others.
_SHARED = ("overview", "data", "leaderboard", "pictures", "questions", "cite")


@dataclass(frozen=True, slots=True)
class Tab:
    """A tab. count: the number of things in it; empty if not shown."""

    name: TabName
    title: str
    address: str
    is_current: bool
    count: str = ""


#: A choice: title, address, whether it is the current one.
Option = tuple[str, str, bool]


@dataclass(frozen=True, slots=True)
class PlaceOptions:
    """The phases, tasks of the phase and boards of the task that a page switches between."""

    phases: Sequence[Option] = ()
    tasks: Sequence[Option] = ()
    boards: Sequence[Option] = ()


@dataclass(frozen=True, slots=True)
class Workspace:
    """The header of a competition's pages.

    phase: the phase of the page, or else the current one; None if none is declared. tab: the tab of the page. rights:
    of the viewer as an organiser; empty while previewing as somebody else.
    """

    competition: Competition
    phase: Phase | None
    state: PhaseState
    activity: Activity
    tab: TabName | None
    tabs: tuple[Tab, ...]
    rights: frozenset[Right]


@dataclass(frozen=True, slots=True)
class Place:
    """The phase, task and board of a page, to which its tabs refer."""

    phase: Phase | None = None
    task: CompetitionTask | None = None
    board: Board | None = None


def workspace_of(
    session: Session,
    competition: Competition,
    viewer: Viewer,
    tab: TabName | None = None,
    place: Place = Place(),  # noqa: B008 - frozen
) -> Workspace:
    """Return the workspace of a page; competition: as returned by `find_competition`."""
    current = current_phase(competition, viewer.now)
    phase = place.phase or (current.phase if current else None)
    here = Place(phase, place.task, place.board)
    views = views_of(session, phase.phase_tasks, viewer) if phase else {}
    own = count_own(session, competition, viewer.user) if viewer.user else None
    rights = rights_of(session, viewer.user, competition) if viewer.seen_as is None else frozenset()
    late = _late_upload(session, competition, here, viewer)
    tabs = (
        Tab(name, title, address, name == tab, _count_words(own) if name == "runs" else "")
        for name, title, address in _tabs(
            competition, here, viewer.now, late, has_runs=own is not None, has_desk=bool(rights)
        )
    )
    seen = (
        replace(one, address=links.as_seen_by(one.address, viewer.seen_as)) if one.name in _SHARED else one
        for one in tabs
    )
    state: PhaseState = phase_state(phase, viewer.now) if phase else "upcoming"
    return Workspace(competition, phase, state, activity_of(session, views), tab, tuple(seen), rights)


def _count_words(count: int | None) -> str:
    """Return the count as text, capped; "" for None or zero."""
    return f"{MOST_COUNTED - 1}+" if count and count >= MOST_COUNTED else str(count or "")


def desk_of(session: Session, competition: Competition, viewer: Viewer) -> Workspace:
    """Return the workspace of a page for organisers."""
    return workspace_of(session, competition, viewer, "desk")


def workspace_of_task(session: Session, phase_task: PhaseTask, viewer: Viewer, tab: TabName) -> Workspace:
    """Return the workspace of a page about something sent to a task, such as a submission."""
    competition = find_competition(session, phase_task.phase.competition.name)
    phase = next(one for one in competition.phases if one.id == phase_task.phase_id)
    return workspace_of(session, competition, viewer, tab, Place(phase, phase_task.task))


def _late_upload(
    session: Session, competition: Competition, here: Place, viewer: Viewer
) -> tuple[Phase, CompetitionTask] | None:
    """Return where the viewer's team may still upload although no phase is open or upcoming; None if nowhere."""
    if viewer.user is None or viewer.seen_as is not None or place_of_upload(competition, here, viewer.now) is not None:
        return None
    return place_of_late_upload(session, competition, here, viewer.user, viewer.now)


def place_of_late_upload(
    session: Session, competition: Competition, here: Place, user: User, now: datetime
) -> tuple[Phase, CompetitionTask] | None:
    """Return a phase that is still open for the user's team, with the page's task or else its first; None if none is
    open.
    """
    found = late_phase_of(session, competition, user, now)
    phase = next((one for one in competition.phases if found is not None and one.id == found.id), None)
    return _task_of(phase, here) if phase is not None else None


def _tabs(
    competition: Competition,
    here: Place,
    now: datetime,
    late: tuple[Phase, CompetitionTask] | None,
    *,
    has_runs: bool,
    has_desk: bool,
) -> Iterator[tuple[TabName, str, str]]:
    name = competition.name
    board, submit = board_of_tab(competition, here), place_of_upload(competition, here, now) or late
    yield "overview", "Overview", links.competition(name)
    yield "data", "Data", links.tab(name, "data")
    if submit is not None:
        yield "submit", "Submit", links.submit(name, submit[0].name, submit[1].name)
    if has_runs:
        yield "runs", "My submissions", links.runs(name)
    if here.phase is not None and board is not None:
        yield "leaderboard", "Leaderboard", links.board(name, here.phase.name, board.name)
        yield "pictures", "Pictures", f"{links.pictures(name, here.phase.name, board.name)}#pictures"
    yield "questions", "Q&A", links.questions(name)
    yield "cite", "Cite", links.tab(name, "cite")
    if has_desk:
        yield "desk", "Desk", links.desk(name)


def board_of_tab(competition: Competition, here: Place) -> Board | None:
    """Return the page's board, or the first of its task, or else of its phase; None if the phase has none."""
    if here.board is not None or here.phase is None:
        return here.board
    boards = boards_of(competition, here.phase)
    of_task = [board for board in boards if here.task is not None and board.task_id == here.task.id]
    return next(iter([*of_task, *boards]), None)


def place_of_upload(competition: Competition, here: Place, now: datetime) -> tuple[Phase, CompetitionTask] | None:
    """Return where to upload: the page's phase if it is open, else the current one; the same task if possible.

    None if no phase is open or upcoming, or if the phase has no tasks.
    """
    current = current_phase(competition, now)
    phase = here.phase if here.phase is not None and phase_state(here.phase, now) == "open" else None
    phase = phase or (current.phase if current else None)
    if phase is None or phase_state(phase, now) == "closed":
        return None
    return _task_of(phase, here)


def _task_of(phase: Phase, here: Place) -> tuple[Phase, CompetitionTask] | None:
    """Return the phase with the page's task, or else with its first task; None if it has no tasks."""
    wanted = here.task.id if here.task is not None else here.board.task_id if here.board is not None else None
    tasks = [phase_task.task for phase_task in phase.phase_tasks]
    return next(((phase, task) for task in tasks if task.id == wanted), (phase, tasks[0]) if tasks else None)
