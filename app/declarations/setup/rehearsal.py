"""A rehearsal of a draft: a baseline is treated like a team's file, and its board is shown as viewers will see it.

The file is checked like an upload, and a worker has scored it with the sealed gold. Boards are built by the usual code,
for each kind of viewer and each span of a phase, with the baseline in the place of a team. Nothing is stored, so
nothing has to be removed before the competition is published.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy.orm import Session

from app.boards.leaderboard import entry_sources, sight_of, whole_board
from app.boards.rows import Leaderboard
from app.boards.view import show
from app.competitions.find import boards_of
from app.competitions.visibility import SeenAs, Viewer
from app.helper.process import Job, TooMuchWork, run
from app.helper.wire import Message
from app.models import Board, Competition, Phase, User
from evergold.scoring.errors import ScoringError
from evergold.scoring.task import read_options
from evergold.scoring.tasks import TASKS

_CHECK = Job("app.declarations.setup.rehearsal:checked", processor_seconds=60, seconds=120, mebibytes=2048, waiting=6)
#: Name of the team in whose place the baseline stands.
TEST_TEAM = "Test team"
_PROBLEMS_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Checked:
    """The result of the format check. problems: sentences, empty if valid; items: number of items covered."""

    problems: tuple[str, ...]
    items: int


@dataclass(frozen=True, slots=True)
class BoardSeen:
    """A board as one kind of viewer sees it. who: the viewer, in words."""

    who: str
    leaderboard: Leaderboard
    sees_own_scores: bool


@dataclass(frozen=True, slots=True)
class SpanSeen:
    """A span of a phase, and its board as each kind of viewer sees it."""

    phase: Phase
    board: Board
    title: str
    seen: tuple[BoardSeen, ...]


def check_as_upload(task_type: str, options: dict[str, Any], items: Path, prediction: Path) -> Checked:
    """Check a file like an upload, in the helper; return the result."""
    head = {"type": task_type, "options": options, "items": str(items.absolute()), "file": str(prediction.absolute())}
    try:
        answer, _ = run(_CHECK, head)
    except TooMuchWork:
        return Checked(("Checking this takes too long or too much memory.",), 0)
    return Checked(tuple(answer["problems"]), answer["items"])


def checked(head: dict[str, Any], _: bytes) -> Message:
    """Return `problems` and the number of `items`. A job of the helper."""
    task = TASKS[head["type"]]
    try:
        options = read_options(task, head["options"])
        items = task.read_items(Path(head["items"]), options)
        task.read_prediction(Path(head["file"]), items, options)
    except ScoringError as invalid:
        problems = getattr(invalid, "problems", None) or [invalid]
        return {"problems": [str(one) for one in problems[:_PROBLEMS_SHOWN]], "items": 0}, b""
    return {"problems": [], "items": len(task.demands(items)) if task.demands else 0}, b""


def rehearsed(session: Session, competition: Competition, user: User, baseline: str) -> Iterator[SpanSeen]:
    """Yield every board in every span of its phase. baseline: name of the one that takes the place of a team."""
    for phase in competition.phases:
        for board in boards_of(competition, phase):
            for title, moment in _spans(phase):
                viewers = (
                    ("Readers", Viewer(None, moment, SeenAs.PUBLIC)),
                    ("The team", Viewer(user, moment, SeenAs.PARTICIPANT)),
                    ("Organisers", Viewer(user, moment)),
                )
                seen = tuple(_seen(session, phase, board, who, viewer, baseline) for who, viewer in viewers)
                yield SpanSeen(phase, board, title, seen)


def _spans(phase: Phase) -> Iterator[tuple[str, datetime]]:
    """Yield the title of each span of a phase, with a time in it: while the phase is open, and after its close."""
    yield "While it is open", phase.starts_at + timedelta(minutes=1)
    if phase.ends_at is not None:
        yield "After it has closed", phase.ends_at + timedelta(minutes=1)


def _seen(session: Session, phase: Phase, board: Board, who: str, viewer: Viewer, baseline: str) -> BoardSeen:
    sources = entry_sources(session, phase, board)
    sight = sight_of(session, sources, viewer)
    whole = whole_board(session, board, sources, half=sight.own.view.half)
    tested = next((row for row in whole.rows if row.kind == "baseline" and row.team == baseline), None)
    if tested is not None:
        rows = tuple(
            row._replace(kind="team", team=TEST_TEAM, method="", achieved_at=phase.starts_at) if row is tested else row
            for row in whole.rows
        )
        whole = replace(whole, rows=rows)
        if who == "The team" and tested.team_id is not None:
            sight = replace(sight, mine=frozenset({tested.team_id}))
    shown = show(whole, sight)
    return BoardSeen(who, shown, shown.view.own_scores or shown.view.is_organiser)
