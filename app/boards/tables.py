"""A board as a text table: Markdown, or LaTeX with booktabs; the best value of each column in bold."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from app.boards.rows import Cell, Leaderboard, LeaderboardRow
from app.competitions.columns import BoardColumn
from app.competitions.ordering import sign_of

_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
}
_MARKDOWN_MARKS = re.compile(r"([\\`*_\[\]<>|~#])")
_UNDEFINED = "–"
#: Prefix of questions of method cards in names of columns.
CARD = "card"


@dataclass(frozen=True, slots=True)
class _Table:
    """The texts of a table. bold: True for cells that are the best of their column; lines: rows below a rule."""

    head: list[str]
    rows: list[list[str]]
    bold: list[list[bool]]
    texts: int  # number of text columns on the left; the others are numbers
    notes: list[str]
    lines: frozenset[int] = frozenset()  # rows below a line between clusters


def chosen_columns(board: Leaderboard, names: Sequence[str], decimals: int | None) -> Leaderboard:
    """Return the board with only these columns, in this order, rounded.

    names: `metric split` or `card NAME`; all columns if empty. Raises KeyError with unknown names.
    """
    by_name = {f"{column.metric} {column.split}": at for at, column in enumerate(board.columns)}
    card_columns = {f"{CARD} {column.name}": column for column in board.card_columns}
    if unknown := [name for name in names if name not in by_name and name not in card_columns]:
        raise KeyError(*unknown)
    kept = [by_name[name] for name in names if name in by_name] or list(range(len(board.columns)))
    cards = tuple(card_columns[name] for name in names if name in card_columns) if names else board.card_columns
    columns = tuple(_rounding(board.columns[at], decimals) for at in kept)
    rows = tuple(row._replace(cells=tuple(row.cells[at] for at in kept)) for row in board.rows if row.cells)
    return replace(board, columns=columns, rows=rows, rank_by=0, card_columns=cards)


def markdown_table(board: Leaderboard, caption: str = "", *, intervals: bool = False) -> str:
    """Return a table for GitHub and Pandoc, with its caption below it.

    intervals: add ± to scores with an interval, and rank ranges.
    """
    table = _table(board, _markdown_text, "\N{MINUS SIGN}", "<sup>{}</sup>", " ± " if intervals else None)
    head = [table.head, [":--" if at < table.texts else "--:" for at in range(len(table.head))]]
    rows = [_bold(cells, bold, "**{}**") for cells, bold in zip(table.rows, table.bold, strict=True)]
    below = [*table.notes, *([_markdown_text(caption)] if caption else [])]
    return "".join([*(f"| {' | '.join(cells)} |\n" for cells in [*head, *rows]), *(f"\n{text}\n" for text in below)])


def latex_table(board: Leaderboard, caption: str, label: str, *, intervals: bool = False) -> str:
    """Return a LaTeX `table` with the rules of booktabs, ready for a paper; it needs `\\usepackage{booktabs}` and
    UTF-8.

    intervals: as for Markdown, and with a rule between clusters.
    """
    table = _table(board, latex_text, "$-$", r"\textsuperscript{{{}}}", r" $\pm$ " if intervals else None)
    rows = [_bold(cells, bold, r"\textbf{{{}}}") for cells, bold in zip(table.rows, table.bold, strict=True)]
    kinds = "l" * table.texts + "r" * (len(table.head) - table.texts)
    lines = [
        r"\begin{table}",
        r"  \centering",
        rf"  \begin{{tabular}}{{{kinds}}}",
        r"    \toprule",
        *(f"    {' & '.join(cells)} \\\\" for cells in [table.head]),
        r"    \midrule",
        *(f"{rule}    {' & '.join(cells)} \\\\" for rule, cells in zip(_rules(table), rows, strict=True)),
        r"    \bottomrule",
        r"  \end{tabular}",
        *(rf"  \par\smallskip{{\footnotesize {note}}}" for note in table.notes),
        rf"  \caption{{{latex_text(caption)}}}",
        rf"  \label{{{label}}}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def latex_text(text: str) -> str:
    """Return the text with all special characters of LaTeX escaped; line ends become spaces."""
    return "".join(_LATEX.get(character, character) for character in " ".join(text.split()))


def _rules(table: _Table) -> list[str]:
    """Return the LaTeX rule to write before each row, or ""."""
    return ["    \\midrule\n" if at in table.lines else "" for at in range(len(table.rows))]


def _table(
    board: Leaderboard, escaped: Callable[[str], str], minus: str, raised: str, margin: str | None = None
) -> _Table:
    """Return the texts of a table. raised: format of footnote marks; margin: prefix of half an interval, None for no
    intervals.
    """
    track = ["Track"] if board.has_tracks else []
    titles = [column.title for column in board.card_columns]
    published = ["In the paper"] if any(row.published_rank for row in board.rows) else []
    left = ["#", *published, "Team", *track, *titles]
    head = [escaped(text) for text in [*left, *(_title(column) for column in board.columns)]]
    rows, bold = [], []
    best = [_best(board, at) for at in range(len(board.columns))]
    for row in board.rows:
        answers = [answer.text if (answer := row.answer(one.name)) else "" for one in board.card_columns]
        ranks = [_rank(row, with_range=margin is not None), *([str(row.published_rank or "")] if published else [])]
        texts = [*ranks, _team(row), *([row.track or ""] if track else []), *answers]
        shown = [format_cell(cell, column) for cell, column in zip(row.cells, board.columns, strict=True)]
        written = [escaped(text) for text in texts]
        written[len(ranks)] += raised.format(board.mark(row)) if row.status else ""
        halves = [_margin(cell, column, margin) for cell, column in zip(row.cells, board.columns, strict=True)]
        rows.append([*written, *(text.replace("-", minus) + half for text, half in zip(shown, halves, strict=True))])
        is_best = [row.competes and text == found for text, found in zip(shown, best, strict=True)]
        bold.append([False] * len(texts) + is_best)
    notes = [f"{raised.format(note.mark)} {escaped(note.text)}" for note in board.footnotes]
    if margin is None:
        return _Table(head, rows, bold, len(left), notes)
    notes += [escaped(text) for text in _margin_words(board)]
    return _Table(head, rows, bold, len(left), notes, cluster_lines(board.rows))


def cluster_lines(rows: Sequence[LeaderboardRow]) -> frozenset[int]:
    """Return the indices of rows with a line above: each row above it is significantly better than every row below it.

    Empty if the rows are not in the order of their ranks.
    """
    ranks = [row.rank for row in rows if row.rank is not None]
    if ranks != sorted(ranks):
        return frozenset()
    of_clusters = [(at, row.cluster) for at, row in enumerate(rows) if row.cluster is not None]
    return frozenset(at for (_, above), (at, cluster) in pairwise(of_clusters) if above != cluster)


def _margin_words(board: Leaderboard) -> list[str]:
    """Return the explanation of ± and ranges for the text below a table; empty if the table has none."""
    levels = [cell.interval.level for row in board.rows for cell in row.cells if cell.interval]
    words = [f"±: half of the {100 * levels[0]:g} % interval."] if levels else []
    if any(row.rank_range for row in board.rows):
        words.append(
            "Rank ranges: ranks consistent with paired permutation tests, with Holm's correction over all pairs of "
            "rows (5 %)."
        )
    return words


def _rank(row: LeaderboardRow, *, with_range: bool) -> str:
    """Return the rank, or the range of ranks such as `2–5`."""
    if row.rank is None:
        return ""
    best, worst = row.rank_range if row.rank_range and with_range else (row.rank, row.rank)
    return str(best) if best == worst else f"{best}–{worst}"


def _margin(cell: Cell, column: BoardColumn, margin: str | None) -> str:
    """Return half the width of the interval, rounded up to the decimals of the value."""
    if margin is None or cell.interval is None or column.out_of is not None:
        return ""
    half = (cell.interval.high - cell.interval.low) / 2 * (100 if column.percent else 1)
    scale = 10**column.decimals
    return f"{margin}{math.ceil(half * scale - 1e-9) / scale:.{column.decimals}f}"


def _best(board: Leaderboard, at: int) -> str | None:
    """Return the best value of competing rows in a column, as shown: values that look equal are equally good."""
    column = board.columns[at]
    cells = [row.cells[at] for row in board.rows if row.competes and row.cells[at].value is not None]
    best = min(cells, key=lambda cell: sign_of(column) * (cell.value or 0.0), default=None)
    return format_cell(best, column) if best else None


def format_cell(cell: Cell, column: BoardColumn) -> str:
    """Return the value as its column declares it: `70.37`, `9/14`, or a dash if undefined."""
    if cell.value is None:
        return _UNDEFINED
    if column.out_of is not None:
        return f"{cell.value:.0f}/{column.out_of}"
    rounded = round(100 * cell.value if column.percent else cell.value, column.decimals)
    return f"{rounded + 0.0:.{column.decimals}f}"  # no "-0.00"


def _title(column: BoardColumn) -> str:
    return f"{column.title} (%)" if column.percent else column.title


def _team(row: LeaderboardRow) -> str:
    return row.team if row.kind == "team" else f"{row.team} ({row.kind})"


def _markdown_text(text: str) -> str:
    return _MARKDOWN_MARKS.sub(r"\\\1", " ".join(text.split()))


def _bold(cells: list[str], bold: list[bool], form: str) -> list[str]:
    return [form.format(cell) if best else cell for cell, best in zip(cells, bold, strict=True)]


def _rounding(column: BoardColumn, decimals: int | None) -> BoardColumn:
    return column if decimals is None else replace(column, decimals=decimals)
