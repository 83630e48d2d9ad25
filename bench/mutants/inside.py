"""Trials inside of one pytest, started by `bench.mutants.trial`: all tests without a fault, then a fork for each fault.

The first pass says which tests touch which function of the module, and how long each takes. A fork begins where that
pass ended, with everything imported, changes one function, and runs the tests that touch it, quick ones first, until
one fails. The same tests then run once more without the fault: one that fails again is left out, and the others decide.
Where the tests ask threads of their process, which a fork has not, nothing is forked: the function is changed in this
process, and changed back. Such threads are a server of ours, or those of a library such as the client of a store.

Each test has a limit of time by its own length. What a test starts in a fork does not outlive the fork.
"""

from __future__ import annotations

import ctypes
import functools
import gc
import inspect
import json
import mmap
import os
import resource
import signal
import struct
import sys
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib.machinery import SourceFileLoader
from itertools import accumulate
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, Literal

import hypothesis
import pytest
from coverage import Coverage, CoverageData

from bench.mutants.lines import changed_lines, lines_of
from tests.lanes import SERVER_THREAD

#: Names a JSON file: a list of faults, {"module": path, "function": name, "source": the whole changed module}.
TASK_VARIABLE = "EVERGOLD_TEST_MUTANTS"
#: Unsure: what is changed runs on import, or where nobody sees it run (other processes, audit hooks): only a process of
#: its own can tell.
Verdict = Literal["noticed", "lives", "unsure"]
#: A test that takes so much longer than without a fault hangs, and that is noticed, too.
_PATIENCE, _PATIENCE_SECONDS = 5, 20
#: By then pytest has ended a test that takes too long, unless it cannot.
_GRACE_SECONDS = 10
_LOOK_SECONDS = 0.02
#: PR_SET_CHILD_SUBREAPER and PR_SET_PDEATHSIG of <linux/prctl.h>.
_BECOME_SUBREAPER, _END_WITH_PARENT = 36, 1
_MEMORY_BYTES = 6 * 1024**3
#: As many of the tests of a function as take so long without a fault.
_MOST_SECONDS = 60
_ON_IMPORT = ""

Function = tuple[str, int]
"""Its qualified name, and which of those that have it: a property and its setter share one."""
Change = Callable[[], Callable[[], None]]
"""What puts a fault in, and returns what takes it out again."""
Fail = Callable[[pytest.Session, Sequence[pytest.Item], Change, Mapping[str, "Length"]], int | None]
"""Runs tests after a change; returns the place of the first that fails."""


@dataclass(frozen=True)
class Length:
    """Duration of a test without a fault."""

    processor_seconds: float
    seconds: float

    @property
    def limit_seconds(self) -> float:
        return _PATIENCE * self.seconds + _PATIENCE_SECONDS


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Start recording before any module of this project is imported."""
    phases = [hypothesis.Phase.explicit, hypothesis.Phase.generate]  # one failure is enough: no smaller one is sought
    hypothesis.settings.register_profile(
        "mutants", phases=phases, deadline=None, derandomize=True, suppress_health_check=list(hypothesis.HealthCheck)
    )
    hypothesis.settings.load_profile("mutants")
    early_config.pluginmanager.register(Trials(Path(os.environ.pop(TASK_VARIABLE))))


class Trials:
    """Answers in TASK.done, a line for each fault, in their order: [verdict, tests that could tell, tests left out]."""

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
        lengths, failed = self._pass(session)
        if len(failed) == len(session.items):
            return True
        session.testsfailed = 0
        session.shouldfail = session.shouldstop = False
        tests = Tests(session, lengths, self._coverage.get_data(), failed)
        paths = {fault["module"]: Path(fault["module"]) for fault in self._faults}
        gc.unfreeze()  # whoever froze what is imported hid it
        objects = gc.get_objects()
        modules = {name: Module.loaded(path, objects) for name, path in paths.items()}
        ctypes.CDLL(None).prctl(_BECOME_SUBREAPER, 1, 0, 0, 0)
        fail = fail_here if _has_other_threads() else fail_in_a_fork
        with self._answers.open("w", encoding="utf-8") as file:
            for fault in self._faults:
                answer = tests.answer(modules[fault["module"]], fault["function"], fault["source"], fail)
                print(json.dumps([*answer, sorted(tests.left_out)]), file=file, flush=True)
        return True

    def _pass(self, session: pytest.Session) -> tuple[Mapping[str, Length], set[str]]:
        """Return the duration of each test and the failed ones; session fixtures stay set up for the forks."""
        lengths, failed = {}, set()
        for place, item in enumerate(session.items):
            forget_what_is_kept()
            before, began, began_processor = session.testsfailed, time.monotonic(), time.process_time()
            with self._noted_as(item.nodeid):
                run(item, session.items[place + 1] if place + 1 < len(session.items) else _Only(session))
            length = Length(time.process_time() - began_processor, time.monotonic() - began)
            lengths[item.nodeid] = length
            item.add_marker(pytest.mark.timeout(length.limit_seconds), append=False)
            if session.testsfailed > before:
                failed.add(item.nodeid)
        self._coverage.stop()
        return lengths, failed

    @contextmanager
    def _noted_as(self, test: str) -> Iterator[None]:
        """Record the executed lines as those of this test, except lines of modules that are imported late."""
        exec_module = SourceFileLoader.exec_module

        def noted_as_on_import(loader: SourceFileLoader, module: ModuleType) -> None:
            contexts.append(_ON_IMPORT)
            self._coverage.switch_context(_ON_IMPORT)
            try:
                exec_module(loader, module)
            finally:
                contexts.pop()
                self._coverage.switch_context(contexts[-1])

        contexts = [test]
        self._coverage.switch_context(test)
        SourceFileLoader.exec_module = noted_as_on_import  # type: ignore[assignment, method-assign]
        try:
            yield
        finally:
            SourceFileLoader.exec_module = exec_module  # type: ignore[method-assign]


@dataclass(frozen=True)
class Tests:
    """The tests, their durations, and the lines that each ran. left_out: those that fail without any fault."""

    session: pytest.Session
    lengths: Mapping[str, Length]
    ran: CoverageData
    left_out: set[str] = field(default_factory=set)

    def answer(self, module: Module, function: str, source: str, fail: Fail) -> tuple[Verdict, list[str]]:
        """Return the verdict on a fault, and the tests that could notice it."""
        text = module.path.read_text()
        lines = lines_of(text, function)
        tests, change = self._touching(module, lines, changed_lines(text, source)), module.change(function, source)
        if not tests or change is None or self._is_run_on_import(module, lines):
            return "unsure", [item.nodeid for item in self._touching(module, None)]
        is_noticed = self._is_noticed(tests, change, fail)
        return "noticed" if is_noticed else "lives", [item.nodeid for item in tests]

    def _is_noticed(self, tests: Sequence[pytest.Item], change: Change, fail: Fail) -> bool:
        """Return whether a test fails with the change but passes, after the same tests, without it."""
        while tests and (place := fail(self.session, tests, change, self.lengths)) is not None:
            again = fail(self.session, tests[: place + 1], _no_change, self.lengths)
            if again is None:
                return True
            self.left_out.add(tests[again].nodeid)
            tests = [item for item in tests if item is not tests[again]]
        return False

    def _is_run_on_import(self, module: Module, lines: frozenset[int]) -> bool:
        ran = self.ran.contexts_by_lineno(str(module.path))
        return any(_ON_IMPORT in ran.get(line, ()) for line in lines)

    def _touching(
        self, module: Module, lines: frozenset[int] | None, changed: frozenset[int] = frozenset()
    ) -> list[pytest.Item]:
        """Return tests that run one of these lines (None: any line), at most those that run in a minute.

        Tests of changed lines come first, and of these the quick ones.
        """
        ran = self.ran.contexts_by_lineno(str(module.path))
        names = {test for line, tests in ran.items() if lines is None or line in lines for test in tests}
        names -= self.left_out
        nearest = {test for line in changed for test in ran.get(line, ())}
        found = (item for item in self.session.items if item.nodeid in names)
        items = sorted(found, key=lambda item: (item.nodeid not in nearest, self._length(item)))
        spent = list(accumulate(map(self._length, items)))
        return [
            item for item, seconds in zip(items, spent, strict=True) if seconds <= _MOST_SECONDS or item is items[0]
        ]

    def _length(self, item: pytest.Item) -> float:
        return self.lengths[item.nodeid].processor_seconds


def _no_change() -> Callable[[], None]:
    return lambda: None


class _Only:
    """A placeholder for the next test, which only knows the session."""

    nodeid = ""

    def __init__(self, session: pytest.Session) -> None:
        self._session = session

    def listchain(self) -> list[pytest.Session]:
        return [self._session]


def run(item: pytest.Item, following: object) -> None:
    """Run a test as pytest does; the session counts failures."""
    item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)


def _has_other_threads() -> bool:
    """Whether tests may ask a thread of this process: one that serves, or one that Python does not know.

    What forks would ask is this process, which knows no fault of theirs, or nobody: they would wait without end.
    """
    ours = threading.enumerate()
    known = {thread.native_id for thread in ours}
    every = {int(path.name) for path in Path("/proc/self/task").iterdir()}
    return any(thread.name == SERVER_THREAD for thread in ours) or not every <= known


def _tear_down(session: pytest.Session) -> None:
    """Tear down module fixtures, such as servers; session fixtures stay."""
    session._setupstate.teardown_exact(_Only(session))  # type: ignore[arg-type]


def fail_here(
    session: pytest.Session, tests: Sequence[pytest.Item], change: Change, lengths: Mapping[str, Length]
) -> int | None:
    """Run tests after the change and undo it. pytest ends tests that hang."""
    undo = change()
    try:
        for place, item in enumerate(tests):
            run(item, tests[place + 1] if place + 1 < len(tests) else _Only(session))
            if session.testsfailed:
                return place
        return None
    finally:
        undo()
        _tear_down(session)
        session.testsfailed = 0
        session.shouldfail = session.shouldstop = False


def fail_in_a_fork(
    session: pytest.Session, tests: Sequence[pytest.Item], change: Change, lengths: Mapping[str, Length]
) -> int | None:
    """Run tests in a fork after the change, since a test may hang or end its process."""
    ours = _children()
    clock = _Clock()
    child = os.fork()
    if child == 0:
        status = 2
        try:
            _be_quiet()
            change()
            status = int(_fails(session, tests, clock))
        finally:
            os._exit(status)
    with suppress(OSError):  # it has done so itself, or has ended
        os.setpgid(child, child)
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            break
        place, began = clock.read()
        if time.monotonic() > began + lengths[tests[place].nodeid].limit_seconds + _GRACE_SECONDS:
            os.killpg(child, signal.SIGKILL)
        time.sleep(_LOOK_SECONDS)
    _end_others(ours)
    return clock.read()[0] if status != 0 else None


class _Clock:
    """The test that a fork runs, and its start, in shared memory."""

    _FORM = struct.Struct("id")

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, self._FORM.size)
        self.start(0)

    def start(self, place: int) -> None:
        self._memory[:] = self._FORM.pack(place, time.monotonic())

    def read(self) -> tuple[int, float]:
        place, began = self._FORM.unpack(self._memory[:])
        return place, began


def _be_quiet() -> None:
    """Become a process group, to be killed as one, without output and with limited memory."""
    os.setpgid(0, 0)
    ctypes.CDLL(None).prctl(_END_WITH_PARENT, signal.SIGKILL, 0, 0, 0)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY_BYTES, resource.RLIM_INFINITY))


def _fails(session: pytest.Session, tests: Sequence[pytest.Item], clock: _Clock) -> bool:
    for place, item in enumerate(tests):
        clock.start(place)
        run(item, tests[place + 1] if place + 1 < len(tests) else _Only(session))
        if session.testsfailed:
            _tear_down(session)
            return True
    return False


def _end_others(ours: set[int]) -> None:
    """Kill the orphaned children of a fork, and theirs, which now belong to this process."""
    while others := _children() - ours:
        for process in others:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)


def _children() -> set[int]:
    listed = (path.read_text() for path in Path("/proc/self/task").glob("*/children"))
    return {int(number) for numbers in listed for number in numbers.split()}


@dataclass(frozen=True)
class Module:
    """The objects of a module in this process: its functions, and all caches."""

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
        """Return a function that puts the fault in place; None if it changes a default, evaluated on import."""
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
            forget_what_is_kept()

        def put_in() -> Callable[[], None]:
            put(becomes)
            return lambda: put(was)

        return put_in


def forget_what_is_kept() -> None:
    """Empty the caches of this project's modules, such as statements, so that tests run the code that fills them."""
    here = f"{Path.cwd()}/"
    for name, module in list(sys.modules.items()):
        if (getattr(module, "__file__", None) or "").startswith(here) and not name.startswith("test"):
            for kept in list(vars(module).values()):
                if type(kept) is functools._lru_cache_wrapper:
                    kept.cache_clear()
                elif type(kept) is OrderedDict:
                    kept.clear()
                elif type(kept).__name__ == "_Cache":
                    type(kept).__init__(kept)


def _is_same(code: CodeType, other: CodeType) -> bool:
    return (code.co_filename, code.co_qualname, code.co_firstlineno) == (
        other.co_filename,
        other.co_qualname,
        other.co_firstlineno,
    )


def _codes(source: str, path: Path) -> dict[Function, CodeType]:
    """Return the code objects of functions and methods; nested functions are part of them."""
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
