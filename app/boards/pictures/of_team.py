"""A team's results by language: a picture for each of its tasks, from the latest board that shows it."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy.orm import Session

from app.boards.pictures.languages import profile
from app.boards.pictures.seen import Seen, look_at
from app.boards.pictures.splits import language_splits
from app.boards.team_rows import TeamRow
from app.charts.picture import Picture
from app.competitions.visibility import Viewer, task_in_phase
from app.models import BoardShown


def team_pictures(
    session: Session,
    rows: Sequence[TeamRow],
    viewer: Viewer,
) -> list[Picture]:
    """Return a picture for each task, with the first baseline next to the team. rows: of one team, from `team_rows`."""
    phases = list(dict.fromkeys(one.phase.id for one in rows))
    found: dict[int, Picture] = {}
    for one in sorted(rows, key=lambda one: -phases.index(one.phase.id)):
        if one.board.task_id in found or one.leaderboard.view.board is not BoardShown.PUBLIC:
            continue
        options = task_in_phase(session, one.phase, one.board).options_of(one.board.task)
        if len(language_splits(one.board, options)) < 2:
            continue
        seen = look_at(session, one.phase, one.board, viewer)
        picture = _profile(seen, one.row.team) if seen is not None else None
        if picture is not None:
            title = f"{one.board.title}, {one.phase.title}"
            found[one.board.task_id] = picture.model_copy(
                update={"name": f"languages-{len(found) + 1}", "title": title}
            )
    return list(found.values())


def _profile(seen: Seen, team: str) -> Picture | None:
    """Return the profile of systems by language; None if the team has no score in any language."""
    names = [name for name, row in seen.named_rows() if row.team == team]
    baseline = [name for name, row in seen.named_rows() if row.kind == "baseline" and row.team != team][:1]
    picture = profile(seen, [*names, *baseline])
    return picture if picture is not None and any(one.name in names for one in picture.series) else None
