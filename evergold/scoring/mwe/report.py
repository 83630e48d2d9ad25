"""The compact report of identified MWEs (counts per language), and the official PARSEME evaluator's text made from it.

The official text needs only the counts, so a page can offer it without gold.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from evergold.scoring.diversity import Diversity
from evergold.scoring.mwe.counts import (
    ALL,
    CATEGORY,
    MWE_BASED,
    TOKEN_BASED,
    TRAINING_VIEWS,
    UNLABELED,
    VIEWS,
    Cell,
    Counts,
)

_CONTINUITY = (("continuous", "Continuous"), ("discontinuous", "Discontinuous"))
_LENGTH = (("multi_token", "Multi-token"), ("single_token", "Single-token"))
_SEEN = (("seen", "Seen-in-train"), ("unseen", "Unseen-in-train"))
_VARIANT = (("variant", "Variant-of-train"), ("identical", "Identical-to-train"))


def language_report(
    counts: Mapping[Cell, Counts],
    diversity: Diversity,
    *,
    with_training: bool,
    official: Mapping[Cell, Counts] | None = None,
) -> dict[str, Any]:
    """Return the document of one language, for JSON, a few hundred bytes. A cell is `[found, gold, predicted]`, see
    `Counts`.

    `{"all": {"mwe": cell, "token": cell}, "views": {view: cell}, "categories": {name: {"mwe": cell, "token": cell}},
    "diversity": {…}}`; views are MWE-based, those that compare with training data are included only `with_training`.
    official: the counts by the prediction's own lemmas; where they differ, `"official_views"` contains these cells.
    """
    shown = [view for view in VIEWS if with_training or view not in TRAINING_VIEWS]
    names = [
        split.removeprefix(CATEGORY) for split, basis in counts if split.startswith(CATEGORY) and basis == MWE_BASED
    ]
    document = {
        "all": _both(counts, ALL),
        "views": {view: _cell(counts, view) for view in shown},
        "categories": {name: _both(counts, CATEGORY + name) for name in sorted(names, key=_official_name)},
        "diversity": diversity._asdict(),
    }
    if official is not None:
        differing = {view: _cell(official, view) for view in shown if _cell(official, view) != _cell(counts, view)}
        if differing:
            document["official_views"] = differing
    return document


def official_text(document: Mapping[str, Any]) -> str:
    """Return the official evaluator's output for one language, line by line. document: from `language_report`.

    The parts that compare with training data are left out if there is none. Source: the evaluator of PARSEME 1.1 to
    2.0; for training data without any MWE, this is the output of 2.0 (1.1 leaves the parts out).
    """
    views = {**document["views"], **document.get("official_views", {})}
    whole = Counts(*document["all"][MWE_BASED])
    lines = ["## Global evaluation", *_scores("", document["all"]), ""]
    lines += ["## Per-category evaluation (partition of Global)"]
    for name, cells in document["categories"].items():
        lines += [_proportion(name, Counts(*cells[MWE_BASED]), whole), *_scores(f"{name}: ", cells)]
    lines += ["", "## MWE continuity (partition of Global)", *_partition(_CONTINUITY, views, whole)]
    lines += ["", "## Number of tokens (partition of Global)", *_partition(_LENGTH, views, whole)]
    if "seen" in views:
        lines += ["", "## Whether seen in train (partition of Global)", *_partition(_SEEN, views, whole)]
        seen = Counts(*views["seen"])
        lines += ["", "## Whether identical to train (partition of Seen-in-train)", *_partition(_VARIANT, views, seen)]
    return "\n".join(lines)


def _both(counts: Mapping[Cell, Counts], split: str) -> dict[str, list[float]]:
    return {basis: _cell(counts, split, basis) for basis in (MWE_BASED, TOKEN_BASED)}


def _cell(counts: Mapping[Cell, Counts], split: str, basis: str = MWE_BASED) -> list[float]:
    return list(counts.get((split, basis), Counts()))


def _official_name(category: str) -> str:
    """Return the category's name in the official report, by which the report also sorts; the text `None` if there is no
    category.
    """
    return "None" if category == UNLABELED else category


def _partition(titles: tuple[tuple[str, str], ...], views: Mapping[str, Any], whole: Counts) -> Iterator[str]:
    for view, title in titles:
        yield _proportion(title, Counts(*views[view]), whole)
        yield _line(f"{title}: MWE-based", Counts(*views[view]))


def _scores(prefix: str, cells: Mapping[str, Any]) -> tuple[str, str]:
    mwes, tokens = Counts(*cells[MWE_BASED]), Counts(*cells[TOKEN_BASED])
    return _line(f"{prefix}MWE-based", mwes), _line(f"{prefix}Tok-based", tokens)


def _line(title: str, counts: Counts) -> str:
    found, gold, predicted = counts
    precision, recall = f"P={found}/{predicted}={counts.precision:.4f}", f"R={found}/{gold}={counts.recall:.4f}"
    return f"* {title}: {precision} {recall} F={counts.f1:.4f}"


def _proportion(title: str, part: Counts, whole: Counts) -> str:
    gold, predicted = part.gold / (whole.gold or 1), part.predicted / (whole.predicted or 1)
    return (
        f"* {title}: MWE-proportion: gold={part.gold}/{whole.gold}={gold:.0%} "
        f"pred={part.predicted}/{whole.predicted}={predicted:.0%}"
    )
