"""Queries of a board: search, filters, order, selection of columns.

They use only rows and values that the viewer sees, so that no order, count or match reveals anything else. Ranks remain
those of the whole board.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, date, datetime, time
from operator import itemgetter
from typing import Any, get_args

from app.base.text import folded
from app.boards.rows import Cell, Leaderboard, LeaderboardRow, RowKind
from app.competitions.columns import LANGUAGES, MACRO, BoardColumn
from app.competitions.ordering import difference_of
from app.models import BoardShown, EntryRule
from evergold.scoring.errors import shorten
from evergold.value_words import did_you_mean

# --------------------------------------------------------------------------------------------------------- differences


def reference_row(board: Leaderboard, name: str) -> LeaderboardRow | None:
    """Return the row with this name to compare with: a baseline if there are several rows, or else the first; None if
    none.
    """
    named = [row for row in board.rows if folded(row.team) == folded(name)] if name else []
    return next((row for row in named if row.kind == "baseline"), named[0] if named else None)


def references(board: Leaderboard) -> list[str]:
    """List the usual references: baselines, published results, the viewer's own rows."""
    kinds = {"baseline": 0, "historic": 1, "team": 2}
    wanted = [row for row in board.rows if row.kind != "team" or row.is_mine]
    return list(dict.fromkeys(row.team for row in sorted(wanted, key=lambda row: kinds[row.kind])))


def difference(cell: Cell, reference: Cell) -> float | None:
    """Return the difference of the values as shown, without rounding noise; None if one is undefined."""
    return difference_of(cell.value, reference.value, None)


def is_better(delta: float, column: BoardColumn) -> bool:
    """Return True if a difference is an improvement."""
    return delta > 0 if column.higher_is_better else delta < 0


# ------------------------------------------------------------------------------------------------------ changes of rank


@dataclass(frozen=True, slots=True)
class Move:
    """A change of rank. before: None if the row had no rank; up: number of places gained, None if not comparable."""

    before: int | None
    up: int | None


def moves(now: Leaderboard, then: Leaderboard) -> dict[tuple[object, ...], Move]:
    """Return the changes of rank by `row_key`; empty unless the viewer sees the whole board, including dates."""
    if now.view.board is not BoardShown.PUBLIC and not now.view.is_organiser:
        return {}
    ranks = {row_key(then, row): row.rank for row in then.rows}
    found = {}
    for row in now.rows:
        if row.rank is not None:
            before = ranks.get(row_key(now, row))
            found[row_key(now, row)] = Move(before, None if before is None else before - row.rank)
    return found


def row_key(board: Leaderboard, row: LeaderboardRow) -> tuple[object, ...]:
    """Return the key of a row on other versions of the board: team and phase, and for single submissions the time."""
    moment = row.achieved_at if board.entry_rule is EntryRule.ALL else None
    return row.kind, row.team, row.carried_from, moment


RANK, TEAM, ENTRIES, DATE = "rank", "team", "entries", "date"
ASCENDING, DESCENDING = "asc", "desc"
#: Every aspect at once, see `BoardQuery`.
ALL_ASPECTS = "all"
KINDS: tuple[RowKind, ...] = get_args(RowKind)
#: Maximum length of a text; longer ones are cut, since nothing on a board is as long.
TEXT_CHARACTERS = 120
#: Parts of a split that stand for everything, and are no category.
_WHOLE = frozenset({MACRO, "all", "type"})
_NO = frozenset({"", "0", "no", "false"})


@dataclass(frozen=True, slots=True)
class BoardQuery:
    """The parameters of a query; empty if not given.

    sort: `metric split`, `rank`, `team`, `entries` or `date`; order: `asc` or `desc`.
    q: text in teams and methods; track, kind, team, mine: filters of rows.
    language, category, column: filters of columns (column: also `entries` and `date`).
    aspect: the kind of scores to show (see `Metric`), or `all`.
    compact: lower rows; pick: a checkbox at each row, to compare two.
    delta: the row to compare with; since: day from which changes of rank are shown.
    """

    sort: str = ""
    order: str = ""
    q: str = ""
    track: str = ""
    kind: tuple[str, ...] = ()
    team: str = ""
    mine: bool = False
    language: tuple[str, ...] = ()
    category: str = ""
    aspect: str = ""
    column: tuple[str, ...] = ()
    compact: bool = False
    pick: bool = False
    delta: str = ""
    since: str = ""

    @property
    def narrows(self) -> bool:
        """True if the query may leave out rows."""
        return bool(self.q or self.track or self.kind or self.team or self.mine)

    def pairs(self) -> list[tuple[str, str]]:
        """Return the parameters that are set, always in the same order."""
        found: list[tuple[str, str]] = []
        for one in fields(self):
            value = getattr(self, one.name)
            values = sorted(set(value)) if isinstance(value, tuple) else ["yes" if value is True else value]
            found += [(one.name, text) for text in values if text]
        return found

    def without(self, names: Iterable[str]) -> BoardQuery:
        """Return the query without these parameters."""
        empty: dict[str, Any] = {name: getattr(_NOTHING, name) for name in names}
        return replace(self, **empty)


_NOTHING = BoardQuery()


PARAMETERS = frozenset(one.name for one in fields(BoardQuery))
#: Parameters that an address may repeat.
REPEATED = frozenset(one.name for one in fields(BoardQuery) if isinstance(getattr(_NOTHING, one.name), tuple))
#: Further values are ignored: no board needs as many.
_MOST_REPEATED = 200


def read_query(parameters: Sequence[tuple[str, str]]) -> BoardQuery:
    """Return the query in the parameters of an address, ignoring unknown names."""
    read: dict[str, Any] = {
        name: " ".join(value.split())[:TEXT_CHARACTERS]
        for name, value in parameters
        if name in PARAMETERS and name not in REPEATED
    }
    for repeated in REPEATED:
        values = {value[:TEXT_CHARACTERS] for name, value in parameters if name == repeated and value}
        read[repeated] = tuple(sorted(values)[:_MOST_REPEATED])
    if set(read["kind"]) == set(KINDS):  # all kinds are the same as none given
        read["kind"] = ()
    for ticked in ("mine", "compact", "pick"):
        read[ticked] = read.get(ticked, "").casefold() not in _NO
    return BoardQuery(**read)


@dataclass(frozen=True, slots=True)
class QueriedBoard:
    """A board after a query.

    board: the remaining rows, in order; whole: the board as the viewer sees it.
    sort, order: how it is sorted; aspect: the one that is shown, "" for all.
    problems: a sentence for each parameter with an unknown value.
    """

    board: Leaderboard
    whole: Leaderboard
    sort: str
    order: str
    aspect: str = ""
    problems: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_ranked(self) -> bool:
        """True if the rows are in the order of their ranks."""
        return (self.sort, self.order) == (RANK, ASCENDING)


def apply_query(
    board: Leaderboard, query: BoardQuery, *, languages: Sequence[str] = (), tracks: Sequence[str] = ()
) -> QueriedBoard:
    """Return the board after a query. languages: of the task; tracks: names of those that the competition declares."""
    problems = _unknown(board, query, languages, tracks)
    valid = query.without(problems)
    sort = valid.sort or RANK
    order = valid.order or best_first(board, sort)
    wanted = [row for row in board.rows if _is_wanted(row, valid)] if valid.narrows else board.rows
    rows = sorted_rows(board, wanted, sort, order)
    kept = _columns_kept(board, valid, languages)
    if len(kept) < len(board.columns):
        rows = [row._replace(cells=tuple(row.cells[place] for place in kept)) for row in rows]
    columns = tuple(board.columns[place] for place in kept)
    left = replace(board, columns=columns, rank_by=kept.index(board.rank_by), rows=tuple(rows))
    aspect = "" if valid.aspect == ALL_ASPECTS else valid.aspect
    return QueriedBoard(left, board, sort, order, aspect, problems)


def with_aspect(board: Leaderboard, query: BoardQuery) -> BoardQuery:
    """Return the query of a page: unless requested otherwise, only the aspect of the ranking column is shown."""
    if query.aspect or not visible_aspects(board):
        return query
    ranking = board.columns[board.rank_by].aspect
    picked = {column.aspect for column in board.columns if key_of(column) in query.column}
    return query if picked - {ranking, ""} else replace(query, aspect=ranking)


# ------------------------------------------------------------------------------------------------------------- sorting


def key_of(column: BoardColumn) -> str:
    """Return the name of a column in addresses."""
    return f"{column.metric} {column.split}"


def best_first(board: Leaderboard, sort: str) -> str:
    """Return the usual direction of a column: the best value, the latest date or the first rank on top."""
    column = next((one for one in board.columns if key_of(one) == sort), None)
    if column is not None:
        return DESCENDING if column.higher_is_better else ASCENDING
    return DESCENDING if sort in (ENTRIES, DATE) else ASCENDING


def sorted_rows(board: Leaderboard, rows: Sequence[LeaderboardRow], sort: str, order: str) -> list[LeaderboardRow]:
    """Return the rows sorted; those without a value come last in either direction, ties are sorted by name."""
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
        and (not query.q or _contains(row, query.q))
    )


def _contains(row: LeaderboardRow, words: str) -> bool:
    """Return True if team and method together contain each of these words."""
    text = folded(f"{row.team} {row.method}")
    return all(word in text for word in folded(words).split())


def _columns_kept(board: Leaderboard, query: BoardQuery, languages: Sequence[str]) -> list[int]:
    """Return the positions of the columns to keep, always including the ranking column and the number of languages."""
    kept = []
    for place, column in enumerate(board.columns):
        always = place == board.rank_by or (column.metric, column.split) == (LANGUAGES, MACRO)
        in_language = not query.language or language_of(column, languages) in query.language
        in_category = not query.category or category_of(column, languages) == query.category
        in_aspect = query.aspect in ("", ALL_ASPECTS, column.aspect) or not column.aspect
        is_picked = not query.column or key_of(column) in query.column
        if place == board.rank_by or (is_picked and (always or (in_language and in_category and in_aspect))):
            kept.append(place)
    return kept


def language_of(column: BoardColumn, languages: Sequence[str]) -> str:
    """Return the language of the column; "" if it covers all languages."""
    return next((part for part in column.split.split("/") if part in languages), "")


def category_of(column: BoardColumn, languages: Sequence[str]) -> str:
    """Return the rest of the column's split: an MWE type, a setting, `seen`; "" if it covers everything."""
    return "/".join(part for part in column.split.split("/") if part not in languages and part not in _WHOLE)


def visible_languages(board: Leaderboard, languages: Sequence[str]) -> list[str]:
    """List the languages that have a column; empty if there is no choice."""
    return _worth_choosing([language_of(column, languages) for column in board.columns])


def visible_categories(board: Leaderboard, languages: Sequence[str]) -> list[str]:
    """List the categories that have a column; empty if there is no choice."""
    return _worth_choosing([category_of(column, languages) for column in board.columns])


def visible_aspects(board: Leaderboard) -> list[str]:
    """List the aspects that have a column; empty if there is no choice."""
    return _worth_choosing([column.aspect for column in board.columns])


def _worth_choosing(values: Sequence[str]) -> list[str]:
    distinct = dict.fromkeys(values)
    return [value for value in distinct if value] if len(distinct) > 1 else []


# ------------------------------------------------------------------------------------------------------------ problems


def since_moment(query: BoardQuery) -> datetime | None:
    """Return the beginning of the day `since` in UTC; None if it is missing or not a date."""
    try:
        return datetime.combine(date.fromisoformat(query.since), time(), UTC) if query.since else None
    except ValueError:
        return None


def _unknown(board: Leaderboard, query: BoardQuery, languages: Sequence[str], tracks: Sequence[str]) -> dict[str, str]:
    """Return a sentence for each parameter that matches nothing on this viewer's board, whether or not it exists
    elsewhere.
    """
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
        ("aspect", "numbers called", [query.aspect], [*visible_aspects(board), ALL_ASPECTS]),
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
        found["since"] = f"'{shorten(query.since)}' is not a date such as 2026-01-31."
    return found
