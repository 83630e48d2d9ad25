"""What a scored run keeps beside its rows: all scores, texts, and the aggregates that pages draw."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.base.packing import packed, unpacked
from app.competitions.visibility import rounded_document
from app.models import ScoringRun
from evergold.scoring.task import Score

# ------------------------------------------------------------------------------------------------------------ report


def read_report(kept: bytes) -> dict[str, Any]:
    """{"scores": [...], "aggregates": {...}, "texts": {name: ...}} of a scored run."""
    document: dict[str, Any] = unpacked(kept)
    return document


def scores_of_report(kept: bytes) -> list[Score]:
    """All scores of a run, in the task's order; more than the rows that boards show."""
    return [Score(**score) for score in read_report(kept)["scores"]]


def _packed_report(
    scores: Sequence[Score], aggregates: dict[str, Any] | None, texts: Mapping[str, str] | None
) -> bytes:
    return packed({"aggregates": aggregates or {}, "texts": dict(texts or {})}, finite={"scores": list(scores)})


def aggregates_of(
    session: Session, run_ids: Collection[int], decimals: int | None = None
) -> dict[int, Mapping[str, Any]]:
    """By run id; a run without a report is left out. decimals: of every fraction in them, None for all.

    Only for runs that a board names to its viewer (`LeaderboardRow.run_id`), with the precision of that board.
    """
    found = session.execute(
        select(ScoringRun.id, ScoringRun.report).where(ScoringRun.id.in_(run_ids), ScoringRun.report.is_not(None))
    )
    return {run_id: rounded_document(_aggregates(kept), decimals) for run_id, kept in found if kept is not None}


@lru_cache(maxsize=64)
def _aggregates(kept: bytes) -> Mapping[str, Any]:
    """Kept, because a board unpacks the reports of all that stand on it and a report never changes."""
    aggregates: Mapping[str, Any] = read_report(kept)["aggregates"]
    return aggregates
