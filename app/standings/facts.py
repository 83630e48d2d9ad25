"""The unchanging facts of a run that a board shows, cached as one text in each standing with that run.

Text, because PostgreSQL's JSON alters some numbers (-0.0): a score must be restored to the last bit.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple, cast

from sqlalchemy import and_, bindparam, select
from sqlalchemy.orm import Session

from app.base.db import among
from app.models import GoldVersion, ScoreRow, ScoringRun, Submission
from app.standings.choose import Rules
from app.standings.tries import gold_of_run

#: The column of a standing.
FACTS = "facts"
#: A value or None, the reason if it is None, and the signature.
KeptScore = tuple[float | None, str | None, str]


class Facts(NamedTuple):
    """The facts of one run.

    gold: identity of its gold.
    scores: those of the cached columns (`Rules.columns`), in their order; None for a score that was not computed.
    """

    task_version: int | None
    submission_id: str
    submitted_at: str
    track: str | None
    method: str
    gold: str
    commitment: str | None
    scores: tuple[KeptScore | None, ...]


def with_facts(
    session: Session, boards: Mapping[int, Rules], rows: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Add the facts of its run to each of these rows of standings. boards: the rules of each board by id."""
    columns = {column for rules in boards.values() for column in rules.columns}
    found = _facts_of(session, {row["run_id"] for row in rows}, columns) if rows else {}
    return [{**row, FACTS: _as_text(*found[row["run_id"]], boards[row["board_id"]])} for row in rows]


#: The facts of a run, with its scores by column.
_Found = tuple[Facts, Mapping[tuple[str, str], KeptScore]]


def _facts_of(session: Session, runs: Collection[int], columns: Collection[tuple[str, str]]) -> Mapping[int, _Found]:
    facts: dict[int, Facts] = {}
    scores: defaultdict[int, dict[tuple[str, str], KeptScore]] = defaultdict(dict)
    names = {"metrics": sorted({metric for metric, _ in columns}), "splits": sorted({split for _, split in columns})}
    session.flush()
    for row in session.connection().execute(_FACTS, {"runs": sorted(runs), **names}):
        run_id, version, submission_id, submitted_at, track, method, gold, commitment, metric, split, *score = row
        if run_id not in facts:
            sent = str(submission_id), submitted_at.isoformat(), track, method
            facts[run_id] = Facts(version, *sent, gold, commitment, scores=())
        if metric is not None:
            scores[run_id][metric, split] = cast(KeptScore, tuple(score))
    return {run_id: (one, scores[run_id]) for run_id, one in facts.items()}


def _as_text(facts: Facts, scores: Mapping[tuple[str, str], KeptScore], rules: Rules) -> str:
    kept = facts._replace(scores=tuple(scores.get(column) for column in rules.columns))
    return json.dumps(kept, ensure_ascii=False, separators=(",", ":"))


#: One row for each score, and one for a run without scores. Built once, since most ends of runs execute it.
_FACTS = (
    select(
        ScoringRun.id,
        ScoringRun.task_version,
        Submission.id,
        Submission.submitted_at,
        Submission.track,
        Submission.method,
        gold_of_run(),
        GoldVersion.commitment,
        ScoreRow.metric,
        ScoreRow.split,
        ScoreRow.value,
        ScoreRow.reason,
        ScoreRow.signature,
    )
    .join(Submission, Submission.id == ScoringRun.submission_id)
    .outerjoin(GoldVersion, GoldVersion.id == ScoringRun.gold_version_id)
    .outerjoin(
        ScoreRow,
        and_(
            ScoreRow.run_id == ScoringRun.id,
            ScoreRow.metric.in_(bindparam("metrics", expanding=True)),
            ScoreRow.split.in_(bindparam("splits", expanding=True)),
        ),
    )
    .where(among(ScoringRun.id, "runs"))
)
