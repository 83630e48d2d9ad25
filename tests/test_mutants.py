"""The basis of `make mutants`: its map of modules and tests, its faults, and its verdict."""

from __future__ import annotations

import functools
import gc
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from bench.mutants.__main__ import (
    sample,
    semantic_sample,
    semantic_shares,
    survivors,
    tried,
    tried_by_rooms,
    tried_in_turn,
    verdict,
)
from bench.mutants.faults import Fault, Key, faults_of, key_of
from bench.mutants.inside import TASK_VARIABLE, Module, forget_what_is_kept
from bench.mutants.lines import changed_lines, lines_of
from bench.mutants.modules import TESTS
from bench.mutants.results import Results
from bench.mutants.rooms import LEAKS, every_module, room_of, rooms
from bench.mutants.semantic import semantic_faults_of
from bench.mutants.trial import Broken, Yard

ROOT = Path(__file__).resolve().parent.parent
SMALL = "evergold/scoring/f1.py"

CODE = '''
def quota(session, team, now):
    """How much is left."""
    if now < team.start:
        raise LimitReached("Your team has used all of it.", limit=team.limit)
    log.info("asked", team=team.id)
    pairs = zip(team.a, team.b, strict=True)
    return session.scalars(select(Run).where(Run.team == team.id, Run.is_current).options(joined(Run.team))).all()


class Team:
    @property
    def left(self) -> int | None:
        return self.limit - self.used
'''


def changes(code: str = CODE) -> list[tuple[str, str, str]]:
    return [(fault.function, *fault.lines()) for fault in faults_of("app/limits.py", code)]


def test_every_module_and_every_test_of_the_map_is_there() -> None:
    named = [*TESTS, *(test for tests in TESTS.values() for test in tests)]
    assert [name for name in named if not (ROOT / name).exists()] == []
    assert all(tests for tests in TESTS.values())


def test_a_condition_of_a_query_is_dropped_and_a_bound_is_moved() -> None:
    found = [(function, becomes) for function, _, becomes in changes()]
    assert any("where(Run.team == team.id, )" in becomes for _, becomes in found)
    assert any("where(Run.is_current)" in becomes for _, becomes in found)
    assert ("quota", "if now <= team.start:") in found
    assert ("Team.left", "return self.limit + self.used") in found, "decorated ones, too"


def test_words_logs_and_what_is_loaded_along_are_left_alone() -> None:
    becomes = " ".join(becomes for _, _, becomes in changes())
    assert "XX" not in becomes
    assert not [line for _, line, _ in changes() if line.startswith("log.")]
    assert ".options(None)" not in becomes
    assert "limit=None" in becomes, "details of an error are no words"


QUERY = """
def runs(session, ids):
    session.execute(select(Team.id).where(Team.id.in_(ids)).order_by(Team.id).with_for_update())
    locked = session.execute(select(Run.id).where(Run.is_open).with_for_update()).all()
    newest = session.scalar(select(Run.id).where(Run.is_current).order_by(Run.id.desc()).limit(1))
    path.read_text(encoding="ascii", strictly=False)
    of_team = select(Run).join(Team, Team.id == Run.team_id).join(Mark, and_(Mark.team_id == Team.id, Mark.is_open))
    problems.add("bad-id", "words", line=ids[0])
    return session.get_one(Run, newest, populate_existing=True), of_team
"""


def test_what_one_sqlite_cannot_show_is_left_alone_and_all_beside_it_is_not() -> None:
    """The order of locks, a limit of one row for the first, and a join by the key by which SQLAlchemy would join."""
    becomes = {line for _, _, line in changes(QUERY)}
    without = (
        ".order_by(None).with",
        "Team.id.in_(None)",
        ".limit(None)",
        "join(Team, None)",
        "join(Team, )",
        '"ASCII"',
        "newest, )",
        "strictly=None",
        'add("bad-id", None',
    )
    assert [line for line in becomes for text in without if text in line] == []
    beside = (
        "where(None).with_for_update()).all()",
        ".where(None)",
        ".order_by(None).limit(1)",
        "Team.id != Run.team_id",
        "and_(Mark.is_open)",
        "strictly=True",
        "XXbad-idXX",
        "line=None",
    )
    assert [text for text in beside if not any(text in line for line in becomes)] == []


def test_a_fault_changes_its_own_lines_of_the_module_and_no_other() -> None:
    for fault in faults_of("app/limits.py", CODE):
        was, becomes = fault.lines()
        assert was != becomes
        compile(fault.source(), "app/limits.py", "exec")
        assert fault.source() != CODE


LIVE = """
from functools import cache, wraps

def counted(function):
    @wraps(function)
    def counting(*arguments):
        return function(*arguments)
    return counting

@cache
def limit():
    return 3

class Team:
    @property
    def left(self):
        return limit() - 1

    @counted
    def has(self, used=0):
        return [place for place in range(limit()) if place > used]
"""


@pytest.mark.parametrize(
    ("function", "was", "becomes"),
    [("Team.left", "limit() - 1", "limit() + 1"), ("Team.has", "place > used", "place >= used"), ("limit", "3", "4")],
)
def test_a_fault_is_put_into_what_is_imported_already(tmp_path: Path, function: str, was: str, becomes: str) -> None:
    path = tmp_path / "live.py"
    path.write_text(LIVE)
    space: dict[str, Any] = {"__name__": "live"}
    exec(compile(LIVE, str(path), "exec"), space)  # noqa: S102
    team = space["Team"]()
    before = (team.left, team.has(), space["limit"]())
    change = Module.loaded(path, gc.get_objects()).change(function, LIVE.replace(was, becomes))
    assert change is not None
    undo = change()
    after = (team.left, team.has(), space["limit"]())
    undo()
    assert (team.left, team.has(), space["limit"]()) == before, "as it was"
    assert before == (2, [1, 2], 3)
    assert after == {"Team.left": (4, [1, 2], 3), "Team.has": (2, [0, 1, 2], 3), "limit": (3, [1, 2, 3], 4)}[function]


def test_what_is_taken_on_import_cannot_be_changed_any_more(tmp_path: Path) -> None:
    path = tmp_path / "live.py"
    path.write_text(LIVE)
    exec(compile(LIVE, str(path), "exec"), {"__name__": "live"})  # noqa: S102
    assert Module.loaded(path, gc.get_objects()).change("Team.has", LIVE.replace("used=0", "used=1")) is None


def test_what_a_test_takes_from_a_cache_is_run_by_that_test_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Check it, since otherwise one test alone would seem to touch the function, and a fault in it would be tried by no
    other.
    """
    module, ran = ModuleType("cached"), []
    module.limit = functools.cache(lambda: ran.append(1))  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "cached", module)
    for path in ("/elsewhere/cached.py", Path.cwd() / "cached.py", Path.cwd() / "cached.py"):
        module.__file__ = str(path)
        module.limit()
        forget_what_is_kept()
    assert len(ran) == 2


def test_the_body_of_a_function_is_known_by_its_lines() -> None:
    lines = LIVE.splitlines()
    assert {lines[line - 1].strip() for line in lines_of(LIVE, "Team.left")} == {"return limit() - 1"}
    assert lines_of(LIVE, "Team.right") == frozenset()


@pytest.mark.parametrize(
    ("after", "lines"),
    [
        ("a\nb\nc\nd\n", set()),
        ("a\nB\nc\nd\n", {2}),
        ("a\nB\nc\nD\n", {2, 3, 4}),
        ("a\nd\n", {2, 3}),
        ("a\nb\nb\nc\nd\n", set()),
    ],
)
def test_a_change_is_known_by_the_lines_that_it_changes(after: str, lines: set[int]) -> None:
    assert changed_lines("a\nb\nc\nd\n", after) == lines


def test_the_same_seed_draws_the_same_faults_whatever_changes_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    before = {fault.rank("1") for fault in faults_of("app/limits.py", CODE) if fault.function == "quota"}
    after = {
        fault.rank("1")
        for fault in faults_of("app/limits.py", CODE.replace("self.used", "1"))
        if fault.function == "quota"
    }
    assert before == after
    assert {fault.rank("2") for fault in faults_of("app/limits.py", CODE)}.isdisjoint(before)
    monkeypatch.setattr("bench.mutants.__main__.TESTS", {SMALL: TESTS[SMALL]})
    assert [key_of(fault) for fault in sample("1", 3)] == [key_of(fault) for fault in sample("1", 3)]


@pytest.mark.parametrize(
    ("noticed", "listed", "code", "said"),
    [
        (20, 0, 0, "20 of 20 faults were noticed: 100.0 %"),
        (19, 1, 0, "19 of 20 faults were noticed: 95.0 %"),
        (19, 0, 1, "lives, and is not listed"),
        (18, 2, 1, "90.0 %"),
        (20, 1, 0, "listed, but noticed by now"),
    ],
)
def test_a_survivor_must_be_listed_and_one_in_twenty_is_the_most(
    noticed: int, listed: int, code: int, said: str
) -> None:
    every = faults_of(SMALL, (ROOT / SMALL).read_text())
    faults: list[Fault] = list({key_of(fault): fault for fault in every[:30]}.values())[:20]
    known: dict[Key, str] = {key_of(fault): "a reason" for fault in faults[20 - listed :]}
    sentences: list[str] = []
    found = [place < noticed for place in range(20)]
    assert verdict(faults, found, known, sentences.append) == code
    assert any(said in sentence for sentence in sentences)


def test_what_no_test_of_its_room_touches_or_names_lives_without_a_run_of_all_tests(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(yard: Yard, *arguments: object) -> tuple[int, str]:
        raise AssertionError("pytest takes no tests for all")

    monkeypatch.setattr(Yard, "_together", lambda yard, tests, faults: [("unsure", [])])
    monkeypatch.setattr(Yard, "_run", run)
    fault = faults_of(SMALL, (ROOT / SMALL).read_text())[0]
    assert Yard(tmp_path).try_all(("tests/cards/",), [fault]) == [False]


def test_a_yard_has_the_packages_that_tests_need_and_git_ignores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check the packages: without them tests of log-ins with a provider would be skipped, and every fault
    there live.
    """
    checkout, yard = tmp_path / "checkout", tmp_path / "yard"
    (checkout / "tests" / "oidc" / "node_modules" / "oidc-provider").mkdir(parents=True)
    (checkout / "tests" / "oidc" / "there.py").write_text("")
    (checkout / ".gitignore").write_text("node_modules/\n")
    subprocess.run(["git", "init", "--quiet"], cwd=checkout, check=True)
    monkeypatch.setattr("bench.mutants.trial.ROOT", checkout)
    Yard(yard)
    assert (yard / "tests" / "oidc" / "there.py").is_file()
    assert (yard / "tests" / "oidc" / "node_modules" / "oidc-provider").is_dir()


class Lawn:
    """A yard in which every fault is noticed, and boards' tests fail without any."""

    def __init__(self, folder: Path) -> None:
        self.left_out: set[str] = set()

    def try_all(self, tests: tuple[str, ...], faults: list[Fault]) -> list[bool]:
        if tests == TESTS["app/boards/view.py"]:
            raise Broken("without a fault tests/boards/ do not pass")
        return [True for _ in faults]


def test_where_tests_fail_without_a_fault_the_others_are_tried_all_the_same(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Check that faults of the broken tests come first; the command fails at its end, and reports what was
    not tried.
    """
    monkeypatch.setattr("bench.mutants.__main__.Yard", Lawn)
    paths = ("app/boards/view.py", SMALL)
    faults = [fault for path in paths for fault in faults_of(path, (ROOT / path).read_text())[:10]]
    noticed = tried(faults, processes=1)
    assert noticed == [None] * 10 + [True] * 10
    assert "without a fault tests/boards/ do not pass" in capsys.readouterr().out
    sentences: list[str] = []
    assert verdict(faults, noticed, {}, sentences.append) == 1
    assert sentences == [
        "10 of 20 faults were not tried: without any fault their tests fail, see above",
        "10 of 10 faults were noticed: 100.0 % (at least 95 are wanted)",
    ]


SEMANTIC = """
def mine(session, team, phase, now, *, user_id, other_id):
    key = (team.name, phase.name, now)
    rows = session.scalars(select(Run).where(Run.team_id == team.id, Run.phase_id == phase.id, Run.is_current))
    if phase.starts_at <= now and allowed(team.id, phase.id):
        check(session, Right.GOLD, user_id=user_id, other_id=other_id)
    rows.first().is_current = False
    return [row for row in rows.order_by(Run.position) if row.status is RunStatus.QUEUED], key
"""


@pytest.mark.parametrize(
    ("kind", "becomes"),
    [
        ("a filter less", "where(Run.phase_id == phase.id, Run.is_current)"),
        ("a filter less", "return [row for row in rows.order_by(Run.position)], key"),
        ("a filter less", "if allowed(team.id, phase.id):"),
        ("filters swapped", "where(Run.team_id == phase.id, Run.phase_id == team.id, Run.is_current)"),
        ("arguments swapped", "allowed(phase.id, team.id)"),
        ("arguments swapped", "user_id=other_id, other_id=user_id"),
        ("a neighbouring constant", "Right.MESSAGES"),
        ("a neighbouring constant", "RunStatus.RUNNING"),
        ("any run", "(Run.is_current | True)"),
        ("another column", "order_by(Run.id)"),
        ("another column", "if phase.ends_at <= now"),
        ("before for after", "if phase.starts_at >= now"),
        ("a part of a key less", "key = (team.name, now)"),
    ],
)
def test_a_careless_move_is_a_fault(kind: str, becomes: str) -> None:
    found = [fault for fault in semantic_faults_of("app/limits.py", SEMANTIC) if fault.kind == kind]
    assert any(becomes in fault.lines()[1] for fault in found), [fault.lines()[1] for fault in found]
    for fault in found:
        compile(fault.source(), "app/limits.py", "exec")


def test_a_column_is_taken_for_another_only_where_there_are_tables() -> None:
    kinds = {fault.kind for fault in semantic_faults_of("evergold/limits.py", SEMANTIC)}
    assert "another column" not in kinds
    assert "a filter less" in kinds


def test_a_semantic_sample_has_something_of_each_room_and_operator(monkeypatch: pytest.MonkeyPatch) -> None:
    modules = ["app/gold/versions.py", "app/people/rights.py", "app/people/rights.py"]
    monkeypatch.setattr("bench.mutants.__main__.every_module", lambda: modules)
    drawn = semantic_sample("1", 10)
    assert {room_of(fault.module) for fault in drawn} == {"app/gold", "app/people"}
    assert len({(room_of(fault.module), fault.kind) for fault in drawn}) == 10
    assert [key_of(fault) for fault in semantic_sample("1", 10)] == [key_of(fault) for fault in drawn]


def test_every_room_has_tests_of_its_own_and_no_module_two_rooms() -> None:
    named = [name for tests in rooms().values() for name in tests]
    assert [name for name in named if not (ROOT / name).exists()] == []
    assert len(every_module()) == len(set(every_module()))
    assert room_of("app/web/gold/api.py") == "app/web/gold"
    assert room_of("app/web/main.py") == "app/web"


def test_what_a_rooms_own_tests_miss_is_shown_to_the_leaks(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    source = (ROOT / "app/people/rights.py").read_text()
    faults = semantic_faults_of("app/people/rights.py", source)[:3]
    shown: list[tuple[tuple[str, ...], int]] = []

    class Field(Lawn):
        def try_all(self, tests: tuple[str, ...], faults: list[Fault]) -> list[bool]:
            shown.append((tests, len(faults)))
            return [place == 0 for place, _ in enumerate(faults)]

    monkeypatch.setattr("bench.mutants.__main__.Yard", Field)
    assert tried_by_rooms(faults, processes=1, with_leaks=True) == [True, True, False]
    assert shown == [(("tests/people/", "tests/web/people/"), 3), (("tests/leaks/",), 2)]
    assert "app/people: 1 of 3 noticed by its own tests, 2 with tests/leaks" in capsys.readouterr().out


def test_rooms_in_turn_get_shares_and_a_room_with_results_is_not_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    """gold's own tests notice the first fault of the room, tests/leaks what is left of people."""
    modules = ["app/gold/versions.py", "app/people/rights.py"]
    monkeypatch.setattr("bench.mutants.__main__.every_module", lambda: modules)
    shares = semantic_shares("1", 8)
    sizes = {room: len(faults) for room, faults in shares.items()}
    assert sum(sizes.values()) == 8
    assert sizes["app/gold"] > sizes["app/people"] > 0, "by their size"
    [of_people] = semantic_shares("1", 8, "app/people").values()
    assert list(map(key_of, of_people)) == list(map(key_of, shares["app/people"])), "the same, and no others"
    shown: list[tuple[str, ...]] = []

    class Field(Lawn):
        def try_all(self, tests: tuple[str, ...], faults: list[Fault]) -> list[bool]:
            shown.append(tests)
            of_people = [fault.module == "app/people/rights.py" for fault in faults]
            return of_people if tests == LEAKS else [place == 0 for place, _ in enumerate(faults)]

    monkeypatch.setattr("bench.mutants.__main__.Yard", Field)
    results = Results(tmp_path / "results")
    faults, noticed = tried_in_turn(shares, results, with_leaks=False)
    assert noticed.count(True) == 2
    assert shown == [rooms()["app/gold"], rooms()["app/people"]]
    again, with_leaks = tried_in_turn(shares, results, with_leaks=True)
    assert shown[2:] == [LEAKS], "the rooms were done"
    assert [key_of(fault) for fault in again] == [key_of(fault) for fault in faults]
    assert with_leaks.count(True) == 1 + sizes["app/people"]
    results.forget_alive()
    tried_in_turn(shares, results, with_leaks=False)
    assert shown[3:] == [rooms()["app/gold"]], "only what lived"
    lines = capsys.readouterr().out.splitlines()
    gold, people = sizes["app/gold"], sizes["app/people"]
    assert [line.split() for line in lines[-3:]] == [
        ["app/gold", str(gold), "2", "2", str(gold - 2), "0"],
        ["app/people", str(people), "1", str(people), "0", "0"],
        ["all", "8", "3", str(2 + people), str(gold - 2), "0"],
    ]


SMALL_ROOM = """
import functools

@functools.cache
def statement():
    return part()

def part():
    return 1

def doubled(number):
    return number * 2

def ends(number):
    return number

def spoiled(number):
    return number

async def waited(number):
    return number + 1

def lonely(number):
    return number - 1

def unseen(number):
    return number

def taken(number):
    return number + 1

def branched(number):
    if number:
        return "some"
    return "none"
"""
TESTS_OF_SMALL_ROOM = """
import asyncio, os, subprocess, sys
import pytest
import small

@pytest.fixture(scope="module")
def service():
    command = [sys.executable, "-c", "import time; time.sleep(600)", os.environ["EVERGOLD_TEST_NAMED"]]
    process = subprocess.Popen(command, start_new_session=True)
    yield process
    process.kill()
    process.wait()

def test_doubled(service):
    assert service.poll() is None
    assert small.doubled(2) == 4

def test_ends(service):
    if small.ends(1) != 1:
        os.kill(os.getpid(), 9)

STATE = []

def test_spoiled():
    STATE.append(small.spoiled(1))
    assert len(STATE) == 1, "it knows of its process: it fails whenever it runs again"

def test_spoiled_at_once():
    assert small.spoiled(0) is not None

def test_lonely():
    STATE.append(small.lonely(1))
    assert STATE.count(0) == 1, "as above, and no other test asks for it"

def test_waited():
    assert asyncio.run(small.waited(1)) == 2

def test_unseen():
    small.unseen(1)

def test_broken():
    small.doubled(1)
    assert False

def test_kept():
    small.statement()

def test_kept_again():
    assert small.statement() == 1

def test_some():
    assert small.branched(1) == "some"

def test_none_takes_longer():
    sum(range(300_000))
    assert small.branched(0) == "none"

def test_imported_late():
    import late

def test_made_on_import():
    import late
    assert late.MADE == 3
"""
#: What a test of the house shares ends where the next test is another file's.
CONFTEST = """
def pytest_runtest_teardown(item, nextitem):
    assert nextitem is None or nextitem.nodeid != item.nodeid
"""
LATE = """
import small
MADE = small.taken(2)
"""


def test_faults_are_tried_in_forks_that_leave_nothing_behind(tmp_path: Path) -> None:
    """A test that fails without any fault decides nothing, and the service of a fork that is killed is ended.

    What is kept is made again for each test; what a late import has made is for a process of its own to try. A test
    that runs the changed line goes before a quick one that does not.
    """
    (tmp_path / "small.py").write_text(SMALL_ROOM)
    (tmp_path / "test_small.py").write_text(TESTS_OF_SMALL_ROOM)
    (tmp_path / "late.py").write_text(LATE)
    (tmp_path / "conftest.py").write_text(CONFTEST)
    faults = [
        ("doubled", "number * 2", "number + 1"),
        ("ends", "return number\n\ndef spoiled", "return 0\n\ndef spoiled"),
        ("spoiled", "return number\n\nasync", "return number or 1\n\nasync"),
        ("waited", "number + 1", "number"),
        ("lonely", "number - 1", "1 - number"),
        ("unseen", "return number\n", "return 0\n"),
        ("part", "return 1", "return 2"),
        ("taken", "return number + 1\n", "return number + 2\n"),
        ("branched", '"none"', '"nothing"'),
    ]
    named = f"service of {tmp_path.name} {os.getpid()}"
    answers = _tried_inside(tmp_path, faults, EVERGOLD_TEST_NAMED=named)
    assert [verdict for verdict, *_ in answers] == [
        "noticed",
        "noticed",
        "lives",
        "noticed",
        "lives",
        "lives",
        "noticed",
        "unsure",
        "noticed",
    ]
    assert answers[-1][1] == ["test_small.py::test_none_takes_longer", "test_small.py::test_some"]
    assert answers[-1][2] == [f"test_small.py::test_{name}" for name in ("broken", "lonely", "spoiled")]
    assert [path for path in Path("/proc").glob("[0-9]*/cmdline") if named.encode() in _text(path)] == []


TESTS_WITH_A_THREAD = """
import _thread, queue
import small

ASKED, ANSWERED = queue.Queue(), queue.Queue()
_thread.start_new_thread(lambda: [ANSWERED.put(ASKED.get()) for _ in range(9)], ())

def test_doubled():
    ASKED.put(small.doubled(3))
    assert ANSWERED.get() == 6
"""


def test_where_a_thread_answers_that_a_fork_has_not_nothing_is_forked(tmp_path: Path) -> None:
    """Start a thread that Python does not know, like those of the clients of stores."""
    (tmp_path / "small.py").write_text(SMALL_ROOM)
    (tmp_path / "test_small.py").write_text(TESTS_WITH_A_THREAD)
    answers = _tried_inside(tmp_path, [("doubled", "number * 2", "number + 3"), ("doubled", "number * 2", "number")])
    assert [verdict for verdict, *_ in answers] == ["lives", "noticed"]


def _tried_inside(folder: Path, faults: Sequence[tuple[str, str, str]], **environment: str) -> list[Any]:
    """Try faults, (function, was, becomes), of small.py in a pytest of its own."""
    task = folder / "faults.json"
    sources = [
        {"module": str(folder / "small.py"), "function": function, "source": _changed(was, becomes)}
        for function, was, becomes in faults
    ]
    task.write_text(json.dumps(sources))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "bench.mutants.inside", "-p", "no:cacheprovider", "."]
    more = {"PYTHONPATH": f"{ROOT}:{folder}", TASK_VARIABLE: str(task), **environment}
    said = subprocess.run(command, cwd=folder, env=os.environ | more, capture_output=True, text=True)
    done = task.with_suffix(".done")
    assert done.exists(), said.stdout
    return [json.loads(line) for line in done.read_text().splitlines()]


def _text(path: Path) -> bytes:
    with suppress(OSError):  # it has ended
        return path.read_bytes()
    return b""


def _changed(was: str, becomes: str) -> str:
    assert was in SMALL_ROOM
    return SMALL_ROOM.replace(was, becomes)


def test_where_nothing_could_be_tried_nothing_was_noticed() -> None:
    fault = faults_of(SMALL, (ROOT / SMALL).read_text())[0]
    assert verdict([fault], [None], {}, lambda sentence: None) == 1


def test_every_survivor_has_a_reason_and_stands_in_the_code() -> None:
    modules = {*TESTS, *every_module()}
    texts = {module: " ".join((ROOT / module).read_text().split()) for module in modules}
    for (module, function, was, _), because in survivors().items():
        assert len(because) > 20, because
        assert " ".join(was.split()) in texts[module], f"{module} {function}: {was}"


@pytest.mark.soak
def test_every_survivor_is_a_fault_of_its_function() -> None:
    lines: dict[str, set[tuple[str, str, str]]] = {}
    for module, function, was, becomes in survivors():
        if module not in lines:
            text = (ROOT / module).read_text()
            found = [*faults_of(module, text), *semantic_faults_of(module, text)]
            lines[module] = {(fault.function, *fault.lines()) for fault in found}
        assert (function, was, becomes) in lines[module], f"{module} {function}: {was}"
