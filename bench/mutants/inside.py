"""Trials inside of one pytest, started by `bench.mutants.trial`: all tests without a fault, then a fork for each fault.

The first pass says which tests touch which function of the module, and how long each takes. A fork begins where that
pass ended, with everything imported, changes one function, and runs the tests that touch it, quick ones first, until
one fails. Where the tests ask a server in a thread of their process, which a fork has not, nothing is forked: the
function is changed in this process, and changed back.
"""

from __future__ import annotations

import functools
import gc
import inspect
import json
import os
import resource
import signal
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, Literal

import hypothesis
import pytest
from coverage import Coverage, CoverageData

from bench.mutants.lines import lines_of
from tests.lanes import SERVER_THREAD

#: Names a JSON file: a list of faults, {"module": path, "function": name, "source": the whole changed module}.
TASK_VARIABLE = "EVERGOLD_TEST_MUTANTS"
#: Unsure: what is changed runs on import, or where nobody sees it run (other processes, audit hooks): only a process of
#: its own can tell.
Verdict = Literal["noticed", "lives", "unsure"]
#: A test that takes so much longer than without a fault hangs, and that is noticed, too: of the processor, of the wall.
_PATIENCE, _PATIENCE_PROCESSOR_SECONDS, _PATIENCE_SECONDS = 3, 4, 600
_MEMORY_BYTES = 6 * 1024**3
#: As many of the tests of a function as take so long without a fault.
_MOST_SECONDS = 60
_ON_IMPORT = ""

Function = tuple[str, int]
"""Its qualified name, and which of those that have it: a property and its setter share one."""
Change = Callable[[], Callable[[], None]]
"""What puts a fault in, and returns what takes it out again."""
Fail = Callable[[pytest.Session, Sequence[pytest.Item], Change, Mapping[str, float]], bool]


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Before anything of ours is imported."""
    phases = [hypothesis.Phase.explicit, hypothesis.Phase.generate]  # one failure is enough: no smaller one is sought
    hypothesis.settings.register_profile(
        "mutants", phases=phases, deadline=None, derandomize=True, suppress_health_check=list(hypothesis.HealthCheck)
    )
    hypothesis.settings.load_profile("mutants")
    early_config.pluginmanager.register(Trials(Path(os.environ.pop(TASK_VARIABLE))))


class Trials:
    """Answers in TASK.done, a line for each fault, in their order: [verdict, tests that could tell]."""

    def __init__(self, task: Path) -> None:
        self._answers = task.with_suffix(".done")
        self._faults: list[dict[str, str]] = json.loads(task.read_text())
        self._coverage = Coverage(
            include=sorted({fault["module"] for fault in self._faults}), data_file=None, config_file=False
        )
        self._coverage.start()

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        if session.testsfailed or not session.items:
            return False
        seconds = self._pass(session)
        if not session.testsfailed:
            tests = Tests(session, seconds, self._coverage.get_data())
            paths = {fault["module"]: Path(fault["module"]) for fault in self._faults}
            gc.unfreeze()  # whoever froze what is imported hid it
            objects = gc.get_objects()
            modules = {name: Module.loaded(path, objects) for name, path in paths.items()}
            fail = fail_here if _has_server() else fail_in_a_fork
            if fail(session, session.items, lambda: lambda: None, seconds):
                raise RuntimeError("a test fails again without any fault: it knows of others, or of its process")
            with self._answers.open("w", encoding="utf-8") as file:
                for fault in self._faults:
                    answer = tests.answer(modules[fault["module"]], fault["function"], fault["source"], fail)
                    print(json.dumps(answer), file=file, flush=True)
        return True

    def _pass(self, session: pytest.Session) -> Mapping[str, float]:
        """The processor time of each test; what lasts a session stays set up for the forks."""
        seconds = {}
        for place, item in enumerate(session.items):
            self._coverage.switch_context(item.nodeid)
            began = time.process_time()
            run(item, session.items[place + 1] if place + 1 < len(session.items) else _Only(session))
            seconds[item.nodeid] = time.process_time() - began
        self._coverage.stop()
        return seconds


@dataclass(frozen=True)
class Tests:
    """The tests that passed, the processor time of each, and what each ran."""

    session: pytest.Session
    seconds: Mapping[str, float]
    ran: CoverageData

    def answer(self, module: Module, function: str, source: str, fail: Fail) -> tuple[Verdict, list[str]]:
        """What a fault comes to, and the tests that could tell."""
        lines = lines_of(module.path.read_text(), function)
        tests, change = self._touching(module, lines), module.change(function, source)
        if not tests or change is None or self._is_run_on_import(module, lines):
            return "unsure", [item.nodeid for item in self._touching(module, None)]
        is_noticed = fail(self.session, tests, change, self.seconds)
        return "noticed" if is_noticed else "lives", [item.nodeid for item in tests]

    def _is_run_on_import(self, module: Module, lines: frozenset[int]) -> bool:
        ran = self.ran.contexts_by_lineno(str(module.path))
        return any(_ON_IMPORT in ran.get(line, ()) for line in lines)

    def _touching(self, module: Module, lines: frozenset[int] | None) -> list[pytest.Item]:
        """Tests that run one of these lines, or any: the quick ones first, and no more than are run in a minute."""
        ran = self.ran.contexts_by_lineno(str(module.path))
        names = {test for line, tests in ran.items() if lines is None or line in lines for test in tests}
        items = sorted((item for item in self.session.items if item.nodeid in names), key=self._length)
        spent = list(accumulate(map(self._length, items)))
        return [
            item for item, seconds in zip(items, spent, strict=True) if seconds <= _MOST_SECONDS or item is items[0]
        ]

    def _length(self, item: pytest.Item) -> float:
        return self.seconds[item.nodeid]


class _Only:
    """In place of the test that comes next: one of which nothing is known but the session."""

    def __init__(self, session: pytest.Session) -> None:
        self._session = session

    def listchain(self) -> list[pytest.Session]:
        return [self._session]


def run(item: pytest.Item, following: object) -> None:
    """As pytest does it; failures are counted by the session."""
    item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)


def _has_server() -> bool:
    """Whether a thread of this process serves: what forks would ask is this process, which knows no fault of theirs."""
    return any(thread.name == SERVER_THREAD for thread in threading.enumerate())


def fail_here(
    session: pytest.Session, tests: Sequence[pytest.Item], change: Change, seconds: Mapping[str, float]
) -> bool:
    """Whether a test fails after the change, which does not stay. pytest itself ends those that only wait."""
    undo = change()
    try:
        for item in tests:
            run(item, _Only(session))
            if session.testsfailed:
                return True
        return False
    finally:
        undo()
        session.testsfailed = 0
        session.shouldfail = session.shouldstop = False


def fail_in_a_fork(
    session: pytest.Session, tests: Sequence[pytest.Item], change: Change, seconds: Mapping[str, float]
) -> bool:
    """Whether a test fails, hangs or ends its process after the change. seconds: what each takes without."""
    child = os.fork()
    if child == 0:
        status = 2
        try:
            _be_quiet()
            change()
            status = int(_fail(session, tests, seconds))
        finally:
            os._exit(status)
    alarm = threading.Timer(_PATIENCE_SECONDS, os.killpg, (child, signal.SIGKILL))
    alarm.start()
    _, status = os.waitpid(child, 0)
    alarm.cancel()
    alarm.join()
    return status != 0


def _be_quiet() -> None:
    """A group of its own, to be ended as one, that says nothing and takes little memory."""
    os.setpgid(0, 0)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY_BYTES, resource.RLIM_INFINITY))


def _fail(session: pytest.Session, tests: Sequence[pytest.Item], seconds: Mapping[str, float]) -> bool:
    for place, item in enumerate(tests):
        bound = time.process_time() + _PATIENCE * seconds[item.nodeid] + _PATIENCE_PROCESSOR_SECONDS
        resource.setrlimit(resource.RLIMIT_CPU, (int(bound) + 1, resource.RLIM_INFINITY))
        run(item, tests[place + 1] if place + 1 < len(tests) else _Only(session))
        if session.testsfailed:
            return True
    return False


@dataclass(frozen=True)
class Module:
    """What lives of a module in this process: its functions, and everybody's caches."""

    path: Path
    functions: Mapping[Function, Sequence[FunctionType]]
    caches: Sequence[Any]

    @classmethod
    def loaded(cls, path: Path, objects: Sequence[object]) -> Module:
        """objects: all that live in this process."""
        name = str(path)
        here = [found for found in objects if type(found) is FunctionType and found.__code__.co_filename == name]
        functions = {
            function: [found for found in here if _is_same(found.__code__, code)]
            for function, code in _codes(path.read_text(), path).items()
        }
        return cls(path, functions, [found for found in objects if type(found) is functools._lru_cache_wrapper])

    def change(self, function: str, source: str) -> Change | None:
        """What puts a fault into a function; None where it changes a default, which is taken on import."""
        was, becomes = (_codes(text, self.path) for text in (self.path.read_text(), source))
        changed = [name for name in was if name[0] == function and was[name] != becomes[name]]
        if not changed or not all(self.functions[name] for name in changed):
            return None

        def put(codes: Mapping[Function, CodeType]) -> None:
            for name in changed:
                for place in self.functions[name]:
                    place.__code__ = codes[name]
            for cache in self.caches:
                cache.cache_clear()

        def put_in() -> Callable[[], None]:
            put(becomes)
            return lambda: put(was)

        return put_in


def _is_same(code: CodeType, other: CodeType) -> bool:
    return (code.co_filename, code.co_qualname, code.co_firstlineno) == (
        other.co_filename,
        other.co_qualname,
        other.co_firstlineno,
    )


def _codes(source: str, path: Path) -> dict[Function, CodeType]:
    """Of functions and methods; what is defined inside of a function is part of it."""
    found: dict[Function, CodeType] = {}

    def visit(code: CodeType) -> None:
        for constant in code.co_consts:
            if isinstance(constant, CodeType) and constant.co_flags & inspect.CO_OPTIMIZED:
                name = constant.co_qualname
                found[name, sum(known == name for known, _ in found)] = constant
            elif isinstance(constant, CodeType):
                visit(constant)  # the body of a class

    visit(compile(source, str(path), "exec"))
    return found
