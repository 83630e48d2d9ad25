"""The first board of a draft, from checkboxes: metrics, columns, and the column that ranks."""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from app.base.errors import InvalidForm
from app.declarations.revisions.documents import Document
from app.declarations.setup.kinds import metrics_offered
from evergold.scoring.errors import ScoringError
from evergold.scoring.task import Column, read_options
from evergold.scoring.tasks import TASKS

Score = tuple[str, str]
#: Maximum number of columns offered as checkboxes.
MOST_OFFERED = 120


@dataclass(frozen=True, slots=True)
class Offered:
    """A column that the board may have. is_shown: whether it has it now; ranks: whether the column ranks the board."""

    column: Column
    is_shown: bool
    ranks: bool

    @property
    def key(self) -> str:
        """The value of this column in a form."""
        return key_of((self.column.metric, self.column.split))

    @property
    def words(self) -> str:
        """The items that the score covers, if the title does not show that; otherwise ""."""
        if self.column.split.endswith("/mean"):
            return f"every {self.column.split.removesuffix('/mean').lower()} counts the same"
        return "over all items" if self.column.split == "all" else ""


def key_of(score: Score) -> str:
    """Return a score as one text, for forms."""
    return " ".join(score)


def offered(document: Document) -> list[Offered]:
    """Return every column that the first board may have, with its current columns first."""
    shown, rank = shown_scores(document), rank_of(document)
    columns = {(one.metric, one.split): one for one in _columns(document)}
    order = [*(score for score in shown if score in columns), *(score for score in columns if score not in shown)]
    return [Offered(columns[score], score in shown, score == rank) for score in order[:MOST_OFFERED]]


def _columns(document: Document) -> Sequence[Column]:
    task = document["tasks"][0]
    type_ = TASKS.get(task["type"])
    if type_ is None:
        return ()
    try:
        return type_.columns(read_options(type_, task.get("options") or {}))
    except (ScoringError, ValueError, KeyError):
        return ()


def shown_scores(document: Document) -> list[Score]:
    """Return the scores of the first board's columns."""
    return [(one.get("metric", ""), one.get("split", "")) for one in document["boards"][0].get("columns") or []]


def rank_of(document: Document) -> Score:
    """Return the score that ranks the first board."""
    board = document["boards"][0]
    if rank := board.get("rank_by"):
        return rank.get("metric", ""), rank.get("split", "")
    shown = shown_scores(document)
    return shown[0] if shown else ("", "")


def shown_metrics(document: Document) -> list[str]:
    """Return the metrics on the first board, without duplicates, the ranking one first."""
    return list(dict.fromkeys(metric for metric, _ in (rank_of(document), *shown_scores(document)) if metric))


def with_metrics(document: Document, metrics: Collection[str], first: str = "") -> Document:
    """Return a copy whose first board shows these metrics. first: the metric that ranks.

    Each is shown over all items or, if there are groups, over the mean of the groups and each group. Raises
    InvalidForm.
    """
    known = [name for name in metrics_offered(document["tasks"][0]) if name in metrics]
    if not known:
        raise InvalidForm("Please tick a metric.", fields={"metrics": "A board needs at least one metric."})
    if first in known:
        known = [first, *(name for name in known if name != first)]
    there = list(_columns(document))
    columns = [score for metric in known for score in _usual(metric, there)]
    return _with_columns(document, columns, columns[0])


def _usual(metric: str, columns: Sequence[Column]) -> Iterator[Score]:
    """Yield the usual scores of a metric: the mean of groups, and each group; over all items if there are none."""
    own = [one.split for one in columns if one.metric == metric]
    grouped = [split for split in own if "/" in split]
    means = [split for split in grouped if split.endswith("/mean")]
    yield from ((metric, split) for split in (*means, *(one for one in grouped if one not in means)) or own[:1])


def with_columns(document: Document, keys: Sequence[str], rank: str) -> Document:
    """Return a copy whose first board has these columns. rank: key of the one that ranks. Raises InvalidForm."""
    there = {key_of((one.metric, one.split)): (one.metric, one.split) for one in _columns(document)}
    chosen = [there[one.key] for one in offered(document) if one.key in keys]
    if not chosen:
        raise InvalidForm("Please tick a column.", fields={"columns": "A board needs at least one column."})
    if there.get(rank) not in chosen:
        raise InvalidForm("Please choose a column.", fields={"rank": "The board ranks by one of its own columns."})
    return _with_columns(document, chosen, there[rank])


def with_possible_columns(document: Document) -> Document:
    """Return a copy without columns that the task no longer computes, or with the usual ones if none is left.

    If there were no columns of groups before, they are added.
    """
    there = {(one.metric, one.split) for one in _columns(document)}
    shown = [score for score in shown_scores(document) if score in there]
    has_groups = any("/" in split for _, split in there)
    if shown and rank_of(document) in there and (not has_groups or any("/" in split for _, split in shown)):
        return _with_columns(document, shown, rank_of(document))
    metrics = shown_metrics(document) or list(metrics_offered(document["tasks"][0]))[:2]
    return with_metrics(document, metrics, metrics[0] if metrics else "")


def _with_columns(document: Document, columns: Sequence[Score], rank: Score) -> Document:
    changed = copy.deepcopy(document)
    board: dict[str, Any] = changed["boards"][0]
    before = {(one.get("metric"), one.get("split")): one for one in board.get("columns") or []}
    board["columns"] = [before.get(one) or {"metric": one[0], "split": one[1]} for one in columns]
    board.pop("rank_by", None)
    if columns[0] != rank:
        board["rank_by"] = {"metric": rank[0], "split": rank[1]}
    return changed
