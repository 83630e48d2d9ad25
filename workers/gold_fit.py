"""Comparison of gold and blind items, reported without names that only gold has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evergold.scoring.errors import InvalidItems, Problem, shorten
from evergold.scoring.task import AnyTask, Options
from workers.gold import OpenGold, items_in_storage

#: Number of names that a message quotes.
QUOTED = 3


def items_misfits(task: AnyTask, options: Options, opened: OpenGold, items_sha256: str | None) -> list[Problem]:
    """List how gold differs from the blind items of its phase, if it has any."""
    if items_sha256 is None or task.demands is None:
        return []
    try:
        items = task.demands(items_in_storage(task, options, items_sha256))
    except InvalidItems as invalid:
        return [Problem("bad-items", f"the blind items cannot be read: {invalid}")]
    demanded = task.demands(task.items_of(opened.content, options))
    return misfits(items, demanded) if demanded else []


def misfits(items: Mapping[str, object], gold: Mapping[str, object]) -> list[Problem]:
    """List the differences. items, gold: the demands of each, by name, as from `Task.demands`."""
    only_gold = sum(name not in items for name in gold)
    only_items = [name for name in items if name not in gold]
    other = [name for name in items if name in gold and items[name] != gold[name]]
    problems = []
    if only_gold:
        problems.append(Problem("unknown-item", f"it has {only_gold} that the blind items do not have"))
    if only_items:
        words = f"it lacks {len(only_items)} that the blind items have: {_quoted(only_items)}"
        problems.append(Problem("missing-item", words))
    if other:
        words = f"{len(other)} are about something else than in the blind items: {_quoted(other)}"
        problems.append(Problem("other-item", words))
    return problems


def _quoted(names: Sequence[str]) -> str:
    more = f" and {len(names) - QUOTED} more" if len(names) > QUOTED else ""
    return ", ".join(f"'{shorten(name)}'" for name in names[:QUOTED]) + more
