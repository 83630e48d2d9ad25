"""Score distribution of a board: the number of teams in each range, with the baselines as lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import ceil, floor, sqrt
from statistics import median

from app.boards.pictures.seen import Seen
from app.charts.picture import AxisOut, Heading, LineOut, Picture, PointOut, SeriesOut, Table
from app.models import EntryRule
from evergold.figures.svg import round_step

#: A few scores in many ranges would look like a comb.
MOST_RANGES, FEWEST_RANGES = 10, 4
#: Further baselines would clutter the picture.
MOST_LINES = 3
YOU = "You"
#: Smaller differences are not shown; this tolerance keeps values on an edge on the right side.
_TINY = 1e-9


def distribution(seen: Seen) -> Picture | None:
    """Return a histogram of the teams' ranking scores; None if no team has one."""
    ranking, place = seen.ranking, seen.leaderboard.rank_by
    found = [(row, value) for row in seen.leaderboard.rows if (value := row.cells[place].value) is not None]
    values = [value for row, value in found if row.kind == "team"]
    if not values:
        return None
    counts = "Entries" if seen.leaderboard.entry_rule is EntryRule.ALL else "Teams"
    x, y = seen.ranking_axis, AxisOut(title=counts)
    baselines = [
        LineOut(label=f"Baseline: {row.team}", axis="x", value=value) for row, value in found if row.kind == "baseline"
    ]
    own = [
        LineOut(label=f"{YOU}: {row.team}", axis="x", value=value, is_mine=True) for row, value in found if row.is_mine
    ][:1]
    lines = tuple(baselines[:MOST_LINES] + own)
    finest = 10.0 ** -(x.decimals + 2 * x.percent)
    most = max(FEWEST_RANGES, min(MOST_RANGES, 2 * ceil(sqrt(len(values)))))
    low, step, number = _ranges([*values, *(line.value for line in lines)], most, finest)
    counted = Counter(min(floor((value - low) / step + _TINY), number - 1) for value in values)
    edges = [low + step * at for at in range(number + 1)]
    points = tuple(PointOut(x=round(edges[at], 12), y=float(counted[at])) for at in range(number))
    names = [f"{x.text_of(edges[at])} to {x.text_of(edges[at + 1])}" for at in range(number)]
    return Picture(
        name="distribution",
        title="Score distribution",
        kind="histogram",
        about="Each bar counts the scores in its range (upper bound excluded); lines are baselines.",
        summary=_summary(values, lines, x, higher_is_better=ranking.higher_is_better),
        x=AxisOut(title=x.title, kind="value", categories=tuple(names), decimals=x.decimals, percent=x.percent),
        y=y,
        series=(SeriesOut(name=counts, look="count", points=points),),
        lines=lines,
        width=step,
        table=Table(
            (Heading(x.title), Heading(y.title, is_number=True)),
            (
                *((name, y.text_of(point.y)) for name, point in zip(names, points, strict=True)),
                *((f"{line.label}, {x.text_of(line.value)}", "") for line in lines),
            ),
        ),
    )


def _ranges(values: Sequence[float], most: int, finest: float) -> tuple[float, float, int]:
    """Return start, width and number of the histogram's ranges: round numbers, no finer than the shown decimals."""
    low, high = min(values), max(values)
    step = max(round_step((high - low) or 10 * finest, most - 1), finest)
    first, last = floor(low / step + _TINY), ceil(high / step - _TINY)
    # A value on the last edge has a range of its own: upper ends are excluded.
    if last == first or abs(high / step - last) < _TINY:
        last += 1
    return first * step, step, last - first


def _summary(values: Sequence[float], lines: Sequence[LineOut], x: AxisOut, *, higher_is_better: bool) -> str:
    ordered = sorted(values)
    if len(ordered) == 1:
        words = f"One score, {x.text_of(ordered[0])}."
    else:
        words = f"{len(ordered)} scores from {x.text_of(ordered[0])} to {x.text_of(ordered[-1])}, the median is "
        words += f"{x.text_of(median(ordered))}."
    for line in [line for line in lines if not line.is_mine][:1]:
        better = sum(value > line.value if higher_is_better else value < line.value for value in ordered)
        name = line.label.removeprefix("Baseline: ")
        words += f" {better} {'is' if better == 1 else 'are'} better than the baseline {name}, {x.text_of(line.value)}."
    return words
