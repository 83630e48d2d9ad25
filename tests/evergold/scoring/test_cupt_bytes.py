"""Results with numpy and without it are the same, also where a piece ends."""

from __future__ import annotations

import random
import sys

import numpy as np  # noqa: F401 - the quick way is taken where it is loaded
import pytest

from evergold.scoring.cupt import lines
from evergold.scoring.cupt.lines import count_lines, has_blank_at_an_end


@pytest.mark.parametrize(
    "data", [b"", b"\n", b"a", b"a ", b"a \n", b"a \tb\n", b" a b\n", b"abc \n", b"abcd \n", b"abc\n"]
)
def test_both_ways_say_the_same(data: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "_PIECE_BYTES", 4)
    quick = count_lines(data), has_blank_at_an_end(data)
    monkeypatch.delitem(sys.modules, "numpy")
    assert quick == (count_lines(data), has_blank_at_an_end(data))


def test_both_ways_say_the_same_of_anything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "_PIECE_BYTES", 4)
    chance = random.Random(21)
    files = [bytes(chance.choices(b"aab \t\n", k=chance.randrange(14))) for _ in range(2000)]
    quick = [(count_lines(data), has_blank_at_an_end(data)) for data in files]
    assert {blank for _, blank in quick} == {True, False}
    monkeypatch.delitem(sys.modules, "numpy")
    assert quick == [(count_lines(data), has_blank_at_an_end(data)) for data in files]
