"""Shared by tests of visibility: declare it, add a phase, and look at a board as somebody."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Engine, select

from app.base.db import reading, writing
from app.boards.freezing import freeze_due
from app.boards.leaderboard import Leaderboard, board_version, build_leaderboard
from app.competitions.find import find_board, find_competition, find_phase_task
from app.competitions.visibility import SeenAs, Viewer
from app.models import Competition, CompetitionTask, EntryRule, Phase, PhaseTask, User
from app.submissions.accept import Sender, SubmissionForm, accept_submission
from tests import world
from tests.world import COMPETITION, NOW, PHASE, TASK

MINUTE = timedelta(minutes=1)
INSTANT = timedelta(microseconds=1)


def declare(engine: Engine, *, phase: str = PHASE, competition: str = COMPETITION, **values: Any) -> None:
    """Set columns of a phase, as apply does, which changes its boards, too. Digits and slices are whole unless
    declared.
    """
    if "visibility" in values:
        values["visibility"] = {**world.SHOWN_WHOLE, **values["visibility"]}
    with writing(engine) as session:
        row = session.scalars(
            select(Phase)
            .join(Competition, Competition.id == Phase.competition_id)
            .where(Phase.name == phase, Competition.name == competition)
        ).one()
        for name, value in values.items():
            setattr(row, name, value)
        for asked in session.scalars(select(PhaseTask).where(PhaseTask.phase_id == row.id)):
            asked.board_version += 1


def hide(engine: Engine, *, phase: str = PHASE, **visibility: Any) -> None:
    """Declare the visibility of a phase; moments may be given as such."""
    said = {name: value.isoformat() if isinstance(value, datetime) else value for name, value in visibility.items()}
    declare(engine, phase=phase, visibility=said)


def add_phase(
    engine: Engine,
    name: str,
    *,
    starts_at: datetime,
    gold: str = "gold.csv",
    competition: str = COMPETITION,
    **values: Any,
) -> None:
    """Add another phase with the same task, without an end unless one is given."""
    with writing(engine) as session:
        asked = select(CompetitionTask).join(Competition, Competition.id == CompetitionTask.competition_id)
        task = session.scalars(asked.where(Competition.name == competition, CompetitionTask.name == TASK)).one()
        columns = {
            "title": name.capitalize(),
            "entry_rule": EntryRule.BEST,
            "rejected_per_hour": 60,
            "upload_limit_bytes": 1_000_000,
            "position": 1,
            **values,
            "visibility": {**world.SHOWN_WHOLE, **values.get("visibility", {})},
        }
        phase = Phase(competition_id=task.competition_id, name=name, starts_at=starts_at, **columns)
        session.add(phase)
        session.flush()
        session.add(PhaseTask(phase_id=phase.id, task_id=task.id, gold=gold))


def enter(
    engine: Engine, user: User, zero_shot: float | None, one_shot: float | None = None, *, minute: int = 0, **more: Any
) -> Any:
    """Add a scored submission to `phase`, `minute` minutes after NOW or `at` a moment; return its id."""
    phase, at = more.pop("phase", PHASE), more.pop("at", NOW + minute * MINUTE)
    with writing(engine) as session:
        accepted = accept_submission(
            session,
            find_phase_task(session, COMPETITION, phase, TASK),
            world.upload_of(f"{user.username} {phase} {at}"),
            Sender(user, at),
            SubmissionForm(**more),
        )
        submission_id = accepted.submission.id
    world.score(engine, accepted.run_id, zero_shot, one_shot)
    return submission_id


def look(
    engine: Engine,
    viewer: User | None = None,
    now: datetime = NOW,
    *,
    phase: str = PHASE,
    board: str = "zero-shot",
    seen_as: SeenAs | None = None,
) -> Leaderboard:
    """Return the board as this viewer sees it; its version must equal that of `board_version`."""
    with reading(engine) as session:
        place = find_board(find_competition(session, COMPETITION), phase, board)
        found = build_leaderboard(session, *place, Viewer(viewer, now, seen_as))
        assert found.version == board_version(session, *place, Viewer(viewer, now, seen_as))
    return found


def rows(found: Leaderboard) -> list[tuple[int | None, str, float | None]]:
    """Return (rank, team, value in the ranking column) from the top."""
    return [(row.rank, row.team, row.cells[found.rank_by].value) for row in found.rows]


def freeze(engine: Engine, now: datetime) -> int:
    """Freeze boards as the sweep does; return how many were frozen."""
    with writing(engine) as session:
        return len(freeze_due(session, now))
