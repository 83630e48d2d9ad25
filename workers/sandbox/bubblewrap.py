"""Sandboxes by bubblewrap: namespaces of an ordinary user, never started by root.

If root starts it, bubblewrap leaves programs a way out (`/proc/sys/kernel/core_pattern` is writable). A worker run by
root therefore becomes an ordinary user first; if it cannot, there is no sandbox.
"""

from __future__ import annotations

import json
import os
import platform
import select
import shutil
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from workers.sandbox import watching
from workers.sandbox.cgroups import Group, group_for
from workers.sandbox.environments import read_environment
from workers.sandbox.filter import compile_filter
from workers.sandbox.gold_copy import readable_copy
from workers.sandbox.settings import sandbox_settings
from workers.sandbox.stream import APP, Feed
from workers.sandbox.terms import Ended, Limits, SandboxUnavailable

#: The path at which every built environment is mounted.
ENVIRONMENT = "/opt/environment"
PATH = "/usr/local/bin:/usr/bin:/bin"
DEVICES = ("null", "zero", "full", "random", "urandom")
#: Folders of the root that are links into /usr on Debian and Fedora, which have merged them.
_MERGED = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
PASSWD = b"nobody:x:65534:65534:nobody:/tmp:/usr/sbin/nologin\n"
NOBODY = "65534"
#: Links in the sandbox to folders of APP.
TEMPORARY, SHARED_MEMORY = "/tmp", "/dev/shm"  # noqa: S108
#: Time limit until a killed process is gone; only a kernel that waits for a device takes longer.
ENDING_SECONDS = 30
INSTALL = "install the package bubblewrap (apt-get install bubblewrap), version 0.8 or later"


@dataclass
class BubblewrapBox:
    """A started sandbox. init: PID of its process 1, as seen from outside; handle: a pidfd of that process, or -1."""

    process: subprocess.Popen[bytes]
    init: int
    handle: int
    counts_processes: bool = True
    group: Group | None = None

    def join(self, group: Group) -> None:
        """Move all processes of the sandbox into a cgroup, before the program runs."""
        for process in filter(None, (self.process.pid, self.init)):  # 0, of one that did not start, would be ourselves
            with suppress(OSError):  # ended already, and says so itself
                group.add(process)
        self.group = group

    def look(self, limits: Limits) -> tuple[Ended, str] | None:
        """Return the limit that is exceeded, with a message; None if none is."""
        if self.group is not None and self.group.was_out_of_memory():
            return Ended.TOO_MUCH_MEMORY, watching.memory_words(limits)
        return watching.look(self.init, limits, APP)

    def end(self) -> None:
        """Kill process 1, and thereby all others, and wait until they are gone; then kill bubblewrap.

        The kernel lets process 1 of a namespace end only when all others in it have ended.
        """
        if self.handle >= 0:
            with suppress(OSError):
                signal.pidfd_send_signal(self.handle, signal.SIGKILL)
            ended = select.poll()
            ended.register(self.handle, select.POLLIN)
            ended.poll(1000 * ENDING_SECONDS)
            os.close(self.handle)
            self.handle = -1
        self.process.kill()


@dataclass(frozen=True, slots=True)
class Bubblewrap:
    """The bubblewrap backend.

    has_proc: a fresh /proc can be mounted, which most containers refuse; has_lock: programs can create no namespaces
    (`--disable-userns`), which seccomp refuses in any case.
    """

    path: str
    has_proc: bool = True
    has_lock: bool = True
    name: str = field(default="bubblewrap")

    @contextmanager
    def open(
        self, feed: Feed, reference: Path, environment: Path | str | None, limits: Limits
    ) -> Iterator[BubblewrapBox]:
        """Start a sandbox during the block. environment: the folder of a built one, None for a bare Python.

        Raises SandboxUnavailable.
        """
        if isinstance(environment, str):
            raise SandboxUnavailable("bubblewrap runs no images")
        size = feed.size + limits.written
        with readable_copy(reference, drop_to()) as readable, group_for(limits, size) as group:
            box = self._start(size, readable, environment)
            try:
                if group is not None:
                    box.join(group)
                yield box
            finally:
                box.end()

    def _start(self, size: int, reference: Path, environment: Path | None) -> BubblewrapBox:
        """Start bubblewrap; its supervisor then waits for the stream. size: in bytes, of everything that can be
        written.
        """
        handed: dict[str, int] = {}
        info, info_end = os.pipe()
        try:
            handed["filter"] = _memory_file(_filter())
            handed["passwd"] = _memory_file(PASSWD)
            handed["localtime"] = _memory_file(_localtime())
            handed["info"] = info_end
            command = [self.path, *self._arguments(handed, size, reference, environment), *supervisor()]
            process = _popen(command, tuple(handed.values()))
        except BaseException:
            os.close(info)
            raise
        finally:
            for descriptor in (*handed.values(), info_end):
                with suppress(OSError):
                    os.close(descriptor)
        init, handle = _init_of(info)
        return BubblewrapBox(process, init, handle)

    def _arguments(self, handed: dict[str, int], size: int, reference: Path, environment: Path | None) -> list[str]:
        """Return the arguments of bubblewrap, which lay out the file system from the root down."""
        links = [part for name in _MERGED for part in _merged(name)]
        devices = [part for name in DEVICES for part in ("--dev-bind", f"/dev/{name}", f"/dev/{name}")]
        return [
            *("--unshare-user", "--unshare-all", "--die-with-parent", "--new-session", "--as-pid-1"),
            *(["--disable-userns"] if self.has_lock else []),
            *("--cap-drop", "ALL", "--uid", NOBODY, "--gid", NOBODY, "--hostname", "sandbox"),
            *("--info-fd", str(handed["info"]), "--seccomp", str(handed["filter"])),
            *("--clearenv", "--setenv", "PATH", f"{ENVIRONMENT}/bin:{PATH}" if environment else PATH),
            *("--setenv", "HOME", TEMPORARY, "--setenv", "LANG", "C.UTF-8", "--setenv", "PYTHONUNBUFFERED", "1"),
            *("--ro-bind", "/usr", "/usr", *links),
            *(_environment(environment) if environment else []),
            *("--ro-bind-data", str(handed["passwd"]), "/etc/passwd"),
            *("--ro-bind-data", str(handed["localtime"]), "/etc/localtime"),
            *(["--proc", "/proc"] if self.has_proc else []),
            *("--dir", "/dev", *devices, "--symlink", f"..{APP}/shm", SHARED_MEMORY),
            *(["--symlink", "/proc/self/fd", "/dev/fd"] if self.has_proc else []),
            *("--size", str(size), "--tmpfs", APP, "--symlink", f"{APP[1:]}{TEMPORARY}", TEMPORARY),
            *("--ro-bind", str(reference), f"{APP}/input/ref"),
            *("--remount-ro", "/", "--chdir", "/"),
        ]


def drop_to() -> int | None:
    """Return the user who starts bubblewrap if root runs this process; None otherwise."""
    return sandbox_settings().uid if os.geteuid() == 0 else None


def supervisor() -> list[str]:
    """Return the command of the supervisor. Raises SandboxUnavailable if there is no Python for it."""
    return [usr_python(sandbox_settings().python), "-I", "-S", "-c", supervisor_text()]


@lru_cache(maxsize=1)
def supervisor_text() -> str:
    """Return the source text of the supervisor that runs inside."""
    return Path(__file__).with_name("inside.py").read_text(encoding="utf-8")


@lru_cache(maxsize=4)
def usr_python(named: str) -> str:
    """Return the Python below /usr that the setting names or that is installed there. Raises SandboxUnavailable."""
    for path in [named] if named else ["/usr/bin/python3", "/usr/local/bin/python3"]:
        if Path(path).is_file() and Path(path).resolve().is_relative_to("/usr"):
            return path
    raise SandboxUnavailable(
        f"{named or 'no Python'} is below /usr, the only place that sandboxes see: install the package python3, "
        "or name one in EVERGOLD_SANDBOX_PYTHON"
        if not named
        else f"{named} is not there, or not below /usr: set EVERGOLD_SANDBOX_PYTHON to one that is"
    )


def find_bubblewrap() -> str:
    """Return the path of bubblewrap. Raises SandboxUnavailable."""
    found = shutil.which("bwrap")
    if found is None:
        raise SandboxUnavailable(f"bubblewrap is not installed: {INSTALL}")
    return found


def _popen(command: Sequence[str], handed: tuple[int, ...]) -> subprocess.Popen[bytes]:
    """Start bubblewrap as an ordinary user. Raises SandboxUnavailable if root cannot become one."""
    uid = drop_to()
    options: dict[str, Any] = {} if uid is None else {"user": uid, "group": uid, "extra_groups": []}
    try:
        return subprocess.Popen(  # noqa: S603 - the words are ours
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd="/",
            env={"PATH": PATH},
            pass_fds=handed,
            start_new_session=True,
            **options,
        )
    except PermissionError as error:
        raise SandboxUnavailable(
            f"this worker is root and cannot become user {uid} ({error.strerror}): bubblewrap is never started by "
            "root; start the worker as an ordinary user"
        ) from None


def _init_of(info: int) -> tuple[int, int]:
    """Return the PID of process 1 of the sandbox and a pidfd of it; 0 and -1 if it was not started."""
    with os.fdopen(info, "rb") as file:
        text = file.read()
    try:
        init = int(json.loads(text)["child-pid"])
        return init, os.pidfd_open(init)
    except (ValueError, KeyError, OSError):
        return 0, -1


def _environment(folder: Path) -> list[str]:
    """Return the arguments for a built environment and for its Python, which is mounted at its original path."""
    built = read_environment(folder)
    base = ["--ro-bind", str(folder / "base"), built.base] if built.base else []
    return ["--ro-bind", str(folder / "venv"), ENVIRONMENT, *base]


def _merged(name: str) -> tuple[str, ...]:
    """Return the arguments for a folder of the root: a link is recreated, a real folder is mounted."""
    path = Path("/", name)
    if path.is_symlink():
        return ("--symlink", os.readlink(path).lstrip("/"), str(path))
    return ("--ro-bind", str(path), str(path)) if path.is_dir() else ()


def _memory_file(content: bytes) -> int:
    """Return the descriptor of a file in memory with this content, positioned at its beginning."""
    file = os.memfd_create("sandbox")
    os.write(file, content)
    os.lseek(file, 0, os.SEEK_SET)
    return file


@lru_cache(maxsize=1)
def _filter() -> bytes:
    try:
        return compile_filter()
    except LookupError as error:
        raise SandboxUnavailable(f"{platform.machine()}: {error}") from None


@lru_cache(maxsize=1)
def _localtime() -> bytes:
    """Return the time zone of this machine; UTC if none is set."""
    for path in ("/etc/localtime", "/usr/share/zoneinfo/UTC"):
        with suppress(OSError):
            return Path(path).read_bytes()
    return b""
