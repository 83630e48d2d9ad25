"""What a scored run keeps beside its rows: all scores, texts, and the aggregates that pages draw."""

from __future__ import annotations

import json
import zlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from functools import lru_cache
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.competitions.visibility import rounded_document
from app.models import ScoringRun
from evergold.scoring.task import Score

# ------------------------------------------------------------------------------------------------------------ report


def read_report(packed: bytes) -> dict[str, Any]:
    """{"scores": [...], "aggregates": {...}, "texts": {name: ...}} of a scored run."""
    document: dict[str, Any] = json.loads(zlib.decompress(packed))
    return document


def scores_of_report(packed: bytes) -> list[Score]:
    """All scores of a run, in the task's order; more than the rows that boards show."""
    return [Score(**score) for score in read_report(packed)["scores"]]


def _packed_report(
    scores: Sequence[Score], aggregates: dict[str, Any] | None, texts: Mapping[str, str] | None
) -> bytes:
    document = {
        "scores": [asdict(score) for score in scores],
        "aggregates": aggregates or {},
        "texts": dict(texts or {}),
    }
    return zlib.compress(json.dumps(document, ensure_ascii=False, allow_nan=False).encode())


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
