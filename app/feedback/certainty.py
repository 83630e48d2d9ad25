"""How sure a team's own scores are, and whether a run is better than one before it: as far as its viewer sees scores.

Only with all their digits: the ends of an interval, and whether a difference is significant, follow from hidden ones.
On a Ladder scores are told to nobody, and neither is this.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from uuid import UUID

from sqlalchemy.orm import Session

from app.boards.pair_tests import PairTest
from app.boards.run_statistics import StatisticsOfRun, run_statistics_of
from app.boards.statistics import Score
from app.feedback.scores import OwnScores
from app.models import EntryRule, Submission
from app.submissions.find import current_run


def certainty_of(
    session: Session, submissions: Sequence[Submission], own: Mapping[UUID, OwnScores]
) -> dict[UUID, StatisticsOfRun]:
    """By submission, of those of which something is kept and may be told. own: what of their scores is shown."""
    runs = {one.id: current_run(one).id for one in submissions if is_told(own[one.id])}
    kept = run_statistics_of(session, list(runs.values()))
    return {key: _shown(kept[run], own[key]) for key, run in runs.items() if run in kept}


def is_told(own: OwnScores) -> bool:
    """Whether scores are shown, and with all their digits."""
    return own.view.own_scores and own.view.precision is None and own.settings.rule is not EntryRule.LADDER


def pair_test_of(newer: StatisticsOfRun, older_run: int, score: Score) -> PairTest | None:
    """What the newer run has more; None where the two were not compared. The p is that of this pair alone."""
    found = newer.differences.get((older_run, score))
    if found is None:
        return None
    return PairTest(found.difference, found.low, found.high, found.level, found.p, None, found.method)


def _shown(kept: StatisticsOfRun, own: OwnScores) -> StatisticsOfRun:
    """Of the scores that this phase shows at all."""
    shows = own.view.shows
    return replace(
        kept,
        intervals={name: one for name, one in kept.intervals.items() if shows(*name)},
        differences={key: one for key, one in kept.differences.items() if shows(*key[1])},
    )
