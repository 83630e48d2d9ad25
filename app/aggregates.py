"""The aggregates that scored runs keep for pages (histograms, quantiles), of several runs in one query."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.models import ScoringRun
from app.runs import read_report
from app.visibility import rounded_document


def aggregates_of(
    session: Session, run_ids: Collection[int], decimals: int | None = None
) -> dict[int, Mapping[str, Any]]:
    """By run id; a run without a report is left out. decimals: of every fraction in them, None for all.

    Only for runs that a board names to its viewer (`LeaderboardRow.run_id`), with the precision of that board.
    """
    found = session.execute(
        select(ScoringRun.id, ScoringRun.report).where(ScoringRun.id.in_(run_ids), ScoringRun.report.is_not(None))
    )
    return {run_id: rounded_document(_unpacked(packed), decimals) for run_id, packed in found if packed is not None}


@lru_cache(maxsize=64)
def _unpacked(packed: bytes) -> Mapping[str, Any]:
    """Kept, because a board unpacks the reports of all that stand on it and a report never changes."""
    aggregates: Mapping[str, Any] = read_report(packed)["aggregates"]
    return aggregates
