"""The surroundings of a program: nothing more than what is listed here."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest

from tests.workers.sandbox.conftest import LIMITS, MEBIBYTE, Place
from workers.sandbox import Ended

#: Lists what is visible, without following anything into /usr, /proc and the environment.
LISTING = """
import json, os, socket

def tree(top):
    found = []
    for folder, names, files in os.walk(top):
        found += [os.path.join(folder, name) for name in names + files]
    return sorted(found)

def link(path):
    return os.readlink(path) if os.path.lexists(path) else "closed"

status = dict(line.split(":", 1) for line in open("/proc/self/status").read().splitlines())
seen = {
    "root": sorted(os.listdir("/")),
    "links": {name: os.readlink("/" + name) for name in os.listdir("/") if os.path.islink("/" + name)},
    "etc": tree("/etc"), "dev": tree("/dev"), "app": tree("/app"), "opt": sorted(os.listdir("/opt")),
    "users": open("/etc/passwd").read(),
    "environment": dict(os.environ), "cwd": os.getcwd(), "ids": [os.getresuid(), os.getresgid(), os.getgroups()],
    "processes": sorted(int(name) for name in os.listdir("/proc") if name.isdigit()),
    "descriptors": {name: link("/proc/self/fd/" + name).split(":")[0] for name in os.listdir("/proc/self/fd")},
    "interfaces": [line.split(":")[0].strip() for line in open("/proc/net/dev").read().splitlines()[2:]],
    "routes": open("/proc/net/route").read().splitlines()[1:],
    "hostname": socket.gethostname(),
    "namespaces": {name: os.readlink("/proc/self/ns/" + name) for name in os.listdir("/proc/self/ns")},
    "status": {name: value.strip() for name, value in status.items()},
    "mounts": [line.split()[:4] for line in open("/proc/self/mounts")],
    "limits": open("/proc/self/limits").read(),
}
json.dump(seen, open("/app/output/scores.json", "w"))
"""


@pytest.fixture
def seen(place: Place) -> dict[str, Any]:
    outcome = place.run(LISTING)
    assert outcome.ended is Ended.FINISHED, outcome.stderr.decode()
    found: dict[str, Any] = json.loads(outcome.scores or b"")
    return found


def test_only_the_folders_of_a_run_usr_and_the_environment_are_there(seen: dict[str, Any]) -> None:
    merged = {name for name in ("bin", "sbin", "lib", "lib32", "lib64", "libx32") if os.path.lexists(f"/{name}")}
    assert set(seen["root"]) == {"app", "dev", "etc", "opt", "proc", "tmp", "usr", *merged}
    assert seen["links"] == {"tmp": "app/tmp", **{name: f"usr/{name}" for name in merged}}
    assert seen["opt"] == ["environment"]
    assert seen["etc"] == ["/etc/localtime", "/etc/passwd"]
    assert seen["users"] == "nobody:x:65534:65534:nobody:/tmp:/usr/sbin/nologin\n"
    devices = ("full", "null", "random", "urandom", "zero")
    assert seen["dev"] == sorted(f"/dev/{name}" for name in (*devices, "fd", "shm"))
    assert seen["app"] == [
        *("/app/input", "/app/input/ref", "/app/input/ref/gold.txt", "/app/input/res", "/app/input/res/answer.txt"),
        *("/app/output", "/app/program", "/app/program/metadata.yaml", "/app/program/score.py"),
        *("/app/shared", "/app/shm", "/app/tmp"),
    ]


def test_it_is_nobody_without_rights_and_has_no_environment_of_ours(seen: dict[str, Any]) -> None:
    assert seen["environment"] == {
        "PATH": "/opt/environment/bin:/usr/local/bin:/usr/bin:/bin",
        "HOME": "/tmp",  # noqa: S108 - there
        "LANG": "C.UTF-8",
        "PYTHONUNBUFFERED": "1",
    }
    assert seen["cwd"] == "/app/program"
    assert seen["ids"] == [[65534] * 3, [65534] * 3, []]
    status = seen["status"]
    assert {status[name] for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")} == {"0" * 16}
    assert (status["NoNewPrivs"], status["Seccomp"]) == ("1", "2")


def test_it_sees_no_process_but_its_own_and_no_network_but_a_dead_loopback(seen: dict[str, Any]) -> None:
    assert seen["processes"] == [1, 2], "the supervisor and itself"
    descriptors = seen["descriptors"]
    assert {descriptors[number] for number in ("1", "2")} == {"pipe"}
    assert descriptors["0"] == "/dev/null"
    others = {number: what for number, what in descriptors.items() if number not in ("0", "1", "2")}
    assert set(others.values()) <= {"closed"}, "the list itself; no file of the worker"
    assert seen["interfaces"] == ["lo"]
    assert seen["routes"] == []
    assert seen["hostname"] == "sandbox"


def test_all_namespaces_are_its_own(seen: dict[str, Any]) -> None:
    for name in ("cgroup", "ipc", "mnt", "net", "pid", "user", "uts"):
        assert seen["namespaces"][name] != os.readlink(f"/proc/self/ns/{name}"), name


def test_whatever_can_be_written_lies_in_one_memory_of_declared_size(seen: dict[str, Any]) -> None:
    writable = {where: (kind, options) for _, where, kind, options in seen["mounts"] if "rw" in options.split(",")}
    devices = {where for where in writable if where.startswith("/dev/")}
    assert devices == {f"/dev/{name}" for name in ("full", "null", "random", "urandom", "zero")}
    assert set(writable) - devices == {"/app", "/proc"}
    kind, options = writable["/app"]
    assert kind == "tmpfs"
    [size] = [int(one.removeprefix("size=").removesuffix("k")) for one in options.split(",") if one.startswith("size=")]
    assert LIMITS.written <= size * 1024 <= LIMITS.written + MEBIBYTE
    assert all(
        "nosuid" in options and "nodev" in options for _, where, _, options in seen["mounts"] if where not in devices
    )


def test_limits_of_the_kernel_are_set(seen: dict[str, Any]) -> None:
    lines = {line[:25].strip(): line[25:].split()[:2] for line in seen["limits"].splitlines()}
    assert lines["Max cpu time"] == ["30", "31"]
    assert lines["Max processes"] == ["17", "17"], "the supervisor is the seventeenth"
    assert lines["Max open files"] == ["256", "256"]
    assert lines["Max core file size"] == ["0", "0"]


def test_threads_processes_and_temporary_files_work(place: Place) -> None:
    """Libraries need them: locks of multiprocessing lie in /dev/shm."""
    outcome = place.run("""
        import multiprocessing, subprocess, tempfile, threading

        def square(number):
            return number * number

        if __name__ == "__main__":
            with multiprocessing.Pool(3) as pool:
                print(pool.map(square, range(4)))
            thread = threading.Thread(target=print, args=("thread",))
            thread.start()
            thread.join()
            with tempfile.TemporaryFile() as file:
                file.write(b"x")
            print(subprocess.run(["/bin/sh", "-c", "echo shell"], capture_output=True).stdout)
    """)
    assert outcome.stdout.decode().splitlines() == ["[0, 1, 4, 9]", "thread", "b'shell\\n'"], outcome.stderr.decode()
