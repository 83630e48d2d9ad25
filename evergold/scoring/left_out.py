"""Parts of a task (settings, languages, …) that were not entered, so that tables need not list their scores."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from evergold.scoring.task import NOT_ENTERED

#: Split, value and reason of a score.
Told = tuple[str, float | None, str | None]


@dataclass(frozen=True, slots=True)
class LeftOut:
    """The parts that were not entered, in few names, and the indices of the scores that the names cover."""

    parts: tuple[str, ...]
    rows: frozenset[int]


def left_out(scores: Sequence[Told]) -> LeftOut:
    """Return which scores are undefined only because their split was not entered, and names that cover these splits.

    A name such as `one_shot` or `en/nat` covers the split of this name and all below it; `…/standardised` covers all
    splits with this ending. No covered split has a value.
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
    """Return the prefixes of a split, such as `en`, `en/nat`, `en/nat/sent`."""
    parts = split.split("/")
    return ["/".join(parts[: number + 1]) for number in range(len(parts))]


def _by_endings(parts: Iterable[str], with_values: Iterable[str]) -> Iterable[str]:
    """Replace parts that share their ending by `…/ENDING`, if no split with a value has this ending."""
    endings = [part.rpartition("/")[2] for part in parts if "/" in part]
    used = {name.rpartition("/")[2] for name in with_values}
    for part in parts:
        start, _, ending = part.rpartition("/")
        yield f"…/{ending}" if start and endings.count(ending) > 1 and ending not in used else part
