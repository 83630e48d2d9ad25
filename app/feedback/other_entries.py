"""Another submission of a team that counts on a board, or would count if a given one did not.

It is shown before a submission is withdrawn, and if a newer one is worse. It reveals which of two scores is better, so
a team that may not see its scores is shown it only if the latest submission counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.competitions.ordering import effective_decimals, goodness, sign_of
from app.competitions.visibility import rounded
from app.feedback.scores import OwnScores
from app.feedback.standings import RunStanding
from app.models import EntryRule, Submission, Tally
from app.standings.choose import Rules, Try, choose, eligible, rules_of
from app.standings.tries import RunFilter, choices_of, scored_runs

#: Maximum number of scored submissions of a team for this computation, since it reads all of them.
MOST_READ = 500
#: Every submission counts on a board of all, and nothing is withdrawn on a Ladder.
_WITHOUT_OTHERS = frozenset({EntryRule.ALL, EntryRule.LADDER})


@dataclass(frozen=True, slots=True)
class OtherEntry:
    """Another submission of the team. value: its ranking score as shown; is_better: than the given submission."""

    submission_id: UUID
    submitted_at: datetime
    value: float | None
    is_better: bool


@dataclass(frozen=True, slots=True)
class Others:
    """The other submissions on one board.

    entry: the one that counts, or would count if the given one did not; None if none would.
    best: the team's best other one, if it may choose, or if the latest counts; otherwise None.
    later: submissions after the best one, in order: if the latest counts, the best one counts once they are withdrawn.
    """

    entry: OtherEntry | None
    best: OtherEntry | None
    later: tuple[UUID, ...] = ()


def other_entries(
    session: Session, submission: Submission, standings: Sequence[RunStanding], own: OwnScores
) -> dict[str, Others]:
    """Return the other submissions by board, for boards that show whether the submission counts.

    standings: of the submission, from `standings_known`; own: its visible scores.
    """
    rule = own.settings.rule
    counted = [one for one in standings if one.counts is not None]
    if rule in _WITHOUT_OTHERS or not counted or not (own.view.own_scores or rule is EntryRule.LAST):
        return {}
    place = submission.phase_task
    tally = session.get(Tally, (place.id, submission.team_id))
    if tally is None or tally.runs > MOST_READ:
        return {}
    rules = {one.board.id: rules_of(place.phase, place, one.board) for one in counted}
    known = {board_id: found for board_id, found in rules.items() if found is not None}
    bounds = RunFilter(teams=[submission.team_id])
    tries = scored_runs(session, place.id, set(known.values()), bounds)
    choices = choices_of(session, place.id, list(known.items()), bounds)
    moments = _moments(session, {one.submission_id for found in tries.values() for one in found})
    return {
        one.board.name: _Team(submission.id, one, own, moments).others(
            tries[known[one.board.id]], known[one.board.id], choices[one.board.id]
        )
        for one in counted
        if one.board.id in known
    }


def _moments(session: Session, ids: set[UUID]) -> Mapping[UUID, datetime]:
    found = session.execute(select(Submission.id, Submission.submitted_at).where(Submission.id.in_(ids)))
    return {key: moment for key, moment in found}


@dataclass(frozen=True, slots=True)
class _Team:
    """The submissions of a team on one board, to compare with one of them."""

    this: UUID
    standing: RunStanding
    own: OwnScores
    moments: Mapping[UUID, datetime]

    def others(self, tries: Sequence[Try], rules: Rules, choices: Mapping[int, UUID]) -> Others:
        """Return the other submissions, given all candidates of the team."""
        rest = [one for one in tries if one.submission_id != self.this]
        left = rest if self.standing.counts else tries
        kept = {team: chosen for team, chosen in choices.items() if chosen != self.this or not self.standing.counts}
        by_run = {one.run_id: one for one in left}
        entry = next((by_run[one.run_id] for one in choose(left, rules, kept)), None)
        best, later = None, list[Try]()
        if rules.rule in (EntryRule.CHOSEN, EntryRule.LAST):
            counting, sign = eligible(tries), -1.0 if rules.higher_is_better else 1.0
            # Of equal ones the latest: fewest are withdrawn to go back to it.
            found = (one for one in reversed(counting) if one.submission_id != self.this)
            best = min(found, key=lambda one: goodness(self._value(one), sign), default=None)
            if best is not None and rules.rule is EntryRule.LAST:
                later = counting[counting.index(best) + 1 :]
        return Others(self._entry(entry), self._entry(best), tuple(one.submission_id for one in later))

    def _entry(self, one: Try | None) -> OtherEntry | None:
        if one is None or one.submission_id == self.this:
            return None
        value, mine, sign = self._value(one), self.standing.score.value, sign_of(self.standing.column)
        is_better = goodness(value, sign) < goodness(mine, sign) if self.own.view.own_scores else False
        return OtherEntry(one.submission_id, self.moments[one.submission_id], value, is_better)

    def _value(self, one: Try) -> float | None:
        """Return the score as shown; None if it is not shown."""
        if not self.own.view.own_scores:
            return None
        precision = self.own.view.precision
        return rounded(rounded(one.value, precision), effective_decimals(self.standing.column, precision))
