"""Search for competitions, their tasks, boards and teams by words of their names, as far as the viewer may see them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.base.text import folded
from app.competitions.current import current_phase
from app.competitions.find import boards_of
from app.competitions.visibility import Viewer, view_of
from app.models import Board, BoardShown, Competition, CompetitionTask, Phase, PhaseTask, Tally, Team, TeamKind

#: Maximum of competitions, tasks and boards, and of teams, shown on a page.
MOST_HITS, MOST_TEAMS = 50, 20
#: Maximum number of team rows that one search reads.
_TEAMS_READ = 400


@dataclass(frozen=True, slots=True)
class Hit:
    """A competition, one of its tasks, or one of its boards.

    phase: of a board, the current phase, or else the last one that has it.
    """

    competition: Competition
    task: CompetitionTask | None = None
    phase: Phase | None = None
    board: Board | None = None

    @property
    def kind(self) -> Literal["competition", "task", "board"]:
        return "board" if self.board is not None else "task" if self.task is not None else "competition"


@dataclass(frozen=True, slots=True)
class TeamHit:
    """A team that a board shows under its name."""

    competition: Competition
    team: str


def search(competitions: Sequence[Competition], words: str, now: datetime) -> list[Hit]:
    """Return hits whose title, name and summary contain every word, ignoring case and accents; no hits without words.

    A task or board is found by its own words combined with those of its competition. competitions: those that the
    viewer may see.
    """
    wanted = folded(words).split()
    if not wanted:
        return []
    hits = (hit for competition in competitions for hit in _hits(competition, wanted, now))
    return [hit for _, hit in zip(range(MOST_HITS), hits, strict=False)]


def _hits(competition: Competition, wanted: Sequence[str], now: datetime) -> Iterator[Hit]:
    about = f"{competition.title} {competition.name} {competition.summary or ''}"
    if _has(about, wanted):
        yield Hit(competition)
    for task in competition.tasks:
        if _adds(f"{task.title} {task.name}", about, wanted):
            yield Hit(competition, task)
    for board in competition.boards:
        if _adds(f"{board.title} {board.name} {board.task.title} {board.task.name}", about, wanted):
            phase = _phase_of(competition, board, now)
            if phase is not None:
                yield Hit(competition, board.task, phase, board)


def _adds(own: str, about: str, wanted: Sequence[str]) -> bool:
    """Return True if `own` contains at least one of the words, and `own` and `about` together contain all."""
    return any(word in folded(own) for word in wanted) and _has(f"{about} {own}", wanted)


def _has(text: str, wanted: Sequence[str]) -> bool:
    return all(word in folded(text) for word in wanted)


def _phase_of(competition: Competition, board: Board, now: datetime) -> Phase | None:
    current = current_phase(competition, now)
    phases = [*([current.phase] if current else []), *reversed(competition.phases)]
    return next((phase for phase in phases if board in boards_of(competition, phase)), None)


def search_teams(session: Session, competitions: Sequence[Competition], words: str, viewer: Viewer) -> list[TeamHit]:
    """Return teams whose name contains every word, if some board shows them to the viewer under this name.

    Teams without a scored submission, hidden teams, and teams on boards that are hidden or have neutral names are not
    found. Case is ignored, accents are not. competitions: those that the viewer may see.
    """
    wanted = [word for word in words.split() if "\0" not in word]
    by_id = {competition.id: competition for competition in competitions}
    if not wanted or not by_id:
        return []
    rows = session.execute(
        select(Team.competition_id, Team.name, Tally.phase_task_id)
        .join(Tally, Tally.team_id == Team.id)
        .where(Team.competition_id.in_(by_id), Team.kind == TeamKind.TEAM, Tally.runs > 0)
        .where(*(Team.name.icontains(word, autoescape=True) for word in wanted))
        .order_by(Team.name, Team.id, Tally.phase_task_id)
        .limit(_TEAMS_READ)
    ).all()
    phase_tasks = {
        one.id: one for competition in competitions for phase in competition.phases for one in phase.phase_tasks
    }
    shows: dict[int, bool] = {}
    found: dict[tuple[int, str], TeamHit] = {}
    for competition_id, name, phase_task_id in rows:
        if phase_task_id not in shows:
            shows[phase_task_id] = _shows_names(session, phase_tasks.get(phase_task_id), viewer)
        if shows[phase_task_id]:
            found.setdefault((competition_id, name), TeamHit(by_id[competition_id], name))
        if len(found) == MOST_TEAMS:
            break
    return list(found.values())


def _shows_names(session: Session, phase_task: PhaseTask | None, viewer: Viewer) -> bool:
    """Return True if boards of this task are shown to the viewer, with the names of teams."""
    if phase_task is None:
        return False
    view = view_of(session, phase_task, viewer)
    return view.names and view.board is not BoardShown.HIDDEN
