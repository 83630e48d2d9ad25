"""The report of mwe-identification: P, R and F1 by language for each view, and a heat map of languages by category."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from app.base import links
from app.feedback.reports import Report
from app.web.reports.tables import Cell, Column, Row, Table, make_table, number_cell, score_cell
from evergold.scoring.mwe.counts import ALL, CATEGORY, MWE_BASED, TOKEN_BASED, TRAINING_VIEWS
from evergold.scoring.mwe.languages import DIVERSITY
from evergold.scoring.option_types import MACRO
from evergold.scoring.task import Score
from evergold.scoring.tasks.mwe_identification import METRICS

OVERVIEW, DIVERSITY_VIEW = "overview", "diversity"
CATEGORIES = {"categories": MWE_BASED, "categories-token": TOKEN_BASED}
#: (split, basis, title, description) by name in addresses.
_VIEWS: dict[str, tuple[str, str, str, str]] = {
    "mwe": (ALL, MWE_BASED, "Global, MWE-based", "MWEs whose tokens are exactly right."),
    "token": (ALL, TOKEN_BASED, "Global, token-based", "Tokens of MWEs, where MWEs are paired one to one."),
    "unseen": ("unseen", MWE_BASED, "Unseen", "MWEs whose multiset of lemmas is not annotated in the training data."),
    "seen": ("seen", MWE_BASED, "Seen", "MWEs whose multiset of lemmas is annotated in the training data."),
    "variant": ("variant", MWE_BASED, "Variant", "Seen MWEs in a form that does not occur in the training data."),
    "identical": ("identical", MWE_BASED, "Identical", "Seen MWEs in a form that occurs in the training data."),
    "continuous": ("continuous", MWE_BASED, "Continuous", "MWEs without other words in between."),
    "discontinuous": ("discontinuous", MWE_BASED, "Discontinuous", "MWEs with other words in between."),
    "multi-token": ("multi_token", MWE_BASED, "Multi-token", "MWEs of several tokens."),
    "single-token": ("single_token", MWE_BASED, "Single-token", "MWEs written as one token."),
}
_SHORT = {"mwe": "MWE-based", "token": "Token-based"}
_PARTS = {"precision": "P", "recall": "R", "f1": "F1"}
_COUNTS = {"found": "Right", "gold": "In gold", "predicted": "Predicted"}
_NOT_SENT = "not submitted"


@dataclass(frozen=True, slots=True)
class MweReport:
    """The view model of the report: the views (name, title, address), and the chosen view with its table."""

    views: tuple[tuple[str, str, str], ...]
    view: str
    title: str
    description: str
    table: Table
    languages: int
    submitted: int
    mean_counts: str
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Source:
    """The scores by metric and split, and the counts by language (None if the language was not submitted)."""

    submission_id: UUID
    scores: Mapping[tuple[str, str], Score]
    documents: Mapping[str, Mapping[str, Any] | None]
    has_macro: bool
    sort: str

    def cell(self, metric: str, root: str, split: str = ALL, *, in_heat_map: bool = False) -> Cell:
        """Return the cell of a language or of `macro`."""
        whole = root if split == ALL else f"{root}/{split}"
        return score_cell(self.scores.get((metric, whole)), METRICS[metric], in_heat_map=in_heat_map)


def show_mwes(report: Report, parameters: Mapping[str, str]) -> MweReport:
    """Return one view of the report. parameters: `view`, by default the first one, and `sort`."""
    source = _Source(
        submission_id=report.submission.id,
        scores={(score.metric, score.split): score for score in report.scores},
        documents=report.aggregates["languages"],
        has_macro=MACRO in report.aggregates,
        sort=parameters.get("sort", ""),
    )
    titles = _titles(source)
    view = parameters.get("view", "")
    view = view if view in titles else OVERVIEW
    return MweReport(
        views=tuple((name, title, links.report(source.submission_id, view=name)) for name, title in titles.items()),
        view=view,
        title=titles[view],
        description=_VIEWS[view][3] if view in _VIEWS else _DESCRIPTIONS[view],
        table=_table(source, view, titles),
        languages=len(source.documents),
        submitted=sum(document is not None for document in source.documents.values()),
        mean_counts=_mean_counts(source, view),
        notes=_notes(source),
    )


_DESCRIPTIONS = {
    OVERVIEW: "F1 in every view, in percent.",
    "categories": "MWE-based F1 by category, in percent.",
    "categories-token": "Token-based F1 by category, in percent.",
    DIVERSITY_VIEW: "Diversity of the correctly found MWEs: how many different ones, and how evenly they occur.",
}


def _titles(source: _Source) -> dict[str, str]:
    """Return the titles of this run's views; without training data there are none for seen and unseen items."""
    documents = [document for document in source.documents.values() if document is not None]
    trained = any(TRAINING_VIEWS[0] in document["views"] for document in documents)
    views = {name: view[2] for name, view in _VIEWS.items() if trained or view[0] not in TRAINING_VIEWS}
    categories = {"categories": "Categories, MWE-based", "categories-token": "Categories, token-based"}
    return {OVERVIEW: "Overview", **views, **categories, DIVERSITY_VIEW: "Diversity"}


def _mean_counts(source: _Source, view: str) -> str:
    """Return how the mean treats languages without a score, according to the signatures of the macro scores."""
    absent = "what is undefined" if view == DIVERSITY_VIEW else "one whose gold has nothing of the kind"
    counts_zero = any("absent:0" in one.signature.split("|") for one in source.scores.values())
    if view == DIVERSITY_VIEW or counts_zero:
        words = f"In the mean, a language that was not submitted counts as 0, and so does {absent}"
    else:
        words = f"In the mean, a language that was not submitted counts as 0, and {absent} is left out"
    if view not in CATEGORIES:
        return f"{words}."
    official = (
        "the divisor is the same for everybody, while the official average leaves out languages where neither gold nor "
        "the prediction has the category"
        if counts_zero
        else "the official average counts it as 0 where the prediction has the category, and leaves it out elsewhere"
    )
    empty = (
        "A cell is empty if neither gold nor the prediction of the language has the category; a category that is "
        "not in any gold has no mean"
    )
    return f"{words}; {official}. {empty}."


def _notes(source: _Source) -> tuple[str, ...]:
    if any("official_views" in document for document in source.documents.values() if document is not None):
        return (
            "Your file has other lemmas than gold. The scores here use the lemmas of gold; the official text report "
            "uses those of your file to decide what is seen, and may differ.",
        )
    return ()


# ------------------------------------------------------------------------------------------------------------ tables


def _table(source: _Source, view: str, titles: Mapping[str, str]) -> Table:
    if view == OVERVIEW:
        return _overview(source, [name for name in titles if name in _VIEWS])
    if view == DIVERSITY_VIEW:
        return _diversity(source)
    if view in CATEGORIES:
        return _categories(source, view)
    return _one_view(source, view)


def _overview(source: _Source, views: Sequence[str]) -> Table:
    columns = [Column(name, _SHORT.get(name, _VIEWS[name][2]), _VIEWS[name][3]) for name in views]

    def row(root: str) -> tuple[Cell, ...]:
        return tuple(source.cell(f"{_VIEWS[name][1]}_f1", root, _VIEWS[name][0], in_heat_map=True) for name in views)

    return _made(source, OVERVIEW, "F1 by language and view, in percent", columns, row, is_heat_map=True)


def _one_view(source: _Source, view: str) -> Table:
    split, basis, title, _ = _VIEWS[view]
    columns = [
        *(Column(part, short, METRICS[f"{basis}_{part}"].description, percent=True) for part, short in _PARTS.items()),
        *(Column(name, title) for name, title in _COUNTS.items()),
    ]

    def row(root: str) -> tuple[Cell, ...]:
        scores = [source.cell(f"{basis}_{part}", root, split) for part in _PARTS]
        return (*scores, *_counts(source.documents.get(root), split, basis))

    what = "MWEs" if basis == MWE_BASED else "tokens of MWEs"
    return _made(source, view, f"{title}: P, R and F1 by language, and numbers of {what}", columns, row)


def _counts(document: Mapping[str, Any] | None, split: str, basis: str) -> tuple[Cell, ...]:
    """Return cells of the counts; empty cells for the macro mean and for languages not submitted."""
    found = None
    if document is not None:
        found = document["all"][basis] if split == ALL else document["views"].get(split)
    return tuple(number_cell(number) for number in found) if found else tuple(Cell() for _ in _COUNTS)


def _categories(source: _Source, view: str) -> Table:
    basis = CATEGORIES[view]
    prefix = f"/{CATEGORY}"
    names = sorted({split.partition(prefix)[2] for _, split in source.scores if prefix in split})
    columns = [Column(f"{CATEGORY}{name}", name) for name in names]

    def cell(root: str, name: str) -> Cell:
        shown = source.cell(f"{basis}_f1", root, f"{CATEGORY}{name}", in_heat_map=True)
        document = source.documents.get(root)
        counts = document["categories"].get(name) if document is not None else None
        if shown.value is None or counts is None:
            return shown
        found, gold, predicted = counts[basis]
        return replace(shown, hint=f"{found:,} right, {gold:,} in gold, {predicted:,} predicted")

    caption = f"{METRICS[f'{basis}_f1'].title} by language and category, in percent"
    return _made(
        source, view, caption, columns, lambda root: tuple(cell(root, name) for name in names), is_heat_map=True
    )


def _diversity(source: _Source) -> Table:
    columns = [Column(name, METRICS[name].title, METRICS[name].description) for name in DIVERSITY]
    caption = "Diversity of the correctly found MWEs, by language"
    return _made(
        source, DIVERSITY_VIEW, caption, columns, lambda root: tuple(source.cell(name, root) for name in DIVERSITY)
    )


def _made(
    source: _Source,
    view: str,
    caption: str,
    columns: Sequence[Column],
    row: Callable[[str], tuple[Cell, ...]],
    *,
    is_heat_map: bool = False,
) -> Table:
    """Return a table with a row per language and, below, the mean over all of them."""
    rows = [
        Row(language.upper(), row(language), "" if document is not None else _NOT_SENT)
        for language, document in source.documents.items()
    ]
    return make_table(
        view,
        caption,
        Column("language", "Language"),
        columns,
        rows,
        totals=[Row("Macro", row(MACRO), "mean")] if source.has_macro else [],
        is_heat_map=is_heat_map,
        sort=source.sort,
        linked=lambda wanted: f"{links.report(source.submission_id, view=view, sort=wanted)}#{view}",
    )
