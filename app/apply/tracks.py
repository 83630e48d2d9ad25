"""Tracks that changed under submissions: these keep what their teams chose, and it is said where they stand now."""

from __future__ import annotations

from sqlalchemy import func, select

from app.changes import Work
from app.models import Competition, Phase, PhaseTask, Submission, Team, TeamKind
from app.tracks import tracks_of


def note_other_tracks(work: Work, competition: Competition) -> None:
    """A sentence for each track, or lack of one, that submissions have and the competition no longer declares."""
    declared: set[str | None] = {track.name for track in tracks_of(competition)} or {None}
    counted = work.session.execute(
        select(Submission.track, func.count())
        .join(PhaseTask, PhaseTask.id == Submission.phase_task_id)
        .join(Phase, Phase.id == PhaseTask.phase_id)
        .join(Team, Team.id == Submission.team_id)
        .where(Phase.competition_id == competition.id, Team.kind == TeamKind.TEAM)
        .group_by(Submission.track)
        .order_by(Submission.track)
    )
    for track, count in counted:
        if track not in declared:
            what = f"in the track '{track}'" if track else "without a track"
            stay = f"{count}; they stay so, and stand on boards of all tracks only"
            work.changes.note(f"submissions of '{competition.name}' {what}: {stay}")
