"""Official results that are superseded by a later end of their phase: they are noted whenever a file is applied."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.boards.snapshots import is_open_again
from app.declarations.apply.changes import Work
from app.models import Board, Competition, Phase, Snapshot
from evergold.moments import moment_words


def frozen_closes(session: Session, phases: Collection[int]) -> dict[tuple[int, int], datetime]:
    """Return, by phase and task, the end of the phase for which its latest official results were frozen."""
    query = (
        select(Snapshot.phase_id, Board.task_id, func.max(Snapshot.closed_at))
        .join(Board, Board.id == Snapshot.board_id)
        .where(Snapshot.phase_id.in_(phases))
        .group_by(Snapshot.phase_id, Board.task_id)
    )
    return {(phase, task): closed_at for phase, task, closed_at in session.execute(query)}


def superseded_words(closed_at: datetime | None, before: datetime | None, after: datetime | None) -> str | None:
    """Return a sentence on what happens to results that were frozen for the end `closed_at` if the phase's end changes
    from `before` to `after`; None if nothing happens.
    """
    if closed_at is None or not is_open_again(closed_at, after) or is_open_again(closed_at, before):
        return None
    following = "others are frozen when it closes again" if after else "the live board continues"
    return f"its official results of {moment_words(closed_at)} are superseded: they keep their address, and {following}"


def phase_ends(session: Session, competition: str) -> dict[int, datetime | None]:
    """Return the end of each phase by id."""
    query = select(Phase.id, Phase.ends_at).join(Competition, Competition.id == Phase.competition_id)
    return {id_: ends_at for id_, ends_at in session.execute(query.where(Competition.name == competition))}


def note_superseded(work: Work, competition: str, before: dict[int, datetime | None]) -> None:
    """Note the phases whose official results are superseded by the applied declaration. before: their previous ends."""
    work.session.flush()
    after = phase_ends(work.session, competition)
    frozen = frozen_closes(work.session, before)
    for phase_id in [one for one in before if one in after]:
        closes = [closed_at for (phase, _), closed_at in frozen.items() if phase == phase_id]
        words = superseded_words(max(closes, default=None), before[phase_id], after[phase_id])
        if words is not None:
            name = work.session.scalar(select(Phase.name).where(Phase.id == phase_id))
            work.changes.note(f"phase '{name}' of '{competition}' is open again: {words}")
