"""Published rescorings, for the pages of a team's submissions: time, reason, and previous scores."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import bindparam, select
from sqlalchemy.orm import Session, aliased

from app.models import Rescoring, RescoringState, RunStatus, ScoreRow, ScoringRun
from evergold.scoring.task import Score


@dataclass(frozen=True, slots=True)
class Rescored:
    """A rescoring of a submission: the statuses before and after, and all scores that boards may show.

    `app.feedback.scores` decides who may see them.
    """

    at: datetime
    note: str
    before: RunStatus
    after: RunStatus
    scores_before: tuple[Score, ...]
    scores_after: tuple[Score, ...]

    @property
    def changes(self) -> list[tuple[Score, Score]]:
        """The scores that changed, as (before, after) pairs."""
        before = {(score.metric, score.split): score for score in self.scores_before}
        found = [(before.get((score.metric, score.split)), score) for score in self.scores_after]
        return [(old, new) for old, new in found if old and (old.value, old.reason) != (new.value, new.reason)]


def rescorings_of(session: Session, submission_ids: Collection[UUID]) -> dict[UUID, list[Rescored]]:
    """List the published sets that replaced the current run of each of these submissions, latest first."""
    rows = session.execute(_RESCORINGS, {"ids": list(submission_ids)}).all()
    scores = _scores(session, {run_id for row in rows for run_id in (row[3], row[5])})
    found: defaultdict[UUID, list[Rescored]] = defaultdict(list)
    for submission_id, at, note, old_id, before, new_id, after in rows:
        if at is not None:
            rescored = Rescored(at, note, RunStatus(before), RunStatus(after), scores[old_id], scores[new_id])
            found[submission_id].append(rescored)
    return found


_replaced = aliased(ScoringRun)
#: Built once: building it takes longer than executing it.
_RESCORINGS = (
    select(
        ScoringRun.submission_id,
        Rescoring.ended_at,
        Rescoring.note,
        _replaced.id,
        _replaced.status,
        ScoringRun.id,
        ScoringRun.status,
    )
    .join(Rescoring, Rescoring.id == ScoringRun.rescoring_id)
    .join(_replaced, _replaced.id == ScoringRun.replaced_id)
    .where(ScoringRun.submission_id.in_(bindparam("ids", expanding=True)), Rescoring.state == RescoringState.PUBLISHED)
    .order_by(Rescoring.ended_at.desc(), Rescoring.id.desc())
)


def _scores(session: Session, run_ids: Collection[int]) -> defaultdict[int, tuple[Score, ...]]:
    """Return scores by run, in the task's order."""
    if not run_ids:
        return defaultdict(tuple)
    found: defaultdict[int, list[Score]] = defaultdict(list)
    for row in session.scalars(select(ScoreRow).where(ScoreRow.run_id.in_(run_ids)).order_by(ScoreRow.id)):
        found[row.run_id].append(Score(row.metric, row.split, row.value, row.reason, row.signature))
    return defaultdict(tuple, {run_id: tuple(scores) for run_id, scores in found.items()})
