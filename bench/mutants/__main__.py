"""`make mutants`: a sample of faults, tried one by one; survivors must be listed in survivors.toml with a reason.

The sample is drawn by a hash of each fault: the same seed draws the same faults until their own functions change. With
`--semantic` it is drawn from `semantic.py`, evenly over all rooms and operators, and shown to a room's own tests; what
these miss, to tests/leaks. The report says by room who noticed how many; at least 90 % must be noticed.
With `--folder` each room gets a share by its size, and the rooms are tried one after the other, the `--first` ones
first: FOLDER/app+people.json is written when the room is done, and what is in it is not tried again without `--again`.
Tests that fail without any fault are named and left out: the others decide. Where all do, faults stay untried.
Exits with 1 if a fault lives that is not listed, if less than 95 % are noticed, or if one was not tried.
"""

from __future__ import annotations

import argparse
import queue
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from pathlib import Path

from bench.mutants.faults import Fault, Key, faults_of, key_of
from bench.mutants.modules import TESTS
from bench.mutants.results import Results
from bench.mutants.rooms import LEAKS, every_module, room_of, rooms
from bench.mutants.semantic import semantic_faults_of
from bench.mutants.trial import ROOT, Broken, Yard

LISTED = Path(__file__).with_name("survivors.toml")
LEAST_PERCENT, LEAST_SEMANTIC_PERCENT = 95, 90


def main() -> int:
    """Draw faults, try them, and report the survivors."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sample", type=int, default=300, metavar="N")
    parser.add_argument("--seed", default="1", help="another one draws other faults")
    parser.add_argument("--processes", type=int, default=2, metavar="N")
    parser.add_argument("--only", default="", metavar="TEXT", help="of modules whose path has this in it")
    parser.add_argument("--semantic", action="store_true", help="those that a careless move makes, in all rooms")
    parser.add_argument("--own-tests", action="store_true", help="with --semantic: do not ask tests/leaks")
    parser.add_argument("--folder", type=Path, help="with --semantic: room by room, each with a file of results")
    parser.add_argument("--again", action="store_true", help="with --folder: try those that lived with today's tests")
    parser.add_argument("--first", nargs="*", default=[], metavar="ROOM", help="with --folder: begin with these rooms")
    arguments = parser.parse_args()
    if arguments.semantic and arguments.folder:
        shares = semantic_shares(arguments.seed, arguments.sample, arguments.only)
        ordered = {room: shares[room] for room in [*arguments.first, *shares]}
        results = Results(arguments.folder)
        if arguments.again:
            results.forget_alive()
        faults, noticed = tried_in_turn(ordered, results, with_leaks=not arguments.own_tests)
        return verdict(faults, noticed, survivors(), least_percent=LEAST_SEMANTIC_PERCENT)
    if arguments.semantic:
        faults = semantic_sample(arguments.seed, arguments.sample, arguments.only)
        noticed = tried_by_rooms(faults, arguments.processes, with_leaks=not arguments.own_tests)
        return verdict(faults, noticed, survivors(), least_percent=LEAST_SEMANTIC_PERCENT)
    faults = sample(arguments.seed, arguments.sample, arguments.only)
    noticed = tried(faults, arguments.processes)
    return verdict(faults, noticed, survivors())


def sample(seed: str, count: int, only: str = "") -> list[Fault]:
    """Draw so many faults, grouped by module."""
    every = [fault for path in TESTS if only in path for fault in faults_of(path, (ROOT / path).read_text())]
    print(f"{len(every)} faults in {sum(only in path for path in TESTS)} modules", flush=True)
    return sorted(sorted(every, key=lambda fault: fault.rank(seed))[:count], key=lambda fault: fault.module)


def semantic_sample(seed: str, count: int, only: str = "") -> list[Fault]:
    """Draw so many faults, in turn from each room and operator, grouped by module."""
    return _evenly(_every_semantic(only), seed, count)


def semantic_shares(seed: str, count: int, only: str = "") -> dict[str, list[Fault]]:
    """Return the faults of each room: as many as its share of all, at least one, evenly of its operators.

    only: of modules whose path has this in it; it leaves rooms and faults out, and draws no others.
    """
    by_room: dict[str, list[Fault]] = {}
    for fault in _every_semantic(""):
        by_room.setdefault(room_of(fault.module), []).append(fault)
    total = sum(map(len, by_room.values()))
    drawn = {room: _evenly(here, seed, max(1, round(count * len(here) / total))) for room, here in by_room.items()}
    named = {room: [fault for fault in faults if only in fault.module] for room, faults in drawn.items()}
    return {room: faults for room, faults in named.items() if faults}


def _every_semantic(only: str) -> list[Fault]:
    modules = [path for path in every_module() if only in path]
    every = [fault for path in modules for fault in semantic_faults_of(path, (ROOT / path).read_text())]
    print(f"{len(every)} semantic faults in {len(modules)} modules", flush=True)
    return every


def _evenly(faults: Sequence[Fault], seed: str, count: int) -> list[Fault]:
    rounds: Counter[tuple[str, str]] = Counter()
    places = {}
    for fault in sorted(faults, key=lambda fault: fault.rank(seed)):
        drawer = (room_of(fault.module), fault.kind)
        rounds[drawer] += 1
        places[fault] = (rounds[drawer], fault.rank(seed))
    return sorted(sorted(faults, key=places.__getitem__)[:count], key=lambda fault: fault.module)


def tried_in_turn(
    shares: Mapping[str, Sequence[Fault]], results: Results, *, with_leaks: bool
) -> tuple[list[Fault], list[bool | None]]:
    """Try the faults room by room; at the end run tests/leaks against all survivors, and print the figures."""
    for room, faults in shares.items():
        left = [fault for fault in faults if results.outcome(room, fault) is None]
        if left:
            own = tried(left, 1, lambda fault: rooms()[room_of(fault.module)])
            results.add(room, left, [None if one is None else "own" if one else "no" for one in own])
    if with_leaks:
        _ask_leaks(shares, results)
    print(results.table(shares), flush=True)
    outcomes = [results.outcome(room, fault) for room, faults in shares.items() for fault in faults]
    return list(chain.from_iterable(shares.values())), [None if one is None else one != "no" for one in outcomes]


def _ask_leaks(shares: Mapping[str, Sequence[Fault]], results: Results) -> None:
    """Run tests/leaks against all survivors together, since these tests take long to start."""
    left: list[tuple[str, Fault]] = []
    for room, faults in shares.items():
        for fault in faults:
            if results.outcome(room, fault) == "no":
                left.append((room, fault))
    by_leaks = tried([fault for _, fault in left], 1, lambda _: LEAKS)
    for (room, fault), is_noticed in zip(left, by_leaks, strict=True):
        if is_noticed:
            results.add(room, [fault], ["leaks"])


def tried_by_rooms(faults: Sequence[Fault], processes: int, *, with_leaks: bool) -> list[bool | None]:
    """Return of each fault whether tests of its room or tests/leaks notice it; print the numbers."""
    own = tried(faults, processes, lambda fault: rooms()[room_of(fault.module)])
    left = [place for place, is_noticed in enumerate(own) if is_noticed is False] if with_leaks else []
    by_leaks = dict(zip(left, tried([faults[place] for place in left], processes, lambda _: LEAKS), strict=True))
    noticed = [is_noticed or by_leaks.get(place, is_noticed) for place, is_noticed in enumerate(own)]
    for room in dict.fromkeys(room_of(fault.module) for fault in faults):
        here = [place for place, fault in enumerate(faults) if room_of(fault.module) == room]
        by_own, by_all = (sum(bool(told[place]) for place in here) for told in (own, noticed))
        print(f"{room}: {by_own} of {len(here)} noticed by its own tests, {by_all} with tests/leaks", flush=True)
    return noticed


def survivors() -> dict[Key, str]:
    """Return the reason of each listed survivor, by `key_of`."""
    listed = tomllib.loads(LISTED.read_text())["survivor"]
    return {(one["module"], one["function"], one["was"], one["becomes"]): one["because"] for one in listed}


def tried(
    faults: Sequence[Fault],
    processes: int,
    tests_of: Callable[[Fault], tuple[str, ...]] = lambda fault: TESTS[fault.module],
) -> list[bool | None]:
    """Return of each fault whether it was noticed, None if its tests fail without it.

    Prints those not noticed as soon as all faults with the same tests are done.
    """
    together: dict[tuple[str, ...], list[Fault]] = {}
    for fault in faults:
        together.setdefault(tests_of(fault), []).append(fault)
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(processes) as pool:
        yards: queue.SimpleQueue[Yard] = queue.SimpleQueue()
        for number in range(processes):
            yards.put(Yard(Path(folder, str(number))))

        def try_all(tests: tuple[str, ...]) -> dict[Fault, bool | None]:
            yard, began = yards.get(), time.monotonic()
            try:
                noticed = yard.try_all(tests, together[tests])
            except Broken as broken:
                print(broken, flush=True)
                return {}
            finally:
                yards.put(yard)
            print(report(together[tests], noticed, time.monotonic() - began), flush=True)
            for name in sorted(yard.left_out):
                print(f"fails without any fault, and was left out: {name}", flush=True)
            return dict(zip(together[tests], noticed, strict=True))

        found: dict[Fault, bool | None] = dict(
            chain.from_iterable(of_tests.items() for of_tests in pool.map(try_all, together))
        )
        return [found.get(fault) for fault in faults]


def report(faults: Sequence[Fault], noticed: Sequence[bool | None], seconds: float) -> str:
    """Return by module the number of noticed faults, and the survivors."""
    lines = [f"{len(faults)} faults in {seconds:.0f} s"]
    for module in dict.fromkeys(fault.module for fault in faults):
        of_module = [place for place, fault in enumerate(faults) if fault.module == module]
        lines.append(f"  {module}: {sum(bool(noticed[place]) for place in of_module)} of {len(of_module)} noticed")
        lines += [f"    lives: {described(key_of(faults[place]))}" for place in of_module if noticed[place] is False]
    return "\n".join(lines)


def verdict(
    faults: Sequence[Fault],
    noticed: Sequence[bool | None],
    listed: dict[Key, str],
    say: Callable[[str], object] = print,
    *,
    least_percent: int = LEAST_PERCENT,
) -> int:
    """Return the summary and the exit code. noticed: None for a fault that was not tried."""
    alive, caught = (
        {key_of(fault) for fault, is_noticed in zip(faults, noticed, strict=True) if is_noticed is outcome}
        for outcome in (False, True)
    )
    for key in sorted((caught - alive) & listed.keys()):
        say(f"listed, but noticed by now: {described(key)}")
    unlisted = sorted(alive - listed.keys())
    for key in unlisted:
        say(f"lives, and is not listed in {LISTED.name}:\n{entry(key)}")
    untried, done = noticed.count(None), [one for one in noticed if one is not None]
    if untried:
        say(f"{untried} of {len(faults)} faults were not tried: without any fault their tests fail, see above")
    percent = 100 * sum(done) / len(done) if done else 0
    say(f"{sum(done)} of {len(done)} faults were noticed: {percent:.1f} % (at least {least_percent} are wanted)")
    return 1 if unlisted or untried or percent < least_percent else 0


def described(key: Key) -> str:
    module, function, was, becomes = key
    return f"{module} {function}\n    - {was}\n    + {becomes}"


def entry(key: Key) -> str:
    """Return the fault as an entry of the list, without the reason."""
    names = ("module", "function", "was", "becomes")
    return "\n".join(["[[survivor]]", *(f"{name} = {value!r}" for name, value in zip(names, key, strict=True))])


if __name__ == "__main__":
    sys.exit(main())
