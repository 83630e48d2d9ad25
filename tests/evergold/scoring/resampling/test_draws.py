"""Draws of units: as many as there are, within their strata, and the same on every machine for ever."""

from __future__ import annotations

import hashlib

import numpy as np

from evergold.scoring.resampling.draws import CHUNK, Draws
from evergold.scoring.resampling.units import Units, group_items


def units(n: int) -> Units:
    return Units(tuple(map(str, range(n))))


def test_draws_are_those_that_the_bits_of_philox_give_on_every_machine() -> None:
    draws = Draws(units(8), "0" * 64, 3)
    assert draws.seed == "7ca227d548dcda2d", "sha256 of 1: and 64 zeros begins so"
    [weights] = draws.weights()
    [swaps] = draws.swaps()
    # Each draws a unit by the high half of 8 · word, words being the low, then the high half of what Philox gives.
    words = words_of(draws.seed, "bootstrap", 24)
    chosen = [8 * word >> 32 for word in words]
    counts = [[chosen[8 * row : 8 * row + 8].count(unit) for unit in range(8)] for row in range(3)]
    assert weights.astype(int).tolist() == counts
    assert counts[0] == [1, 1, 1, 2, 0, 2, 0, 1], "for ever"
    bits = [[word >> unit & 1 for unit in range(8)] for word in words_of(draws.seed, "swap", 3)]
    assert swaps.astype(int).tolist() == bits


def words_of(seed: str, purpose: str, number: int) -> list[int]:
    key = hashlib.sha256(f"{seed}:{purpose}:0".encode()).digest()[:16]
    raw = np.random.Philox(key=int.from_bytes(key, "little")).random_raw(-(-number // 2))
    return [int(one) >> shift & 0xFFFFFFFF for one in raw for shift in (0, 32)][:number]


def test_another_digest_draws_otherwise_and_more_resamples_begin_alike() -> None:
    first = np.concatenate(list(Draws(units(40), "a", CHUNK + 10).weights()))
    longer = np.concatenate(list(Draws(units(40), "a", CHUNK + 60).weights()))
    other = np.concatenate(list(Draws(units(40), "b", CHUNK + 10).weights()))
    assert first.shape == (CHUNK + 10, 40)
    assert (longer[: len(first)] == first).all()
    assert not (other == first).all()
    assert not (first[:10] == first[CHUNK : CHUNK + 10]).all(), "every chunk has a key of its own"


def test_every_resample_has_as_many_units_as_there_are_and_so_has_every_stratum() -> None:
    strata = np.array([0, 1, 1, 0, 2, 1, 0, 0, 1, 1])
    weights = np.concatenate(list(Draws(Units(tuple("abcdefghij"), strata), "x", 300).weights()))
    for number, size in ((0, 4), (1, 5), (2, 1)):
        assert (weights[:, strata == number].sum(axis=1) == size).all()


def test_every_unit_is_drawn_equally_often_and_swapped_half_the_times() -> None:
    draws = Draws(units(7), "even", 20_000)
    weights = np.concatenate(list(draws.weights()))
    # How often a unit is drawn is binomial: its mean over 20,000 resamples has a standard error of 0.0065.
    assert np.abs(weights.mean(axis=0) - 1).max() < 0.03
    assert np.abs(weights.var(axis=0) - 6 / 7).max() < 0.05
    swaps = np.concatenate(list(draws.swaps()))
    assert set(np.unique(swaps)) == {0.0, 1.0}
    assert np.abs(swaps.mean(axis=0) - 0.5).max() < 0.018
    assert np.abs(np.corrcoef(swaps.T) - np.eye(7)).max() < 0.04


def test_items_of_one_name_are_one_unit() -> None:
    grouped, places = group_items(["kick", "spill", "kick", "spill", "rain"], ["en", "en", "en", "en", "pt"], "idiom")
    assert (grouped.keys, grouped.kind, places.tolist()) == (("kick", "spill", "rain"), "idiom", [0, 1, 0, 1, 2])
    assert grouped.strata is not None
    assert grouped.strata.tolist() == [0, 0, 1]


def test_units_across_strata_are_not_kept_apart() -> None:
    grouped, _ = group_items(["kick", "kick", "rain"], ["en", "pt", "pt"])
    assert grouped.strata is None
