"""Two submissions item by item, if the gold of both is declared public: which one is right or closer, and where they
differ.

Nothing is shown that `app.feedback.compare` does not show as a score: viewers who may not see all scores with all
decimals and slices see no items.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from sqlalchemy.orm import Session

from app.feedback.compare import Better, Comparison, better_by
from app.models import Submission
from app.runs.report import results_of
from app.submissions.find import current_run
from evergold.scoring.task import ItemResult
from evergold.scoring.tasks import TASKS

GOLD_HIDDEN = "Item-by-item comparison is off: it would reveal the gold."
SCORES_IN_PART = (
    "Item-by-item comparison is off: scores are shown rounded or in part here, and items would reveal the rest."
)
NOTHING_OF_ITEMS = "Item-by-item comparison is off: this task type has no results for single items."
NOT_KEPT = (
    "{which} has no item results: only submissions scored since their gold was declared public have them. Items can "
    "be compared here once the organisers rescore."
)


class Showing(StrEnum):
    """A selection of items to show."""

    ALL = "all"
    DIFFER = "differ"  # the two predictions differ
    A = "a"  # A is right and B is not, or A is closer
    B = "b"
    WRONG = "wrong"  # both are wrong; only for tasks with right or wrong answers


@dataclass(frozen=True, slots=True)
class ComparedItem:
    """The results of both submissions for an item. better: None if undecided, such as for an item without gold."""

    a: ItemResult
    b: ItemResult
    better: Better | None

    @property
    def differs(self) -> bool:
        """True if the predictions differ; with several answers per item, also if different numbers of them match."""
        return (self.a.predicted, self.a.matched) != (self.b.predicted, self.b.matched)

    def is_shown(self, showing: Showing) -> bool:
        """Return True if the item belongs to this selection."""
        if showing is Showing.ALL:
            return True
        if showing is Showing.DIFFER:
            return self.differs
        if showing is Showing.WRONG:
            return self.a.is_right is False and self.b.is_right is False
        return self.better == showing.value


@dataclass(frozen=True)
class ItemComparison:
    """The items of both submissions.

    rows: in A's order, which is that of the gold.
    left_out: number of items that only one of the two has, or that have different gold.
    hidden_words: why there are no items, or "".
    """

    rows: Sequence[ComparedItem] = ()
    left_out: int = 0
    hidden_words: str = ""

    @cached_property
    def is_right_or_wrong(self) -> bool:
        """True if items are right or wrong, rather than closer or farther."""
        return any(row.a.is_right is not None for row in self.rows)

    @property
    def showings(self) -> Sequence[Showing]:
        """The selections that apply to this task."""
        return [one for one in Showing if one is not Showing.WRONG or self.is_right_or_wrong]

    @cached_property
    def counts(self) -> Mapping[Showing, int]:
        """The number of items in each selection."""
        return {showing: len(self.selected(showing)) for showing in self.showings}

    @property
    def both_right(self) -> int:
        """The number of items that are right in both; 0 for tasks without right or wrong answers."""
        return sum(row.a.is_right is True and row.b.is_right is True for row in self.rows)

    @property
    def equal(self) -> int:
        """The number of comparable items where neither is better."""
        return sum(row.better == "equal" for row in self.rows)

    def selected(self, showing: Showing) -> list[ComparedItem]:
        """Return the items in this selection."""
        return [row for row in self.rows if row.is_shown(showing)]


def compare_items(session: Session, comparison: Comparison) -> ItemComparison:
    """Return the items of two submissions, or the reason why they are hidden. comparison: from `compare`."""
    both = (comparison.a, comparison.b)
    if words := comparison.hidden_words or _hidden_words(comparison, both):
        return ItemComparison(hidden_words=words)
    a, b = (results_of(session, current_run(one).id) for one in both)
    if a is None or b is None:
        which = "Both" if a is None and b is None else "The older one" if a is None else "The newer one"
        return ItemComparison(hidden_words=NOT_KEPT.format(which=which))
    return paired(a, b)


def _hidden_words(found: Comparison, both: Iterable[Submission]) -> str:
    if not all(one.phase_task.gold_is_public for one in both):
        return GOLD_HIDDEN
    if not TASKS[found.a.phase_task.task.task_type].has_item_results:
        return NOTHING_OF_ITEMS
    return "" if found.has_details else SCORES_IN_PART


def paired(a: Sequence[ItemResult], b: Sequence[ItemResult]) -> ItemComparison:
    """Return the items that both have with the same gold, in pairs; items whose gold was corrected in between are left
    out.
    """
    in_a, in_b = _by_name(a), _by_name(b)
    rows = [
        ComparedItem(one, other, _better(one, other))
        for name, one in in_a.items()
        if (other := in_b.get(name)) is not None and other.gold == one.gold
    ]
    return ItemComparison(rows, len(in_a | in_b) - len(rows))


def _by_name(results: Iterable[ItemResult]) -> dict[tuple[str, tuple[str, ...], int], ItemResult]:
    """Return results by item and splits; sentences with the same id are numbered."""
    seen: Counter[tuple[str, tuple[str, ...]]] = Counter()
    found = {}
    for one in results:
        name = (one.item, one.splits)
        found[*name, seen[name]] = one
        seen[name] += 1
    return found


def _better(a: ItemResult, b: ItemResult) -> Better | None:
    if a.is_right is not None and b.is_right is not None:
        return better_by(b.is_right - a.is_right, higher_is_better=True)
    if a.error is None or b.error is None:
        return None
    return better_by(abs(b.error) - abs(a.error), higher_is_better=False)
