"""An interval for every score of a run, by the method that suits its range (decision 032)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from evergold.scoring.resampling.jackknife import Jackknife
from evergold.scoring.resampling.methods import METHODS, Evidence
from evergold.scoring.resampling.parts import Floats, Name
from evergold.scoring.resampling.sample import Sample
from evergold.scoring.task import Metric

LEVEL = 0.95
#: Increased whenever an interval could change; part of `Interval.method`.
VERSION = 2

#: The methods that have an interval for a score that no unit moves, by the method that a metric usually has.
AT_REST = {"logit-t": "score-t", "wilson": "wilson"}

CONSTANT = "it does not depend on which items there are"
UNDEFINED = "the score is undefined"
TOO_FEW = "it rests on fewer than two {}s"
NOT_WITHOUT = "the score is undefined without some {}s, {} of {} times"
NOT_MOVED = "it is the same without any {}: they do not show how far other {}s would move it"
#: Units that move a score by less than this share of it do so by rounding, also of vectors with 32 bits.
_STILL = 1e-7


@dataclass(frozen=True, slots=True)
class Interval:
    """An interval that would contain the score on other items of this kind `level` of the time; method: its
    computation.
    """

    low: float
    high: float
    level: float
    method: str


def method_for(low: float | None, high: float | None, *, is_share: bool = False) -> str:
    """Return the name in `methods.METHODS` of the method for a metric of this range.

    is_share: see `Metric`.
    """
    if (low, high) == (0, 1):
        return "wilson" if is_share else "logit-t"
    if low is not None and high == -low:
        return "atanh-t"
    return "log-t" if low == 0 and high is None else "t"


def intervals(sample: Sample, metrics: Mapping[str, Metric], level: float = LEVEL) -> dict[Name, Interval | str]:
    """Return for every score of the sample an interval, or the reason why it has none. Nothing is random.

    metrics: of the task type, by name. Raises MissingPackage if scipy is not installed.
    """
    jackknife, sizes, values = Jackknife(sample.units), sample.sizes(), sample.scores()
    without = jackknife.values(sample)
    found: dict[Name, Interval | str] = {}
    for name, value in values.items():
        metric = metrics[name[0]]
        if not metric.has_interval or name not in sizes:
            found[name] = CONSTANT
        elif value is None:
            found[name] = UNDEFINED
        else:
            found[name] = _interval(jackknife, metric, value, without[name], sizes[name], level)
    return found


def _interval(
    jackknife: Jackknife, metric: Metric, value: float, without: Floats, size: int, level: float
) -> Interval | str:
    kind = jackknife.units.kind
    if size < 2:
        return TOO_FEW.format(kind)
    if undefined := int(np.isnan(without).sum()):
        return NOT_WITHOUT.format(kind, undefined, len(without))
    method = method_for(metric.minimum, metric.maximum, is_share=metric.is_share)
    moves = jackknife.influences(without)
    if _is_still(value, without, moves):
        # Between 0 and 1 nothing varies more than a share does; without two ends it could be anything.
        if method not in AT_REST:
            return NOT_MOVED.format(kind, kind)
        method, moves = AT_REST[method], np.zeros_like(moves)
    degrees = min(jackknife.degrees, size - 1)
    evidence = Evidence(value, moves, degrees, size, low=metric.minimum, high=metric.maximum)
    low, high = METHODS[method](evidence, level)
    # Rounding must not put the score outside its own interval.
    return Interval(min(low, value), max(high, value), level, _signed(method, jackknife, size))


def _is_still(value: float, without: Floats, moves: Floats) -> bool:
    """Return whether the score stays the same without any group of units, except for rounding errors."""
    far = float(np.abs(moves).max(initial=0.0)) * max(len(moves) - 1, 1)
    return far <= _STILL * max(abs(value), float(np.abs(without).max(initial=0.0)))


def _signed(method: str, jackknife: Jackknife, size: int) -> str:
    """Return a signature like `jackknife-logit-t:1|units:sentence,1200|within:strata`."""
    parts = [f"jackknife-{method}:{VERSION}", f"units:{jackknife.units.kind},{size}"]
    return "|".join([*parts, "within:strata"] if jackknife.units.strata is not None else parts)
