"""Per-item results of a run, stored unencrypted, and only if its gold is declared public.

Workers pass the task type's `item_results`; `app.runs.outcomes` stores them if gold is public at that moment. They
reveal the gold, so they are shown only while it is declared public and deleted when the declaration is revoked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from operator import attrgetter
from typing import Any

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from app.base.packing import packed, unpacked
from app.models import PhaseTask, ScoringRun, Submission
from evergold.scoring.task import ItemResult

_FIELDS = tuple(field.name for field in fields(ItemResult))
_VALUES, _SPLITS = attrgetter(*_FIELDS), _FIELDS.index("splits")


def packed_results(results: Sequence[ItemResult]) -> bytes:
    """Pack results for storage: zlib-compressed JSON, `{"fields": names, "rows": a list of values for each item}`."""
    return packed({"fields": _FIELDS, "rows": list(map(_VALUES, results))})


def unpacked_results(kept: bytes) -> list[ItemResult]:
    """Unpack stored results; ignores fields that a later version may have written."""
    document = unpacked(kept)
    places = [document["fields"].index(name) for name in _FIELDS]
    return [_result([row[place] for place in places]) for row in document["rows"]]


def _result(values: list[Any]) -> ItemResult:
    values[_SPLITS] = tuple(values[_SPLITS])
    return ItemResult(*values)


def results_of(session: Session, run_id: int) -> list[ItemResult] | None:
    """Return the results of a run; None if none are stored, or its gold is not (any more) declared public.

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
    """Delete the results of all runs of a task in a phase; return how many runs had any."""
    submissions = select(Submission.id).where(Submission.phase_task_id == phase_task_id)
    kept = ScoringRun.submission_id.in_(submissions), ScoringRun.item_results.is_not(None)
    number = session.scalar(select(func.count()).select_from(ScoringRun).where(*kept)) or 0
    if number:
        forget = update(ScoringRun).where(*kept).values(item_results=None)
        session.execute(forget.execution_options(synchronize_session=False))
    return number
