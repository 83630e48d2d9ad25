"""A team's runs on each board: score, changes, rank then and now, and which run counts and why.

Used by the page of a submission, the list of runs, the API and the command line; shows as much as the phase shows
teams.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from sqlalchemy.orm import Session

from app.boards.axis import baseline_value
from app.boards.leaderboard import build_leaderboard
from app.boards.marks import Marks, marks_of
from app.boards.pair_tests import PairTest
from app.boards.rows import Interval, Leaderboard, LeaderboardRow, with_decimals
from app.boards.run_statistics import StatisticsOfRun
from app.competitions.columns import BoardColumn, board_columns
from app.competitions.entry_rules import EntrySettings
from app.competitions.ordering import difference_of, effective_decimals
from app.competitions.visibility import Viewer, rounded
from app.feedback.certainty import certainty_of, pair_test_of
from app.feedback.history import MOST_SHOWN
from app.feedback.scores import OwnScores, boards_of_run, own_scores_of_all
from app.models import Board, BoardShown, EntryRule, Phase, PhaseTask, RunStatus, Submission
from app.standings.check import TooFarBack, past_of
from app.standings.choose import Rules, Try, choose, rules_of
from app.standings.entry import AnyStanding
from app.standings.tries import RunFilter, choices_of, scored_runs
from app.submissions.find import current_run, runs_of_team
from evergold.scoring.halves import Half
from evergold.scoring.task import NOT_ENTERED, Score


@dataclass(frozen=True, slots=True)
class PeerComparison:
    """An entry compared with the rest of its board.

    baseline: the best one; baseline_test: the run minus the baseline; is_above_baseline: True if the run is better.
    alike: teams without a significant difference, in board order.
    ahead, behind: number of rows that are significantly better, or worse.
    is_pending: True while the tests are being computed.
    """

    baseline: str = ""
    baseline_test: PairTest | None = None
    is_above_baseline: bool = False
    alike: tuple[str, ...] = ()
    ahead: int = 0
    behind: int = 0
    is_pending: bool = False


def peer_comparison(board: Leaderboard, submission_id: UUID) -> PeerComparison | None:
    """Return the comparison, or None if the row is not on the board or the board shows no statistics."""
    mine = next((row for row in board.rows if row.page_id == submission_id), None)
    if mine is None or board.statistics in ("none", "withheld"):
        return None
    if board.statistics == "pending":
        return PeerComparison(is_pending=True)
    tests = [(row, test) for row in board.rows if row is not mine and (test := board.pair_test(mine, row)) is not None]
    if not tests:
        return None
    ranked = [(row, test) for row, test in tests if row.rank is not None and mine.rank is not None]
    best, test = _best_baseline(board, tests)
    return PeerComparison(
        baseline=best.team if best else "",
        baseline_test=test,
        is_above_baseline=test is not None and _is_better(board, test),
        alike=tuple(row.team for row, one in ranked if not one.is_significant),
        ahead=sum(one.is_significant and not _is_better(board, one) for _, one in ranked),
        behind=sum(one.is_significant and _is_better(board, one) for _, one in ranked),
    )


def _is_better(board: Leaderboard, test: PairTest) -> bool:
    return (test.difference > 0) == board.columns[board.rank_by].higher_is_better


def _best_baseline(
    board: Leaderboard, tests: list[tuple[LeaderboardRow, PairTest]]
) -> tuple[LeaderboardRow, PairTest] | tuple[None, None]:
    """Return the best baseline that was compared with the run."""
    sign = 1 if board.columns[board.rank_by].higher_is_better else -1
    baselines = [one for one in tests if one[0].kind == "baseline"]
    return max(baselines, key=lambda one: sign * (one[0].cells[board.rank_by].value or 0.0), default=(None, None))


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


#: The rule by which a run counts, or would count.
WHY = {
    EntryRule.BEST: "best submission",
    EntryRule.LAST: "latest submission",
    EntryRule.CHOSEN: "your choice",
    EntryRule.ALL: "every submission",
    EntryRule.LADDER: "the record",
}


@dataclass(frozen=True, slots=True)
class NextTeam:
    """The next team above, by its name on the board, and its lead."""

    team: str
    delta: float


@dataclass(frozen=True, slots=True)
class RunStanding:
    """A run on one board; each optional part is None if it does not exist (yet) or may not be shown.

    column: the ranking one, as shown here.
    change: since the team's previous run; to_best: from the best of its other runs; to_baseline: from the best
    baseline.
    ahead: the next team above.
    counts: True if this run is the team's entry; why: the entry rule.
    interval: of the score; change_test: significance of the change; rivals: comparison of an entry with other rows.
    """

    board: Board
    column: BoardColumn
    score: Score
    ranks: RunRanks
    change: float | None = None
    to_best: float | None = None
    to_baseline: float | None = None
    ahead: NextTeam | None = None
    counts: bool | None = None
    is_chosen: bool = False
    why: str = ""
    interval: Interval | None = None
    change_test: PairTest | None = None
    rivals: PeerComparison | None = None


def standings_of_one(
    session: Session,
    submission: Submission,
    viewer: Viewer,
) -> list[RunStanding]:
    """Return a submission's results on its boards; empty until it is scored, or if its scores are not shown."""
    return standings_of_all(session, [submission], viewer, with_history=True)[submission.id]


def standings_of_all(
    session: Session,
    submissions: Sequence[Submission],
    viewer: Viewer,
    *,
    with_history: bool = False,
) -> dict[UUID, list[RunStanding]]:
    """Return the results of submissions to any places. with_history: include the ranks at the time of submission."""
    found: dict[UUID, list[RunStanding]] = {one.id: [] for one in submissions}
    by_place: defaultdict[tuple[int, int], list[Submission]] = defaultdict(list)
    for one in submissions:
        if current_run(one).status == RunStatus.SCORED:
            by_place[one.phase_task_id, one.team_id].append(one)
    for some in by_place.values():
        siblings = _with(some, runs_of_team(session, some[0], MOST_SHOWN))
        own = own_scores_of_all(session, siblings, viewer)
        found |= standings_of(session, some, siblings, own, viewer, with_history=with_history)
    return found


def _with(wanted: Sequence[Submission], siblings: Sequence[Submission]) -> list[Submission]:
    """Add submissions that are too old to be among the siblings."""
    known = {one.id for one in siblings}
    return [*siblings, *(one for one in wanted if one.id not in known)]


def standings_of(
    session: Session,
    wanted: Sequence[Submission],
    siblings: Sequence[Submission],
    own: dict[UUID, OwnScores],
    viewer: Viewer,
    *,
    with_history: bool = True,
) -> dict[UUID, list[RunStanding]]:
    """Return the results by submission, on the boards it entered, in the organisers' order; empty if scores are not
    shown.

    siblings: all runs of the same team in the same place, newest first, including `wanted`; own: scores of each of
    them.
    with_history: include the ranks at the time of submission.
    """
    found: dict[UUID, list[RunStanding]] = {one.id: [] for one in wanted}
    if not wanted:
        return found
    certain = certainty_of(session, wanted, own)
    for board in boards_of_run(session, wanted[0]):
        oldest_first = [one for one in reversed(siblings) if _is_on(one, board, own[one.id])]
        here = [one for one in wanted if any(one.id == other.id for other in oldest_first)]
        if not here:
            continue
        asked = wanted[0].phase_task
        shown = _with_own(
            # A run shows scores of the public part, even if the private part ranks the board.
            build_leaderboard(session, asked.phase, board, viewer, half=_half(own[wanted[0].id])),
            {one.id for one in siblings},
        )
        then = ranks_over_time(session, asked.phase, asked, board, shown, here) if with_history else {}
        for one in here:
            standing = _standing(one, board, oldest_first, own, shown, then.get(one.id))
            found[one.id].append(_with_certainty(standing, one, oldest_first, shown, certain.get(one.id)))
    return found


def _half(own: OwnScores) -> Half | None:
    return Half.PUBLIC if own.view.is_divided else None


def _with_own(board: Leaderboard, runs: Collection[UUID]) -> Leaderboard:
    """Mark the team's rows as own, so that organisers who look at its runs compare with the right row."""
    rows = (row._replace(is_mine=row.is_mine or row.submission_id in runs) for row in board.rows)
    return replace(board, rows=tuple(rows))


def _is_on(submission: Submission, board: Board, own: OwnScores) -> bool:
    if current_run(submission).status != RunStatus.SCORED or submission.withdrawn_at or not own.view.own_scores:
        return False
    return (
        board.track in (None, submission.track)
        and (score := _score(board, own)) is not None
        and (score.reason != NOT_ENTERED)
    )


def _score(board: Board, own: OwnScores) -> Score | None:
    return next((one for one in own.scores if (one.metric, one.split) == (board.rank_metric, board.rank_split)), None)


def _value(board: Board, own: OwnScores, column: BoardColumn) -> float | None:
    score = _score(board, own)
    return rounded(score.value, effective_decimals(column, own.view.precision)) if score else None


def _standing(
    submission: Submission,
    board: Board,
    oldest_first: Sequence[Submission],
    own: dict[UUID, OwnScores],
    shown: Leaderboard,
    then: tuple[int | None, int | None] | None,
) -> RunStanding:
    column = next(c for c in board_columns(board) if (c.metric, c.split) == (board.rank_metric, board.rank_split))
    mine, view = own[submission.id], own[submission.id].view
    score = next(one for one in mine.scores if (one.metric, one.split) == (board.rank_metric, board.rank_split))
    values = {one.id: _value(board, own[one.id], column) for one in oldest_first}
    value, decimals = values[submission.id], effective_decimals(column, view.precision)
    place = next(index for index, one in enumerate(oldest_first) if one.id == submission.id)
    before = values[oldest_first[place - 1].id] if place else None
    counts = _counts(shown, submission)
    now = rank_now(shown, value, counts=bool(counts))
    return RunStanding(
        board=board,
        column=with_decimals(column, view.precision),
        score=Score(score.metric, score.split, value, score.reason, score.signature),
        ranks=RunRanks(*(then or (None, None)), now=now.now, of=now.of),
        change=difference_of(value, before, decimals),
        to_best=difference_of(value, _best([v for key, v in values.items() if key != submission.id], column), decimals),
        to_baseline=difference_of(value, baseline_value(shown), decimals) if is_told(shown) else None,
        ahead=_ahead(shown, value, decimals),
        counts=counts,
        is_chosen=board.name in mine.chosen_for,
        why=_why(mine.settings, is_chosen=_any_chosen(board, own)),
    )


def _with_certainty(
    standing: RunStanding,
    submission: Submission,
    oldest_first: Sequence[Submission],
    shown: Leaderboard,
    certain: StatisticsOfRun | None,
) -> RunStanding:
    """Add interval, test and comparison. certain: the run's statistics as far as its viewer may see them."""
    rivals = peer_comparison(shown, submission.id) if standing.counts else None
    if certain is None or standing.score.value is None:
        return replace(standing, rivals=rivals)
    name = standing.score.metric, standing.score.split
    place = next(index for index, one in enumerate(oldest_first) if one.id == submission.id)
    before = current_run(oldest_first[place - 1]).id if place else None
    return replace(
        standing,
        interval=certain.intervals.get(name),
        change_test=pair_test_of(certain, before, name) if before is not None else None,
        rivals=rivals,
    )


def _best(values: Sequence[float | None], column: BoardColumn) -> float | None:
    known = [value for value in values if value is not None]
    return (max if column.higher_is_better else min)(known, default=None)


def _ahead(board: Leaderboard, value: float | None, decimals: int | None) -> NextTeam | None:
    """Return the next team above among the other ranked rows as shown."""
    if value is None or not is_told(board):
        return None
    column, place = board.columns[board.rank_by], board.rank_by
    sign = 1 if column.higher_is_better else -1

    def lead(row: LeaderboardRow) -> float:
        return sign * ((row.cells[place].value or 0.0) - value)

    others = [row for row in board.rows if row.rank is not None and not row.is_mine and lead(row) > 0]
    nearest = min(others, key=lead, default=None)
    return (
        NextTeam(nearest.team, difference_of(nearest.cells[place].value, value, decimals) or 0.0) if nearest else None
    )


def _counts(board: Leaderboard, submission: Submission) -> bool | None:
    """Return True if a row shown as the viewer's own is this submission, None if no row is; use no other source."""
    rows = [row for row in board.rows if row.is_mine and row.submission_id is not None]
    return any(row.submission_id == submission.id for row in rows) if rows else None


def _any_chosen(board: Board, own: dict[UUID, OwnScores]) -> bool:
    return any(board.name in one.chosen_for for one in own.values())


def _why(settings: EntrySettings, *, is_chosen: bool) -> str:
    if settings.rule is EntryRule.CHOSEN and not is_chosen:
        return f"{WHY[settings.without_choice]}, as you have not chosen"
    return WHY[settings.rule]
