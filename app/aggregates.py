"""The aggregates that scored runs keep for pages (histograms, quantiles), of several runs in one query."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.models import ScoringRun
from app.runs import read_report


def aggregates_of(session: Session, run_ids: Collection[int]) -> dict[int, Mapping[str, Any]]:
    """By run id; a run without a report is left out."""
    found = session.execute(
        select(ScoringRun.id, ScoringRun.report).where(ScoringRun.id.in_(run_ids), ScoringRun.report.is_not(None))
    )
    return {run_id: _unpacked(packed) for run_id, packed in found if packed is not None}


@lru_cache(maxsize=64)
def _unpacked(packed: bytes) -> Mapping[str, Any]:
    """Kept, because a board unpacks the reports of all that stand on it and a report never changes."""
    aggregates: Mapping[str, Any] = read_report(packed)["aggregates"]
    return aggregates
