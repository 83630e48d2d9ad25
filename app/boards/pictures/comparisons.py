"""Pictures of uncertainty: every row of a board with its interval, and pairwise comparisons.

They exist only if the board itself shows intervals and rank ranges (`app.boards.view`), and for the same rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import permutations
from typing import Literal

from app.boards.pictures.languages import LOOKS, listed, series_of_systems
from app.boards.pictures.seen import Seen, value_of
from app.boards.rows import LeaderboardRow
from app.charts.picture import AxisOut, Heading, LineOut, Picture, PointOut, SeriesOut, Table
from evergold.scoring.resampling.ranking import ALPHA

#: Limits of readability; of longer boards the first rows are drawn, and the viewer's own.
MOST_ROWS, MOST_SYSTEMS = 60, 24
#: Maximum number of names in a text.
_MOST_NAMES = 4
Outcome = Literal["better", "worse", "same"]
_OUTCOMES: Mapping[Outcome, str] = {"better": "Better", "worse": "Worse", "same": "No significant difference"}

_SIGNS: Mapping[Outcome, str] = {"better": ">", "worse": "<", "same": ""}
P_AXIS = AxisOut(title="p", decimals=4)

#: The outcome of one system against another, and its p.
Compared = tuple[Outcome, float]
#: A row with its unique name.
Named = tuple[str, LeaderboardRow]


def forest(seen: Seen) -> Picture | None:
    """Return a picture of every row of the board with its interval; None if the board shows no intervals."""
    rank_by = seen.leaderboard.rank_by
    rows = [(name, row) for name, row in seen.named_rows() if row.cells[rank_by].value is not None]
    if not any(row.cells[rank_by].interval for _, row in rows):
        return None
    kept = [one for at, one in enumerate(rows) if at < MOST_ROWS or one[1].is_mine]
    x = seen.ranking_axis
    points = [(LOOKS[row.kind], _point(seen, name, row)) for name, row in kept]
    level = next(one.level for _, row in rows if (one := row.cells[rank_by].interval))
    return Picture(
        name="forest",
        title="Confidence intervals",
        kind="forest",
        about=f"A dot is the score, the line through it the {100 * level:g}\u00a0% interval. "
        "Lines separate clusters: every system above is significantly better than every system below.",
        summary=_sureness(kept, seen),
        x=x,
        y=AxisOut(title="System", kind="category", categories=tuple(name for name, _ in kept)),
        series=series_of_systems(points, dict.fromkeys(look for look, _ in points)),
        lines=_best_baseline(seen),
        table=Table(
            (Heading("System"), Heading("Rank"), *(Heading(one, is_number=True) for one in (x.title, "From", "To"))),
            tuple(
                (point.label, point.rank, *(x.text_of(value) for value in (point.x, point.low, point.high)))
                for _, point in points
            ),
        ),
        left_out=len(rows) - len(kept),
    )


def _point(seen: Seen, name: str, row: LeaderboardRow) -> PointOut:
    cell = row.cells[seen.leaderboard.rank_by]
    low, high = (cell.interval.low, cell.interval.high) if cell.interval else (None, None)
    value, _ = value_of(cell)
    return PointOut(
        x=value, y=name, label=name, is_mine=row.is_mine, low=low, high=high, rank=_rank(row), cluster=row.cluster
    )


def _rank(row: LeaderboardRow) -> str:
    """Return the rank or the range of ranks, such as `2–5`; None if there is none."""
    if row.rank is None:
        return ""
    best, worst = row.rank_range or (row.rank, row.rank)
    return str(best) if best == worst else f"{best}–{worst}"


def _sureness(rows: Sequence[Named], seen: Seen) -> str:
    """Return sentences on the candidates for the first rank, and on the number of clusters."""
    first = [name for name, row in rows if row.rank_range and row.rank_range[0] == 1]
    if not first:
        return f"{len(rows)} systems with their intervals; comparisons are being computed."
    count = len({row.cluster for _, row in rows if row.cluster is not None})
    clusters = "one cluster" if count == 1 else f"{count} clusters"
    if len(first) == 1:
        return f"{first[0]} is better than all others. The board falls into {clusters}."
    names = listed(first) if len(first) <= _MOST_NAMES else f"{len(first)} systems"
    return f"{names} may be first. The board falls into {clusters}."


def _best_baseline(seen: Seen) -> tuple[LineOut, ...]:
    """Return a line for the best baseline, if there is one; rows are ordered best first."""
    rank_by = seen.leaderboard.rank_by
    found = [
        LineOut(label=f"Baseline: {name}", axis="x", value=float(value))
        for name, row in seen.named_rows()
        if row.kind == "baseline" and (value := row.cells[rank_by].value) is not None
    ]
    return tuple(found[:1])


def pairs(seen: Seen) -> Picture | None:
    """Return a picture of the significance of all pairs of rows; None if none were compared."""
    compared = _compared(seen)
    if not compared:
        return None
    rows = list(seen.named_rows())
    places = sorted({place for pair in compared for place in pair})
    kept = [place for at, place in enumerate(places) if at < MOST_SYSTEMS or rows[place][1].is_mine]
    names = tuple(rows[place][0] for place in kept)
    cells = {(one, other): compared[one, other] for one in kept for other in kept if (one, other) in compared}
    systems = AxisOut(title="System", kind="category", categories=names)
    return Picture(
        name="pairs",
        title="Pairwise comparison",
        kind="matrix",
        about=(
            "A filled square: the system of the row is significantly better than that of the column; a dashed "
            "square: it is significantly worse. The numbers are p of paired permutation tests, corrected for all "
            f"pairs of the board (Holm), baselines included: up to {ALPHA:g} two systems differ significantly."
        ),
        summary=_told_apart(compared, len(places)),
        x=systems,
        y=systems,
        series=tuple(
            SeriesOut(
                name=title,
                look=outcome,
                points=tuple(_cell(rows, *at, p) for at, (what, p) in cells.items() if what == outcome),
            )
            for outcome, title in _OUTCOMES.items()
            if any(what == outcome for what, _ in cells.values())
        ),
        scale=P_AXIS,
        table=Table(
            (Heading("System"), *(Heading(str(at), is_number=True) for at in range(1, len(names) + 1))),
            tuple(
                (f"{at}. {rows[one][0]}", *(_text(cells.get((one, other))) for other in kept))
                for at, one in enumerate(kept, 1)
            ),
        ),
        left_out=len(places) - len(kept),
    )


def _compared(seen: Seen) -> dict[tuple[int, int], Compared]:
    """Return outcome and p for pairs of ranked rows, by their positions.

    p is corrected as on the board: over all of its pairs, including those with rows that have no rank.
    """
    board = seen.leaderboard
    if not board.pair_tests:
        return {}
    found: dict[tuple[int, int], Compared] = {}
    for (first, row), (second, other) in permutations(enumerate(board.rows), 2):
        test = board.pair_test(row, other)
        if test is not None and row.rank is not None and other.rank is not None:
            is_ahead = (test.difference > 0) == seen.ranking.higher_is_better
            found[first, second] = (
                ("better" if is_ahead else "worse") if test.is_significant else "same",
                test.decisive_p,
            )
    return found


def _told_apart(compared: Mapping[tuple[int, int], Compared], count: int) -> str:
    different, every = sum(what == "better" for what, _ in compared.values()), len(compared) // 2
    return f"{different} of {every} pairs of {count} systems differ significantly."


def _cell(rows: Sequence[Named], one: int, other: int, p: float) -> PointOut:
    """Return the cell in the row of `one` and the column of `other`."""
    return PointOut(x=rows[other][0], y=rows[one][0], label=rows[one][0], value=p, is_mine=rows[one][1].is_mine)


def _text(cell: Compared | None) -> str:
    """Return the text of a cell, such as `> .012`: better, with this p."""
    if cell is None:
        return ""
    what, p = cell
    return f"{_SIGNS[what]} {P_AXIS.text_of(p)}".strip()
