"""The table of a board as the page shows it: its columns, its rows and their cells."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, Literal
from urllib.parse import urlencode

from markupsafe import Markup, escape

from app.base import links
from app.boards.axis import Axis, axis_of, baseline_value, spread_of
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
    difference,
    is_better,
    key_of,
    reference_row,
    references,
    row_key,
    visible_aspects,
    visible_categories,
    visible_languages,
)
from app.boards.rows import Cell, Leaderboard, LeaderboardRow
from app.boards.tables import cluster_lines
from app.competitions.columns import BoardColumn
from app.competitions.metrics import metrics_of
from app.competitions.tracks import Track
from app.models import Board, BoardShown
from app.web.html.certainty import interval_words
from app.web.html.words import ASPECTS, ROW_KINDS, format_difference, plural, score_format
from evergold.moments import date_words
from evergold.scoring.task import Metric

#: Longest team and method together; longer ones are cut off at the next column.
LONG_CHARACTERS = 32
#: Characters that need escaping; most names have none.
_SPECIAL = re.compile("[&<>\"']")
_UNRANKED = '<span class="visually-hidden">not ranked</span>'
_RANGE = (
    '<span class="ranks" title="The range of ranks consistent with the data">'
    '<span class="visually-hidden">, may be any of </span>{}</span>'
)
_OPENS = '<a class="open-row" data-row href="'
_LONG = ' long" title="{}{}"'
_METHOD = '<span class="method"><bdi>'
_UNDEFINED = (
    '<span class="undefined" title="{0}"><span aria-hidden="true">–</span>'
    '<span class="visually-hidden">undefined: {0}</span></span>'
)
_INTERVAL = '<line class="interval" x1="{}%" x2="{}%" y1="50%" y2="50%"/>'
_BEYOND_LEFT = '<path class="beyond" d="M1 10l8 -5v10z"/>'
_BEYOND_RIGHT = '<svg x="100%"><path class="beyond" d="M-1 10l-8 -5v10z"/></svg>'
#: Half an interval behind the score, where a phone has no room for dots.
_HALF = '<span class="half" aria-hidden="true"> ±{}</span>'


@dataclass(frozen=True, slots=True)
class Addresses:
    """Beginnings and ends of the addresses of rows and teams, around an id or a name."""

    rows: str
    rows_end: str
    teams: str
    teams_end: str


@dataclass(frozen=True, slots=True)
class TableRows:
    """The rows of a board's table.

    board: filtered and sorted; columns: with their positions, the ranking column first; axis: of the dots, None without
    dots; rule: position of the best baseline on it; against: cells of the reference row for differences; moved: changes
    of rank by `row_key`, None if not requested; with_lines: draw lines between clusters;
    with_boxes: a box at each row that opens, to pick two.
    """

    board: Leaderboard
    columns: Sequence[tuple[int, BoardColumn]]
    addresses: Addresses
    axis: Axis | None
    rule: float | None
    against: Sequence[Cell] | None
    moved: Mapping[tuple[object, ...], Move] | None
    with_lines: bool
    with_entries: bool
    with_date: bool
    with_boxes: bool = False

    def __len__(self) -> int:
        return len(self.board.rows)

    @property
    def has_ranges(self) -> bool:
        """True if any rank is a range, or any line separates rows."""
        return bool(self._lines) or any(ranks_words(row) for row in self.board.rows)

    @property
    def with_published(self) -> bool:
        """True if any row has the rank of a published result, which stands in a column of its own."""
        return any(row.published_rank for row in self.board.rows)

    @property
    def _lines(self) -> frozenset[int]:
        return cluster_lines(self.board.rows) if self.with_lines else frozenset()

    def html(
        self,
        whole: Leaderboard,
        of_track: str | None,
        phases: Mapping[str, str],
        tracks: Sequence[Track],
        parts: Any,
        notes: Any,
    ) -> Markup:
        """Return the rows as HTML.

        whole: the board with its footnotes; of_track: the only track shown; phases: their titles; parts, notes: the
        macros of `boards/row_parts.html` and `boards/footnotes.html`.
        """
        scores = [self._cell_writer(place, column) for place, column in self.columns]
        row_start, row_end = _escaped(self.addresses.rows), _escaped(self.addresses.rows_end)
        team_start, team_end = _escaped(self.addresses.teams), _escaped(self.addresses.teams_end)
        pinned = next((row for row in self.board.rows if row.is_mine), None)
        lines, moved, answers = self._lines, self.moved, [column.name for column in whole.card_columns]
        with_published = self.with_published
        written: list[str] = []
        for place, row in enumerate(self.board.rows):
            width_beside = 8 * _badges(row) + 4 * _links(row)
            team, method = _escaped(row.team), _escaped(row.method or row.system)
            opens = (
                f'{_OPENS}{row_start}{row.page_id}{row_end}" aria-label="Details of {team}"></a>' if row.page_id else ""
            )
            is_long = len(row.team) + len(row.method) + width_beside > LONG_CHARACTERS
            title = _LONG.format(team, f" · {method}" if row.method else "") if is_long else '"'
            box = _box(row, team) if self.with_boxes else ""
            published = _PUBLISHED.format(row.published_rank or "") if with_published else ""
            move = _MOVED.format(_move(parts, moved.get(row_key(whole, row)))) if moved is not None else ""
            mine = (" mine" if row.is_mine else "") + (" pinned" if row is pinned else "")
            written.append(
                f'    <tr class="{row.kind}{mine}{" cluster" if place in lines else ""}">\n{box}'
                f'      <td class="rank">{_rank(row)}</td>\n{move}{published}'
                f'      <th scope="row" class="team">\n        <span class="who{title}><span class="name">{opens}'
                f'<a href="{team_start}{links.part(row.team)}{team_end}"><bdi>{team}</bdi></a></span>'
                f"{notes.beside(row, whole) if row.status else ''}\n"
                f"{parts.beside(row, of_track, phases, tracks) if width_beside else ''}"
                f"{f'{_METHOD}{method}</bdi></span>' if method else ''}</span>\n      </th>\n"
                f"{''.join([write(row.cells) for write in scores])}"
                f"{''.join([_answer(row, name) for name in answers]) if answers else ''}"
                f"{_entries(row) if self.with_entries else ''}{_date(row) if self.with_date else ''}    </tr>\n"
            )
        return Markup("".join(written))  # noqa: S704 - escaped above, as the module says

    def _cell_writer(self, place: int, column: BoardColumn) -> Callable[[Sequence[Cell]], str]:
        """Return a function that renders this column's cell of a row, with its dot for the ranking column."""
        is_ranking = place == self.board.rank_by
        against = self.against[place] if self.against else None
        start = f'      <td class="num{" ranked" if is_ranking else ""}"'
        text_of = score_format(column)
        dots = self._dot_writer(self.axis) if is_ranking and self.axis is not None else None

        def write(cells: Sequence[Cell]) -> str:
            cell = cells[place]
            dot = dots(cell) if dots else ""
            if cell.value is None:
                return f"{start}>{_UNDEFINED.format(escape(cell.reason or ''))}</td>\n{dot}"
            if cell.interval is None and against is None:
                return f"{start}>{text_of(cell.value)}</td>\n{dot}"
            title = escape(interval_words(cell.interval, column))
            interval = f' title="{title}"' if title else ""
            said = f'<span class="visually-hidden"> ({title})</span>' if title and is_ranking else ""
            delta = _delta(cell, against, column) if against is not None else ""
            half = _half(cell, column) if dot else ""
            return f"{start}{interval}>{text_of(cell.value)}{half}{said}{delta}</td>\n{dot}"

        return write

    def _dot_writer(self, axis: Axis) -> Callable[[Cell], str]:
        rule = self.rule
        line = f'<line class="rule" x1="{rule}%" x2="{rule}%" y1="0" y2="100%"/>' if rule is not None else ""
        start, end = f'<td class="spread"><svg aria-hidden="true">{line}', "</svg></td>"

        def write(cell: Cell) -> str:
            spread = spread_of(axis, cell)
            if spread is None:
                return start + end
            place, low, high = spread
            if cell.value is not None and not axis.holds(cell.value):
                return f"{start}{_BEYOND_LEFT if place == 0 else _BEYOND_RIGHT}{end}"
            interval = _INTERVAL.format(low, high) if low is not None else ""
            return f'{start}{interval}<circle cx="{place}%" cy="50%" r="4.5"/>{end}'

        return write


def _box(row: LeaderboardRow, team: str) -> str:
    """Return the cell with a row's box. team: escaped."""
    return _BOX.format(row.page_id, team) if row.page_id else '      <td class="pick"></td>\n'


def _move(parts: Any, move: Move | None) -> str:
    return str(parts.move(move.up)) if move else ""


def _escaped(text: str) -> str:
    """Return the escaped text as a plain string, which concatenates faster than Markup."""
    return str(escape(text)) if _SPECIAL.search(text) else text


def _rank(row: LeaderboardRow) -> str:
    if row.rank is None:
        return _UNRANKED
    ranks = ranks_words(row)
    return f"{row.rank}{_RANGE.format(ranks)}" if ranks else str(row.rank)


def ranks_words(row: LeaderboardRow) -> str:
    """Return `2–5`, or "" if the rank is certain or unknown."""
    if row.rank_range is None:
        return ""
    best, worst = row.rank_range
    return f"{best}–{worst}" if best != worst else ""


def _badges(row: LeaderboardRow) -> int:
    """Return the number of badges next to the name."""
    return row.is_mine + (row.kind != "team") + bool(row.carried_from) + bool(row.track) + bool(row.status)


def _links(row: LeaderboardRow) -> int:
    """Return the number of links next to the name; each is four letters wide."""
    return bool(row.card.paper) + bool(row.card.code) if row.card else 0


def _delta(cell: Cell, against: Cell, column: BoardColumn) -> str:
    delta = difference(cell, against)
    if delta is None:
        return ""
    better = " better" if is_better(delta, column) else ""
    return f'<span class="delta{better}">{format_difference(delta, column)}</span>'


def _half(cell: Cell, column: BoardColumn) -> str:
    if cell.interval is None:
        return ""
    half = (cell.interval.high - cell.interval.low) / 2 * (100 if column.percent else 1)
    return _HALF.format(f"{half:.2f}".removeprefix("0") if half < 1 else f"{half:.1f}")


def _answer(row: LeaderboardRow, name: str) -> str:
    answer = row.answer(name)
    return f'<td class="answer">{f"<bdi>{escape(answer.text)}</bdi>" if answer else ""}</td>'


def _entries(row: LeaderboardRow) -> str:
    return f'<td class="num quiet">{row.entries if row.kind == "team" else ""}</td>'


def _date(row: LeaderboardRow) -> str:
    if row.achieved_at is None:
        return '<td class="date quiet"></td>'
    moment = row.achieved_at.isoformat()
    return f'<td class="date quiet"><time datetime="{moment}">{date_words(row.achieved_at)}</time></td>'


Sorted = Literal["ascending", "descending"] | None
_SORTED: Mapping[str, Sorted] = {ASCENDING: "ascending", DESCENDING: "descending"}
_MINUS = "\N{MINUS SIGN}"
_BOX = (
    '      <td class="pick"><input type="checkbox" name="row" value="{}" form="pick-form"'
    ' aria-label="Compare {}"></td>\n'
)
_PUBLISHED = '      <td class="paper">{}</td>\n'
_MOVED = '      <td class="moved">{}</td>\n'
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
    """Labels at the ends of the axis; baseline: position of the baseline rule, None without one."""

    left: str
    right: str
    baseline: float | None


@dataclass(frozen=True, slots=True)
class TableShown:
    """A board's table for its template.

    headings: of scores; others: headings of other columns by sort key; clear: address of the unfiltered board; kept:
    parameters that the form passes on; axis: of the dots, None without dots; fits: no horizontal scrolling on a
    desktop; aspects: the numbers of the measures to choose from (title, address, whether it is the current one);
    groups: the metrics above the headings of scores, each with the number of scores below it, and whether the dots are
    beside one of these; none where the headings name the metrics themselves;
    picking, unpicked: addresses of the table with and without boxes.
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
    """Return the table.

    kept: further parameters of the address; moved: changes of rank, if requested.
    """
    # Links drop unknown parameters.
    asked = query.without(queried.problems)
    metrics = known_metrics(board)
    columns = _ordered(queried.board)
    headings = tuple(_score_heading(queried, asked, column, metrics, kept) for _, column in columns)
    reference = reference_row(queried.whole, asked.delta)
    axis = axis_of(queried.whole)
    axis_shown = _axis_shown(queried, axis) if axis else None
    is_public = queried.whole.view.board is BoardShown.PUBLIC
    return TableShown(
        query=asked,
        headings=headings,
        others={name: _other_heading(queried, asked, name, kept) for name in (RANK, "team", "entries", "date")},
        rows=TableRows(
            queried.board,
            columns,
            addresses,
            axis,
            axis_shown.baseline if axis_shown else None,
            _cells_of(queried, reference) if reference else None,
            moved,
            with_lines=queried.is_ranked,
            with_entries=is_public and _is_shown(asked, ENTRIES),
            with_date=is_public and _is_shown(asked, DATE),
            with_boxes=asked.pick,
        ),
        choices=_choices(queried, board, languages, tracks),
        problems=list(queried.problems.values()),
        count=_count(queried, asked),
        clear=_address(BoardQuery(), kept),
        kept=kept,
        reference=reference.team if reference else "",
        moves_told=moved is not None,
        axis=axis_shown,
        fits=_fits(queried, asked, headings),
        aspects=_aspects(queried, asked, kept),
        picking=_address(asked, kept, pick=True),
        unpicked=_address(asked, kept, pick=False),
        groups=_groups(headings, has_dots=axis_shown is not None),
    )


def _groups(headings: Sequence[Heading], *, has_dots: bool) -> list[tuple[str, int, bool]]:
    """Return the metric of each run of columns; "" where the heading of a single column names it."""
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
    """Return `from 0 to 100 %` or `from 0 up`, in the unit of the column."""
    if column.out_of is not None:
        return f"from 0 to {column.out_of}"
    low, high = (metric.minimum, metric.maximum) if metric else (None, None)
    unit = " %" if column.percent else ""
    told = [
        None if end is None else f"{100 * end if column.percent else end:g}".replace("-", _MINUS) for end in (low, high)
    ]
    if told[0] is None and told[1] is None:
        return "any number"
    if told[1] is None:
        return f"from {told[0]}{unit} up"
    return f"up to {told[1]}{unit}" if told[0] is None else f"from {told[0]} to {told[1]}{unit}"


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
    """Return the cells of a row of the unfiltered board in the columns shown."""
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
    """Return the aspects to switch between, and all of them at once. Columns that were picked belong to one aspect."""
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
    """Return all columns that can be hidden, of the aspect shown."""
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
