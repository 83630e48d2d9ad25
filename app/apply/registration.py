"""Who may take part, as `Competition.registration` and `.teams` keep it: what was said, and no defaults."""

from __future__ import annotations

from typing import Any

from sqlalchemy import select

from app.changes import Work
from app.competitions import CompetitionDeclaration
from app.models import User


def registration_values(declared: CompetitionDeclaration) -> dict[str, Any]:
    """The two columns."""
    return {
        "registration": declared.registration.model_dump(mode="json", exclude_defaults=True),
        "teams": declared.teams.model_dump(mode="json", exclude_defaults=True),
    }


def note_unknown_names(work: Work, declared: CompetitionDeclaration) -> None:
    """Whoever makes an account of a listed user name first would be let in."""
    names = {one for one in declared.registration.allowed if "@" not in one}
    known = set(work.session.scalars(select(User.username).where(User.username.in_(names))))
    for name in sorted(names - known):
        work.changes.note(
            f"'{declared.name}' lets in '{name}', which is nobody's user name yet: whoever takes it gets in"
        )
