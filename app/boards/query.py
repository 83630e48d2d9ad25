"""A board asked for in some way: searched, filtered, sorted, with fewer columns.

Works on the rows and values that a viewer is shown and on nothing else, so that no order, count or match tells what is
not shown. Ranks stay those of the whole board.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, date, datetime, time
from operator import itemgetter
from typing import Any, get_args

from app.base.text import did_you_mean, folded
from app.boards.rows import Leaderboard, LeaderboardRow, RowKind
from app.competitions.columns import LANGUAGES, MACRO, BoardColumn
from evergold.scoring.errors import shorten

RANK, TEAM, ENTRIES, DATE = "rank", "team", "entries", "date"
ASCENDING, DESCENDING = "asc", "desc"
KINDS: tuple[RowKind, ...] = get_args(RowKind)
#: Longer texts are cut: nothing on a board is as long.
TEXT_CHARACTERS = 120
#: Parts of a split that stand for everything, and say nothing about a category.
_WHOLE = frozenset({MACRO, "all", "type"})
_NO = frozenset({"", "0", "no", "false"})


@dataclass(frozen=True, slots=True)
class BoardQuery:
    """sort: `metric split`, `rank`, `team`, `entries` or `date`; order: `asc` or `desc`. q: looked for in teams and
    methods; track, kind, team, mine: which rows; language, category, column: which columns (column: also `entries` and
    `date`); compact: lower rows; delta: the row to compare with; since: the day since when changes of rank are told.
    Empty: not asked for."""

    sort: str = ""
    order: str = ""
    q: str = ""
    track: str = ""
    kind: tuple[str, ...] = ()
    team: str = ""
    mine: bool = False
    language: tuple[str, ...] = ()
    category: str = ""
    column: tuple[str, ...] = ()
    compact: bool = False
    delta: str = ""
    since: str = ""

    @property
    def narrows(self) -> bool:
        """Whether it may leave rows out."""
        return bool(self.q or self.track or self.kind or self.team or self.mine)

    def pairs(self) -> list[tuple[str, str]]:
        """As parameters of an address, always in the same order."""
        found: list[tuple[str, str]] = []
        for one in fields(self):
            value = getattr(self, one.name)
            values = sorted(set(value)) if isinstance(value, tuple) else ["yes" if value is True else value]
            found += [(one.name, text) for text in values if text]
        return found

    def without(self, names: Iterable[str]) -> BoardQuery:
        """Nothing asked for by these parameters."""
        empty: dict[str, Any] = {name: getattr(_NOTHING, name) for name in names}
        return replace(self, **empty)


_NOTHING = BoardQuery()


PARAMETERS = frozenset(one.name for one in fields(BoardQuery))
#: Those that an address may have several times.
REPEATED = frozenset(one.name for one in fields(BoardQuery) if isinstance(getattr(_NOTHING, one.name), tuple))
#: More are not read: no board is asked for so much.
_MOST_REPEATED = 200


def read_query(parameters: Sequence[tuple[str, str]]) -> BoardQuery:
    """From the parameters of an address; those with other names are others' matter."""
    read: dict[str, Any] = {
        name: " ".join(value.split())[:TEXT_CHARACTERS]
        for name, value in parameters
        if name in PARAMETERS and name not in REPEATED
    }
    for repeated in REPEATED:
        values = {value[:TEXT_CHARACTERS] for name, value in parameters if name == repeated and value}
        read[repeated] = tuple(sorted(values)[:_MOST_REPEATED])
    if set(read["kind"]) == set(KINDS):  # all of them: as if nothing had been said
        read["kind"] = ()
    for ticked in ("mine", "compact"):
        read[ticked] = read.get(ticked, "").casefold() not in _NO
    return BoardQuery(**read)


@dataclass(frozen=True, slots=True)
class QueriedBoard:
    """board: what is left, in its order; whole: all that the viewer is shown; sort, order: as it is sorted;
    problems: what was asked for and is not there, a sentence each, by parameter."""

    board: Leaderboard
    whole: Leaderboard
    sort: str
    order: str
    problems: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_ranked(self) -> bool:
        """Whether the rows stand as they are ranked."""
        return (self.sort, self.order) == (RANK, ASCENDING)


def apply_query(
    board: Leaderboard, query: BoardQuery, *, languages: Sequence[str] = (), tracks: Sequence[str] = ()
) -> QueriedBoard:
    """languages: of the task; tracks: names of those that the competition declares."""
    problems = _unknown(board, query, languages, tracks)
    asked = query.without(problems)
    sort = asked.sort or RANK
    order = asked.order or best_first(board, sort)
    wanted = [row for row in board.rows if _is_wanted(row, asked)] if asked.narrows else board.rows
    rows = sorted_rows(board, wanted, sort, order)
    kept = _columns_kept(board, asked, languages)
    if len(kept) < len(board.columns):
        rows = [row._replace(cells=tuple(row.cells[place] for place in kept)) for row in rows]
    columns = tuple(board.columns[place] for place in kept)
    left = replace(board, columns=columns, rank_by=kept.index(board.rank_by), rows=tuple(rows))
    return QueriedBoard(left, board, sort, order, problems)


# ------------------------------------------------------------------------------------------------------------- sorting


def key_of(column: BoardColumn) -> str:
    """What addresses call a column."""
    return f"{column.metric} {column.split}"


def best_first(board: Leaderboard, sort: str) -> str:
    """The order in which one wants to see this first: the best, the latest, the first rank."""
    column = next((one for one in board.columns if key_of(one) == sort), None)
    if column is not None:
        return DESCENDING if column.higher_is_better else ASCENDING
    return DESCENDING if sort in (ENTRIES, DATE) else ASCENDING


def sorted_rows(board: Leaderboard, rows: Sequence[LeaderboardRow], sort: str, order: str) -> list[LeaderboardRow]:
    """What has no value goes below, whichever the order; equal values by the name that is shown."""
    if (sort, order) == (RANK, ASCENDING):
        return list(rows)
    value = _value_of(board, sort)
    by_name = sorted(rows, key=lambda row: (folded(row.team), row.team))
    with_values = [(value(row), row) for row in by_name]
    known = [one for one in with_values if one[0] is not None]
    ordered = sorted(known, key=itemgetter(0), reverse=order == DESCENDING)
    return [row for _, row in ordered] + [row for one, row in with_values if one is None]


def _value_of(board: Leaderboard, sort: str) -> Callable[[LeaderboardRow], Any]:
    places = {key_of(column): place for place, column in enumerate(board.columns)}
    if sort in places:
        return lambda row: row.cells[places[sort]].value
    values: dict[str, Callable[[LeaderboardRow], Any]] = {
        RANK: lambda row: row.rank,
        TEAM: lambda row: folded(row.team),
        ENTRIES: lambda row: row.entries if row.kind == "team" else None,
        DATE: lambda row: row.achieved_at,
    }
    return values[sort]


# ----------------------------------------------------------------------------------------------------------- filtering


def _is_wanted(row: LeaderboardRow, query: BoardQuery) -> bool:
    return (
        (not query.kind or row.kind in query.kind)
        and (not query.track or row.track == query.track)
        and (not query.team or folded(row.team) == folded(query.team))
        and (not query.mine or row.is_mine)
        and (not query.q or _says(row, query.q))
    )


def _says(row: LeaderboardRow, words: str) -> bool:
    """Whether team and method contain each of these words."""
    text = folded(f"{row.team} {row.method}")
    return all(word in text for word in folded(words).split())


def _columns_kept(board: Leaderboard, query: BoardQuery, languages: Sequence[str]) -> list[int]:
    """The ranking column and the number of languages always stay."""
    kept = []
    for place, column in enumerate(board.columns):
        always = place == board.rank_by or (column.metric, column.split) == (LANGUAGES, MACRO)
        in_language = not query.language or language_of(column, languages) in query.language
        in_category = not query.category or category_of(column, languages) == query.category
        is_picked = not query.column or key_of(column) in query.column
        if place == board.rank_by or (is_picked and (always or (in_language and in_category))):
            kept.append(place)
    return kept


def language_of(column: BoardColumn, languages: Sequence[str]) -> str:
    """The language that the column is about; empty for all of them."""
    return next((part for part in column.split.split("/") if part in languages), "")


def category_of(column: BoardColumn, languages: Sequence[str]) -> str:
    """What else the column's split says: an MWE type, a setting, `seen`; empty for everything."""
    return "/".join(part for part in column.split.split("/") if part not in languages and part not in _WHOLE)


def visible_languages(board: Leaderboard, languages: Sequence[str]) -> list[str]:
    """Those that have a column; none where there is nothing to choose."""
    return _worth_choosing([language_of(column, languages) for column in board.columns])


def visible_categories(board: Leaderboard, languages: Sequence[str]) -> list[str]:
    """Those that have a column; none where there is nothing to choose."""
    return _worth_choosing([category_of(column, languages) for column in board.columns])


def _worth_choosing(values: Sequence[str]) -> list[str]:
    distinct = dict.fromkeys(values)
    return [value for value in distinct if value] if len(distinct) > 1 else []


# ------------------------------------------------------------------------------------------------------------ problems


def since_moment(query: BoardQuery) -> datetime | None:
    """The beginning of the day `since`, in UTC; None for none, and for what is no date."""
    try:
        return datetime.combine(date.fromisoformat(query.since), time(), UTC) if query.since else None
    except ValueError:
        return None


def _unknown(board: Leaderboard, query: BoardQuery, languages: Sequence[str], tracks: Sequence[str]) -> dict[str, str]:
    """What is asked for and is not on this viewer's board, whether or not there is such a thing elsewhere."""
    names = [row.team for row in board.rows]
    columns = [key_of(column) for column in board.columns]
    known: list[tuple[str, str, Sequence[str], Sequence[str]]] = [
        ("sort", "column", [query.sort], [RANK, TEAM, ENTRIES, DATE, *columns]),
        ("order", "order", [query.order], [ASCENDING, DESCENDING]),
        ("track", "track", [query.track], tracks),
        ("kind", "kind of row", query.kind, KINDS),
        ("team", "row of", [query.team], names),
        ("language", "column for the language", query.language, visible_languages(board, languages)),
        ("column", "column", query.column, [*columns, ENTRIES, DATE]),
        ("category", "column for", [query.category], visible_categories(board, languages)),
        ("delta", "row of", [query.delta], names),
    ]
    found = {}
    for parameter, what, wanted, there in known:
        if not any(wanted):
            continue
        same = folded if parameter in ("team", "delta") else str
        names_there = {same(one) for one in there}
        missing = next((one for one in wanted if one and same(one) not in names_there), None)
        if missing is not None:
            found[parameter] = f"This board has no {what} '{shorten(missing)}'{did_you_mean(missing, there) or '.'}"
    if query.since and since_moment(query) is None:
        found["since"] = f"'{shorten(query.since)}' is no day such as 2026-01-31."
    return found
