"""The table of a board as the page shows it: its headings, its order, and the options of its form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, Literal
from urllib.parse import urlencode

from app.boards.axis import Axis, axis_of, baseline_value
from app.boards.entries import METRIC as HUMAN
from app.boards.query import (
    ALL_ASPECTS,
    ASCENDING,
    DATE,
    DESCENDING,
    ENTRIES,
    RANK,
    BoardQuery,
    Move,
    QueriedBoard,
    best_first,
    key_of,
    reference_row,
    references,
    visible_aspects,
    visible_categories,
    visible_languages,
)
from app.boards.rows import Cell, Leaderboard, LeaderboardRow
from app.competitions.columns import BoardColumn
from app.competitions.metrics import metrics_of
from app.competitions.tracks import Track
from app.models import Board, BoardShown
from app.web.boards.table_rows import Addresses, TableRows
from app.web.html.words import ASPECTS, ROW_KINDS, plural
from evergold.scoring.task import Metric

Sorted = Literal["ascending", "descending"] | None
_SORTED: Mapping[str, Sorted] = {ASCENDING: "ascending", DESCENDING: "descending"}
_MINUS = "\N{MINUS SIGN}"
#: Approximate widths of a table: rank, team and dots; a score cell, its heading per letter; optional columns.
_TEAM_PX, _CELL_PX, _LETTER_PX, _HEADING_PX, _DELTA_PX, _ANSWER_PX, _OTHER_PX = 505, 82, 9, 50, 55, 150, 98
_TEXT_PX = 1130


@dataclass(frozen=True, slots=True)
class Heading:
    """A column heading.

    address: of the table sorted by it; sorted: its current order; column: None for columns other than scores; metric,
    range: explanation of a score.
    """

    title: str
    address: str
    sorted: Sorted
    column: BoardColumn | None = None
    metric: str = ""
    range: str = ""
    is_ranking: bool = False


@dataclass(frozen=True, slots=True)
class Choices:
    """Options of the filter form with their labels; empty if there is nothing to choose."""

    tracks: Sequence[tuple[str, str]]
    languages: Sequence[tuple[str, str]]
    categories: Sequence[tuple[str, str]]
    references: Sequence[tuple[str, str]]
    kinds: Sequence[tuple[str, str]]
    columns: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class AxisShown:
    """Labels at the ends of the axis; baseline: position of the line that marks a baseline, None without one."""

    left: str
    right: str
    baseline: float | None


@dataclass(frozen=True, slots=True)
class TableShown:
    """A board's table for its template.

    headings: of scores; others: headings of other columns by sort key; clear: address of the unfiltered board; kept:
    parameters that the form passes on; axis: of the plot of dots, None without one; fits: True if a desktop needs no
    horizontal scrolling; aspects: the choices between kinds of scores (title, address, whether it is the current one);
    groups: the metrics above the headings of scores, each with the number of scores below it, and whether one of these
    has the dots; empty if the headings name the metrics themselves;
    picking, unpicked: addresses of the table with and without checkboxes.
    """

    query: BoardQuery
    headings: tuple[Heading, ...]
    others: Mapping[str, Heading]
    rows: TableRows
    choices: Choices
    problems: Sequence[str]
    count: str
    clear: str
    kept: Sequence[tuple[str, str]]
    reference: str = ""
    moves_told: bool = False
    axis: AxisShown | None = None
    fits: bool = False
    aspects: Sequence[tuple[str, str, bool]] = ()
    groups: Sequence[tuple[str, int, bool]] = ()
    picking: str = ""
    unpicked: str = ""

    def shows(self, column: str) -> bool:
        """Return True if the column `entries` or `date` is shown."""
        return _is_shown(self.query, column)

    @property
    def is_asked(self) -> bool:
        """True if rows, columns or order differ from the default board."""
        return bool(replace(self.query, compact=False, pick=False).pairs())


def table_of(
    queried: QueriedBoard,
    query: BoardQuery,
    board: Board,
    languages: Sequence[str],
    tracks: Sequence[Track],
    addresses: Addresses,
    *,
    kept: Sequence[tuple[str, str]] = (),
    moved: Mapping[tuple[object, ...], Move] | None = None,
) -> TableShown:
    """Return the table of a board.

    kept: further parameters of the address; moved: changes of rank, if requested.
    """
    # Links drop unknown parameters.
    valid = query.without(queried.problems)
    metrics = known_metrics(board)
    columns = _ordered(queried.board)
    headings = tuple(_score_heading(queried, valid, column, metrics, kept) for _, column in columns)
    reference = reference_row(queried.whole, valid.delta)
    axis = axis_of(queried.whole)
    axis_shown = _axis_shown(queried, axis) if axis else None
    is_public = queried.whole.view.board is BoardShown.PUBLIC
    return TableShown(
        query=valid,
        headings=headings,
        others={name: _other_heading(queried, valid, name, kept) for name in (RANK, "team", "entries", "date")},
        rows=TableRows(
            queried.board,
            columns,
            addresses,
            axis,
            axis_shown.baseline if axis_shown else None,
            _cells_of(queried, reference) if reference else None,
            moved,
            with_lines=queried.is_ranked,
            with_entries=is_public and _is_shown(valid, ENTRIES),
            with_date=is_public and _is_shown(valid, DATE),
            with_boxes=valid.pick,
        ),
        choices=_choices(queried, board, languages, tracks),
        problems=list(queried.problems.values()),
        count=_count(queried, valid),
        clear=_address(BoardQuery(), kept),
        kept=kept,
        reference=reference.team if reference else "",
        moves_told=moved is not None,
        axis=axis_shown,
        fits=_fits(queried, valid, headings),
        aspects=_aspects(queried, valid, kept),
        picking=_address(valid, kept, pick=True),
        unpicked=_address(valid, kept, pick=False),
        groups=_groups(headings, has_dots=axis_shown is not None),
    )


def _groups(headings: Sequence[Heading], *, has_dots: bool) -> list[tuple[str, int, bool]]:
    """Return the metric above each series of columns, with their number and whether they include the dots.

    The metric is "" if the heading of a single column names it; the list is empty if all do.
    """
    found = []
    for metric, group in groupby(headings, key=lambda one: one.metric):
        columns = list(group)
        is_named = len(columns) == 1 and columns[0].title == metric
        found.append(("" if is_named else metric, len(columns), has_dots and any(one.is_ranking for one in columns)))
    return found if any(metric for metric, *_ in found) else []


def known_metrics(board: Board) -> dict[str, Metric]:
    """Return all metrics that a board of this task may show, by name."""
    return {**metrics_of(board.task), HUMAN.name: HUMAN}


def range_words(metric: Metric | None, column: BoardColumn) -> str:
    """Return `from 0 to 100 %` or `from 0 up`: the range of the metric in the unit of the column."""
    if column.out_of is not None:
        return f"from 0 to {column.out_of}"
    low, high = (metric.minimum, metric.maximum) if metric else (None, None)
    unit = " %" if column.percent else ""
    ends = [
        None if end is None else f"{100 * end if column.percent else end:g}".replace("-", _MINUS) for end in (low, high)
    ]
    if ends[0] is None and ends[1] is None:
        return "any number"
    if ends[1] is None:
        return f"from {ends[0]}{unit} up"
    return f"up to {ends[1]}{unit}" if ends[0] is None else f"from {ends[0]} to {ends[1]}{unit}"


# ------------------------------------------------------------------------------------------------------------ headings


def _address(query: BoardQuery, kept: Sequence[tuple[str, str]], **changes: Any) -> str:
    return f"?{urlencode([*kept, *replace(query, **changes).pairs()])}"


def _score_heading(
    queried: QueriedBoard,
    query: BoardQuery,
    column: BoardColumn,
    metrics: Mapping[str, Metric],
    kept: Sequence[tuple[str, str]],
) -> Heading:
    metric = metrics.get(column.metric)
    is_ranking = key_of(column) == key_of(queried.whole.columns[queried.whole.rank_by])
    key = key_of(column)
    first = best_first(queried.whole, key)
    # In ranking order the board is sorted by the ranking column.
    now = first if is_ranking and queried.is_ranked else queried.order if queried.sort == key else ""
    address = _turned(query, kept, key, first, now)
    if is_ranking and now not in ("", first):
        address = _address(query, kept, sort="", order="")
    title, words = metric.title if metric else column.metric, range_words(metric, column)
    return Heading(column.title, address, _SORTED.get(now), column, title, words, is_ranking)


def _other_heading(queried: QueriedBoard, query: BoardQuery, name: str, kept: Sequence[tuple[str, str]]) -> Heading:
    now = queried.order if queried.sort == name else ""
    if name == RANK and queried.is_ranked:
        now = ""  # the ranking column shows it
    return Heading(
        name.capitalize(), _turned(query, kept, name, best_first(queried.whole, name), now), _SORTED.get(now)
    )


def _turned(query: BoardQuery, kept: Sequence[tuple[str, str]], key: str, first: str, now: str) -> str:
    """Return the address of the table sorted by this column, or reversed if it is sorted by it already."""
    if now == first:
        return _address(query, kept, sort=key, order=ASCENDING if first == DESCENDING else DESCENDING)
    return _address(query, kept, sort="" if key == RANK else key, order="")


# ---------------------------------------------------------------------------------------------------------------- rows


def _ordered(board: Leaderboard) -> list[tuple[int, BoardColumn]]:
    """Return the columns with their positions, the ranking column first."""
    return sorted(enumerate(board.columns), key=lambda one: one[0] != board.rank_by)


def _axis_shown(queried: QueriedBoard, axis: Axis) -> AxisShown:
    column, baseline = queried.whole.columns[queried.whole.rank_by], baseline_value(queried.whole)
    values = [100 * end if column.percent else end for end in (axis.worse, axis.better)]
    decimals = max(len(f"{value:g}".partition(".")[2]) for value in values)
    ends = [f"{value:.{decimals}f}".replace("-", _MINUS) for value in values]
    place = axis.place(baseline) if baseline is not None and axis.holds(baseline) else None
    return AxisShown(ends[0], ends[1], place)


def _is_shown(query: BoardQuery, name: str) -> bool:
    """Return True if the column `entries` or `date` is shown."""
    return not query.column or name in query.column


def _fits(queried: QueriedBoard, query: BoardQuery, headings: Sequence[Heading]) -> bool:
    """Return True if the table fits the text column of a desktop, estimated from the lengths of its headings."""
    others = [_is_shown(query, name) for name in (ENTRIES, DATE)]
    wide = [max(_CELL_PX, _LETTER_PX * len(one.title) + _HEADING_PX) for one in headings]
    wide += [_ANSWER_PX] * len(queried.board.card_columns) + [_OTHER_PX] * sum(others)
    if query.delta:
        wide += [_DELTA_PX] * len(headings)
    return sum(wide) + _TEAM_PX <= _TEXT_PX


def _cells_of(queried: QueriedBoard, row: LeaderboardRow) -> list[Cell]:
    """Return those cells of a row that are in the columns shown; the row has the cells of the unfiltered board."""
    places = {key_of(column): place for place, column in enumerate(queried.whole.columns)}
    return [row.cells[places[key_of(column)]] for column in queried.board.columns]


# ------------------------------------------------------------------------------------------------------------ the form


def _choices(queried: QueriedBoard, board: Board, languages: Sequence[str], tracks: Sequence[Track]) -> Choices:
    is_public = queried.whole.view.board is BoardShown.PUBLIC or queried.whole.view.is_organiser
    kinds = {row.kind for row in queried.whole.rows}
    return Choices(
        tracks=[(track.name, track.title) for track in tracks] if board.track is None else (),
        languages=[(one, one.upper()) for one in visible_languages(queried.whole, languages)],
        categories=[(one, one.replace("_", " ")) for one in visible_categories(queried.whole, languages)],
        references=[(one, one) for one in references(queried.whole)] if is_public else (),
        kinds=[one for one in ROW_KINDS.items() if one[0] in kinds] if len(kinds) > 1 else (),
        columns=_pickable(queried),
    )


def _aspects(queried: QueriedBoard, query: BoardQuery, kept: Sequence[tuple[str, str]]) -> list[tuple[str, str, bool]]:
    """Return (title, address, is current) for each link that switches the aspect, with a last one for all aspects."""
    names = visible_aspects(queried.whole)
    return [
        (
            ASPECTS.get(name, name),
            _address(query, kept, aspect=name, column=()),
            name == (queried.aspect or ALL_ASPECTS),
        )
        for name in ([*names, ALL_ASPECTS] if names else ())
    ]


def _pickable(queried: QueriedBoard) -> list[tuple[str, str]]:
    """Return the columns of the current aspect that can be hidden."""
    whole = queried.whole
    scores = [
        (key_of(one), one.title)
        for place, one in enumerate(whole.columns)
        if place != whole.rank_by and (not queried.aspect or one.aspect in ("", queried.aspect))
    ]
    others = [(ENTRIES, "Entries"), (DATE, "Date")] if whole.view.board is BoardShown.PUBLIC else []
    return [*scores, *others]


def _count(queried: QueriedBoard, query: BoardQuery) -> str:
    """Return `3 of 12 rows`, counting only rows visible to the viewer."""
    of = len(queried.whole.rows)
    if not query.narrows:
        return plural(of, "row")
    return f"{len(queried.board.rows):,} of {plural(of, 'row')}"
