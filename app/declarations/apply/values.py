"""Values of registration, tracks and method cards for the database: as declared, without defaults."""

from __future__ import annotations

from typing import Any

from sqlalchemy import func, select

from app.competitions.tracks import tracks_of
from app.declarations.apply.changes import Work
from app.declarations.model import CompetitionDeclaration
from app.declarations.taking_part import MethodCardDeclaration
from app.models import Competition, Phase, PhaseTask, Submission, Team, TeamKind, User


def registration_values(declared: CompetitionDeclaration) -> dict[str, Any]:
    """Return the columns `registration` and `teams`."""
    registration = declared.registration.model_dump(mode="json", exclude_defaults=True)
    return {
        "registration": registration | {"mode": declared.registration_mode},
        "teams": declared.teams.model_dump(mode="json", exclude_defaults=True),
    }


def note_unknown_names(work: Work, declared: CompetitionDeclaration) -> None:
    """Note listed user names that do not exist: anybody who registers one of them would be admitted."""
    names = {one for one in declared.registration.allowed if "@" not in one}
    known = set(work.session.scalars(select(User.username).where(User.username.in_(names))))
    for name in sorted(names - known):
        work.changes.note(
            f"'{declared.name}' lets in '{name}', which is nobody's user name yet: whoever takes it gets in"
        )


def note_other_tracks(work: Work, competition: Competition) -> None:
    """Note each track, or lack of one, that submissions have and the competition no longer declares."""
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


def method_card_values(declared: MethodCardDeclaration) -> dict[str, Any]:
    """Return the value for `Competition.method_card`, which `app.cards.form.card_form` reads."""
    if declared == MethodCardDeclaration():
        return {}
    return declared.model_dump(mode="json")
