"""Sandboxes by Docker or Podman, for programs that need an image.

The image is named with its digest and must be on this machine: nothing is pulled for a run. It must have a `python3`
(3.6 or later), which runs the same supervisor as in other sandboxes. The daemon's cgroups limit memory and processes.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from subprocess import DEVNULL, PIPE

from workers.sandbox.bubblewrap import NOBODY, supervisor_text
from workers.sandbox.gold_copy import readable_copy
from workers.sandbox.stream import APP, Feed
from workers.sandbox.terms import Ended, Limits, SandboxUnavailable

PROGRAMS = ("docker", "podman")
#: An image named by its digest in a registry or its own: a name alone may be another image tomorrow.
PINNED = re.compile(r"([\w][\w.\-/:]*@)?sha256:[0-9a-f]{64}", re.ASCII)
#: Time limit for a response of the daemon.
ASK_SECONDS = 30.0
#: Interval between checks whether a container is gone.
LOOK_SECONDS = 0.1
#: Maximum number of processes of the user of all containers together; `--pids-limit` limits each container. Podman's
#: default is a million, which some machines do not allow.
_OF_USER = 4096
#: Memory for the supervisor, and for the kernel's data about a container.
_BESIDE = 32 << 20


@dataclass
class ContainerBox:
    """A started container."""

    process: subprocess.Popen[bytes]
    program: str
    name: str
    counts_processes: bool = False
    is_ended: bool = False

    def look(self, limits: Limits) -> tuple[Ended, str] | None:
        """Return None, because the daemon limits memory and processes."""
        return None

    def end(self) -> None:
        """Remove the container with all its processes, and wait until it is gone."""
        if self.is_ended:
            return
        self.is_ended = True
        self.process.kill()
        ends_at = time.monotonic() + ASK_SECONDS
        while time.monotonic() < ends_at:
            _ask([self.program, "rm", "--force", self.name])
            if not _ask([self.program, "ps", "--all", "--quiet", "--filter", f"name=^{self.name}$"]):
                return
            time.sleep(LOOK_SECONDS)


@dataclass(frozen=True, slots=True)
class Containers:
    """The backend for images. path: of docker or podman."""

    path: str
    name: str

    @contextmanager
    def open(
        self, feed: Feed, reference: Path, environment: Path | str | None, limits: Limits
    ) -> Iterator[ContainerBox]:
        """Start a container during the block. environment: the image. Raises SandboxUnavailable."""
        image = self.checked_image(environment)
        with readable_copy(reference, int(NOBODY)) as readable:
            name = f"evergold-{os.getpid()}-{secrets.token_hex(4)}"
            command = [self.path, "run", *_arguments(name, feed, readable, limits), image]
            process = subprocess.Popen(  # noqa: S603 - the words are ours, and an image of a checked form
                [*command, "-I", "-S", "-c", supervisor_text()], stdin=PIPE, stdout=PIPE, stderr=PIPE, cwd="/"
            )
            box = ContainerBox(process, self.path, name)
            try:
                yield box
            finally:
                box.end()

    def checked_image(self, image: Path | str | None) -> str:
        """Return the image if it is named with a digest and is on this machine. Raises SandboxUnavailable."""
        if not isinstance(image, str) or not PINNED.fullmatch(image):
            raise SandboxUnavailable(f"the image {image} has no digest: name it as name@sha256:…")
        if _ask([self.path, "image", "inspect", "--format", "{{.Id}}", image]) is None:
            raise SandboxUnavailable(f"the image is not on this machine: {self.name} pull {image}")
        return image


def find_containers(wanted: str) -> Containers:
    """Return the backend named in the setting; "": the first that responds. Raises SandboxUnavailable."""
    if wanted == "none":
        raise SandboxUnavailable(
            "programs with an image need Docker or Podman: set EVERGOLD_SANDBOX_CONTAINERS to docker or podman"
        )
    names = [wanted] if wanted else list(PROGRAMS)
    found = {name: path for name in names if (path := shutil.which(name))}
    if not found:
        raise SandboxUnavailable(f"{' and '.join(names)} cannot be found here: install the package docker.io or podman")
    for name, path in found.items():
        if _answers(path):
            return Containers(path, name)
    raise SandboxUnavailable(f"{' and '.join(found)} does not answer: is its daemon running, and may this user ask it?")


def _arguments(name: str, feed: Feed, reference: Path, limits: Limits) -> list[str]:
    memory = limits.memory + feed.size + limits.written + _BESIDE
    return [
        *("--rm", "--interactive", "--pull", "never", "--name", name, "--log-driver", "none"),
        *("--network", "none", "--hostname", "sandbox", "--read-only", "--cap-drop", "ALL"),
        *("--security-opt", "no-new-privileges", "--user", f"{NOBODY}:{NOBODY}", "--workdir", "/"),
        *("--memory", str(memory), "--memory-swap", str(memory), "--pids-limit", str(limits.processes + 1)),
        *("--tmpfs", f"{APP}:rw,exec,nosuid,nodev,mode=1777,size={feed.size + limits.written}"),
        *("--tmpfs", f"{APP}/input:rw,exec,nosuid,nodev,mode=1777,size={feed.size + limits.written}"),
        *("--tmpfs", f"/tmp:rw,exec,nosuid,nodev,mode=1777,size={limits.written}"),  # noqa: S108 - inside
        *("--shm-size", str(limits.written), "--ulimit", "core=0"),
        *("--ulimit", f"nofile={limits.files}:{limits.files}", "--ulimit", f"nproc={_OF_USER}:{_OF_USER}"),
        *("--mount", f"type=bind,source={reference},target={APP}/input/ref,readonly"),
        *("--env", "HOME=/tmp", "--env", "LANG=C.UTF-8", "--env", "PYTHONUNBUFFERED=1"),
        *("--entrypoint", "python3"),
    ]


@lru_cache(maxsize=4)
def _answers(path: str) -> bool:
    return _ask([path, "ps", "--quiet"]) is not None


def _ask(command: Sequence[str]) -> str | None:
    """Return the output of a docker or podman command; None if it fails."""
    try:
        done = subprocess.run(  # noqa: S603 - the words are ours
            command, stdin=DEVNULL, capture_output=True, text=True, check=False, timeout=ASK_SECONDS
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
