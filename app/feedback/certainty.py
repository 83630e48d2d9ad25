"""Intervals of a team's own scores and tests against its earlier runs, restricted to what the viewer may see.

They are rounded like the scores, and withheld if the phase shows no statistics: if scores have fewer decimals than
usual, because interval ends and significance follow from the hidden decimals; and while a phase with hidden gold is
open. They are not shown on a Ladder either, which shows no scores.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from uuid import UUID

from sqlalchemy.orm import Session

from app.base.db import once
from app.boards.pair_tests import PairTest, rounded_p
from app.boards.run_statistics import StatisticsOfRun, run_statistics_of
from app.boards.statistics import Score
from app.competitions.ordering import difference_of
from app.competitions.visibility import rounded
from app.feedback.scores import OwnScores
from app.models import EntryRule, Submission
from app.submissions.find import current_run
from evergold.scoring.resampling.pairs import Difference


def certainty_of(
    session: Session, submissions: Sequence[Submission], own: Mapping[UUID, OwnScores]
) -> dict[UUID, StatisticsOfRun]:
    """Return the statistics by submission, if they exist and may be shown. own: the visible scores of each."""
    runs = {one.id: current_run(one).id for one in submissions if is_told(own[one.id])}
    run_ids = sorted(runs.values())
    kept = once(session, ("run statistics", *run_ids), lambda: run_statistics_of(session, run_ids))
    return {key: _shown(kept[run], own[key]) for key, run in runs.items() if run in kept}


def is_told(own: OwnScores) -> bool:
    """Return True if scores are shown, with statistics."""
    return own.view.own_scores and own.view.has_statistics and own.settings.rule is not EntryRule.LADDER


def pair_test_of(newer: StatisticsOfRun, older_run: int, score: Score) -> PairTest | None:
    """Return the test of newer minus older run; None if they were not compared. p is not corrected for other pairs."""
    found = newer.differences.get((older_run, score))
    if found is None:
        return None
    return PairTest(found.difference, found.low, found.high, found.level, found.p, None, found.method)


def _shown(kept: StatisticsOfRun, own: OwnScores) -> StatisticsOfRun:
    """Return the statistics of the scores that this phase shows, rounded to its decimals."""
    shows, decimals = own.view.shows, own.view.precision
    return replace(
        kept,
        intervals={name: one.rounded(decimals) for name, one in kept.intervals.items() if shows(*name)},
        differences={key: _rounded(one, decimals) for key, one in kept.differences.items() if shows(*key[1])},
    )


def _rounded(one: Difference, decimals: int | None) -> Difference:
    if decimals is None:
        return one
    return replace(
        one,
        first=rounded(one.first, decimals) or 0.0,
        second=rounded(one.second, decimals) or 0.0,
        difference=difference_of(one.second, one.first, decimals) or 0.0,
        low=rounded(one.low, decimals),
        high=rounded(one.high, decimals),
        p=rounded_p(one.p),
    )
