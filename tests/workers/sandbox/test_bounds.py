"""Programs that take more than their bounds; each ends in words, and leaves nothing running."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.processes import REPOSITORY, wait_until
from tests.workers.sandbox.conftest import LIMITS, MANY, MEBIBYTE, Place
from workers.sandbox import Ended, watching


@pytest.fixture
def marker() -> Iterator[str]:
    """A word on the command line of everything that a test starts inside; nothing with it is left after the test."""
    word = f"evergold-marker-{secrets.token_hex(6)}"
    yield word
    assert marked(word) == []


def marked(word: str) -> list[int]:
    """The processes of this machine that have the word on their command line."""
    found = []
    for process in Path("/proc").iterdir():
        try:
            if process.name.isdigit() and word.encode() in (process / "cmdline").read_bytes():
                found.append(int(process.name))
        except OSError:
            continue
    return found


def command(marker: str) -> tuple[str, ...]:
    return ("python3", "$program/score.py", marker)


def test_one_that_never_ends_is_ended_and_what_it_said_is_kept(place: Place, marker: str) -> None:
    outcome = place.run(
        """
        import signal, sys, time
        for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
            signal.signal(number, signal.SIG_IGN)
        print("began")
        while True:
            time.sleep(1)
        """,
        replace(LIMITS, seconds=1.0),
        command(marker),
    )
    assert (outcome.ended, outcome.exit_code, outcome.detail) == (Ended.TOO_LATE, None, "it took more than 1 s")
    assert outcome.stdout == b"began\n"
    assert (outcome.scores, outcome.page) == (None, None)


def test_processor_time_is_that_of_all_processes_together(place: Place, marker: str) -> None:
    """Check that two that take a second each, one after the other, have ended when the third begins."""
    outcome = place.run(
        """
        import os, time
        while True:
            if os.fork() == 0:
                while time.process_time() < 1:
                    pass
                os._exit(0)
            os.wait()
        """,
        replace(LIMITS, processor_seconds=2.0),
        command(marker),
    )
    assert (outcome.ended, outcome.detail) == (Ended.TOO_LATE, "it took more than 2 s of processor time")


def test_one_process_out_of_processor_time_is_ended_by_the_kernel_and_reported_alike(place: Place) -> None:
    outcome = place.run("import os, signal; os.kill(os.getpid(), signal.SIGXCPU)")
    assert (outcome.ended, outcome.detail) == (Ended.TOO_LATE, "it took more than 30 s of processor time")


def test_memory_is_that_of_all_processes_together(place: Place, marker: str) -> None:
    """Check five processes, each of which holds less than it may."""
    outcome = place.run(
        """
        import os, time
        for _ in range(5):
            if os.fork() == 0:
                held = b"x" * (60 << 20)
                time.sleep(60)
        time.sleep(60)
        """,
        LIMITS,
        command(marker),
    )
    assert (outcome.ended, outcome.exit_code) == (Ended.TOO_MUCH_MEMORY, None)
    assert outcome.detail == "its processes held more than 200 MiB of memory together"


def test_memory_that_processes_share_counts_once(place: Place) -> None:
    outcome = place.run("""
        import mmap, os, time
        held = mmap.mmap(-1, 120 << 20)
        held.write(bytes(120 << 20))
        for _ in range(4):
            if os.fork() == 0:
                held[:: 4096]
                time.sleep(1)
                os._exit(0)
        for _ in range(4):
            os.wait()
        print("all were there")
    """)
    assert (outcome.ended, outcome.stdout) == (Ended.FINISHED, b"all were there\n")


def test_memory_of_one_process_far_beyond_its_bound_is_refused_by_the_kernel(place: Place) -> None:
    outcome = place.run("x = bytearray(1 << 30)")
    assert outcome.ended is Ended.FAILED
    assert outcome.stderr.endswith(b"MemoryError\n")


def test_fork_bomb_stays_within_its_number_of_processes(place: Place, marker: str) -> None:
    """Check that when the bound is reached nothing more is started, and the time runs out."""
    outcome = place.run(
        """
        import os
        print("began", flush=True)
        while True:
            try:
                os.fork()
            except OSError:
                pass
        """,
        replace(LIMITS, processes=8, seconds=2.0, processor_seconds=5.0),
        command(marker),
    )
    assert outcome.ended is Ended.TOO_LATE
    assert outcome.stdout == b"began\n"


def test_processes_are_counted_by_the_kernel(place: Place) -> None:
    outcome = place.run(MANY)
    assert outcome.stdout == b"15 Resource temporarily unavailable\n", "with the first one sixteen"


@pytest.mark.parametrize("folder", ["/tmp", "/dev/shm", "/app/output", "/app/program", "/app/input/res"])  # noqa: S108
def test_disk_is_as_large_as_declared_wherever_it_is_written(place: Place, folder: str) -> None:
    outcome = place.run(f"""
        with open("{folder}/large", "wb", buffering=0) as file:
            for _ in range(1000):
                if file.write(bytes(1 << 20)) < 1 << 20:
                    raise SystemExit("full")
    """)
    assert (outcome.ended, outcome.scores) == (Ended.TOO_MUCH_WRITTEN, None)
    assert outcome.detail == "it wrote more than its limit"


def test_what_is_written_may_be_as_much_as_declared(place: Place) -> None:
    """The copies of program and submission do not count."""
    place.write({"submission/large.txt": "x" * 3 * MEBIBYTE})
    outcome = place.run("open('/tmp/large', 'wb').write(bytes(15 << 20)); print('written')")
    assert (outcome.ended, outcome.stdout) == (Ended.FINISHED, b"written\n")


def test_files_without_content_are_bounded_as_well(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "MOST_NAMES", 2000)
    outcome = place.run("""
        for number in range(10**9):
            open("/tmp/%d" % number, "x").close()
    """)
    assert (outcome.ended, outcome.detail) == (Ended.TOO_MUCH_WRITTEN, "it made more than 2,000 files and folders")


def test_nothing_is_written_outside_of_memory_of_its_own(place: Place) -> None:
    outcome = place.run("""
        import os
        for folder in ("/", "/etc", "/dev", "/usr", "/usr/lib", "/opt", "/opt/environment", "/app/input/ref", "/proc"):
            try:
                open(folder + "/new", "w")
                print("written to", folder)
            except OSError:
                pass
    """)
    assert (outcome.ended, outcome.stdout) == (Ended.FINISHED, b"")


def test_output_without_end_is_drained_and_the_beginning_kept(place: Place) -> None:
    outcome = place.run(
        """
        import os
        line = b"y" * 65535 + b"\\n"
        for _ in range(4096):
            os.write(1, line)
        os.write(2, b"done")
        """,
        replace(LIMITS, output=100_000),
    )
    assert (outcome.ended, len(outcome.stdout), outcome.stderr) == (Ended.FINISHED, 100_000, b"done")


def test_scores_larger_than_their_bound_are_not_read_and_a_page_is_left_out(place: Place) -> None:
    outcome = place.run("""
        open("/app/output/scores.json", "w").write(" " * ((1 << 20) + 1))
    """)
    assert (outcome.ended, outcome.scores) == (Ended.TOO_MUCH_WRITTEN, None)
    assert outcome.detail == "scores.json is larger than 1 MiB"
    outcome = place.run("""
        open("/app/output/scores.json", "w").write(" " * (1 << 20))
        open("/app/output/detailed_results.html", "w").write(" " * ((4 << 20) + 1))
    """)
    assert (outcome.ended, len(outcome.scores or b""), outcome.page) == (Ended.FINISHED, 1 << 20, None)
    assert outcome.detail == "detailed_results.html is larger than 4 MiB"


LEAVING = """
import os, signal, sys, time
for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
    signal.signal(number, signal.SIG_IGN)
for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(600)
        os._exit(0)
print("left behind", flush=True)
"""


def test_nothing_outlives_its_run(place: Place, marker: str) -> None:
    outcome = place.run(LEAVING, LIMITS, command(marker))
    assert (outcome.ended, outcome.stdout) == (Ended.FINISHED, b"left behind\n")
    assert marked(marker) == []


def test_nothing_outlives_a_worker_that_is_killed(place: Place, marker: str, tmp_path: Path) -> None:
    (place.program / "score.py").write_text(LEAVING + "time.sleep(600)\n")
    worker = textwrap.dedent(f"""
        from pathlib import Path
        from workers.sandbox import Environment, Limits, Program, run
        program = Program(Path({str(place.program)!r}), {command(marker)!r})
        environment = Environment(Path({str(place.environment)!r}))
        run(program, Path({str(place.gold)!r}), Path({str(place.submission)!r}), environment, Limits(seconds=300))
    """)
    script = tmp_path / "worker.py"
    script.write_text(worker)
    process = subprocess.Popen(
        [sys.executable, script], cwd=REPOSITORY, env={**os.environ, "PYTHONPATH": str(REPOSITORY)}
    )
    try:
        wait_until(lambda: len(marked(marker)) >= 4, "the program and what it leaves behind run")
    finally:
        process.kill()
        process.wait()
    wait_until(lambda: not marked(marker), "nothing of it is left")


def test_gold_that_a_killed_worker_laid_out_is_removed_by_the_next_run(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if os.geteuid() != 0:
        pytest.skip("only a worker run by root makes copies")
    gone = subprocess.Popen(["true"])
    gone.wait()
    folder = tmp_path / "memory"
    left, others = folder / f"evergold-run-{gone.pid}-abc", folder / f"evergold-run-{os.getpid()}-abc"
    for one in (left, others):
        one.mkdir(parents=True)
        (one / "gold.txt").write_text("right")
    for part in (folder, *folder.parents):
        if part.owner() == "root" and part != Path("/"):
            part.chmod(part.stat().st_mode | 0o711)
    monkeypatch.setenv("EVERGOLD_SANDBOX_DIR", str(folder))
    outcome = place.run("print(open('/app/input/ref/gold.txt').read())")
    assert outcome.stdout == b"right\n\n"
    assert list(folder.iterdir()) == [others]


@pytest.mark.parametrize("code", ["SIGKILL", "SIGSTOP", "SIGTERM", "SIGINT", "SIGHUP", "SIGSEGV"])
def test_the_supervisor_cannot_be_signalled_from_inside(place: Place, code: str) -> None:
    outcome = place.run(f"""
        import os, signal, time
        os.kill(1, signal.{code})
        time.sleep(0.2)
        print("still here")
    """)
    assert (outcome.ended, outcome.stdout) == (Ended.FINISHED, b"still here\n")
