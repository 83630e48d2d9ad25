"""A submission's scores as a table of splits by metrics, with at most four decimals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.web.html.languages import language_name
from evergold.scoring.task import Metric, Score

#: Nobody compares more digits.
DECIMALS = 4
_MINUS = "\N{MINUS SIGN}"


@dataclass(frozen=True, slots=True)
class ScoreCell:
    """A cell. text: empty without a value, which `reason` explains; both empty: the split has no such score."""

    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class SplitRow:
    """A split of the items. name: as in addresses; title: with language names."""

    name: str
    title: str
    cells: tuple[ScoreCell, ...]


@dataclass(frozen=True, slots=True)
class ScoreTable:
    """The table; metrics: the titles of the columns."""

    metrics: tuple[str, ...]
    rows: tuple[SplitRow, ...]


def score_table(scores: Sequence[Score], metrics: Mapping[str, Metric], precision: int | None) -> ScoreTable:
    """Return splits and metrics in the order of the scores. precision: decimals shown in the phase, None for all."""
    by_place = {(score.split, score.metric): score for score in scores}
    columns = list(dict.fromkeys(score.metric for score in scores))
    decimals = DECIMALS if precision is None else min(DECIMALS, precision)
    return ScoreTable(
        tuple(metrics[name].title if name in metrics else name for name in columns),
        tuple(
            SplitRow(split, split_title(split), tuple(_cell(by_place.get((split, name)), decimals) for name in columns))
            for split in dict.fromkeys(score.split for score in scores)
        ),
    )


def split_title(split: str) -> str:
    """Return `zero-shot · Portuguese` for `zero_shot/pt`."""
    return " · ".join(language_name(part) or part.replace("_", "-") for part in split.split("/"))


def _cell(score: Score | None, decimals: int) -> ScoreCell:
    if score is None:
        return ScoreCell("", "")
    if score.value is None:
        return ScoreCell("", score.reason or "undefined")
    return ScoreCell(f"{score.value:.{decimals}f}".replace("-", _MINUS), "")
