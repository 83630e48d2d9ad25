"""Tables of an HTML page as rows of text, by the standard library's parser and within limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from html.parser import HTMLParser

#: Limit over all tables of a page.
CELLS_LIMIT = 500_000
#: Tables inside cells of tables inside cells …
DEPTH_LIMIT = 20
_COLSPAN_LIMIT = 1_000
_UNSEEN = ("script", "style", "template")


@dataclass(frozen=True, slots=True)
class HtmlRow:
    """A row with the line on which it begins; a cell that spans columns is repeated for each of them."""

    line: int
    cells: list[str] = field(default_factory=list)


class TooComplex(ValueError):
    """The page has more cells or deeper nested tables than any list of results needs."""


def read_html_tables(text: str) -> list[list[HtmlRow]]:
    """Return every table of the page in order of appearance; white space in cells is reduced to single spaces.

    Broken markup is mostly read as by browsers. Raises TooComplex.
    """
    parser = _Parser()
    parser.feed(text)
    parser.close()
    return [[row for row in table if row.cells] for table in parser.tables]


@dataclass(slots=True)
class _Open:
    """An unfinished table; `cell` is the text so far of its unfinished cell."""

    rows: list[HtmlRow]
    cell: list[str] | None = None
    span: int = 1


class _Parser(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tables: list[list[HtmlRow]] = []
        self._open: list[_Open] = []
        self._cells = 0
        self._unseen = 0

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        if tag in _UNSEEN:
            self._unseen += 1
        elif tag == "table":
            self._begin_table()
        elif self._open and tag == "tr":
            self._end_cell()
            self._open[-1].rows.append(HtmlRow(self.getpos()[0]))
        elif self._open and tag in ("td", "th"):
            self._begin_cell(dict(attrs).get("colspan"))
        elif tag == "br":
            self.handle_data(" ")

    def handle_endtag(self, tag: str) -> None:
        if tag in _UNSEEN:
            self._unseen = max(0, self._unseen - 1)
        elif self._open and tag in ("td", "th", "tr", "table"):
            self._end_cell()
            if tag == "table":
                self._open.pop()

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1].cell is not None and not self._unseen:
            self._open[-1].cell.append(data)

    def close(self) -> None:
        super().close()
        while self._open:
            self._end_cell()
            self._open.pop()

    def _begin_table(self) -> None:
        if len(self._open) >= DEPTH_LIMIT:
            raise TooComplex(f"tables lie inside each other more than {DEPTH_LIMIT} deep")
        self.tables.append([])
        self._open.append(_Open(self.tables[-1]))

    def _begin_cell(self, colspan: str | None) -> None:
        self._end_cell()
        table = self._open[-1]
        if not table.rows:
            table.rows.append(HtmlRow(self.getpos()[0]))
        digits = (colspan or "").strip()
        span = int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 5 else 1
        table.cell, table.span = [], min(max(span, 1), _COLSPAN_LIMIT)

    def _end_cell(self) -> None:
        table = self._open[-1]
        if table.cell is None:
            return
        self._cells += table.span
        if self._cells > CELLS_LIMIT:
            raise TooComplex(f"the tables have more than {CELLS_LIMIT} cells")
        table.rows[-1].cells.extend([" ".join("".join(table.cell).split())] * table.span)
        table.cell, table.span = None, 1
