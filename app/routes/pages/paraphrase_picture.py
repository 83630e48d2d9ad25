"""A board of paraphrasing as a picture: BERTScore against the entropy of the new words, a point per system.

Made from the board as its viewer sees it, with the scores that the picture needs as further columns: what the board
hides, the picture does not know. The references' entropies, from a run's report, are the lines to compare with.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.board_rows import Leaderboard, LeaderboardRow
from app.routes.pages.probing_splits import Choice, Option, chosen_split
from app.scatter import Anchor, Kind, Point, Scatter, axis_around
from scoring.paraphrase_languages import BERTSCORE, MACRO
from scoring.settings import ALL
from scoring.task import read_options
from scoring.tasks import TASKS

TASK_TYPE = "mwe-paraphrase"
ENTROPY = "entropy"
NAME = "bertscore-entropy"
TITLE = "BERTScore against entropy"
_KINDS: Mapping[str, Kind] = {"team": "team", "baseline": "baseline", "historic": "published"}
_TITLES = {MACRO: "Mean of the languages", ALL: "All items"}


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a split's scores stand among the cells of a row."""

    bertscore: int
    entropy: int


def scores_drawn(options: Mapping[str, Any]) -> list[tuple[str, str]]:
    """(metric, split) of all that the picture shows of a task with these options: of `macro` and of each language."""
    task = TASKS[TASK_TYPE]
    columns = task.columns(read_options(task, options))
    splits = dict.fromkeys(column.split for column in columns if "/" not in column.split)
    return [
        (metric, split)
        for split in splits
        for metric in (BERTSCORE, ENTROPY)
        if any((column.metric, column.split) == (metric, split) for column in columns)
    ]


def splits_drawn(leaderboard: Leaderboard) -> dict[str, _Place]:
    """The splits in which at least one system has both scores, with their places; the mean first, then by name."""
    known = {(column.metric, column.split): place for place, column in enumerate(leaderboard.columns)}
    found = {}
    for (metric, split), place in known.items():
        if metric == BERTSCORE and "/" not in split and (ENTROPY, split) in known:
            both = _Place(place, known[ENTROPY, split])
            if any(_value(row, both.bertscore) is not None and _value(row, both.entropy) is not None
                   for row in leaderboard.rows):  # fmt: skip
                found[split] = both
    return {split: found[split] for split in sorted(found, key=lambda split: (split != MACRO, split))}


def choose(splits: Sequence[str], wanted: str | None, default: str) -> tuple[str, tuple[Choice, ...]]:
    """The split that is shown, and the links to the others. Raises NotFound for one that is not there."""
    chosen = chosen_split(splits, wanted, default)
    options = tuple(Option("Mean" if one == MACRO else one.upper(), one, one == chosen) for one in splits)
    return chosen, (Choice("Language", options),) if len(options) > 1 else ()


def title_of(split: str) -> str:
    """`Mean of the languages`, or `PT`."""
    return _TITLES.get(split, split.upper())


def draw(
    leaderboard: Leaderboard,
    place: _Place,
    names: Sequence[str],
    references: Mapping[str, Any],
    split: str,
    context: str,
) -> Scatter:
    """The picture of one split. names: of the rows, in their order; references: as reports have them."""
    points = tuple(_point(row, name, place) for row, name in zip(leaderboard.rows, names, strict=True))
    anchors = tuple(_anchors(references, split))
    drawn = [(point.x, point.y) for point in points if point.x is not None and point.y is not None]
    return Scatter(
        name=NAME,
        title=TITLE,
        x=axis_around([*(x for x, _ in drawn), *(anchor.x for anchor in anchors)], "Entropy"),
        y=axis_around([y for _, y in drawn], "BERTScore", decimals=1, scale=100, unit=" %"),
        points=points,
        anchors=anchors,
        context=context,
    )


def _point(row: LeaderboardRow, name: str, place: _Place) -> Point:
    reasons = [row.cells[at].reason for at in (place.bertscore, place.entropy)]
    return Point(
        label=name,
        x=_value(row, place.entropy),
        y=_value(row, place.bertscore),
        kind=_KINDS[row.kind],
        is_mine=row.is_mine,
        reason=next((reason for reason in reasons if reason), ""),
    )


def _anchors(references: Mapping[str, Any], split: str) -> list[Anchor]:
    """Those whose entropy is defined."""
    found = [(kind, (languages.get(split) or {}).get(ENTROPY)) for kind, languages in references.items()]
    return [Anchor(f"{kind.capitalize()} references", entropy) for kind, entropy in found if entropy is not None]


def _value(row: LeaderboardRow, place: int) -> float | None:
    return row.cells[place].value
