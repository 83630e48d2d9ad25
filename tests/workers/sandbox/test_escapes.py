"""Programs that try to get out, or at what is not theirs."""

from __future__ import annotations

import json
import os
import platform
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.workers.sandbox.conftest import Place
from workers.sandbox import Ended, Outcome
from workers.sandbox.filter import REFUSED, compile_filter

CANARY = "yellow-bird-4711"


def test_nothing_of_the_kernel_can_be_opened_for_writing(place: Place) -> None:
    """Open files without writing to them: a program that can write to core_pattern is root on the host.

    ns_last_pid belongs to each namespace of processes; the right to it is checked at writing.
    """
    outcome = place.run("""
        import os
        opened, tried = [], 0
        for folder, _, names in os.walk("/proc/sys"):
            for name in set(names) - {"ns_last_pid"}:
                tried += 1
                try:
                    os.close(os.open(os.path.join(folder, name), os.O_WRONLY))
                    opened.append(os.path.join(folder, name))
                except OSError:
                    pass
        for name in ("/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger", "/proc/kcore", "/proc/kmsg"):
            try:
                os.close(os.open(name, os.O_WRONLY))
                opened.append(name)
            except OSError as error:
                print(name, error.strerror)
        print(opened, tried > 500)
    """)
    said = outcome.stdout.decode()
    assert "/proc/sys/kernel/core_pattern Permission denied" in said
    assert said.splitlines()[-1] == "[] True", said


def test_refused_system_calls_answer_as_without_the_right(place: Place) -> None:
    place.write({"program/numbers.json": json.dumps({name: numbers for name, numbers in REFUSED.items()})})
    outcome = place.run("""
        import ctypes, errno, json, os
        libc = ctypes.CDLL(None, use_errno=True)
        column = {"x86_64": 0, "aarch64": 1}[os.uname().machine]
        for name, numbers in json.load(open("numbers.json")).items():
            if numbers[column] is None:
                continue
            ctypes.set_errno(0)
            answer = libc.syscall(numbers[column], 0, 0, 0, 0, 0, 0)
            if (answer, ctypes.get_errno()) != (-1, errno.EPERM):
                print(name, answer, ctypes.get_errno())
    """)
    assert (outcome.ended, outcome.stdout) == (Ended.FINISHED, b""), outcome.stderr.decode()


def test_calls_that_are_looked_at_are_refused_by_their_arguments_alone(place: Place) -> None:
    outcome = place.run("""
        import ctypes, errno, fcntl, os, socket
        libc = ctypes.CDLL(None, use_errno=True)
        clone, clone3 = {"x86_64": (56, 435), "aarch64": (220, 435)}[os.uname().machine]
        for flag in (0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000):
            assert libc.syscall(clone, flag | 17, 0, 0, 0, 0) == -1, hex(flag)
            assert ctypes.get_errno() == errno.EPERM, hex(flag)
        assert libc.syscall(clone3, 0, 0) == -1 and ctypes.get_errno() == errno.ENOSYS
        for family in (socket.AF_NETLINK, socket.AF_PACKET, socket.AF_VSOCK, socket.AF_ALG, socket.AF_CAN):
            try:
                socket.socket(family, socket.SOCK_RAW if family < 38 else socket.SOCK_STREAM)
            except OSError as error:
                assert error.errno == errno.EAFNOSUPPORT, family
            else:
                raise SystemExit("a socket of family %d" % family)
        reading, writing = os.pipe()
        for code in (0x5412, 0x541C):
            try:
                fcntl.ioctl(reading, code, b"x")
            except PermissionError:
                continue
            raise SystemExit("typed")
        assert fcntl.ioctl(reading, 0x541B, bytes(4)) == bytes(4), "others are as ever"
        socket.socketpair()
        if os.uname().machine == "x86_64":
            assert libc.syscall(0x40000000 | 39) == -1 and ctypes.get_errno() == errno.ENOSYS
    """)
    assert (outcome.ended, outcome.stderr.decode()) == (Ended.FINISHED, "")


@pytest.mark.skipif(platform.machine() not in ("x86_64", "aarch64"), reason="no table for this machine")
def test_numbers_of_calls_are_those_of_this_machine(place: Place) -> None:
    """The headers of the C library know them by name; a wrong number would refuse something else."""
    headers = [
        *Path("/usr/include").glob(f"{platform.machine()}-linux-gnu/asm/unistd_64.h"),
        *Path("/usr/include/asm-generic").glob("unistd.h"),
    ]
    if not headers:
        pytest.skip("no headers of Linux here: install the package linux-libc-dev")
    column = ("x86_64", "aarch64").index(platform.machine())
    known = {}
    for line in headers[0].read_text().splitlines():
        parts = line.split()
        if len(parts) >= 3 and parts[0] == "#define" and parts[1].startswith("__NR_") and parts[2].isdigit():
            known[parts[1].removeprefix("__NR_")] = int(parts[2])
    assert len(known) > 300
    wrong = {
        name: numbers[column] for name, numbers in REFUSED.items() if name in known and known[name] != numbers[column]
    }
    assert wrong == {}
    assert known["memfd_create"] == REFUSED["memfd_create"][column]


def test_filter_is_short_enough_and_there_is_none_for_unknown_machines() -> None:
    for machine in ("x86_64", "aarch64"):
        content = compile_filter(machine)
        assert len(content) % 8 == 0
        assert len(content) // 8 < 4096, "the kernel takes no more (BPF_MAXINSNS)"
    with pytest.raises(LookupError, match="riscv64"):
        compile_filter("riscv64")


SEARCH = """
import os
canary = "-".join(["yellow", "bird", "4711"])
tops = [%r, *("/" + name for name in os.listdir("/") if name in ("app", "dev", "etc", "tmp"))]
files = [os.path.join(folder, name) for top in tops for folder, _, names in os.walk(top) for name in names]
for process in filter(str.isdigit, os.listdir("/proc")):
    files += ["/proc/%%s/%%s" %% (process, name) for name in ("environ", "cmdline", "maps", "mountinfo", "cgroup")]
    assert sorted(os.listdir("/proc/%%s/root" %% process)) == sorted(os.listdir("/"))
found = []
for path in [tops[0], *files]:
    try:
        if os.path.isfile(path) and canary in open(path, errors="replace").read():
            found.append(path)
    except OSError:
        pass
print(found)
"""


def test_keys_and_gold_of_others_and_the_workers_environment_are_not_there(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check that even files that everybody on this machine may read are missing."""
    monkeypatch.setenv("EVERGOLD_DATABASE_URL", f"postgresql://evergold:{CANARY}@localhost/evergold")
    other = Path("/dev/shm") / f"evergold-test-{os.getpid()}"  # noqa: S108 - what a careless operator would do
    other.write_text(CANARY)
    other.chmod(0o644)
    (tmp_path / "workers.key").write_text(CANARY)
    try:
        place.write({"gold/gold.txt": CANARY})
        assert place.run(SEARCH % str(other)).stdout == b"['/app/input/ref/gold.txt']\n"
        place.write({"gold/gold.txt": "right\n"})
        outcome = place.run(SEARCH % str(other))
    finally:
        other.unlink()
    assert (outcome.stdout, outcome.stderr) == (b"[]\n", b"")


def test_runs_at_the_same_time_do_not_see_each_other(place: Place, tmp_path: Path) -> None:
    """The first one leaves its canary everywhere it can, and waits until the second has looked."""
    second = Place(tmp_path / "second", place.environment)
    second.write({"gold/gold.txt": "", "submission/answer.txt": "", "program/lib.py": ""})
    outcomes: dict[str, Outcome] = {}

    def first() -> None:
        outcomes["first"] = place.run(f"""
            import socket, sys, time
            canary = "{CANARY}"
            for folder in ("/tmp", "/dev/shm", "/app/shared", "/app/output"):
                open(folder + "/canary", "w").write(canary)
            listening = socket.socket(socket.AF_UNIX)
            listening.bind(chr(0) + "canary")
            listening.listen()
            listening.settimeout(3)
            open("/app/output/scores.txt", "w").write("a: 1")
            try:
                listening.accept()
            except TimeoutError:
                print("nobody came")
        """)

    thread = threading.Thread(target=first)
    thread.start()
    outcome = second.run(
        SEARCH % "/none"
        + """
import signal, socket, time
time.sleep(1)
try:
    socket.socket(socket.AF_UNIX).connect(chr(0) + "canary")
    print("connected")
except OSError as error:
    print(error.strerror)
print(sorted(filter(str.isdigit, os.listdir("/proc")), key=int))
os.kill(-1, signal.SIGKILL)
"""
    )
    thread.join()
    assert outcome.stdout.decode().splitlines() == ["[]", "Connection refused", "['1', '2']"]
    assert (outcomes["first"].ended, outcomes["first"].stdout) == (Ended.FINISHED, b"nobody came\n")


@contextmanager
def listening() -> Iterator[tuple[int, list[str]]]:
    """A server on all addresses of this machine; the port, and who connected."""
    came: list[str] = []
    with socket.create_server(("0.0.0.0", 0)) as server:  # noqa: S104 - as a database may listen
        server.settimeout(0.2)
        stop = threading.Event()

        def accept() -> None:
            while not stop.is_set():
                try:
                    connection, address = server.accept()
                except TimeoutError:
                    continue
                came.append(str(address))
                connection.close()

        thread = threading.Thread(target=accept)
        thread.start()
        try:
            yield server.getsockname()[1], came
        finally:
            stop.set()
            thread.join()


def test_no_network_is_reached(place: Place) -> None:
    with listening() as (port, came), socket.socket(socket.AF_UNIX) as host_only:
        host_only.bind(f"\0evergold-test-{os.getpid()}")
        host_only.listen()
        addresses = ["127.0.0.1", socket.gethostbyname(socket.gethostname()), "192.0.2.1"]
        outcome = place.run(f"""
            import errno, socket
            for address in {addresses}:
                try:
                    socket.create_connection((address, {port}), timeout=5)
                    print("connected")
                except OSError as error:
                    print(errno.errorcode.get(error.errno, error))
            try:
                socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("192.0.2.1", 53))
                print("sent")
            except OSError as error:
                print(errno.errorcode[error.errno])
            try:
                socket.getaddrinfo("example.org", 80)
                print("resolved")
            except OSError as error:
                print("unknown")
            try:
                socket.socket(socket.AF_UNIX).connect(chr(0) + "evergold-test-{os.getpid()}")
                print("connected")
            except OSError as error:
                print(errno.errorcode[error.errno])
        """)
    said = outcome.stdout.decode().split()
    assert said[0] == "ECONNREFUSED"
    assert set(said[1:4]) <= {"ENETUNREACH", "ECONNREFUSED"}
    assert said[4:] == ["unknown", "ECONNREFUSED"], outcome.stderr.decode()
    assert came == []


def test_a_worker_of_root_gives_up_being_root_before_bubblewrap_starts(place: Place) -> None:
    """Seen from outside: every process of the sandbox belongs to the user of sandboxes."""
    if os.geteuid() != 0:
        pytest.skip("only a worker run by root has something to give up")
    marker = "evergold-marker-4711"
    users: set[int] = set()
    stop = threading.Event()

    def watch() -> None:
        while not stop.wait(0.02):
            for process in Path("/proc").iterdir():
                try:
                    if marker in (process / "cmdline").read_text() or "bwrap" in os.readlink(process / "exe"):
                        parent = (process / "status").read_text()
                        users.update(int(line.split()[1]) for line in parent.splitlines() if line.startswith("Uid:"))
                except OSError:
                    continue

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        outcome = place.run("import time; time.sleep(0.5)", command=("python3", "score.py", marker))
    finally:
        stop.set()
        thread.join()
    assert outcome.ended is Ended.FINISHED
    assert users == {65534}
