"""The parts of a board: cells, rows, and the board itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from itertools import islice
from typing import Literal, NamedTuple
from uuid import UUID

from app.boards.pair_tests import PairTest, PairTests
from app.cards.form import CardAnswer, MethodCard
from app.competitions.columns import BoardColumn
from app.competitions.ordering import effective_decimals
from app.competitions.visibility import View, rounded
from app.models import EntryRule, RowStatus
from evergold.scoring.halves import Half

RowKind = Literal["team", "baseline", "historic"]
#: State of a board's statistics for its viewer. current: they cover all rows shown; pending: they are being computed
#: for some rows (no ranges and clusters yet); withheld: they would reveal more than the board; none: there are none.
StatisticsState = Literal["current", "pending", "withheld", "none"]


@dataclass(frozen=True, slots=True)
class Interval:
    """The range of the score on other items of the same kind, at confidence `level`. method: used to compute it."""

    low: float
    high: float
    level: float
    method: str

    def rounded(self, decimals: int | None) -> Interval:
        """Return the interval with both ends rounded like the score; None for full precision."""
        if decimals is None:
            return self
        return replace(self, low=rounded(self.low, decimals) or 0.0, high=rounded(self.high, decimals) or 0.0)


class Cell(NamedTuple):
    """A value, or None with the reason. Cells of published results have no signature: their computation is unknown.

    interval: None if there is none or it may not be shown.
    """

    value: float | None
    reason: str | None
    signature: str | None
    interval: Interval | None = None


@dataclass(frozen=True, slots=True)
class CommittedGold:
    """A published version of sealed gold. Its commitment reveals nothing, and proves that the gold was not replaced."""

    number: int
    commitment: str


class LeaderboardRow(NamedTuple):
    """A row of a board. It is a tuple because there may be thousands: a dataclass takes 3 times as long to create.

    rank: None for rows without a rank.
    status: the organisers' mark, None if unmarked; note: its reason, shown below the board.
    card: method card of the system, None if not shown.
    entries: number of the team's scored submissions here, None if not shown.
    carried_from: name of the phase that it was carried over from.
    run_id, team_id: of live rows only; internal, never shown to viewers.
    task_version: of the task type that scored it; is_outdated: scored with a gold version that is no longer in use.
    rank_range: best and worst possible rank; cluster: from 1 at the top; None: see `StatisticsState`.
    published_rank: the rank of a published result in its publication.
    """

    rank: int | None
    team: str
    kind: RowKind
    cells: tuple[Cell, ...]
    achieved_at: datetime | None
    method: str
    entries: int | None
    track: str | None = None
    source: str | None = None
    submission_id: UUID | None = None  # of the viewer's own rows, and for organisers
    page_id: UUID | None = None  # identifies the row's own page, if values are shown; of published results always
    is_mine: bool = False
    run_id: int | None = None
    carried_from: str | None = None
    team_id: int | None = None
    commitment: str | None = None  # of the sealed gold that it was scored against
    sealed_gold: int | None = None  # its version in the board's phase; others may number it differently
    task_version: int | None = None  # of the task type that scored it
    is_outdated: bool = False  # scored against other gold than the one in use
    is_ranked: bool = False  # for a baseline: ranked like teams
    status: RowStatus | None = None
    note: str = ""
    card: MethodCard | None = None
    system: str = ""  # the team's name for it; shown where the method is
    rank_range: tuple[int, int] | None = None
    cluster: int | None = None
    published_rank: int | None = None

    @property
    def competes(self) -> bool:
        """True if the row gets a rank, provided that its ranking score is defined."""
        return self.status is None and (self.kind == "team" or self.is_ranked)

    def answer(self, name: str) -> CardAnswer | None:
        """Return the row's answer for a card column of the board; None if there is none, or it is not shown."""
        return self.card.answer(name) if self.card else None


@dataclass(frozen=True, slots=True)
class Footnote:
    """The reason for the status of rows. mark: the letter at each of these rows."""

    mark: str
    text: str


@dataclass(frozen=True, slots=True)
class CardColumn:
    """A question of method cards whose answers the board shows next to the scores."""

    name: str
    title: str


@dataclass(frozen=True)  # without slots, for cached properties
class Leaderboard:
    """A board as its viewer sees it.

    rank_by: index of the ranking column.
    version: equal for equal boards (of the same viewer).
    has_tracks: True if submissions belong to tracks, which rows then name.
    view: access of its viewer; precision: decimals of the values, None for full precision.
    gold_version: the organisers' name of the gold; sealed_gold: its published versions, oldest first.
    card_columns: questions of method cards with answers on the board.
    statistics: state of intervals, rank ranges and clusters; pair_tests: of all compared pairs, see `pair_test`.
    half: the part of the items that was scored; None if they are not divided.
    """

    columns: tuple[BoardColumn, ...]
    rank_by: int
    rows: tuple[LeaderboardRow, ...]
    version: str
    entry_rule: EntryRule
    has_tracks: bool = False
    view: View = View()
    precision: int | None = None
    gold_version: str = ""
    sealed_gold: tuple[CommittedGold, ...] = ()
    card_columns: tuple[CardColumn, ...] = ()
    statistics: StatisticsState = "none"
    pair_tests: PairTests = field(default_factory=dict, repr=False)
    half: Half | None = None

    def pair_test(self, row: LeaderboardRow, other: LeaderboardRow) -> PairTest | None:
        """Return the test of this row's ranking score minus the other's; None if the two were not compared."""
        if row.page_id is None or other.page_id is None:
            return None
        turned = self.pair_tests.get((other.page_id, row.page_id))
        return turned.turned() if turned else self.pair_tests.get((row.page_id, other.page_id))

    @property
    def can_compare(self) -> bool:
        """True if there are two rows with a page, which readers can compare."""
        return len(list(islice((row for row in self.rows if row.page_id), 2))) > 1

    @property
    def footnotes(self) -> tuple[Footnote, ...]:
        """The footnotes of all distinct marks of rows, in board order."""
        return tuple(Footnote(mark, _footnote_text(*one)) for one, mark in self._marks.items())

    def mark(self, row: LeaderboardRow) -> str:
        """Return the letter of a row's footnote; "" if it has none."""
        return "" if row.status is None else self._marks[row.status, row.note]

    @cached_property
    def _marks(self) -> Mapping[tuple[RowStatus, str], str]:
        """The letters by status and note, in board order; cached because thousands of rows may be marked."""
        marks = dict.fromkeys((row.status, row.note) for row in self.rows if row.status is not None)
        return {one: mark_of(number) for number, one in enumerate(marks)}


def mark_of(number: int) -> str:
    """Return the number as letters: a, b, …, z, aa, ab, …"""
    higher, letter = divmod(number, 26)
    return (mark_of(higher - 1) if higher else "") + chr(ord("a") + letter)


def _footnote_text(status: RowStatus, note: str) -> str:
    starts = {
        RowStatus.DISQUALIFIED: "Disqualified",
        RowStatus.HIDDEN: "Hidden: only its team and the organisers see it",
    }
    return note if status is RowStatus.UNRANKED else ": ".join(part for part in (starts[status], note) if part)


@dataclass(frozen=True, slots=True)
class ScoredWith:
    """The versions with which a board's rows were scored.

    outdated: number of rows scored with a gold version that is no longer in use, waiting to be rescored.
    task_versions: of the task type; gold_versions: numbers of the sealed gold.
    """

    outdated: int
    task_versions: list[int]
    gold_versions: list[int]


def scored_with(board: Leaderboard) -> ScoredWith:
    """Return the versions with which the rows of a board were scored, as a viewer sees it."""
    return ScoredWith(
        outdated=sum(row.is_outdated for row in board.rows),
        task_versions=sorted({row.task_version for row in board.rows if row.task_version is not None}),
        gold_versions=sorted({row.sealed_gold for row in board.rows if row.sealed_gold is not None}),
    )


def with_decimals(column: BoardColumn, precision: int | None) -> BoardColumn:
    """Return the column with the number of decimals shown at this precision."""
    decimals = effective_decimals(column, precision)
    return column if decimals is None else replace(column, decimals=max(0, decimals - 2 * column.percent))


def ranked(ordered: Sequence[tuple[LeaderboardRow, float | None]]) -> list[int | None]:
    """Return the ranks of rows, given best first with their ranking values.

    Competing rows get 1, 2, 2, 4 …, where equal values share a rank; every other row keeps its place, without a rank.
    """
    ranks: list[int | None] = []
    teams_before, rank, last_value = 0, 0, None
    for row, value in ordered:
        if not row.competes or value is None:
            ranks.append(None)
            continue
        teams_before += 1
        if value != last_value:
            rank, last_value = teams_before, value
        ranks.append(rank)
    return ranks
