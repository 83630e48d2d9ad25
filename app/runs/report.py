"""The report of a scored run: all scores, texts, and the aggregates that pages draw."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields
from functools import lru_cache
from operator import attrgetter
from typing import Any

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from app.base.packing import packed, unpacked
from app.competitions.visibility import rounded_document
from app.models import PhaseTask, ScoringRun, Submission
from evergold.scoring.task import ItemResult, Score

_FIELDS = tuple(field.name for field in fields(ItemResult))
_VALUES, _SPLITS = attrgetter(*_FIELDS), _FIELDS.index("splits")


def packed_results(results: Sequence[ItemResult]) -> bytes:
    """Return results packed for storage: zlib-compressed JSON, `{"fields": names, "rows": a list of values for each
    item}`.
    """
    return packed({"fields": _FIELDS, "rows": list(map(_VALUES, results))})


def unpacked_results(kept: bytes) -> list[ItemResult]:
    """Return unpacked results, without fields that a later version may have written."""
    document = unpacked(kept)
    places = [document["fields"].index(name) for name in _FIELDS]
    return [_result([row[place] for place in places]) for row in document["rows"]]


def _result(values: list[Any]) -> ItemResult:
    values[_SPLITS] = tuple(values[_SPLITS])
    return ItemResult(*values)


def results_of(session: Session, run_id: int) -> list[ItemResult] | None:
    """Return the results of a run; None if none are stored, or its gold is not (or no longer) declared public.

    The caller checks whether the viewer may see the scores of the run.
    """
    kept = session.scalar(
        select(ScoringRun.item_results)
        .join(Submission, Submission.id == ScoringRun.submission_id)
        .join(PhaseTask, PhaseTask.id == Submission.phase_task_id)
        .where(ScoringRun.id == run_id, PhaseTask.gold_is_public)
    )
    return None if kept is None else unpacked_results(kept)


def forget_results(session: Session, phase_task_id: int) -> int:
    """Delete the results of all runs of a task in a phase; return the number of runs that had any."""
    submissions = select(Submission.id).where(Submission.phase_task_id == phase_task_id)
    kept = ScoringRun.submission_id.in_(submissions), ScoringRun.item_results.is_not(None)
    number = session.scalar(select(func.count()).select_from(ScoringRun).where(*kept)) or 0
    if number:
        forget = update(ScoringRun).where(*kept).values(item_results=None)
        session.execute(forget.execution_options(synchronize_session=False))
    return number


# ------------------------------------------------------------------------------------------------------------ report


def read_report(kept: bytes) -> dict[str, Any]:
    """Return {"scores": [...], "aggregates": {...}, "texts": {name: ...}} from a stored report."""
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

    Call it only for runs that a board identifies to its viewer (`LeaderboardRow.run_id`), with that board's precision.
    """
    found = session.execute(
        select(ScoringRun.id, ScoringRun.report).where(ScoringRun.id.in_(run_ids), ScoringRun.report.is_not(None))
    )
    return {run_id: rounded_document(_aggregates(kept), decimals) for run_id, kept in found if kept is not None}


@lru_cache(maxsize=64)
def _aggregates(kept: bytes) -> Mapping[str, Any]:
    """Return the aggregates of a report, cached because a board needs those of all entries and they never change."""
    aggregates: Mapping[str, Any] = read_report(kept)["aggregates"]
    return aggregates
