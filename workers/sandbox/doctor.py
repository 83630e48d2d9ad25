"""Examines this machine: which parts of the sandbox work, and what to install or set for those that do not."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from workers.sandbox.backends import Trial, trials_of
from workers.sandbox.bubblewrap import drop_to, find_bubblewrap, usr_python
from workers.sandbox.containers import find_containers
from workers.sandbox.environments import (
    default_environment_folder,
    environments_folder,
    list_environments,
    unreachable_part,
)
from workers.sandbox.settings import sandbox_settings
from workers.sandbox.terms import SandboxUnavailable

#: The first version of bubblewrap with `--disable-userns` and `--size`.
OLDEST = (0, 8)
#: Settings of the kernel that refuse namespaces to ordinary users, with the value that allows them.
_SWITCHES = (
    ("kernel/unprivileged_userns_clone", "1", "sysctl kernel.unprivileged_userns_clone=1"),
    (
        "kernel/apparmor_restrict_unprivileged_userns",
        "0",
        "allow it in a profile of AppArmor for bwrap, or sysctl kernel.apparmor_restrict_unprivileged_userns=0",
    ),
)
_IN_CONTAINER = (
    "in a container: give it the seccomp profile of the service program-worker in docker-compose.yml, "
    "which allows namespaces of users"
)


@dataclass(frozen=True, slots=True)
class Finding:
    """The state of one part of the sandbox. is_good: it works; advice: what to install or set, otherwise "".

    is_needed: no program without an image can run without this part.
    """

    part: str
    is_good: bool
    words: str
    advice: str = ""
    is_needed: bool = True


def examine() -> list[Finding]:
    """Try all parts, and return the findings."""
    machine = [*_bubblewrap(), _python(), _user(), _memory(), _gold_place()]
    return [*machine, _default_environment(), *_other_environments(), _images()]


def can_run(findings: list[Finding]) -> bool:
    """Return whether programs without an image can run here."""
    return all(finding.is_good for finding in findings if finding.is_needed)


def _bubblewrap() -> Iterator[Finding]:
    if sandbox_settings().backend == "none":
        yield Finding("bubblewrap", False, "switched off", "remove EVERGOLD_SANDBOX_BACKEND=none")
        return
    try:
        path = find_bubblewrap()
    except SandboxUnavailable as error:
        yield Finding("bubblewrap", False, "not installed", str(error))
        return
    version = _version(path)
    if version < OLDEST:
        yield Finding("bubblewrap", False, f"{path} is older than 0.8", "install bubblewrap 0.8 or later")
        return
    yield Finding("bubblewrap", True, f"{path}, version {'.'.join(map(str, version))}")
    trials = trials_of(path)
    yield _sandbox(trials)


def _sandbox(trials: list[Trial]) -> Finding:
    """Return the finding about the strictest form that works, and what it lacks. trials: of all forms tried."""
    working = next((trial.backend for trial in trials if not trial.words), None)
    strictest = trials[0].words
    if working is None:
        return Finding("sandbox", False, strictest, advice_of(strictest))
    lacking = []
    if not working.has_proc:
        lacking.append("without /proc")
    if not working.has_lock:
        lacking.append("without --disable-userns (the filter of system calls refuses namespaces all the same)")
    if not lacking:
        return Finding("sandbox", True, "starts, with namespaces, filter, and bounds")
    advice = (
        "programs that read /proc need more: in a container set security_opt systempaths=unconfined"
        if not working.has_proc
        else ""
    )
    return Finding("sandbox", True, f"starts {', '.join(lacking)}: {strictest}", advice)


#: Sandboxes have no /etc, and so no list of folders with libraries.
_OTHER_PYTHON = (
    "this Python finds its own library by /etc/ld.so.cache alone, which sandboxes do not have: install the package "
    "python3 and set EVERGOLD_SANDBOX_PYTHON to /usr/bin/python3, or build that Python with an rpath"
)


def advice_of(words: str) -> str:
    """Return what to set if bubblewrap failed with this message."""
    if re.search(r"namespace|user_namespaces|uid map", words):
        switches = [
            how
            for name, allowing, how in _SWITCHES
            if (path := Path("/proc/sys", name)).exists() and path.read_text().strip() != allowing
        ]
        return "; or ".join([*switches, _IN_CONTAINER])
    if "shared libraries" in words:
        return _OTHER_PYTHON
    if "cannot become user" in words or "Python" in words:
        return words
    return 'see "Organisers\' own programs" in docs/running.md'


def _python() -> Finding:
    try:
        return Finding("python", True, f"{usr_python(sandbox_settings().python)} starts programs")
    except SandboxUnavailable as error:
        return Finding("python", False, "none below /usr", str(error))


def _user() -> Finding:
    uid = drop_to()
    words = (
        f"runs as user {os.geteuid()}" if uid is None else f"is root, and becomes user {uid} before bubblewrap starts"
    )
    return Finding("user", True, words)


def _memory() -> Finding:
    """Return the finding about the memory limit of a run; the trial of the sandbox shows whether cgroups work."""
    if sandbox_settings().cgroups:
        return Finding("memory", True, "counted by the kernel, in a cgroup for each run")
    return Finding("memory", True, "looked at every 0.1 s; with EVERGOLD_SANDBOX_CGROUPS the kernel counts it")


def _gold_place() -> Finding:
    """Return the finding about the place for copies of gold, which only a worker run by root needs."""
    if drop_to() is None:
        return Finding("gold", True, "read where it was opened")
    place = sandbox_settings().dir or Path("/dev/shm")  # noqa: S108 - see gold_copy
    closed = unreachable_part(place) if place.is_dir() else place
    if closed is not None:
        return Finding("gold", False, f"{closed} cannot be entered", "set EVERGOLD_SANDBOX_DIR to a folder in memory")
    return Finding("gold", True, f"copied to {place} for the time of a run")


def _default_environment() -> Finding:
    try:
        folder = default_environment_folder()
    except SandboxUnavailable as error:
        return Finding("default environment", False, "not here", str(error))
    return Finding("default environment", True, folder.name[:12])


def _other_environments() -> Iterator[Finding]:
    folder = environments_folder()
    if not folder.is_dir():
        return
    closed = unreachable_part(folder)
    if closed is not None:
        advice = "set EVERGOLD_ENVIRONMENTS_DIR to a folder that everybody can read"
        yield Finding("environments", False, f"{closed} cannot be entered by the user of sandboxes", advice)
        return
    try:
        yield Finding("environments", True, f"{len(list_environments())} in {folder}", is_needed=False)
    except SandboxUnavailable as error:
        yield Finding("environments", False, str(error), "evergold environments build --renew", is_needed=False)


def _images() -> Finding:
    try:
        found = find_containers(sandbox_settings().containers)
    except SandboxUnavailable as error:
        return Finding("images", False, "programs with an image wait", str(error), is_needed=False)
    return Finding("images", True, f"by {found.name}", is_needed=False)


def _version(path: str) -> tuple[int, ...]:
    answer = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)  # noqa: S603 - our bwrap
    found = re.search(r"(\d+)\.(\d+)(?:\.(\d+))?", answer.stdout)
    return tuple(int(part) for part in found.groups() if part) if found else (0,)
