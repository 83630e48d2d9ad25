"""A team's runs on each board: score, changes, earlier and current rank, and which run counts and why.

Used by the page of a submission, the list of runs, the API and the command line; restricted to what the phase shows
teams.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from sqlalchemy.orm import Session

from app.boards.axis import baseline_value
from app.boards.leaderboard import has_ladder, whole_board
from app.boards.pair_tests import PairTest
from app.boards.rows import Interval, Leaderboard, LeaderboardRow, with_decimals
from app.boards.run_statistics import StatisticsOfRun
from app.boards.statistics import has_statistics
from app.boards.team_board import TeamBoard, TeamSight, board_of_team, sight_of_team
from app.boards.view import show
from app.competitions.columns import BoardColumn, board_columns
from app.competitions.entry_rules import EntrySettings
from app.competitions.ordering import difference_of, effective_decimals
from app.competitions.visibility import View, Viewer, rounded
from app.feedback.beside import Beside, RunBefore, has_choice, runs_beside
from app.feedback.certainty import certainty_of, pair_test_of
from app.feedback.course import ranks_over_time
from app.feedback.neighbours import Neighbours, neighbours_of
from app.feedback.scores import OwnScores, boards_of_run, own_scores_of_all
from app.models import Board, BoardShown, EntryRule, RunStatus, Submission
from app.submissions.find import current_run
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
    """Return the comparison; None if the row is not on the board or the board shows no statistics."""
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
    """Return the best baseline that was compared with the run, and the test; None twice if there is none."""
    sign = 1 if board.columns[board.rank_by].higher_is_better else -1
    baselines = [one for one in tests if one[0].kind == "baseline"]
    return max(baselines, key=lambda one: sign * (one[0].cells[board.rank_by].value or 0.0), default=(None, None))


@dataclass(frozen=True, slots=True)
class RunRanks:
    """The ranks of one run; None if there is no rank, or it may not be shown.

    before: rank of the team before this run; then: right after it.
    now: rank that the run would have today, among the `of` ranked rows.
    """

    before: int | None = None
    then: int | None = None
    now: int | None = None
    of: int | None = None

    @property
    def up(self) -> int | None:
        """The number of places that the team rose by this run; None if it had no rank before."""
        return None if self.before is None or self.then is None else self.before - self.then


def is_told(board: Leaderboard) -> bool:
    """Return True if this viewer may see more than the current ranks."""
    return board.view.board is BoardShown.PUBLIC


def rank_now(session: Session, board: TeamBoard, submission_id: UUID, value: float | None, *, counts: bool) -> RunRanks:
    """Return the rank of one of the viewer's own scores on the board; if it shows only ranks, just for the run that
    counts.

    The team's other rows are left out, because this run would replace them, except if every submission counts.
    """
    shown = board.shown
    ranked = [row for row in shown.rows if row.rank is not None]
    mine = [row for row in shown.rows if row.is_mine]
    if shown.view.board is BoardShown.RANKS_ONLY and counts and len(mine) == 1:
        above, more = board.unread_above(session, board.mine[0])
        return RunRanks(now=None if mine[0].rank is None else mine[0].rank + above, of=len(ranked) + more)
    if not is_told(shown) or value is None or (mine and all(row.rank is None for row in mine)):
        return RunRanks()
    column = shown.columns[shown.rank_by]
    decimals = effective_decimals(column, shown.view.ranks_by)
    is_alone = board.rules.rule is EntryRule.ALL
    left = [row for row in ranked if not (row.submission_id == submission_id if is_alone else row.is_mine)]
    others = [rounded(row.cells[shown.rank_by].value, decimals) for row in left]
    ahead = _count_better(others, rounded(value, decimals), higher_is_better=column.higher_is_better)
    above, more = board.unread_above(session, value)
    return RunRanks(now=ahead + above + 1, of=len(others) + more + 1)


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

    column: the ranking column, in its shown format.
    change: since the team's previous run; to_best: from the best of its other runs; to_baseline: from the best
    baseline.
    ahead: the next team above.
    counts: True if this run is the team's entry; why: the entry rule.
    interval: of the score; change_test: significance of the change; rivals: comparison of an entry with other rows.
    neighbours: the rows around an entry.
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
    neighbours: Neighbours | None = None


def standings_of_one(
    session: Session,
    submission: Submission,
    viewer: Viewer,
) -> list[RunStanding]:
    """Return a submission's results on its boards; empty until it is scored, or if its scores are not shown."""
    own = own_scores_of_all(session, [submission], viewer)
    return standings_known(session, submission, own, viewer)


def standings_known(
    session: Session,
    submission: Submission,
    own: Mapping[UUID, OwnScores],
    viewer: Viewer,
) -> list[RunStanding]:
    """Return the same as `standings_of_one`, if the submission's scores are known."""
    if current_run(submission).status != RunStatus.SCORED:
        return []
    found = _standings(session, [submission], own, viewer, with_history=True, with_next=True)
    return found[submission.id]


def standings_of_all(
    session: Session,
    submissions: Sequence[Submission],
    own: Mapping[UUID, OwnScores],
    viewer: Viewer,
    *,
    with_history: bool = False,
) -> dict[UUID, list[RunStanding]]:
    """Return the results of submissions to any tasks, without the next teams above.

    own: the scores of each submission; with_history: include the ranks at the time of submission.
    """
    found: dict[UUID, list[RunStanding]] = {one.id: [] for one in submissions}
    by_place: defaultdict[tuple[int, int], list[Submission]] = defaultdict(list)
    for one in submissions:
        if current_run(one).status == RunStatus.SCORED:
            by_place[one.phase_task_id, one.team_id].append(one)
    for some in by_place.values():
        found |= _standings(session, some, own, viewer, with_history=with_history)
    return found


def _standings(
    session: Session,
    wanted: Sequence[Submission],
    own: Mapping[UUID, OwnScores],
    viewer: Viewer,
    *,
    with_history: bool,
    with_next: bool = False,
) -> dict[UUID, list[RunStanding]]:
    """Return the results by submission, on the boards it entered, in the organisers' order; empty if scores are not
    shown.

    wanted: scored runs of one team to one task in a phase.
    """
    found: dict[UUID, list[RunStanding]] = {one.id: [] for one in wanted}
    phase_task, boards = wanted[0].phase_task, boards_of_run(session, wanted[0])
    entered = [(board, [one for one in wanted if _is_on(one, board, own[one.id])]) for board in boards]
    entered = [(board, here) for board, here in entered if here]
    if not entered:
        return found
    certain = certainty_of(session, wanted, own)
    seen = sight_of_team(session, phase_task, boards[0], wanted[0].team_id, viewer)
    for board, here in entered:
        column = _ranking_column(board)
        others = runs_beside(session, here, board, higher_is_better=column.higher_is_better)
        values = [_value(board, own[one.id], column) for one in here]
        place = board_of_team(session, board, seen, values, here[0].id if with_next else None)
        then = ranks_over_time(session, phase_task, place, board.id, here) if with_history else {}
        settings = own[here[0].id].settings
        why = _why(settings, is_chosen=settings.rule is EntryRule.CHOSEN and has_choice(session, here[0], board))
        compared = _Compared(board, column, place, others)
        known = [_standing(session, one, own[one.id], compared) for one in here]
        # Comparisons of entries with others need all rows.
        whole = _with_statistics(session, board, seen, place) if any(one.counts for one in known) else None
        for one, standing in zip(here, known, strict=True):
            before, right = then.get(one.id, (None, None))
            ranks = replace(standing.ranks, before=before, then=right)
            rivals = peer_comparison(whole, one.id) if standing.counts and whole is not None else None
            shown = replace(standing, ranks=ranks, why=why, rivals=rivals)
            if with_next and standing.counts and one.team_id in seen.sight.mine:
                every = _board_as_shown(session, board, seen, whole)
                shown = replace(shown, neighbours=_neighbours(session, one, place, every))
            elif not with_next:
                shown = replace(shown, ahead=None)
            found[one.id].append(_with_certainty(shown, others[one.id].before, certain.get(one.id)))
    return found


def _with_statistics(session: Session, board: Board, seen: TeamSight, place: TeamBoard) -> Leaderboard | None:
    """Return the board with all rows if it has statistics that this viewer may see, otherwise None."""
    view, own = place.shown.view, seen.sources[0]
    if view.board is not BoardShown.PUBLIC or not view.has_statistics or has_ladder(seen.sources):
        return None
    if not has_statistics(session, own.phase_task.id, board.id):
        return None
    return show(whole_board(session, board, seen.sources, half=seen.half), seen.sight)


def _board_as_shown(session: Session, board: Board, seen: TeamSight, whole: Leaderboard | None) -> Leaderboard | None:
    """Return the board with all rows if it shows statistics or the private part, otherwise None.

    whole: the board with statistics.
    """
    half = seen.sight.own.view.half
    return whole if half is seen.half else show(whole_board(session, board, seen.sources, half=half), seen.sight)


def _neighbours(
    session: Session, submission: Submission, place: TeamBoard, every: Leaderboard | None
) -> Neighbours | None:
    """Return the rows around an entry of the viewer's team. every: the board with all rows, if it was built already."""
    if every is not None:
        return neighbours_of(every, submission.id)
    above, _ = place.unread_above(session, place.own_values.get(submission.id))
    return neighbours_of(place.shown, submission.id, above)


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


def _ranking_column(board: Board) -> BoardColumn:
    return next(c for c in board_columns(board) if (c.metric, c.split) == (board.rank_metric, board.rank_split))


@dataclass(frozen=True, slots=True)
class _Compared:
    """A board with the runs to compare a team's runs with. column: the ranking one."""

    board: Board
    column: BoardColumn
    place: TeamBoard
    beside: Mapping[UUID, Beside]


def _standing(session: Session, submission: Submission, own: OwnScores, compared: _Compared) -> RunStanding:
    """Return the standing without the parts that several runs share."""
    board, column, view = compared.board, compared.column, own.view
    shown, others = compared.place.shown, compared.beside[submission.id]
    score = next(one for one in own.scores if (one.metric, one.split) == (board.rank_metric, board.rank_split))
    decimals = effective_decimals(column, view.precision)
    value = rounded(score.value, decimals)
    counts = _counts(shown, submission)
    return RunStanding(
        board=board,
        column=with_decimals(column, view.precision),
        score=Score(score.metric, score.split, value, score.reason, score.signature),
        ranks=rank_now(session, compared.place, submission.id, value, counts=bool(counts)),
        change=difference_of(value, _as_shown(others.before.value, view, decimals), decimals)
        if others.before
        else None,
        to_best=difference_of(value, _as_shown(others.best, view, decimals), decimals),
        to_baseline=difference_of(value, baseline_value(shown), decimals) if is_told(shown) else None,
        ahead=_ahead(shown, value, decimals),
        counts=counts,
        is_chosen=board.name in own.chosen_for,
    )


def _as_shown(value: float | None, view: View, decimals: int | None) -> float | None:
    """Return a score rounded as the board does before comparing."""
    return rounded(rounded(value, view.precision), decimals)


def _with_certainty(standing: RunStanding, before: RunBefore | None, certain: StatisticsOfRun | None) -> RunStanding:
    """Return the standing with interval and test. certain: the run's statistics that its viewer may see."""
    if certain is None or standing.score.value is None:
        return standing
    name = standing.score.metric, standing.score.split
    return replace(
        standing,
        interval=certain.intervals.get(name),
        change_test=pair_test_of(certain, before.run_id, name) if before is not None else None,
    )


def _ahead(board: Leaderboard, value: float | None, decimals: int | None) -> NextTeam | None:
    """Return the next team above, among the other ranked rows as shown; None if there is none."""
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
    """Return whether a row of the viewer's team is this submission; None if the board shows no such row."""
    rows = [row for row in board.rows if row.is_mine and row.submission_id is not None]
    return any(row.submission_id == submission.id for row in rows) if rows else None


def _why(settings: EntrySettings, *, is_chosen: bool) -> str:
    if settings.rule is EntryRule.CHOSEN and not is_chosen:
        return f"{WHY[settings.without_choice]}, as you have not chosen"
    return WHY[settings.rule]
