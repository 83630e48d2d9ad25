"""What boards are made of: cells, rows, and the board; and which value is better."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import Literal, NamedTuple
from uuid import UUID

from app.boards.pair_tests import PairTest, PairTests
from app.cards.form import CardAnswer, MethodCard
from app.competitions.columns import BoardColumn
from app.competitions.ordering import decimals_of
from app.competitions.visibility import View, rounded
from app.models import EntryRule, RowStatus
from evergold.scoring.halves import Half

RowKind = Literal["team", "baseline", "historic"]
#: Of a board's statistics, for its viewer: they belong to all rows shown; they are being computed for some (ranges and
#: clusters are missing so far); they would tell more than the board does; there are none.
StatisticsState = Literal["current", "pending", "withheld", "none"]


@dataclass(frozen=True, slots=True)
class Interval:
    """Where the score of other items of this kind would lie, `level` of the times; method: how it was computed."""

    low: float
    high: float
    level: float
    method: str

    def rounded(self, decimals: int | None) -> Interval:
        """Round both ends as the score is; None leaves them whole."""
        if decimals is None:
            return self
        return replace(self, low=rounded(self.low, decimals) or 0.0, high=rounded(self.high, decimals) or 0.0)


class Cell(NamedTuple):
    """A value, or None with the reason; historic cells have no signature: nobody knows how they were computed.

    interval: None where there is none, or none to see.
    """

    value: float | None
    reason: str | None
    signature: str | None
    interval: Interval | None = None


@dataclass(frozen=True, slots=True)
class CommittedGold:
    """A published version of sealed gold: its commitment says nothing, and makes exchanging it impossible."""

    number: int
    commitment: str


class LeaderboardRow(NamedTuple):
    """A tuple, as there may be thousands: a dataclass takes three times as long to make, five times to make anew.

    rank: None for everything that is shown without one; status: what organisers say of it, None: nothing; note: why,
    as it stands below the board; card: what its team says of the system, None where that is not shown; entries: how
    many scored submissions the team has here, None where that is not shown; carried_from: name of the phase that it was
    carried over from; run_id, team_id: whose report and team these are (live rows only; for us, never for readers);
    task_version, is_outdated: of the task type that scored it; that this was against other gold than the one in use.
    rank_range: the best and the worst rank that it may have; cluster: from 1 at the top; None: see `StatisticsState`.
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
    page_id: UUID | None = None  # what the row's own page is found by, where values are shown
    is_mine: bool = False
    run_id: int | None = None
    carried_from: str | None = None
    team_id: int | None = None
    commitment: str | None = None  # of the sealed gold that it was scored against
    task_version: int | None = None  # of the task type that scored it
    is_outdated: bool = False  # scored against another gold than the one that is in use
    is_ranked: bool = False  # of a baseline: whether it has a rank, as teams have
    status: RowStatus | None = None
    note: str = ""
    card: MethodCard | None = None
    system: str = ""  # what its team calls it; shown where the method is
    rank_range: tuple[int, int] | None = None
    cluster: int | None = None

    @property
    def competes(self) -> bool:
        """Whether it has a rank, if its ranking score is defined."""
        return self.status is None and (self.kind == "team" or self.is_ranked)

    def answer(self, name: str) -> CardAnswer | None:
        """What its card says in a column of the board; None where it says nothing, or is not shown."""
        return self.card.answer(name) if self.card else None


@dataclass(frozen=True, slots=True)
class Footnote:
    """Why rows are not as others; mark: a letter that stands at each of them."""

    mark: str
    text: str


@dataclass(frozen=True, slots=True)
class CardColumn:
    """A question of method cards whose answers stand on the board, beside the scores."""

    name: str
    title: str


@dataclass(frozen=True)  # without slots: what is worked out of it once is kept with it
class Leaderboard:
    """rank_by: index of the ranking column. version: equal versions show equal boards (to the same viewer).

    has_tracks: whether submissions belong to tracks, which rows then name. view: what its viewer may see of it;
    precision: decimals of the values, None for all. gold_version: what the organisers call the gold;
    sealed_gold: its published versions, oldest first. card_columns: what method cards say that stands on the board.
    statistics: whether there are intervals, ranges of ranks and clusters; pair_tests: of every two rows of it that were
    compared, see `pair_test`. half: of the items, whose scores these are; None where they are not divided.
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
        """What this row has more than the other in the ranking score, tested; None where the two were not compared."""
        if row.page_id is None or other.page_id is None:
            return None
        turned = self.pair_tests.get((other.page_id, row.page_id))
        return turned.turned() if turned else self.pair_tests.get((row.page_id, other.page_id))

    @property
    def footnotes(self) -> tuple[Footnote, ...]:
        """One for each thing that is said of rows, in the order of the board."""
        return tuple(Footnote(mark, _said(*one)) for one, mark in self._marks.items())

    def mark(self, row: LeaderboardRow) -> str:
        """The mark of a row's footnote; empty where there is none."""
        return "" if row.status is None else self._marks[row.status, row.note]

    @cached_property
    def _marks(self) -> Mapping[tuple[RowStatus, str], str]:
        """By what is said of rows, in the order of the board: looked for once, as thousands may be marked."""
        said = dict.fromkeys((row.status, row.note) for row in self.rows if row.status is not None)
        return {one: mark_of(number) for number, one in enumerate(said)}


def mark_of(number: int) -> str:
    """a, b, …, z, aa, ab, …"""
    higher, letter = divmod(number, 26)
    return (mark_of(higher - 1) if higher else "") + chr(ord("a") + letter)


def _said(status: RowStatus, note: str) -> str:
    starts = {
        RowStatus.DISQUALIFIED: "Disqualified",
        RowStatus.HIDDEN: "Hidden: only its team and the organisers see it",
    }
    return note if status is RowStatus.UNRANKED else ": ".join(part for part in (starts[status], note) if part)


@dataclass(frozen=True, slots=True)
class ScoredWith:
    """What a board's rows were scored with. outdated: how many against another gold than the one in use, waiting to be
    scored anew; task_versions: of the task type; gold_versions: the numbers of the sealed gold."""

    outdated: int
    task_versions: list[int]
    gold_versions: list[int]


def scored_with(board: Leaderboard) -> ScoredWith:
    """Of the rows of a board as somebody sees it."""
    numbers = {gold.commitment: gold.number for gold in board.sealed_gold}
    return ScoredWith(
        outdated=sum(row.is_outdated for row in board.rows),
        task_versions=sorted({row.task_version for row in board.rows if row.task_version is not None}),
        gold_versions=sorted({numbers[row.commitment] for row in board.rows if row.commitment in numbers}),
    )


def with_decimals(column: BoardColumn, precision: int | None) -> BoardColumn:
    """The column as it is shown under this precision."""
    decimals = decimals_of(column, precision)
    return column if decimals is None else replace(column, decimals=max(0, decimals - 2 * column.percent))


def ranked(ordered: Sequence[tuple[LeaderboardRow, float | None]]) -> list[int | None]:
    """The ranks of rows with the values that rank them, best first: those that compete get 1, 2, 2, 4 …, equal values
    share one; every other row stands in its place without one."""
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
