"""Scores of runs on the private part of the items, stored separately so that they are not shown by accident.

Callers must check that the viewer may see them (`app.competitions.visibility`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.base.db import among
from app.models import ScoringRun
from evergold.scoring.task import Score


def private_document(scores: Iterable[Score], columns: Collection[tuple[str, str]]) -> list[dict[str, Any]]:
    """Return the scores that boards may show, as stored with a run."""
    return [asdict(score) for score in scores if (score.metric, score.split) in columns]


def private_scores(session: Session, runs: Sequence[int]) -> Iterator[tuple[int, Score]]:
    """Yield the private scores of these runs; runs scored before the items were divided have none."""
    query = select(ScoringRun.id, ScoringRun.private_scores).where(among(ScoringRun.id, "runs"))
    for run_id, document in session.execute(query, {"runs": runs}):
        for score in document or ():
            yield run_id, Score(**score)
