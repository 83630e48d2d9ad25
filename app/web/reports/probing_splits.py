"""The choice of a split of a probing run: language, setting, level, and for embeddings the standardised variant."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from app.base.errors import NotFound
from evergold.scoring.errors import shorten
from evergold.scoring.probing_predictions import STANDARDISED

_DIMENSIONS = ("Language", "Setting", "Level", "Vectors")
_TITLES = {
    "nat": "Naturalistic",
    "neut": "Neutral",
    "sent": "Sentence",
    "nc": "Noun compound",
    "": "As sent",
    STANDARDISED: "Standardised",
}


@dataclass(frozen=True, slots=True)
class Option:
    """A link to the split with another value in this dimension."""

    title: str
    split: str
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class Choice:
    """A dimension to choose."""

    title: str
    options: tuple[Option, ...]


def chosen_split(splits: Sequence[str], wanted: str | None, default: str = "") -> str:
    """Return the requested split, or else the default or the first; raise NotFound for an unknown one."""
    if wanted is None:
        return default if default in splits else splits[0]
    if wanted not in splits:
        raise NotFound(f"There is nothing about '{shorten(wanted)}' here; there is {', '.join(splits)}.")
    return wanted


def choices(splits: Sequence[str], chosen: str) -> tuple[Choice, ...]:
    """Return the links, in the order of the splits; dimensions with a single value are left out."""
    made = []
    for place, title in enumerate(_DIMENSIONS):
        values = sorted({_parts(split)[place] for split in splits}, key=_order)
        if len(values) > 1:
            made.append(Choice(title, tuple(_option(splits, chosen, place, value) for value in values)))
    return tuple(made)


def title_of(split: str) -> str:
    """Return `PT, naturalistic, noun compound, standardised`."""
    language, *others = _parts(split)
    return ", ".join([language.upper(), *(_TITLES.get(part, part).lower() for part in others if part)])


def _option(splits: Collection[str], chosen: str, place: int, value: str) -> Option:
    """Return a link to the split with this value most similar to the chosen one; its title names other changes."""
    here = _parts(chosen)
    with_value = [split for split in splits if _parts(split)[place] == value]
    nearest = max(with_value, key=lambda split: sum(a == b for a, b in zip(_parts(split), here, strict=True)))
    others = [
        _named(number, part)
        for number, (part, now) in enumerate(zip(_parts(nearest), here, strict=True))
        if number != place and part != now
    ]
    title = f"{_named(place, value)} ({', '.join(others)})" if others else _named(place, value)
    return Option(title, nearest, value == here[place])


def _named(place: int, part: str) -> str:
    return part.upper() if place == 0 else _TITLES.get(part, part)


def _order(part: str) -> tuple[int, str]:
    """Return the sort key: settings, levels and variants in their usual order, languages by name."""
    return (list(_TITLES).index(part), "") if part in _TITLES else (-1, part)


def _parts(split: str) -> tuple[str, str, str, str]:
    language, setting, level, *variant = split.split("/")
    return language, setting, level, variant[0] if variant else ""
