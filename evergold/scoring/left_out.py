"""What a table of scores need not say row by row: which parts of a task (settings, languages, …) were not entered."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from evergold.scoring.task import NOT_ENTERED

#: A score's split, value, and reason.
Told = tuple[str, float | None, str | None]


@dataclass(frozen=True, slots=True)
class LeftOut:
    """parts: what was not entered, in few names; rows: the numbers of the scores that say nothing else."""

    parts: tuple[str, ...]
    rows: frozenset[int]


def left_out(scores: Sequence[Told]) -> LeftOut:
    """The scores that say nothing but "not entered", and the names that say the same at once.

    A name stands for all splits that are it or go on from it (`one_shot`, `en/nat`), `…/standardised` for all that end
    so; none of these has a value.
    """
    with_values = {prefix for split, value, _ in scores if value is not None for prefix in _prefixes(split)}
    parts: dict[str, None] = {}
    rows = set()
    for number, (split, _, reason) in enumerate(scores):
        name = next((prefix for prefix in _prefixes(split) if prefix not in with_values), None)
        if reason == NOT_ENTERED and name is not None:
            parts[name] = None
            rows.add(number)
    return LeftOut(tuple(dict.fromkeys(_by_endings(parts, with_values))), frozenset(rows))


def _prefixes(split: str) -> list[str]:
    """`en`, `en/nat`, `en/nat/sent`."""
    parts = split.split("/")
    return ["/".join(parts[: number + 1]) for number in range(len(parts))]


def _by_endings(parts: Iterable[str], with_values: Iterable[str]) -> Iterable[str]:
    """An ending that several parts have, and nothing with a value, says it for all of them."""
    endings = [part.rpartition("/")[2] for part in parts if "/" in part]
    used = {name.rpartition("/")[2] for name in with_values}
    for part in parts:
        start, _, ending = part.rpartition("/")
        yield f"…/{ending}" if start and endings.count(ending) > 1 and ending not in used else part
