"""A whole board filtered for one viewer: rows, names, columns, decimals, order.

It only removes, never adds; it also ensures that no order or rank reveals hidden values.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID

import numpy as np

from app.boards.pair_tests import PairTest, PairTests
from app.boards.rows import (
    CardColumn,
    Cell,
    CommittedGold,
    Leaderboard,
    LeaderboardRow,
    StatisticsState,
    ranked,
    with_decimals,
)
from app.boards.statistics import RunPair, Statistics
from app.competitions.columns import BoardColumn
from app.competitions.ordering import difference_of, effective_decimals, goodness, sign_of
from app.competitions.visibility import View, is_exact, min_decimals, rounded, until_words
from app.models import BoardShown, EntryRule, RowStatus, Slices
from evergold.scoring.halves import Half
from evergold.scoring.resampling.pairs import Difference
from evergold.scoring.resampling.ranking import clusters, holm, rank_ranges

#: Letters of neutral names: no vowels and no look-alikes, so that they form no words and are not misread.
_LETTERS = "BCDFGHJKLMNPQRSTVWXZ2456789"
_LENGTH = 6


def neutral_name(salt: str, phase_id: int, team_id: int) -> str:
    """Return a neutral team name such as `Team K7QXB2`."""
    digest = hmac.new(salt.encode(), f"{phase_id} {team_id}".encode(), hashlib.sha256).digest()
    number = int.from_bytes(digest[:16], "big")
    letters = []
    for _ in range(_LENGTH):
        number, place = divmod(number, len(_LETTERS))
        letters.append(_LETTERS[place])
    return f"Team {''.join(letters)}"


@dataclass(frozen=True, slots=True)
class RankRange:
    """The best and the worst rank that a row may have. cluster: its number, from 1 at the top."""

    best: int
    worst: int
    cluster: int


@dataclass(frozen=True, slots=True)
class ComparedRow:
    """A row that may be compared: its run, its page, and whether it has a rank."""

    run_id: int
    page_id: UUID
    is_ranked: bool


def rank_ranges_of(tests: PairTests, ranked: Sequence[UUID], *, higher_is_better: bool) -> dict[UUID, RankRange]:
    """Return the rank ranges by page. ranked: pages of ranked rows, best first. Empty if no two of them were compared.

    They follow from the same tests that the board shows. Rows that could not be compared (one has no stored outcomes)
    count as not significantly different.
    """
    if not tests:
        return {}
    places = {page: place for place, page in enumerate(ranked)}
    known = [
        (places[one], places[other], test) for (one, other), test in tests.items() if {one, other} <= places.keys()
    ]
    if not known:
        return {}
    better = np.zeros((len(ranked), len(ranked)), dtype=bool)
    for one, other, test in known:
        if test.is_significant:
            better[(one, other) if (test.difference > 0) == higher_is_better else (other, one)] = True
    numbers = clusters(better, list(range(len(ranked))))
    return {
        page: RankRange(best, worst, number)
        for page, (best, worst), number in zip(ranked, rank_ranges(better), numbers, strict=True)
    }


def compared(statistics: Statistics, runs: Sequence[int]) -> dict[RunPair, Difference]:
    """Return the compared pairs among these runs, by their positions, sorted.

    Iterates over the stored pairs, which are few compared with the possible ones.
    """
    places = {run: place for place, run in enumerate(runs)}
    found = {
        (places[first], places[second]): one
        for (first, second), one in statistics.pairs.items()
        if first in places and second in places
    }
    return dict(sorted(found.items(), key=lambda item: (min(item[0]), max(item[0]))))


def pair_tests(statistics: Statistics, rows: Sequence[ComparedRow]) -> dict[tuple[UUID, UUID], PairTest]:
    """Return the tests of all compared pairs, corrected as one family; empty unless the statistics cover all ranked
    rows.
    """
    if not statistics.covers([row.run_id for row in rows if row.is_ranked]):
        return {}
    differences = compared(statistics, [row.run_id for row in rows])
    corrected = holm([one.p for one in differences.values()])
    return {
        (rows[second].page_id, rows[first].page_id): _test(one, p)
        for ((first, second), one), p in zip(differences.items(), corrected, strict=True)
    }


def _test(one: Difference, corrected: float) -> PairTest:
    """Return the test for a stored difference, which is the second row minus the first."""
    return PairTest(one.difference, one.low, one.high, one.level, one.p, corrected, one.method)


NOT_SHOWN = "not shown"
DISQUALIFIED = "disqualified"


@dataclass(frozen=True, slots=True)
class UnfilteredBoard:
    """A board before filtering, without order and ranks; carried-over rows name their phase.

    statistics: None if there are none.
    half: the part of the items that the cells belong to; None if they are not divided.
    """

    columns: tuple[BoardColumn, ...]
    rank_by: int
    rows: tuple[LeaderboardRow, ...]
    entry_rule: EntryRule
    has_tracks: bool = False
    gold_version: str = ""
    sealed_gold: tuple[CommittedGold, ...] = ()
    card_columns: tuple[CardColumn, ...] = ()
    statistics: Statistics | None = None
    half: Half | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """A phase with entries on the board, and the viewer's access to it."""

    phase_id: int
    view: View


@dataclass(frozen=True, slots=True)
class ViewerContext:
    """The viewer's access to a board.

    own, carried: the board's own phase, and the carried-over ones by name.
    mine: the viewer's teams.
    salt: for neutral names.
    """

    own: Source
    carried: Mapping[str, Source]
    mine: frozenset[int]
    salt: str

    def source(self, row: LeaderboardRow) -> Source | None:
        """Return the source of the row; None if its board is not public, so that the row is not shown here either."""
        if row.carried_from is None:
            return self.own
        found = self.carried.get(row.carried_from)
        return found if found is not None and found.view.board is BoardShown.PUBLIC else None


class _Line(NamedTuple):
    """A row in progress. name: as others see it, and as it is sorted."""

    row: LeaderboardRow
    source: Source
    name: str
    is_anonymous: bool


#: A line with its rank, None if it has none.
_Ranked = tuple[_Line, int | None]


def show(whole: UnfilteredBoard, sight: ViewerContext) -> Leaderboard:
    """Return the board as this viewer may see it; the caller sets its version."""
    view = sight.own.view
    lines = [] if view.board is BoardShown.HIDDEN else _lines(whole, sight)
    views = [view, *{line.row.carried_from: line.source.view for line in lines}.values()]
    precision, ranks_by = view.precision, view.ranks_by
    for other in views:
        precision, ranks_by = min_decimals(precision, other.precision), min_decimals(ranks_by, other.ranks_by)
    kept = _columns_kept(whole, view)
    ordered = _in_order(lines, whole, view, ranks_by)
    statistics = whole.statistics if _shows_statistics(whole, views) else None
    tests = _pair_tests(ordered, whole, precision, statistics)
    ranges = _ranges(ordered, whole, tests)
    cells_of = _cells(view, whole, kept, precision, statistics)
    sealed = {gold.commitment: gold.number for gold in whole.sealed_gold}
    return Leaderboard(
        columns=tuple(with_decimals(whole.columns[place], precision) for place in kept),
        rank_by=kept.index(whole.rank_by),
        rows=tuple(
            _row(
                line,
                rank,
                sight,
                cells_of(line),
                ranges.get(line.row.submission_id) if ranges and rank is not None and line.row.submission_id else None,
                sealed,
            )
            for line, rank in ordered
        ),
        version="",
        entry_rule=whole.entry_rule,
        has_tracks=whole.has_tracks,
        view=view,
        precision=precision,
        gold_version=whole.gold_version,
        sealed_gold=whole.sealed_gold,
        card_columns=whole.card_columns if view.board is BoardShown.PUBLIC and view.names else (),
        statistics=_state(ordered, whole, view, statistics),
        pair_tests=tests,
        half=whole.half,
    )


def _shows_statistics(whole: UnfilteredBoard, views: Sequence[View]) -> bool:
    """Return True if every phase with rows here shows statistics, and the board is not a Ladder.

    On a Ladder, comparisons with the record holder would reveal hidden scores. views: the board's own first.
    """
    is_public = views[0].board is BoardShown.PUBLIC
    return is_public and all(view.has_statistics for view in views) and whole.entry_rule is not EntryRule.LADDER


def _ranges(ordered: Sequence[_Ranked], whole: UnfilteredBoard, tests: PairTests) -> Mapping[UUID, RankRange]:
    """Return the rank ranges, by page, of the ranked rows that this viewer sees."""
    ranked_pages = [line.row.submission_id for line, rank in ordered if rank is not None and line.row.submission_id]
    higher = whole.columns[whole.rank_by].higher_is_better
    return rank_ranges_of(tests, ranked_pages, higher_is_better=higher)


def _pair_tests(
    ordered: Sequence[_Ranked], whole: UnfilteredBoard, precision: int | None, statistics: Statistics | None
) -> PairTests:
    """Return the tests of rows whose scores this viewer sees. Hidden rows are not compared for any viewer."""
    if statistics is None:
        return {}
    rows = [
        ComparedRow(row.run_id, row.submission_id, rank is not None)
        for row, rank in ((line.row, rank) for line, rank in ordered)
        if row.run_id is not None and row.submission_id is not None
        if row.status in (None, RowStatus.UNRANKED) and row.cells[whole.rank_by].value is not None
    ]
    decimals = effective_decimals(whole.columns[whole.rank_by], precision)
    values = {line.row.submission_id: line.row.cells[whole.rank_by].value for line, _ in ordered}
    return {
        (one, other): test.rounded(decimals, difference_of(values[one], values[other], decimals))
        for (one, other), test in pair_tests(statistics, rows).items()
    }


def _ranked_runs(ordered: Sequence[_Ranked]) -> list[int]:
    return [line.row.run_id or 0 for line, rank in ordered if rank is not None]


def _state(
    ordered: Sequence[_Ranked], whole: UnfilteredBoard, view: View, statistics: Statistics | None
) -> StatisticsState:
    """Return the state of the statistics for the visible rows."""
    if whole.statistics is None or view.board is not BoardShown.PUBLIC:
        return "none"
    if statistics is None:
        return "withheld"
    return "current" if statistics.covers(_ranked_runs(ordered)) else "pending"


def _lines(whole: UnfilteredBoard, sight: ViewerContext) -> list[_Line]:
    """Return the visible rows, each with its name as others see it."""
    lines = []
    for row in whole.rows:
        source = sight.source(row)
        if source is None or _is_hidden(row, source.view, sight):
            continue
        hides_name = row.kind == "team" and not source.view.names
        name = neutral_name(sight.salt, source.phase_id, row.team_id or 0) if hides_name else row.team
        lines.append(_Line(row, source, name, hides_name))
    return lines


def _is_hidden(row: LeaderboardRow, view: View, sight: ViewerContext) -> bool:
    """Return True if organisers hid the row, unless the viewer is an organiser or belongs to its team."""
    return row.status is RowStatus.HIDDEN and not view.is_organiser and row.team_id not in sight.mine


def _columns_kept(whole: UnfilteredBoard, view: View) -> list[int]:
    """Return the positions of the visible columns; if only ranking scores are shown, the others are not even named."""
    if view.shows_ranking_scores_only:
        return [whole.rank_by]
    return list(range(len(whole.columns)))


def _in_order(lines: Sequence[_Line], whole: UnfilteredBoard, view: View, ranks_by: int | None) -> list[_Ranked]:
    """Return the lines from top to bottom, with their ranks.

    Among equal values the earlier one comes first; if decimals are hidden, they are sorted by name, since values may
    only look equal. If values are not shown, unranked rows come last, because their position would bound their scores.
    """
    column = whole.columns[whole.rank_by]
    decimals, sign = effective_decimals(column, ranks_by), sign_of(column)
    with_moments = is_exact(ranks_by) and view.board is BoardShown.PUBLIC

    values: list[float | None] = []
    places = []  # sorted as tuples: comparing keys for thousands of lines would be slow
    for number, line in enumerate(lines):
        row = line.row
        is_last = row.status is RowStatus.DISQUALIFIED
        value = None if is_last else rounded(row.cells[whole.rank_by].value, decimals)  # or its place reveals its score
        moment = row.achieved_at.timestamp() if with_moments and row.achieved_at else float("inf")
        values.append(value)
        places.append((is_last, *goodness(value, sign), moment, line.name, number))
    order = [place[-1] for place in sorted(places)]
    ranks = ranked([(lines[number].row, values[number]) for number in order])
    found = [(lines[number], rank) for number, rank in zip(order, ranks, strict=True)]
    return sorted(found, key=_by_rank_alone) if view.board is BoardShown.RANKS_ONLY else found


def _by_rank_alone(ranked_line: _Ranked) -> tuple[bool, int, str, str]:
    line, rank = ranked_line
    return rank is None, rank or 0, "" if rank else line.row.kind, line.name


def _row(
    line: _Line,
    rank: int | None,
    sight: ViewerContext,
    cells: tuple[Cell, ...],
    ranks: RankRange | None,
    sealed: Mapping[str, int],
) -> LeaderboardRow:
    """Return the row without anything that its viewer may not see. sealed: versions of gold by commitment."""
    row, source = line.row, line.source.view
    is_mine, is_public = row.team_id in sight.mine, sight.own.view.board is BoardShown.PUBLIC
    is_out = row.status is RowStatus.DISQUALIFIED
    # Which of its submissions is the entry reveals to a team which one scored better.
    may_open = sight.own.view.is_organiser or (is_mine and (is_public or source.own_scores))
    is_named = is_mine or not line.is_anonymous
    commitment = row.commitment if is_public and not is_out else None
    return LeaderboardRow(
        rank=rank,
        team=row.team if is_mine else line.name,
        kind=row.kind,
        cells=cells,
        achieved_at=row.achieved_at if is_public else None,
        method=row.method if is_named else "",
        entries=row.entries if is_public else None,
        track=row.track,
        source=row.source,
        submission_id=row.submission_id if may_open else None,
        page_id=(row.submission_id or row.page_id) if is_public or sight.own.view.is_organiser else None,
        is_mine=is_mine,
        run_id=row.run_id if is_public and source.slices is Slices.ALL and not is_out else None,
        carried_from=row.carried_from,
        team_id=None,
        commitment=commitment,
        sealed_gold=sealed.get(commitment or ""),
        task_version=row.task_version if is_public else None,
        is_outdated=row.is_outdated and is_public,
        is_ranked=row.is_ranked,
        status=row.status,
        note=row.note,
        card=row.card if is_public and is_named else None,
        system=row.system if is_named else "",
        rank_range=(ranks.best, ranks.worst) if ranks else row.rank_range,
        cluster=ranks.cluster if ranks else row.cluster,
        published_rank=row.published_rank,
    )


def _cells(
    view: View, whole: UnfilteredBoard, kept: Sequence[int], precision: int | None, statistics: Statistics | None
) -> Callable[[_Line], tuple[Cell, ...]]:
    """Return a function that returns the cells of a line; work that is the same for all lines is done once."""
    columns = [(place, whole.columns[place], effective_decimals(whole.columns[place], precision)) for place in kept]
    hidden = tuple(Cell(None, f"hidden {until_words(view.board_at)}", None) for _ in kept)
    disqualified = tuple(Cell(None, DISQUALIFIED, None) for _ in kept)
    are_whole = statistics is None and precision is None and len(kept) == len(whole.columns)

    def cells_of(line: _Line) -> tuple[Cell, ...]:
        if view.board is not BoardShown.PUBLIC:
            return hidden
        if line.row.status is RowStatus.DISQUALIFIED:
            return disqualified
        has_slices = not line.source.view.shows_ranking_scores_only
        if are_whole and has_slices:
            return line.row.cells
        cells = []
        for place, column, decimals in columns:
            cell = line.row.cells[place]
            if place != whole.rank_by and not has_slices:  # carried over from such a phase
                cells.append(Cell(None, NOT_SHOWN, None))
            else:
                cell = cell if decimals is None else cell._replace(value=rounded(cell.value, decimals))
                cells.append(_with_interval(cell, column, line.row.run_id, statistics, decimals))
        return tuple(cells)

    return cells_of


def _with_interval(
    cell: Cell, column: BoardColumn, run_id: int | None, statistics: Statistics | None, decimals: int | None
) -> Cell:
    """Return the cell with its interval, unless the score is undefined."""
    if statistics is None or cell.value is None:
        return cell
    found = statistics.interval(run_id, column.metric, column.split)
    return cell._replace(interval=found and found.rounded(decimals))
