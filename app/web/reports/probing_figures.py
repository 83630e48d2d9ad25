"""Figures of probing runs, from the aggregates of their reports, and the choice of a split for them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.base.errors import NotFound
from app.charts.distribution import SHARES, Distribution, Figure, Histogram, Marker, Row, axis_ends
from evergold.figures.svg import number_text
from evergold.scoring.errors import shorten
from evergold.scoring.probing.human_scores import CLASSES
from evergold.scoring.probing.predictions import STANDARDISED
from evergold.scoring.probing.report import SMALLEST_CLASS

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
    """A value of a dimension, linked to the split with this value that is most similar to the current one."""

    title: str
    split: str
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class Choice:
    """A dimension of the splits, with its options."""

    title: str
    options: tuple[Option, ...]


def chosen_split(splits: Sequence[str], wanted: str | None, default: str = "") -> str:
    """Return the requested split, or else the default or the first; raise NotFound for an unknown one."""
    if wanted is None:
        return default if default in splits else splits[0]
    if wanted not in splits:
        raise NotFound(f"There is no figure for '{shorten(wanted)}'; there are figures for {', '.join(splits)}.")
    return wanted


def choices(splits: Sequence[str], chosen: str) -> tuple[Choice, ...]:
    """Return the links to other splits, by dimension; dimensions with a single value are left out."""
    made = []
    for place, title in enumerate(_DIMENSIONS):
        values = sorted({_parts(split)[place] for split in splits}, key=_order)
        if len(values) > 1:
            made.append(Choice(title, tuple(_option(splits, chosen, place, value) for value in values)))
    return tuple(made)


def title_of(split: str) -> str:
    """Return the title of a split, such as `PT, naturalistic, noun compound, standardised`."""
    language, *others = _parts(split)
    return ", ".join([language.upper(), *(_TITLES.get(part, part).lower() for part in others if part)])


def _option(splits: Collection[str], chosen: str, place: int, value: str) -> Option:
    """Return a link to the most similar split with this value; its title names other differences."""
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
    """Return the sort key of a part: settings, levels and variants in their usual order, languages by name."""
    return (list(_TITLES).index(part), "") if part in _TITLES else (-1, part)


def _parts(split: str) -> tuple[str, str, str, str]:
    language, setting, level, *variant = split.split("/")
    return language, setting, level, variant[0] if variant else ""


#: A report's aggregates of one split.
Aggregates = Mapping[str, Any]
#: A system's name, and its aggregates.
System = tuple[str, Aggregates]

PROBES = {
    "sim_syn": "Syn: the gold synonym",
    "sim_head": "Head: only the head is kept",
    "sim_modifier": "Modifier: only the modifier is kept",
    "sim_comp": "Comp: the closer of the two",
    "sim_wordssyn": "WordsSyn: synonyms of both words",
    "sim_rand": "Rand: five random compounds",
}
AFFINITIES = {
    "affinity_syn_rand": ("affinity-rand", "A(Syn|Rand): the synonym against random compounds"),
    "affinity_syn_wordssyn": ("affinity-wordssyn", "A(Syn|WordsSyn): the synonym against the words' synonyms"),
}
COMPARED = ("sim_syn", "sim_comp", "sim_wordssyn", "sim_rand")

_COSINE, _AFFINITY = "cosine similarity with the original", "affinity"
_MARKERS: tuple[Marker, ...] = ("circle", "square", "triangle")
_NO_IDEAL = "no single ideal"


def probes_figure(split: Aggregates, ideals: Mapping[str, float], context: str) -> Figure:
    """Return the distribution of every probe's similarity in one run, with the ideal if there is one."""
    rows = tuple(
        Row(title, (_distribution(split["probes"][name]),), _ideal(name, ideals), _NO_IDEAL)
        for name, title in PROBES.items()
        if name in split["probes"]
    )
    return _figure("probes", f"Similarity by probe, {split['compounds']} compounds", _COSINE, rows, (0.0, 1.0), context)


def class_figures(split: Aggregates, ideals: Mapping[str, float], context: str) -> list[Figure]:
    """Return figures of both affinities by idiomaticity class, for one run."""
    figures = []
    for measure, (name, title) in AFFINITIES.items():
        rows = tuple(
            Row(
                f"{class_.capitalize()} ({found['compounds']} compounds)",
                (_distribution(found["affinity"][measure]),) if measure in found["affinity"] else (),
                _ideal(measure, ideals) if measure in found["affinity"] else None,
                "" if measure in found["affinity"] else f"fewer than {SMALLEST_CLASS}",
            )
            for class_, found in _classes(split)
        )
        figures.append(_figure(name, title, _AFFINITY, rows, (-0.25, 1.0), context))
    return figures


def compared_figures(systems: Sequence[System], ideals: Mapping[str, float], context: str) -> list[Figure]:
    """Return figures of the systems on a board: similarities by probe, then affinities by class."""
    figures = []
    for measure in COMPARED:
        rows = tuple(
            Row(name, (_distribution(split["probes"][measure], with_ridge=False),), _ideal(measure, ideals))
            for name, split in systems
        )
        figures.append(_figure(measure.replace("_", "-"), PROBES[measure], _COSINE, rows, (0.0, 1.0), context))
    for measure, (name, title) in AFFINITIES.items():
        rows = tuple(Row(system, _by_class(split, measure), _ideal(measure, ideals)) for system, split in systems)
        figures.append(_figure(name, title, _AFFINITY, rows, (-0.25, 1.0), context, legend=True))
    return figures


def _figure(
    name: str,
    title: str,
    axis: str,
    rows: tuple[Row, ...],
    ends: tuple[float, float],
    context: str,
    *,
    legend: bool = False,
) -> Figure:
    low, high = axis_ends(rows, *ends)
    keys = tuple(zip(_MARKERS, CLASSES, strict=True)) if legend else ()
    return Figure(name, title, _in_words(rows), axis, rows, low, high, keys, context)


def _by_class(split: Aggregates, measure: str) -> tuple[Distribution, ...]:
    found = dict(_classes(split))
    return tuple(
        _distribution(found[name]["affinity"][measure], with_ridge=False, label=name, marker=marker)
        for name, marker in zip(CLASSES, _MARKERS, strict=True)
        if name in found and measure in found[name]["affinity"]
    )


def _classes(split: Aggregates) -> Iterable[tuple[str, Aggregates]]:
    return [(name, split["classes"][name]) for name in CLASSES if name in split["classes"]]


def _distribution(
    found: Aggregates, *, with_ridge: bool = True, label: str = "", marker: Marker = "circle"
) -> Distribution:
    quantiles = [found["quantiles"].get(str(share)) for share in SHARES]
    histogram = found["histogram"]
    return Distribution(
        quantiles=tuple(quantiles) if None not in quantiles else (),
        mean=found["mean"],
        histogram=Histogram(histogram["low"], histogram["high"], tuple(histogram["counts"])) if with_ridge else None,
        label=label,
        marker=marker,
    )


def _ideal(measure: str, ideals: Mapping[str, float]) -> float | None:
    """Return the ideal value of a measure from the report; for random compounds it is derived: A(Syn|Rand) is Sim(Syn)
    - Sim(Rand).
    """
    if measure == "sim_rand" and {"sim_syn", "affinity_syn_rand"} <= set(ideals):
        return ideals["sim_syn"] - ideals["affinity_syn_rand"]
    return ideals.get(measure)


def _in_words(rows: Sequence[Row]) -> str:
    sentences = []
    for row in rows:
        means = [
            f"{f'{one.label} ' if one.label else ''}{number_text(one.mean)}"
            for one in row.distributions
            if one.mean is not None
        ]
        ideal = f" (ideal {number_text(row.ideal)})" if row.ideal is not None else ""
        sentences.append(f"{row.label}: mean {', '.join(means)}{ideal}" if means else f"{row.label}: {row.remark}")
    return ". ".join(sentences) + "."
