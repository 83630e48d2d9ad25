"""Draws the pictures of docs/statistics.md from made-up systems and a seed: `python docs/statistics_pictures.py`."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from statistics import NormalDist

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # the checkout's own scoring, wherever this is run from

from evergold.scoring.resampling.draws import Draws  # noqa: E402 - after the path is set
from evergold.scoring.resampling.intervals import Interval, intervals  # noqa: E402
from evergold.scoring.resampling.pairs import compare_all  # noqa: E402
from evergold.scoring.resampling.ranking import better_than, clusters, rank_ranges  # noqa: E402
from evergold.scoring.resampling.sample import Sample  # noqa: E402
from evergold.scoring.resampling.units import Units  # noqa: E402
from evergold.scoring.samples.tables import label_sums  # noqa: E402
from evergold.scoring.tasks.idiom_detection import METRICS  # noqa: E402

IMAGES = ROOT / "docs" / "images"
NAME = ("macro_f1", "all")
BLUE, RED, GREY = "#2563eb", "#dc2626", "#6b7280"
WIDTH = 720


def main(folder: Path = IMAGES) -> None:
    """Write the three pictures."""
    for name, lines in (
        ("statistics-board", board()),
        ("statistics-coverage", coverage()),
        ("statistics-size", size()),
    ):
        (folder / f"{name}.svg").write_text("\n".join(lines) + "\n", encoding="utf-8")


def board() -> list[str]:
    """Six teams, their intervals, the ranks that each may have, and the line between two clusters."""
    chance, n = np.random.default_rng(4), 900
    gold = chance.integers(0, 2, n)
    teams = {"Ibis": 0.86, "Heron": 0.85, "Swift": 0.84, "Lapwing": 0.76, "Wren": 0.75, "Baseline": 0.65}
    samples = [sample(gold, np.where(chance.random(n) < right, gold, 1 - gold)) for right in teams.values()]
    differences = compare_all(samples, [NAME], Draws(samples[0].units, "picture", 4000))[NAME]
    values = [one.scores()[NAME] or 0.0 for one in samples]
    better = better_than(len(samples), differences)
    order = sorted(range(len(samples)), key=lambda number: -values[number])
    ranges, groups = rank_ranges(better), clusters(better, order)
    left, right = 0.58, 0.92
    lines = head(
        60 + 34 * len(samples),
        "A board of six teams: macro F1 with its 95 % interval, and the ranks that each may have",
    )
    lines += axis(left, right, 0.05, 40 + 34 * len(samples))
    for place, number in enumerate(order):
        y = 44 + 34 * place
        found = intervals(samples[number], METRICS)[NAME]
        assert isinstance(found, Interval)  # noqa: S101 - of 900 items there is one
        low, high = ranges[number]
        if place and groups[number] != groups[order[place - 1]]:
            lines.append(f'<path d="M10 {y - 17}H{WIDTH - 10}" stroke="{GREY}" stroke-dasharray="4 3"/>')
        lines.append(text(14, y + 4, f"{low}–{high}" if low < high else str(low)))
        lines.append(text(64, y + 4, list(teams)[number]))
        lines.append(text(150, y + 4, f"{values[number]:.3f}"))
        lines += whisker(found.low, found.high, values[number], y, BLUE, left, right)
    return [*lines, "</svg>"]


def coverage() -> list[str]:
    """The same system on forty test sets of 200 sentences: about one interval in twenty misses the truth."""
    chance, truth, left, right = np.random.default_rng(25), 0.8, 0.66, 0.92
    lines = head(330, "One system on forty test sets of 200 sentences: which intervals hold its true macro F1 of 0.80")
    lines += axis(left, right, 0.05, 305)
    x = position(truth, left, right)
    lines.append(f'<path d="M{x:.1f} 30V300" stroke="{GREY}" stroke-dasharray="4 3"/>')
    for number in range(40):
        gold = chance.integers(0, 2, 200)
        one = sample(gold, np.where(chance.random(200) < truth, gold, 1 - gold))
        found = intervals(one, METRICS)[NAME]
        assert isinstance(found, Interval)  # noqa: S101
        colour = BLUE if found.low <= truth <= found.high else RED
        lines += whisker(found.low, found.high, one.scores()[NAME] or 0.0, 36 + 6.6 * number, colour, left, right, 2.0)
    return [*lines, "</svg>"]


def size() -> list[str]:
    """The smallest difference of accuracy that a test set can tell apart, by how many items it has."""
    normal = NormalDist()
    factor = normal.inv_cdf(0.975) + normal.inv_cdf(0.8)
    lines = head(
        300, "The smallest difference that is found four times in five, for systems that are right 75 % of the time"
    )
    bottom, top, most = 260.0, 36.0, 0.25

    def at(n: float, difference: float) -> tuple[float, float]:
        x = 70 + (WIDTH - 100) * (math.log10(n) - math.log10(50)) / (math.log10(5000) - math.log10(50))
        return x, bottom - (bottom - top) * difference / most

    for percent in (0, 5, 10, 15, 20, 25):
        _, y = at(50, percent / 100)
        lines.append(f'<path d="M70 {y:.1f}H{WIDTH - 30}" stroke="#e5e7eb"/>')
        lines.append(text(30, y + 4, f"{percent} %"))
    for n in (50, 100, 200, 500, 1000, 2000, 5000):
        lines.append(text(at(n, 0)[0] - 12, bottom + 18, f"{n:,}"))
    lines.append(text(WIDTH - 100, bottom + 34, "items"))
    for shared, colour, name in ((0.0, RED, "unrelated errors"), (0.6, BLUE, "mostly the same errors")):
        counts = np.geomspace(50, 5000, 60)
        points = [at(n, factor * math.sqrt(2 * (1 - shared) * 0.75 * 0.25 / n)) for n in counts]
        path = "L".join(f"{x:.1f} {y:.1f}" for x, y in points if y >= top)
        lines.append(f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        x, y = at(330, factor * math.sqrt(2 * (1 - shared) * 0.75 * 0.25 / 330))
        lines.append(text(x + 8, y - 6, name, colour) if not shared else text(x - 170, y + 22, name, colour))
    return [*lines, "</svg>"]


def sample(gold: np.ndarray, predicted: np.ndarray) -> Sample:
    """A system's answers to items with two labels."""
    every = np.arange(len(gold))
    part = label_sums(("macro_f1",), "all", ("0", "1"), (gold, predicted), every)
    return Sample(Units(tuple(map(str, every))), (part,))


def head(height: int, title: str) -> list[str]:
    return [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
        'font-family="system-ui, sans-serif" font-size="13">',
        f"<title>{title}</title>",
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
        text(14, 20, title, "#111827"),
    ]


def axis(left: float, right: float, step: float, y: float) -> list[str]:
    marks = np.arange(math.ceil(left / step) * step, right + 1e-9, step)
    lines = [f'<path d="M{position(left, left, right):.1f} {y}H{position(right, left, right):.1f}" stroke="{GREY}"/>']
    return lines + [text(position(mark, left, right) - 12, y + 17, f"{mark:.2f}", GREY) for mark in marks]


def whisker(
    low: float, high: float, value: float, y: float, colour: str, left: float, right: float, radius: float = 4.0
) -> list[str]:
    a, b, at = (position(number, left, right) for number in (low, high, value))
    return [
        f'<path d="M{a:.1f} {y:.1f}H{b:.1f}" stroke="{colour}" stroke-width="2"/>',
        f'<circle cx="{at:.1f}" cy="{y:.1f}" r="{radius}" fill="{colour}"/>',
    ]


def position(value: float, left: float, right: float) -> float:
    return 210 + (WIDTH - 240) * (value - left) / (right - left)


def text(x: float, y: float, content: str, colour: str = "#374151") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" fill="{colour}">{content}</text>'


if __name__ == "__main__":
    main()
