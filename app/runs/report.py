"""The report of a scored run: all scores, texts, and the aggregates that pages draw."""

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
    """Return {"scores": [...], "aggregates": {...}, "texts": {name: ...}} of a scored run."""
    document: dict[str, Any] = unpacked(kept)
    return document


def scores_of_report(kept: bytes) -> list[Score]:
    """Return all scores of a run in the task's order, including those that boards do not show."""
    return [Score(**score) for score in read_report(kept)["scores"]]


def _packed_report(
    scores: Sequence[Score], aggregates: dict[str, Any] | None, texts: Mapping[str, str] | None
) -> bytes:
    return packed({"aggregates": aggregates or {}, "texts": dict(texts or {})}, finite={"scores": list(scores)})


def aggregates_of(
    session: Session, run_ids: Collection[int], decimals: int | None = None
) -> dict[int, Mapping[str, Any]]:
    """Return aggregates by run id, without runs that have no report. decimals: of all fractions; None: unrounded.

    Only for runs that a board identifies to its viewer (`LeaderboardRow.run_id`), with that board's precision.
    """
    found = session.execute(
        select(ScoringRun.id, ScoringRun.report).where(ScoringRun.id.in_(run_ids), ScoringRun.report.is_not(None))
    )
    return {run_id: rounded_document(_aggregates(kept), decimals) for run_id, kept in found if kept is not None}


@lru_cache(maxsize=64)
def _aggregates(kept: bytes) -> Mapping[str, Any]:
    """Return cached aggregates: a board unpacks the reports of all its entries, and a report never changes."""
    aggregates: Mapping[str, Any] = read_report(kept)["aggregates"]
    return aggregates
