"""The report of idiomaticity-probing: the paper's table and figure for one split, and links to the other splits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.base import links
from app.charts.distribution import Figure
from app.feedback.reports import Report
from app.web.html.drawings import Drawing, drawings_of
from app.web.reports.probing_figures import Choice, choices, chosen_split, class_figures, probes_figure, title_of
from app.web.reports.tables import Cell, Column, Row, Table, make_table, number_cell, score_cell
from evergold.figures.svg import number_text
from evergold.scoring.probing.human_scores import CLASSES
from evergold.scoring.probing.measures import MEASURES
from evergold.scoring.task import Score
from evergold.scoring.tasks.idiomaticity_probing import METRICS

#: From this p on, the paper's tables show a dash instead of rho.
SIGNIFICANT_P = 0.05

_MEASURES, _CLASSES = "measures", "classes"
_PARTS = {
    "": Column("mean", "Mean", "Over the compounds"),
    "_sd": Column("sd", "SD", "Sample standard deviation over the compounds"),
    "_rho": Column("rho", "ρ", f"Spearman's rho with the human scores; a dash where p is {SIGNIFICANT_P} or more"),
    "_p": Column("p", "p", "Two-sided p of rho"),
}


@dataclass(frozen=True, slots=True)
class ProbingReport:
    """View model of the report.

    title: of the chosen split; with_human_score: number of its compounds with a human score, used for rho.
    """

    title: str
    choices: tuple[Choice, ...]
    compounds: int
    with_human_score: int
    measures: Table
    classes: Table
    drawings: list[Drawing]
    is_from_embeddings: bool


def show_probing(report: Report, parameters: Mapping[str, str]) -> ProbingReport:
    """Return one split of the report. parameters: `split` and `sort`. Raise NotFound for an unknown split."""
    chosen, figures = figures_of(report.aggregates, parameters.get("split"))
    splits = list(report.aggregates["splits"])
    found = report.aggregates["splits"][chosen]
    scores = {(score.metric, score.split): score for score in report.scores}
    sort = parameters.get("sort", "")

    def made(name: str, caption: str, columns: Sequence[Column], rows: Sequence[Row]) -> Table:
        corner = Column("measure", "Measure")

        def linked(wanted: str) -> str:
            return f"{links.report(report.submission.id, split=chosen, sort=wanted)}#{name}"

        return make_table(name, caption, corner, columns, rows, sort=sort, linked=linked)

    return ProbingReport(
        title=title_of(chosen),
        choices=choices(splits, chosen),
        compounds=found["compounds"],
        with_human_score=found["compounds_with_human_score"],
        measures=made(
            _MEASURES, f"The measures, {title_of(chosen)}", tuple(_PARTS.values()), _measures(scores, chosen)
        ),
        classes=made(_CLASSES, "Means by idiomaticity class", _class_columns(found), _means(scores, chosen)),
        drawings=drawings_of(figures, links.report_figures(report.submission.id), chosen),
        is_from_embeddings=report.aggregates["from_embeddings"],
    )


def figures_of(aggregates: Mapping[str, Any], wanted: str | None) -> tuple[str, list[Figure]]:
    """Return the split to show, and its figures; raise NotFound for an unknown split."""
    chosen = chosen_split(list(aggregates["splits"]), wanted)
    found, ideals = aggregates["splits"][chosen], aggregates["ideals"]
    context = title_of(chosen)
    return chosen, [probes_figure(found, ideals, context), *class_figures(found, ideals, context)]


def _measures(scores: Mapping[tuple[str, str], Score], split: str) -> list[Row]:
    rows = []
    for measure in MEASURES:
        found = {part: scores.get((measure + part, split)) for part in _PARTS}
        cells = [_number(score) for score in found.values()]
        cells[2] = _significant(cells[2], found["_p"])
        cells[3] = _probability(cells[3])
        rows.append(Row(METRICS[measure].title, tuple(cells)))
    return rows


def _number(score: Score | None) -> Cell:
    """Return the score with four decimals, even if the metric has no upper bound."""
    return score_cell(score, None) if score is None or score.value is None else number_cell(score.value, 4)


def _significant(rho: Cell, p: Score | None) -> Cell:
    """Return a dash for a correlation that is not significant, as in the paper's tables; its value is a tooltip."""
    if rho.value is None or p is None or p.value is None or p.value < SIGNIFICANT_P:
        return rho
    return Cell("–", rho.value, hint=f"ρ {number_text(rho.value, 4)}, not significant")


def _probability(cell: Cell) -> Cell:
    """Return small values as `< 0.0001` with the exact value as a tooltip, because four decimals would show zero."""
    if cell.value is None or cell.value >= 0.0001:
        return cell
    return Cell("< 0.0001", cell.value, hint=f"{cell.value:.1e}")


def _class_columns(split: Mapping[str, Any]) -> tuple[Column, ...]:
    counts = {name: split["classes"].get(name, {}).get("compounds", 0) for name in CLASSES}
    return tuple(Column(name, name.capitalize(), f"{counts[name]} compounds") for name in CLASSES)


def _means(scores: Mapping[tuple[str, str], Score], split: str) -> list[Row]:
    return [
        Row(
            METRICS[measure].title,
            tuple(score_cell(scores.get((measure, f"{split}/{name}")), METRICS[measure]) for name in CLASSES),
        )
        for measure in MEASURES
    ]
