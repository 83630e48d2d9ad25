"""Rules for when tests run, in which order, and how long one may take; `tests/conftest.py` applies them to every item.

Lanes are markers, to choose with `-m`: `services` (real servers: they wait more than they compute), `browser`, `gpu`,
and `soak` (too deep for each commit: only `make soak`, that is `pytest --soak`, runs it). A database test that uses
`engine` runs on SQLite with each commit; if it is marked `both`, on PostgreSQL, too, otherwise that half is `soak`.
Mark it where the two may differ: locks and races, upserts, JSON, ordering, NUL and other odd characters, sums and
averages, migrations.

Expensive things are shared: one server for a module (`tests.server.test_serve.running`), one PostgreSQL and one
application for a session, requests by the thousand in process (`tests.web.in_process`). Nothing expensive happens on
import: every process of xdist imports every module.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable, Sequence

import pytest
from _pytest.mark import ParameterSet

#: The dear ones: only a test in these modules may use more processor time than LONGEST_SECONDS. They begin first, so
#: that small change is left to even out the end. None gets in here without a figure in docs/decisions/024-tests.md.
SLOW_FIRST = (
    "tests/server/test_serve.py",
    "tests/leaks/test_differences.py",
    "tests/web/test_accessibility.py",
    "tests/test_end_to_end_paraphrase.py",
    "tests/chaos/",
    "tests/web/test_api_fuzz.py",
    "tests/leaks/test_canaries.py",
    "tests/leaks/test_public_gold.py",
    "tests/leaks/test_routes.py",
)
#: The name of a thread of the tests' process that serves (`tests.web.site.serving`), which a fork of it has not.
SERVER_THREAD = "server of the tests"
#: Of processor time (this process and the children that it waited for), which neighbours on the machine do not move.
LONGEST_SECONDS = 30.0
#: Of the wall; pytest-timeout ends a test after `timeout` of pyproject.toml, these after as much more patience.
SLOW_TIMEOUT_SECONDS = 1200

#: One process runs all of these: torch and what comes with it take 8 s of processor time in each that loads them.
WITH_TORCH = (
    "tests/evergold/probe/test_probe.py",
    "tests/evergold/scoring/test_bertscore.py",
    "tests/evergold/scoring/test_bertscore_vectors.py",
    "tests/evergold/scoring/test_conformance_paraphrase.py",
    "tests/evergold/scoring/test_mwe_paraphrase_scores.py",
    "tests/evergold/scoring/test_reference_bertscore.py",
    "tests/evergold/scoring/test_text_generation.py",
    "tests/evergold/test_types_example.py",
    "tests/web/test_demo_paraphrasing.py",
    "tests/workers/test_bench_bertscore.py",
    "tests/workers/test_device.py",
)

#: Two processes run these, each with a browser for all of its files: to start one takes 2 s of processor time.
IN_BROWSER = (
    (
        "tests/web/test_accessibility.py",
        "tests/web/test_late_parts_browser.py",
        "tests/web/people/test_passkeys.py",
        "tests/web/people/test_second_factor.py",
        "tests/web/people/test_providers.py",
    ),
    (
        "tests/web/submissions/test_submit_browser.py",
        "tests/web/submissions/test_workplace_browser.py",
        "tests/web/test_browser.py",
        "tests/web/test_browser_organiser.py",
        "tests/web/test_browser_setup.py",
        "tests/web/boards/test_browser.py",
        "tests/web/boards/test_pictures_browser.py",
        "tests/web/boards/test_wide_board.py",
        "tests/web/boards/test_workspace_browser.py",
        "tests/web/gold/test_explained_in_the_browser.py",
        "tests/web/judging/test_browser.py",
    ),
)

SEED_VARIABLE = "EVERGOLD_TEST_SEED"
#: Fixtures that are a server, or stand on one.
SERVERS = frozenset({"valkey", "postgres_server", "postgresql_engine"})


def mark(item: pytest.Item) -> None:
    """Mark an item with the lanes that follow from its fixtures and its module."""
    if isinstance(item, pytest.Function) and SERVERS & set(item.fixturenames):
        item.add_marker(pytest.mark.services)
    if is_on_postgresql(item) and item.get_closest_marker("both") is None:
        item.add_marker(pytest.mark.soak)
    if is_slow(item):
        item.add_marker(pytest.mark.timeout(SLOW_TIMEOUT_SECONDS))


def is_on_postgresql(item: pytest.Item) -> bool:
    """Return whether this is the PostgreSQL half of a test of `engine`."""
    call = getattr(item, "callspec", None)
    return call is not None and call.params.get("engine") == "postgresql"


def is_slow(item: pytest.Item) -> bool:
    return item.nodeid.startswith(SLOW_FIRST)


def is_gpu(item: pytest.Item) -> bool:
    return item.get_closest_marker("gpu") is not None


def in_order(items: Iterable[pytest.Item]) -> list[pytest.Item]:
    """Return the expensive modules first, then those with servers spread evenly among the rest, the short ones last.

    So some process always has something to compute while others wait. The order within a module is kept.
    """
    modules: dict[str, list[pytest.Item]] = {}
    for item in items:
        modules.setdefault(module_of(item), []).append(item)
    dear = [name for name in modules if _dear_place(name) < len(SLOW_FIRST)]
    waiting = [name for name in modules if name not in dear and _has_servers(modules[name])]
    computing = [name for name in modules if name not in dear and name not in waiting]
    dear.sort(key=_dear_place)
    return [item for name in [*dear, *_evenly(waiting, computing)] for item in modules[name]]


def module_of(item: pytest.Item) -> str:
    return item.nodeid.partition("::")[0]


def bundle_of(nodeid: str) -> str:
    """Return the name of the group of tests that one process of xdist runs together: a module, all modules that load
    torch, or those that share a browser.
    """
    module = nodeid.partition("::")[0]
    if module in WITH_TORCH:
        return "with torch"
    shared = (f"in browser {number}" for number, modules in enumerate(IN_BROWSER) if module in modules)
    return next(shared, module)


def _dear_place(module: str) -> int:
    slow = (place for place, name in enumerate(SLOW_FIRST) if module.startswith(name))
    return next(slow, len(SLOW_FIRST))


def _has_servers(items: Iterable[pytest.Item]) -> bool:
    return any(item.get_closest_marker("services") for item in items)


def _evenly(waiting: Sequence[str], computing: Sequence[str]) -> list[str]:
    """Return both lists merged, each in its own order, with `waiting` spread over the first four fifths."""
    places = {name: 0.8 * place / len(waiting) for place, name in enumerate(waiting)}
    places |= {name: (place + 0.5) / len(computing) for place, name in enumerate(computing)}
    return sorted(places, key=lambda name: places[name])


def in_soak(*values: object) -> ParameterSet:
    """Return a case for `parametrize` that only soak runs: the twin of one that each commit runs."""
    return pytest.param(*values, marks=pytest.mark.soak)


def keep_soak_seed() -> str:
    """Draw the seed of this run, unless one is named to repeat another's; processes of xdist inherit it."""
    return os.environ.setdefault(SEED_VARIABLE, str(secrets.randbits(32)))


def soak_seed() -> int:
    return int(os.environ[SEED_VARIABLE])


def examples(each_commit: int) -> int:
    """Return how many examples Hypothesis tries: ten times as many in soak."""
    return each_commit * (10 if SEED_VARIABLE in os.environ else 1)


def processor_seconds() -> float:
    """Return the processor time so far of this process and of the children that it has waited for."""
    return sum(os.times()[:4])


def check_is_cheap(item: pytest.Item, seconds: float) -> None:
    """Fail a test that is expensive without being known as such."""
    if seconds > LONGEST_SECONDS and not is_slow(item) and item.get_closest_marker("soak") is None:
        pytest.fail(
            f"{item.nodeid} took {seconds:.0f} s of processor time; {LONGEST_SECONDS:.0f} are the most per commit: "
            "make it cheaper, move what is deep to `soak`, or put its module into SLOW_FIRST of tests/lanes.py."
        )
