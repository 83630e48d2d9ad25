"""Digits and ends of intervals that were planted in hidden scores, and checks whether a number in an answer is one."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import combinations

from tests.leaks.place import Hidden

Tells = Callable[[str], bool]

#: Nothing is declared of digits and slices, so hidden gold gives the usual ones.
USUAL = {"precision": None, "slices": None}
#: Every score, mean and difference of these has a fifth decimal that rounding to four takes away.
DIGITS: Hidden = {"alpha": (0.61404321, 0.51404654), "beta": (0.61402579, 0.51402642), "gamma": (0.20001912, None)}
#: Scores that four decimals tell apart, and so the ends of their intervals.
ENDS: Hidden = {"alpha": (0.61404321, 0.51407654), "beta": (0.72313579, 0.54328642), "gamma": (0.45678912, 0.12345678)}
_NUMBER = re.compile(r"\d+\.\d{3,}")


def telling(text: str, tells: Tells) -> list[str]:
    """Return the first number that reveals something, in a list; [] if none does."""
    return [number for number in _NUMBER.findall(text) if tells(number)][:1]


def is_digit_of(planted: Hidden) -> Tells:
    """Return a check whether a number, as a fraction or in percent, is within four decimals of a planted score."""
    values, ends = _values(planted), _ends(planted)
    differences = [abs(one - other) for one, other in combinations(values, 2)]
    truths = [one for one in (*values, *ends, *differences) if abs(round(one, 4) - one) > 5e-6]

    def tells(number: str) -> bool:
        decimals = len(number.partition(".")[2])
        read = [float(number)] if decimals > 4 else []
        read.append(float(number) / 100)
        return any(abs(one - truth) < abs(round(truth, 4) - truth) / 2 for one in read for truth in truths)

    return tells


def is_end_of(planted: Hidden) -> Tells:
    """Return a check whether a number, as a fraction or in percent, is an end of an interval in four
    decimals or more.
    """
    ends = _ends(planted)

    def tells(number: str) -> bool:
        decimals = len(number.partition(".")[2])
        read = [(float(number), decimals), (float(number) / 100, decimals + 2)]
        return any(shown >= 4 and abs(one - end) < 0.6e-4 for one, shown in read for end in ends)

    return tells


def _values(planted: Hidden) -> list[float]:
    return [one for of in planted.values() if of for one in (*of, sum(end or 0.0 for end in of) / 2) if one]


def _ends(planted: Hidden) -> list[float]:
    """Return the ends of intervals that `place` plants."""
    return [end for one in _values(planted) for end in (one * 0.97, one * 0.99 + 0.01)]
