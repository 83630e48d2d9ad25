"""Limits of a run. The harsh cases happen in a process of their own: a limit that works must not hit the tests."""

from __future__ import annotations

import resource
import signal
import socket
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import pytest

from workers.confined import MEBIBYTE, NetworkRefused, RunLimits, confined

LIMITS = RunLimits(memory_mebibytes=4096, cpu_seconds=60, open_files=200, file_mebibytes=64)


def run_confined(block: str, **limits: int) -> subprocess.CompletedProcess[str]:
    """A Python process that runs the block under these limits; 0, no bound, for those that are not named."""
    named = {"memory_mebibytes": 0, "cpu_seconds": 0, "open_files": 0, "file_mebibytes": 0} | limits
    program = f"from workers.confined import RunLimits, confined\nwith confined(RunLimits(**{named})):\n"
    return subprocess.run(
        [sys.executable, "-c", program + textwrap.indent(textwrap.dedent(block), "    ")],
        capture_output=True,
        text=True,
        cwd=Path(__file__).resolve().parents[2],
        timeout=60,
    )


@pytest.mark.parametrize(
    "reach",
    [
        lambda: socket.create_connection(("127.0.0.1", 9)),
        lambda: socket.getaddrinfo("example.org", 80),
        lambda: socket.gethostbyname("example.org"),
        lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"gold", ("127.0.0.1", 9)),
        lambda: socket.socket(socket.AF_INET).bind(("127.0.0.1", 0)),
    ],
    ids=["connect", "getaddrinfo", "gethostbyname", "datagram", "listen"],
)
@pytest.mark.filterwarnings("ignore::ResourceWarning")  # the refused sockets are left to the garbage collector
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_scoring_has_no_network(reach: Callable[[], object]) -> None:
    with confined(LIMITS), pytest.raises(NetworkRefused):
        reach()


def test_the_heartbeat_beside_a_run_keeps_its_connections() -> None:
    reached = []
    with socket.create_server(("127.0.0.1", 0)) as server, confined(LIMITS):

        def beat() -> None:
            with socket.create_connection(server.getsockname()):
                reached.append(True)

        thread = threading.Thread(target=beat)
        thread.start()
        thread.join()
    assert reached == [True]


def test_everything_is_as_before_after_a_run_even_a_failed_one() -> None:
    which = (resource.RLIMIT_DATA, resource.RLIMIT_CPU, resource.RLIMIT_NOFILE, resource.RLIMIT_FSIZE)
    before = [resource.getrlimit(one) for one in which]
    with suppress(KeyError), confined(LIMITS):
        assert [resource.getrlimit(one) for one in which] != before
        raise KeyError
    assert [resource.getrlimit(one) for one in which] == before
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()):
        pass


@pytest.mark.parametrize("first_to_end", [0, 1])
def test_of_runs_that_overlap_the_last_one_lifts_the_bounds(first_to_end: int) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    runs = [confined(LIMITS), confined(LIMITS)]
    for run in runs:
        run.__enter__()
    runs.pop(first_to_end).__exit__(None, None, None)
    within = resource.getrlimit(resource.RLIMIT_FSIZE)
    runs.pop().__exit__(None, None, None)
    assert (within[0], resource.getrlimit(resource.RLIMIT_FSIZE)) == (64 * MEBIBYTE, before)


def test_too_much_memory_is_an_error_of_the_run_not_of_the_machine() -> None:
    ended = run_confined(
        "try:\n    bytearray(512 * 2**20)\nexcept MemoryError:\n    print('refused')", memory_mebibytes=256
    )
    assert ended.stdout == "refused\n"


def test_a_run_that_takes_too_long_is_ended() -> None:
    ended = run_confined("while True:\n    pass", cpu_seconds=1)
    assert ended.returncode == -signal.SIGXCPU


def test_processor_time_of_earlier_runs_is_not_charged_to_this_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """The system counts from the process's birth: a child that has worked for an hour still gives a run its minute."""
    an_hour = SimpleNamespace(ru_utime=3500.25, ru_stime=99.75)
    with monkeypatch.context() as patched:
        patched.setattr(resource, "getrusage", lambda _: an_hour)
        with confined(LIMITS):
            bound = resource.getrlimit(resource.RLIMIT_CPU)[0]
    assert 3600 + LIMITS.cpu_seconds <= bound <= 3600 + LIMITS.cpu_seconds + 10


def test_too_many_open_files_are_refused() -> None:
    ended = run_confined("kept = [open('/dev/null') for _ in range(100)]", open_files=50)
    assert "Too many open files" in ended.stderr


def test_a_file_that_grows_too_large_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "large"
    block = f"with open({str(path)!r}, 'wb', 0) as file:\n    file.write(bytes(3 * 2**20))\n    file.write(b'.')"
    ended = run_confined(block, file_mebibytes=2)
    assert "File too large" in ended.stderr
    assert path.stat().st_size <= 2 * 2**20


def test_limits_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVERGOLD_RUN_CPU_SECONDS", "7")
    assert RunLimits().cpu_seconds == 7
