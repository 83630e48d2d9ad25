"""The tests of each commit, their order, and that nothing expensive or endless hides among them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from tests import lanes
from tests.processes import REPOSITORY

IN_BROWSER = {module for modules in lanes.IN_BROWSER for module in modules}


@dataclass
class Item:
    """The parts of a test that lanes use."""

    nodeid: str
    marks: set[str] = field(default_factory=set)

    def get_closest_marker(self, name: str) -> str | None:
        return name if name in self.marks else None


class Distributed:
    """The parts of pytest's configuration that a scheduler of xdist uses."""

    def __init__(self, dist: str) -> None:
        self.options = {"dist": dist, "tx": ["2*popen"]}

    def getoption(self, name: str) -> object:
        return self.options[name]

    getvalue = getoption


def item(nodeid: str, *marks: str) -> Any:
    return cast(pytest.Item, Item(nodeid, set(marks)))


def test_dear_modules_begin_then_servers_stand_among_the_rest_and_each_module_keeps_its_order() -> None:
    dear = lanes.SLOW_FIRST[0]
    names = ["a.py::1", "b.py::2", "b.py::3", "c.py::4", f"{dear}::5", "a.py::6", "d.py::7", "e.py::8"]
    served = {"b.py::3", "e.py::8"}
    ordered = [one.nodeid for one in lanes.in_order(item(name, *["services"] * (name in served)) for name in names)]
    assert ordered == [f"{dear}::5", "b.py::2", "b.py::3", "a.py::1", "a.py::6", "e.py::8", "c.py::4", "d.py::7"]


def test_a_dear_test_fails_unless_it_is_known_or_for_soak() -> None:
    with pytest.raises(pytest.fail.Exception, match="took 31 s of processor time"):
        lanes.check_is_cheap(item("tests/a.py::one"), 31.0)
    lanes.check_is_cheap(item("tests/a.py::one"), 29.0)
    lanes.check_is_cheap(item("tests/a.py::one", "soak"), 31.0)
    lanes.check_is_cheap(item(f"{lanes.SLOW_FIRST[0]}::one"), 31.0)


def test_the_dear_ones_are_there() -> None:
    assert [
        name for name in (*lanes.SLOW_FIRST, *lanes.WITH_TORCH, *IN_BROWSER) if not (REPOSITORY / name).exists()
    ] == []


def test_what_loads_torch_or_shares_a_browser_is_a_bundle_and_every_other_module_its_own() -> None:
    bundles = {lanes.bundle_of(f"{name}::one[tests/a.py::b]") for name in lanes.WITH_TORCH}
    assert len(bundles) == 1
    for number, modules in enumerate(lanes.IN_BROWSER):
        assert {lanes.bundle_of(f"{name}::one") for name in modules} == {f"in browser {number}"}
    assert lanes.bundle_of("tests/a.py::one[tests/b.py::c]") == "tests/a.py"


def test_whatever_asks_for_the_browser_shares_it() -> None:
    asking = re.compile(r"^from tests\.web\.test_browser import .*\bchromium\b", re.MULTILINE)
    modules = (path for path in (REPOSITORY / "tests").rglob("test_*.py") if asking.search(path.read_text("utf-8")))
    found = {str(path.relative_to(REPOSITORY)) for path in modules}
    assert found - {"tests/stories/test_linguist.py"} == IN_BROWSER - {"tests/web/test_browser.py"}


def test_processes_are_given_bundles_whole(pytestconfig: pytest.Config) -> None:
    """Check the scheduler that `make test` requests, and no other."""
    conftest = pytestconfig.pluginmanager.get_plugin(str(REPOSITORY / "tests" / "conftest.py"))
    assert conftest is not None
    scheduler = conftest.pytest_xdist_make_scheduler(Distributed("loadfile"), log=None)
    assert {scheduler._split_scope(f"{name}::one") for name in lanes.WITH_TORCH} == {"with torch"}
    assert scheduler._split_scope("tests/a.py::one") == "tests/a.py"
    assert conftest.pytest_xdist_make_scheduler(Distributed("load"), log=None) is None
    makefile = (REPOSITORY / "Makefile").read_text()
    assert "--dist loadfile" in makefile.partition("\ntest:")[2].partition("\n\n")[0]


def test_a_test_that_hangs_fails_in_words(request: pytest.FixtureRequest) -> None:
    assert request.config.pluginmanager.hasplugin("timeout")
    assert float(request.config.getini("timeout")) > 0
