"""On a board of the private part of the items: the score of the public part, which chose its runs, as a last column."""

from __future__ import annotations

from dataclasses import replace

from sqlalchemy.orm import Session

from app.boards.entries import cells_of
from app.boards.rows import Cell
from app.boards.view import WholeBoard

#: Before the split of such a column: it is no score of the task type's own.
PUBLIC = "public/"
_NONE = Cell(None, "not published", None)


def with_public_part(session: Session, whole: WholeBoard) -> WholeBoard:
    """The board with that column."""
    column = whole.columns[whole.rank_by]
    cells = cells_of(session, [row.run_id for row in whole.rows if row.run_id is not None], [column])
    title = f"Public: {column.title}"
    rows = tuple(
        row._replace(cells=(*row.cells, cells[row.run_id][0] if row.run_id is not None else _NONE))
        for row in whole.rows
    )
    shown = replace(column, split=PUBLIC + column.split, title=title)
    return replace(whole, columns=(*whole.columns, shown), rows=rows)
