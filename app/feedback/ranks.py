"""A team's rank on a board after each of its runs, and where each run would rank today.

Only for boards that show everything: with all scores and dates anyone could work it out; on others it stays hidden.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy.orm import Session

from app.boards.marks import Marks, marks_of
from app.boards.rows import Leaderboard
from app.competitions.ordering import effective_decimals
from app.competitions.visibility import rounded
from app.models import Board, BoardShown, EntryRule, Phase, PhaseTask, Submission
from app.standings.choose import Rules, Try, choose, rules_of
from app.standings.kept import AnyStanding, TooFarBack, past_of
from app.standings.tries import RunFilter, choices_of, scored_runs


@dataclass(frozen=True, slots=True)
class RunRanks:
    """The ranks of one run; each None if there is no rank, or it may not be shown.

    before: rank of the team before this run; then: right after it.
    now: rank that the run would have today, among the `of` ranked rows.
    """

    before: int | None = None
    then: int | None = None
    now: int | None = None
    of: int | None = None

    @property
    def up(self) -> int | None:
        """Number of places the team rose by this run; None if it had no rank before."""
        return None if self.before is None or self.then is None else self.before - self.then


def is_told(board: Leaderboard) -> bool:
    """True if this viewer may see more than today's ranks."""
    return board.view.board is BoardShown.PUBLIC


def rank_now(board: Leaderboard, value: float | None, *, counts: bool) -> RunRanks:
    """Rank one of the viewer's own scores on the board as shown; on a board of ranks only, just the run that counts."""
    ranked = [row for row in board.rows if row.rank is not None]
    mine = [row for row in board.rows if row.is_mine]
    if board.view.board is BoardShown.RANKS_ONLY and counts and len(mine) == 1:
        return RunRanks(now=mine[0].rank, of=len(ranked))
    if not is_told(board) or value is None or (mine and all(row.rank is None for row in mine)):
        return RunRanks()
    column = board.columns[board.rank_by]
    decimals = effective_decimals(column, board.view.ranks_by)
    others = [rounded(row.cells[board.rank_by].value, decimals) for row in ranked if not row.is_mine]
    ahead = _count_better(others, rounded(value, decimals), higher_is_better=column.higher_is_better)
    return RunRanks(now=ahead + 1, of=len(others) + 1)


def ranks_over_time(
    session: Session, phase: Phase, phase_task: PhaseTask, board: Board, shown: Leaderboard, own: Sequence[Submission]
) -> dict[UUID, tuple[int | None, int | None]]:
    """Return the team's rank before and right after each of these runs of one team, by submission.

    The entries at each moment are chosen by today's entry rule and marks; rows carried over from another phase are
    taken to have been there from the beginning.
    """
    rules = rules_of(phase, phase_task, board)
    if rules is None or not is_told(shown) or not own:
        return {}
    try:
        past = past_of(session, phase_task.id, board.id, rules, min(one.submitted_at for one in own))
    except TooFarBack:
        return {}
    tries = scored_runs(session, phase_task.id, [rules], RunFilter(teams=past.since))[rules]
    course = _Course(tries, rules, marks_of(session, phase_task), frozenset(phase_task.ranked_baselines))
    carried = [row.cells[shown.rank_by].value for row in shown.rows if row.carried_from and row.rank is not None]
    fixed = [rounded(value, rules.decimals) for value in carried]
    fixed += course.values(past.still, _tries_of_runs(session, phase_task, rules, past.still))
    place = {one.submission_id: index for index, one in enumerate(tries)}
    found: dict[UUID, tuple[int | None, int | None]] = {}
    for submission in own:
        if submission.id not in place:
            continue
        end = place[submission.id]
        until = RunFilter(until=submission.submitted_at)
        choices = choices_of(session, phase_task.id, [(board.id, rules)], until)[board.id]
        found[submission.id] = (
            course.rank(tries[:end], submission.team_id, choices, fixed),
            course.rank(tries[: end + 1], submission.team_id, choices, fixed),
        )
    return found


def _tries_of_runs(
    session: Session, phase_task: PhaseTask, rules: Rules, standings: Sequence[AnyStanding]
) -> list[Try]:
    """Load the runs that count for these teams."""
    runs = [one.run_id for one in standings]
    return scored_runs(session, phase_task.id, [rules], RunFilter(runs=runs))[rules] if runs else []


@dataclass(frozen=True, slots=True)
class _Course:
    tries: Sequence[Try]
    rules: Rules
    marks: Marks
    ranked_baselines: frozenset[int]

    def rank(
        self, so_far: Sequence[Try], team_id: int, choices: Mapping[int, UUID], fixed: Sequence[float | None]
    ) -> int | None:
        """Return the team's rank given the runs so far; on a board of all entries, that of its latest run."""
        others: list[float | None] = list(fixed)
        mine: float | None = None
        latest = next((one for one in reversed(so_far) if one.team_id == team_id), None)
        for one, value in self._values(choose(so_far, self.rules, choices), so_far):
            if one is latest or (one.team_id == team_id and self.rules.rule is not EntryRule.ALL):
                mine = value
            else:
                others.append(value)
        if mine is None:
            return None
        return _count_better(others, mine, higher_is_better=self.rules.higher_is_better) + 1

    def values(self, standings: Sequence[AnyStanding], tries: Sequence[Try]) -> list[float | None]:
        """Return the values with which these rows compete."""
        return [value for _, value in self._values(standings, tries)]

    def _values(self, standings: Sequence[AnyStanding], tries: Sequence[Try]) -> Iterator[tuple[Try, float | None]]:
        """Yield the ranked entries with the score that the board reports. tries: candidates that include them."""
        by_run = {one.run_id: one for one in tries}
        for standing in standings:
            one = by_run[standing.run_id]
            if self._competes(one):
                told = one.value if standing.ladder_value is None else standing.ladder_value
                yield one, rounded(told, self.rules.decimals)

    def _competes(self, one: Try) -> bool:
        is_marked = one.status is not None or one.team_id in self.marks.teams
        return not is_marked and (not one.is_baseline or one.team_id in self.ranked_baselines)


def _count_better(values: Sequence[float | None], mine: float | None, *, higher_is_better: bool) -> int:
    if mine is None:
        return 0
    return sum(value is not None and (value > mine if higher_is_better else value < mine) for value in values)
