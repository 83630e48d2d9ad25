"""The rows of a board's table, written directly as HTML because including a template for each cell is slower."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup, escape

from app.base import links
from app.boards.axis import Axis, spread_of
from app.boards.query import Move, difference, is_better, row_key
from app.boards.rows import Cell, Leaderboard, LeaderboardRow
from app.boards.tables import cluster_lines
from app.competitions.columns import BoardColumn
from app.competitions.tracks import Track
from app.web.html.certainty import interval_words
from app.web.html.words import format_difference, score_format
from evergold.moments import date_words

#: Maximum length of team and method together; longer ones are cut off at the next column.
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
#: Half the width of an interval, shown after the score on phones, which have no room for dots.
_HALF = '<span class="half" aria-hidden="true"> ±{}</span>'
_BOX = (
    '      <td class="pick"><input type="checkbox" name="row" value="{}" form="pick-form"'
    ' aria-label="Compare {}"></td>\n'
)
_PUBLISHED = '      <td class="paper">{}</td>\n'
_MOVED = '      <td class="moved">{}</td>\n'


@dataclass(frozen=True, slots=True)
class Addresses:
    """The parts of row and team addresses before and after the id or the name."""

    rows: str
    rows_end: str
    teams: str
    teams_end: str


@dataclass(frozen=True, slots=True)
class TableRows:
    """The rows of a board's table.

    board: filtered and sorted; columns: with their positions, the ranking column first; axis: of the plot of dots, None
    without one; rule: position of the best baseline on the axis; against: cells of the reference row for differences;
    moved: changes of rank by `row_key`, None if not requested; with_lines: draw lines between clusters;
    with_boxes: a checkbox at each row that has a page, to select two.
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
        """True if any rank is a range, or if lines separate clusters."""
        return bool(self._lines) or any(ranks_words(row) for row in self.board.rows)

    @property
    def with_published(self) -> bool:
        """True if any row has the rank of a published result; such ranks have a separate column."""
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
            hint = f'<span class="visually-hidden"> ({title})</span>' if title and is_ranking else ""
            delta = _delta(cell, against, column) if against is not None else ""
            half = _half(cell, column) if dot else ""
            return f"{start}{interval}>{text_of(cell.value)}{half}{hint}{delta}</td>\n{dot}"

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
            # Whatever lies beyond an end is placed there.
            if place in (0.0, 100.0) and cell.value is not None and not axis.holds(cell.value):
                return f"{start}{_BEYOND_LEFT if place == 0 else _BEYOND_RIGHT}{end}"
            interval = _INTERVAL.format(low, high) if low is not None else ""
            return f'{start}{interval}<circle cx="{place}%" cy="50%" r="4.5"/>{end}'

        return write


def _box(row: LeaderboardRow, team: str) -> str:
    """Return the cell with a row's checkbox. team: already escaped."""
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
    """Return the number of links next to the name."""
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
