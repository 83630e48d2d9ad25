"""`make mutants`: a sample of faults, tried one by one; whoever lives must stand in survivors.toml with a reason.

The sample is drawn by a hash of each fault: the same seed draws the same faults until their own functions change.
Exits with 1 if a fault lives that is not listed, if less than 95 % are noticed, or if tests fail without any fault:
then the faults that they look for are left untried, and all others are tried.
"""

from __future__ import annotations

import argparse
import queue
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from pathlib import Path

from bench.mutants.faults import Fault, faults_of
from bench.mutants.modules import TESTS
from bench.mutants.trial import ROOT, Broken, Yard

LISTED = Path(__file__).with_name("survivors.toml")
LEAST_PERCENT = 95

Key = tuple[str, str, str, str]


def main() -> int:
    """Draw, try, and say what lives."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sample", type=int, default=300, metavar="N")
    parser.add_argument("--seed", default="1", help="another one draws other faults")
    parser.add_argument("--processes", type=int, default=2, metavar="N")
    parser.add_argument("--only", default="", metavar="TEXT", help="of modules whose path has this in it")
    arguments = parser.parse_args()
    faults = sample(arguments.seed, arguments.sample, arguments.only)
    noticed = tried(faults, arguments.processes)
    return verdict(faults, noticed, survivors())


def sample(seed: str, count: int, only: str = "") -> list[Fault]:
    """So many faults, those of a module together."""
    every = [fault for path in TESTS if only in path for fault in faults_of(path, (ROOT / path).read_text())]
    print(f"{len(every)} faults in {sum(only in path for path in TESTS)} modules", flush=True)
    return sorted(sorted(every, key=lambda fault: fault.rank(seed))[:count], key=lambda fault: fault.module)


def survivors() -> dict[Key, str]:
    """Why each may live, by `key_of`."""
    listed = tomllib.loads(LISTED.read_text())["survivor"]
    return {(one["module"], one["function"], one["was"], one["becomes"]): one["because"] for one in listed}


def key_of(fault: Fault) -> Key:
    return (fault.module, fault.function, *fault.lines())


def tried(faults: Sequence[Fault], processes: int) -> list[bool | None]:
    """Of each fault whether it was noticed, None where its tests fail without it.

    Says which were not as soon as all those with the same tests are done.
    """
    together: dict[tuple[str, ...], list[Fault]] = {}
    for fault in faults:
        together.setdefault(TESTS[fault.module], []).append(fault)
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(processes) as pool:
        yards: queue.SimpleQueue[Yard] = queue.SimpleQueue()
        for number in range(processes):
            yards.put(Yard(Path(folder, str(number))))

        def try_all(tests: tuple[str, ...]) -> dict[Fault, bool]:
            yard, began = yards.get(), time.monotonic()
            try:
                noticed = yard.try_all(tests, together[tests])
            except Broken as broken:
                print(broken, flush=True)
                return {}
            finally:
                yards.put(yard)
            print(report(together[tests], noticed, time.monotonic() - began), flush=True)
            return dict(zip(together[tests], noticed, strict=True))

        found = dict(chain.from_iterable(of_tests.items() for of_tests in pool.map(try_all, together)))
        return [found.get(fault) for fault in faults]


def report(faults: Sequence[Fault], noticed: Sequence[bool], seconds: float) -> str:
    """By module."""
    lines = [f"{len(faults)} faults in {seconds:.0f} s"]
    for module in dict.fromkeys(fault.module for fault in faults):
        of_module = [place for place, fault in enumerate(faults) if fault.module == module]
        lines.append(f"  {module}: {sum(noticed[place] for place in of_module)} of {len(of_module)} noticed")
        lines += [f"    lives: {described(key_of(faults[place]))}" for place in of_module if not noticed[place]]
    return "\n".join(lines)


def verdict(
    faults: Sequence[Fault],
    noticed: Sequence[bool | None],
    listed: dict[Key, str],
    say: Callable[[str], object] = print,
) -> int:
    """What came of it, and the exit code. noticed: None of a fault that was not tried."""
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
    say(f"{sum(done)} of {len(done)} faults were noticed: {percent:.1f} % (at least {LEAST_PERCENT} are wanted)")
    return 1 if unlisted or untried or percent < LEAST_PERCENT else 0


def described(key: Key) -> str:
    module, function, was, becomes = key
    return f"{module} {function}\n    - {was}\n    + {becomes}"


def entry(key: Key) -> str:
    """As it stands in the list, but for the reason."""
    names = ("module", "function", "was", "becomes")
    return "\n".join(["[[survivor]]", *(f"{name} = {value!r}" for name, value in zip(names, key, strict=True))])


if __name__ == "__main__":
    sys.exit(main())
