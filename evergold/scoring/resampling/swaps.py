"""Differences of two systems after swapping them in some units, for many pairs at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from evergold.scoring.resampling.draws import Draws
from evergold.scoring.resampling.parts import Floats, Name, Sums, all_labels
from evergold.scoring.resampling.sample import Sample

#: Two of n systems, by their numbers.
Pair = tuple[int, int]
#: This many numbers are processed at a time: they fit into the processor's cache.
_AT_ONCE = 1 << 18


class NotComparable(ValueError):
    """The systems were not scored on the same units, or not in the same way."""


def swapped_differences(samples: Sequence[Sample], pairs: Sequence[Pair], draws: Draws) -> dict[Name, Floats]:
    """Return for every score pairs × resamples differences, the second's minus the first's, NaN where one is undefined.

    samples: with the same scores, as `Sample.only` returns them. Raises NotComparable if they follow from different
    sums.
    """
    frame, systems = _alike(samples)
    totals = [np.stack([part.totals(np.ones((1, len(frame.units)))) for part in of_part]) for of_part in systems]
    found = {name: np.empty((len(pairs), draws.resamples)) for name in frame.names if name not in frame.constant}
    start = 0
    for swaps in draws.swaps():
        moved = [np.stack([part.totals(swaps) for part in of_part]) for of_part in systems]
        width = len(swaps) * sum(of_part.shape[-1] for of_part in moved)
        step = max(1, _AT_ONCE // max(width, 1))
        for block in range(0, len(pairs), step):
            differences = _of_block(frame, totals, moved, pairs[block : block + step])
            for name, values in differences.items():
                found[name][block : block + step, start : start + len(swaps)] = values
        start += len(swaps)
    return found


def _alike(samples: Sequence[Sample]) -> tuple[Sample, list[list[Sums]]]:
    """Return a sample whose arithmetic all samples share, and for each part the sums of every system."""
    if len({len(sample.parts) for sample in samples}) != 1:
        raise NotComparable("the systems do not have the same scores")
    by_part = []
    for parts in zip(*(sample.parts for sample in samples), strict=True):
        sums = [part.sums() for part in parts]
        if sums[0].kinds_by_label:
            keys = all_labels(sums)
            sums = [one.widened(keys) for one in sums]
        if not all(one.is_like(sums[0]) for one in sums):
            raise NotComparable(f"the systems were not scored in the same way: {', '.join(sums[0].names[0])}")
        by_part.append(sums)
    first = samples[0]
    frame = Sample(first.units, tuple(sums[0] for sums in by_part), first.derived, first.constant, first.hidden)
    return frame, by_part


def _of_block(
    frame: Sample, totals: Sequence[Floats], moved: Sequence[Floats], pairs: Sequence[Pair]
) -> dict[Name, Floats]:
    """Return the differences of some pairs under some swaps: pairs × resamples.

    totals: for each part, systems × 1 × sums; moved: for each part, every system's sums over its swapped units, systems
    × resamples × sums.
    """
    first, second = (np.array(side, dtype=np.intp) for side in zip(*pairs, strict=True))
    exchanged = [of_part[second] - of_part[first] for of_part in moved]
    a = _scores(frame, [of_part[first] + gain for of_part, gain in zip(totals, exchanged, strict=True)])
    b = _scores(frame, [of_part[second] - gain for of_part, gain in zip(totals, exchanged, strict=True)])
    return {name: b[name] - a[name] for name in a if name not in frame.constant}


def _scores(frame: Sample, totals: Sequence[Floats]) -> dict[Name, Floats]:
    values = [part.sums().scores(sums) for part, sums in zip(frame.parts, totals, strict=True)]
    return frame.finish(values, totals[0].shape[:-1])
