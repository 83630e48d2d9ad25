"""Krippendorff's alpha, against the values that Krippendorff prints and against the formula by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from evergold.scoring.agreement import ALL_EQUAL, NOTHING_SHARED, ONE_ANNOTATOR, ordinal_alpha

#: Krippendorff 2011, Computing Krippendorff's Alpha-Reliability, section C: four observers, twelve units, 1 to 5.
#: He prints alpha 0.815 for ordinal data.
OBSERVERS = {
    "A": [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    "B": [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
    "C": [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
    "D": [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
}


def units(observers: Mapping[str, Sequence[int | None]]) -> list[dict[str, int]]:
    """Return the marks by unit instead of by observer."""
    length = len(next(iter(observers.values())))
    return [
        {name: mark for name, marks in observers.items() if (mark := marks[place]) is not None}
        for place in range(length)
    ]


def test_krippendorffs_own_example() -> None:
    found = ordinal_alpha(units(OBSERVERS), highest=5)
    assert found.alpha == pytest.approx(0.815, abs=5e-4)
    assert found.reason is None
    assert found.units == 11  # the twelfth was judged by one observer


def test_two_annotators_by_hand() -> None:
    """Marks 0 0 1 3 and 0 1 1 3: of 8 values three are 0, three 1, two 3 (n = 3, 3, 2; 2 does not occur).

    Ordinal distances, (sum of the counts from one value to the other, less half of both ends)²:
      0-1: (6 - 3)² = 9;   0-3: (8 - 2.5)² = 30.25;   1-3: (5 - 2.5)² = 6.25
    Observed: one unit disagrees, 0 against 1, twice in the coincidence matrix: 2·9 / 8 = 2.25
    Expected: 2·(3·3·9 + 3·2·30.25 + 3·2·6.25) / (8·7) = 2·(81 + 181.5 + 37.5) / 56 = 600 / 56
    Alpha: 1 - 2.25 / (600/56) = 1 - 126/600 = 0.79
    """
    found = ordinal_alpha(units({"anna": [0, 0, 1, 3], "ben": [0, 1, 1, 3]}), highest=3)
    assert found.alpha == pytest.approx(0.79, abs=1e-12)


def test_all_agree() -> None:
    assert ordinal_alpha(units({"anna": [0, 1, 2, 3], "ben": [0, 1, 2, 3]}), highest=3).alpha == pytest.approx(1)


def test_opposite_marks_are_worse_than_chance() -> None:
    found = ordinal_alpha(units({"anna": [0, 3, 0, 3], "ben": [3, 0, 3, 0]}), highest=3).alpha
    assert found is not None
    assert found < 0


def test_neither_the_order_of_units_nor_who_is_who_matters() -> None:
    one = ordinal_alpha(units({"anna": [0, 0, 1, 3], "ben": [0, 1, 1, 3]}), highest=3)
    other = ordinal_alpha(units({"x": [3, 1, 1, 0], "y": [3, 1, 0, 0]}), highest=3)
    assert one.alpha == pytest.approx(other.alpha)


@pytest.mark.parametrize(
    ("ratings", "reason", "shared"),
    [
        ([], ONE_ANNOTATOR, 0),
        ([{"anna": 1}, {"anna": 2}], ONE_ANNOTATOR, 0),
        ([{"anna": 1}, {"ben": 2}], NOTHING_SHARED, 0),
        ([{"anna": 2, "ben": 2}, {"anna": 2, "ben": 2}], ALL_EQUAL, 2),
        ([{"anna": 2, "ben": 2}, {"anna": 0}], ALL_EQUAL, 1),  # what one alone said is not paired
    ],
)
def test_undefined_cases_are_told(ratings: list[dict[str, int]], reason: str, shared: int) -> None:
    found = ordinal_alpha(ratings, highest=3)
    assert (found.alpha, found.reason, found.units) == (None, reason, shared)


@pytest.mark.parametrize("mark", [-1, 4])
def test_a_mark_outside_the_scale_is_our_mistake(mark: int) -> None:
    with pytest.raises(ValueError, match="from 0 to 3"):
        ordinal_alpha([{"anna": mark, "ben": 0}], highest=3)
