"""New baselines on hidden gold in an edit: they need the right to gold, since each score reveals some of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pydantic import ValidationError
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.base.text import listed
from app.competitions.visibility import is_gold_hidden
from app.declarations.model import CompetitionDeclaration
from app.models import Competition, CompetitionTask, Phase, PhaseTask, Revision, Right, User
from app.people.rights import RightMissing, check_may_organise, may_organise

#: Phase, task, name of the baseline, sha256 of its file, track: a difference here means scoring again.
Scored = tuple[str, str, str, str | None, str | None]


def check_new_baselines(
    session: Session, user: User, competition: Competition, wanted: Mapping[Scored, None], present: Revision
) -> None:
    """Raise RightMissing if a user without the right to gold adds or changes baselines on hidden gold.

    wanted: `declared_baselines` of the new declaration; present: the current revision.
    """
    if may_organise(session, user, competition, Right.GOLD):
        return
    there = _baselines_of(present)
    places = _hidden_places(session, competition)
    new = [one for one in wanted if one not in there and one[:2] in places]
    if not new:
        return
    names = listed(dict.fromkeys(f"'{one[2]}'" for one in new))
    try:
        check_may_organise(session, user, competition, Right.GOLD)
    except RightMissing as missing:
        raise RightMissing(
            f"Baselines on hidden gold are scored as soon as they are declared, and scores tell of the gold: {names}. "
            f"{missing} Or leave them as they were.",
            **missing.details,
        ) from None


def declared_baselines(declared: CompetitionDeclaration, files: Mapping[str, str]) -> dict[Scored, None]:
    """Return the baselines of a declaration in its order. files: sha256 by path."""
    return dict.fromkeys(_scored(declared, files))


def _scored(declared: CompetitionDeclaration, files: Mapping[str, str]) -> Iterator[Scored]:
    for phase in declared.phases:
        for task, asked in phase.tasks.items():
            for one in asked.baselines:
                yield phase.name, task, one.name, files.get(one.file), one.track


def _baselines_of(revision: Revision) -> dict[Scored, None]:
    try:
        declared = CompetitionDeclaration.model_validate(revision.document)
    except ValidationError:  # from another version of Evergold
        return {}
    return declared_baselines(declared, {file.path: file.sha256 for file in revision.files})


def _hidden_places(session: Session, competition: Competition) -> set[tuple[str, str]]:
    """Return (phase, task) for all gold that is hidden or not yet uploaded."""
    query = (
        select(PhaseTask, Phase.name, CompetitionTask.name)
        .join(Phase, Phase.id == PhaseTask.phase_id)
        .join(CompetitionTask, CompetitionTask.id == PhaseTask.task_id)
        .where(Phase.competition_id == competition.id)
    )
    return {
        (phase, task)
        for asked, phase, task in session.execute(query)
        if is_gold_hidden(asked, trusts_declaration=False)
    }
