"""Scatter plots of human against automatic scores, for each language of a round and for their mean."""

from __future__ import annotations

from dataclasses import replace

from app.figures.scatter import Kind, Point, Scatter
from app.judging.results import MACRO
from app.judging.summary import Correlation, Summary, System
from app.models import Competition, JudgingRound
from evergold.figures.axes import Axis, axis_around
from evergold.figures.svg import number_text

HUMAN = "Human score"


def figures_of(competition: Competition, judging: JudgingRound, summary: Summary) -> list[Scatter]:
    """Return a figure for every split in which some system has both scores."""
    context = f"{competition.title}, {judging.phase_task.phase.title}, round {judging.name}."
    found = [_figure(summary, split, context) for split in summary.splits]
    return [figure for figure in found if figure.drawn]


def split_title(split: str) -> str:
    """Return `Mean of the languages`, or the language code in capitals."""
    return "Mean of the languages" if split == MACRO else split.upper()


def correlation_words(correlation: Correlation) -> str:
    """Return `Pearson 0.92, Spearman 0.90, Kendall 0.78`, or the reason why they are undefined."""
    if correlation.reason is not None:
        return correlation.reason
    return ", ".join(_coefficient(name, value) for name, value in correlation.coefficients.items())


def _coefficient(name: str, value: float | None) -> str:
    return f"{name.capitalize()} {number_text(value)}" if value is not None else f"{name.capitalize()} undefined"


def _figure(summary: Summary, split: str, context: str) -> Scatter:
    points = tuple(_point(system, split) for system in summary.systems)
    drawn = [(point.x, point.y) for point in points if point.x is not None and point.y is not None]
    x = _axis([x for x, _ in drawn], summary.metric)
    y = _axis([y for _, y in drawn], HUMAN)
    told = f"{context} {correlation_words(summary.correlations[split])}."
    return Scatter(f"human-{split}", f"{HUMAN} against {summary.metric}: {split_title(split)}", x, y, points, told)


def _axis(values: list[float], title: str) -> Axis:
    """Return an axis in percent that does not exceed 100 unless a value does."""
    axis = axis_around(values, title, scale=100.0, unit=" %")
    return replace(axis, high=1.0) if max(values, default=0.0) <= 1 < axis.high else axis


def _point(system: System, split: str) -> Point:
    human, automatic = system.human[split], system.automatic[split]
    both = human.value is not None and automatic.value is not None
    label = f"{system.name}: {system.method}" if system.method else system.name
    reason = "" if both else f"human score {human.reason}" if human.value is None else f"{automatic.reason}"
    kind: Kind = "baseline" if system.is_baseline else "team"
    return Point(label, automatic.value if both else None, human.value if both else None, kind, reason)
