"""A last column on boards of the private part: the score of the public part, by which their runs were chosen."""

from __future__ import annotations

from dataclasses import replace

from sqlalchemy.orm import Session

from app.boards.entries import cells_of
from app.boards.rows import Cell
from app.boards.view import UnfilteredBoard

#: Prefix of the split of such a column, since it is no score of the task type.
PUBLIC = "public/"
_NONE = Cell(None, "not published", None)


def with_public_part(session: Session, whole: UnfilteredBoard) -> UnfilteredBoard:
    """Add the column to the board."""
    column = whole.columns[whole.rank_by]
    cells = cells_of(session, [row.run_id for row in whole.rows if row.run_id is not None], [column])
    title = f"Public: {column.title}"
    rows = tuple(
        row._replace(cells=(*row.cells, cells[row.run_id][0] if row.run_id is not None else _NONE))
        for row in whole.rows
    )
    shown = replace(column, split=PUBLIC + column.split, title=title)
    return replace(whole, columns=(*whole.columns, shown), rows=rows)
