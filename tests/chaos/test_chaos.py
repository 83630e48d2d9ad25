"""The storm in short (`make chaos`: at length). Everything is killed at random, and nothing is lost or doubled."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator

import pytest

from tests.chaos.place import Place, a_place
from tests.chaos.storm import CALM, CHAOS, program, register, run_phase
from tests.chaos.verdict import wrongs

SUBMISSIONS = 24

pytestmark = pytest.mark.services


@pytest.fixture
def place() -> Iterator[Place]:
    with a_place() as found:
        yield found


@pytest.mark.soak
def test_a_storm_ends_as_a_calm_run_does(place: Place) -> None:
    seed = int(os.environ.get("EVERGOLD_TEST_CHAOS_SEED") or random.randrange(10**6))
    clients = register(place, seed, SUBMISSIONS)
    for _ in range(2):
        place.start_worker()
    calm = run_phase(place, clients, CALM, [])
    chaos = run_phase(place, clients, CHAOS, program(seed, SUBMISSIONS))
    found = wrongs(calm, chaos, SUBMISSIONS)
    assert not found, "\n".join([f"EVERGOLD_TEST_CHAOS_SEED={seed}", *found, str(chaos.mishaps), place.logs()])
