"""The overview page of a competition: description, steps to a first score, phases, and tasks by phase."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fastapi import Response

from app.boards.leaderboard import count_entries
from app.boards.rankings import Ranking, rankings_of
from app.competitions.entry_rules import EntrySettings, entry_settings
from app.competitions.find import boards_of, find_competition
from app.competitions.limits import PhaseState, phase_state
from app.competitions.visibility import View, Viewer, views_of
from app.judging.annotators import may_judge_or_organise
from app.messages.announcements import announcements_of
from app.models import Board, BoardShown, Competition, CompetitionTask, Phase, PhaseTask
from app.teams.registration import rules_of
from app.web.html.rendering import render_page
from app.web.html.sharing import share_competition
from app.web.html.workspace import Place, place_of_upload, workspace_of
from app.web.http.routers import page_router
from app.web.http.visit import PageVisit

router = page_router()

#: Maximum number of announcements; another page has all of them.
ANNOUNCEMENTS_SHOWN = 2


@dataclass(frozen=True, slots=True)
class Cell:
    """A task in a phase.

    board: its first board that this viewer may open; None if there is none to show yet. teams: number of teams with a
    score.
    takes_uploads: whether files can be submitted now; waits_for_gold: whether only the gold is missing for that.
    """

    phase_task: PhaseTask
    board: Board | None
    teams: int
    view: View
    takes_uploads: bool
    waits_for_gold: bool


@dataclass(frozen=True, slots=True)
class PhaseLine:
    """A phase with its tasks. entries: entry rules by the id of the task."""

    phase: Phase
    state: PhaseState
    cells: Mapping[int, Cell]
    entries: Mapping[int, EntrySettings]
    rankings: list[Ranking]

    @property
    def entry(self) -> EntrySettings | None:
        """The entry rule that all tasks share; None if they differ."""
        found = list(self.entries.values())
        return found[0] if found and all(one == found[0] for one in found) else None


@router.get("/competitions/{competition}")
def read_competition(visit: PageVisit, competition: str) -> Response:
    session, viewer = visit.session, visit.viewer
    found = find_competition(session, competition)
    views = views_of(session, [one for phase in found.phases for one in phase.phase_tasks], viewer)
    teams = count_entries(session, views)
    announcements = announcements_of(session, found)
    has_judging = may_judge_or_organise(session, viewer.user, found)
    workspace = workspace_of(session, found, viewer, "overview")
    return render_page(
        visit,
        "competitions/page.html",
        competition=found,
        lines=[_line(found, phase, views, teams, viewer) for phase in found.phases],
        tasks=_tasks_in_phases(found),
        upload=place_of_upload(found, Place(), viewer.now),
        announcements=announcements[:ANNOUNCEMENTS_SHOWN],
        announcement_count=len(announcements),
        rules=rules_of(found),
        is_participant=viewer.user is not None,
        has_judging=has_judging,
        workspace=workspace,
        sharing=share_competition(visit.server, found),
        seen_as=viewer.seen_as,
    )


def _tasks_in_phases(competition: Competition) -> list[CompetitionTask]:
    """Return the tasks that are in at least one phase; only these have cells."""
    task_ids = {one.task_id for phase in competition.phases for one in phase.phase_tasks}
    return [task for task in competition.tasks if task.id in task_ids]


def _line(
    competition: Competition, phase: Phase, views: Mapping[int, View], teams: Mapping[int, int], viewer: Viewer
) -> PhaseLine:
    state = phase_state(phase, viewer.now)
    boards = {board.task_id: board for board in reversed(boards_of(competition, phase))}
    cells = {
        one.task_id: _cell(one, state, boards.get(one.task_id), views[one.id], teams.get(one.id, 0))
        for one in phase.phase_tasks
    }
    entries = {one.task_id: entry_settings(phase, one) for one in phase.phase_tasks}
    return PhaseLine(phase, state, cells, entries, rankings_of(competition, phase))


def _cell(phase_task: PhaseTask, state: PhaseState, board: Board | None, view: View, teams: int) -> Cell:
    """Return the cell of a task in a phase. board: the first board of the task; before the phase it is shown only if it
    has rows.
    """
    is_shown = view.board is not BoardShown.HIDDEN and (state != "upcoming" or teams > 0)
    has_gold = bool(phase_task.gold)
    return Cell(
        phase_task,
        board if is_shown else None,
        teams,
        view,
        takes_uploads=state == "open" and has_gold,
        waits_for_gold=state == "open" and not has_gold,
    )
