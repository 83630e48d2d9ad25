"""The page of a competition: its description, its phases as a timeline, their tasks with downloads and boards."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from fastapi import Request, Response
from sqlalchemy.orm import Session

from app.base.db import reading
from app.boards.leaderboard import count_entries
from app.boards.rankings import rankings_of
from app.boards.side_by_side import short_titles
from app.competitions.entry_rules import EntrySettings, entry_settings
from app.competitions.find import boards_of, find_competition
from app.competitions.limits import PhaseState, phase_state
from app.competitions.visibility import View, views_of
from app.judging.annotators import may_judge_or_organise
from app.messages.announcements import announcements_of
from app.models import Board, Competition, Phase, PhaseTask
from app.submissions.downloads import FileAccess, file_access, file_viewer
from app.teams.registration import standing
from app.teams.registration_rules import rules_of
from app.web.html.rendering import render
from app.web.html.sharing import share_competition
from app.web.html.workspace import workspace_of
from app.web.http.context import ServerHere
from app.web.http.routers import page_router
from app.web.http.viewer import Viewer, ViewerHere

router = page_router()

#: Older ones are on a page of their own.
ANNOUNCEMENTS_SHOWN = 5


@dataclass(frozen=True, slots=True)
class TaskInPhase:
    """A task in a phase.

    boards: with their titles shortened; teams: number of teams with scores; view: what the viewer may see of it.
    """

    phase_task: PhaseTask
    boards: list[tuple[str, Board]]
    teams: int
    view: View
    entry: EntrySettings
    files: list[FileAccess]


@dataclass(frozen=True, slots=True)
class PhaseShown:
    """A phase with its tasks."""

    phase: Phase
    state: PhaseState
    tasks: list[TaskInPhase]


@router.get("/competitions/{competition}")
def read_competition(request: Request, server: ServerHere, viewer: ViewerHere, competition: str) -> Response:
    now = server.clock()
    with reading(server.engine) as session:
        found = find_competition(session, competition)
        views = _views(session, found, viewer, now)
        teams = count_entries(session, views)
        has_judging = may_judge_or_organise(session, viewer.user, found)
        announcements = announcements_of(session, found)
        missing = standing(session, found, viewer.user).missing if viewer.user else None
        files_viewer = file_viewer(session, found, viewer.user, seen_as=viewer.seen_as)
        workspace = workspace_of(session, found, viewer, now, "overview")
    phases = [
        PhaseShown(
            phase,
            phase_state(phase, now),
            [
                _task(found, asked, teams, views, file_access(found, phase, asked, files_viewer, now))
                for asked in phase.phase_tasks
            ],
        )
        for phase in found.phases
    ]
    return render(
        request,
        "competitions/page.html",
        competition=found,
        phases=phases,
        rankings={phase.name: rankings_of(found, phase) for phase in found.phases},
        announcements=announcements[:ANNOUNCEMENTS_SHOWN],
        more_announcements=len(announcements) > ANNOUNCEMENTS_SHOWN,
        rules=rules_of(found),
        missing=missing,
        is_participant=viewer.user is not None,
        has_judging=has_judging,
        workspace=workspace,
        sharing=share_competition(server, found),
        seen_as=viewer.seen_as,
        now=now,
    )


def _views(session: Session, competition: Competition, viewer: Viewer, now: datetime) -> dict[int, View]:
    asked = [one for phase in competition.phases for one in phase.phase_tasks]
    return views_of(session, asked, viewer.user, now, seen_as=viewer.seen_as)


def _task(
    competition: Competition,
    asked: PhaseTask,
    teams: dict[int, int],
    views: dict[int, View],
    files: list[FileAccess],
) -> TaskInPhase:
    phase = next(phase for phase in competition.phases if phase.id == asked.phase_id)
    boards = [board for board in boards_of(competition, phase) if board.task_id == asked.task_id]
    titles = short_titles([board.title for board in boards])
    return TaskInPhase(
        asked,
        list(zip(titles, boards, strict=True)),
        teams.get(asked.id, 0),
        views[asked.id],
        entry_settings(phase, asked),
        files,
    )
