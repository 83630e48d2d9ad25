"""Runs in cgroups of their own, where the worker's is delegated to it: a unit of systemd, made by hand."""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.processes import REPOSITORY
from tests.workers.sandbox.conftest import MANY, Place
from workers.sandbox import SandboxUnavailable
from workers.sandbox.cgroups import CONTROLLERS, LEAF, ROOT

#: Runs a program in a cgroup below this process's own, and tells how it ended and what is left there.
WORKER = """
import json, os, sys
from pathlib import Path
from workers.sandbox import Environment, Limits, Program, run
folder, environment, unit, words = Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]), json.loads(sys.argv[4])
(unit / "cgroup.procs").write_text(str(os.getpid()))
limits = Limits(seconds=60, memory=64 << 20, written=1 << 20, processes=16)
program = Program(folder / "program", ("python3", "score.py"))
outcome = run(program, folder / "gold", folder / "submission", Environment(environment), limits)
left = sorted(path.name for path in unit.iterdir() if path.is_dir())
print(json.dumps([outcome.ended, outcome.detail, outcome.stdout.decode(), outcome.stderr.decode(), left]))
"""
#: Memory that belongs to no process: what lies in the buffers of sockets.
SOCKETS = """
import os, socket, time
for _ in range(14):
    if os.fork() == 0:
        pairs = [socket.socketpair() for _ in range(100)]
        for end, _ in pairs:
            end.setblocking(False)
            try:
                while True:
                    end.send(bytes(1 << 16))
            except BlockingIOError:
                pass
        time.sleep(60)
        os._exit(0)
time.sleep(5)
print("held")
"""


@pytest.fixture
def unit() -> Iterator[Path]:
    """A cgroup as systemd makes one for a unit with `Delegate=memory pids`."""
    known = ROOT / "cgroup.controllers"
    if os.geteuid() != 0 or not known.exists() or not set(CONTROLLERS) <= set(known.read_text().split()):
        pytest.skip("needs root, and cgroups of version 2 with memory and pids")
    (ROOT / "cgroup.subtree_control").write_text(" ".join(f"+{name}" for name in CONTROLLERS))
    folder = ROOT / f"evergold-test-{secrets.token_hex(4)}"
    folder.mkdir()
    yield folder
    for child in (folder / LEAF, folder):
        if child.exists():
            child.rmdir()


def call(place: Place, unit: Path, code: str) -> list[object]:
    place.write({"program/score.py": code})
    words = [str(place.folder), str(place.environment), str(unit), "[]"]
    environment = {**os.environ, "EVERGOLD_SANDBOX_CGROUPS": "true"}
    done = subprocess.run(
        [sys.executable, "-c", WORKER, *words],
        cwd=REPOSITORY,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: list[object] = json.loads(done.stdout)
    return found


def test_a_run_has_a_cgroup_of_its_own_which_is_gone_afterwards(place: Place, unit: Path) -> None:
    found = call(place, unit, "print(open('/proc/self/cgroup').read().strip().startswith('0::/'))")
    assert found == ["finished", "", "True\n", "", [LEAF]]


def test_memory_that_belongs_to_no_process_counts(place: Place, unit: Path) -> None:
    ended, detail, said, _, left = call(place, unit, SOCKETS)
    assert (ended, said) == ("too-much-memory", "")
    assert detail == "its processes held more than 64 MiB of memory together"
    assert left == [LEAF]


def test_memory_of_one_process_is_bounded_there_too(place: Place, unit: Path) -> None:
    ended, *_ = call(place, unit, "held = b'x' * (120 << 20)")
    assert ended == "too-much-memory"


def test_processes_are_counted_there_too(place: Place, unit: Path) -> None:
    found = call(place, unit, MANY)
    assert found[2] == "15 Resource temporarily unavailable\n"


def test_setting_that_promises_more_than_there_is_is_refused_in_words(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = ROOT / "cgroup.controllers"
    if known.exists():
        pytest.skip("there are cgroups of version 2 here")
    monkeypatch.setenv("EVERGOLD_SANDBOX_CGROUPS", "true")
    with pytest.raises(SandboxUnavailable, match="no cgroups of version 2 here"):
        place.run("")
