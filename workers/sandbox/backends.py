"""Chooses a backend, and has the only function that runs a program: `run`."""

from __future__ import annotations

import tempfile
import time
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from workers.sandbox.bubblewrap import Bubblewrap, find_bubblewrap
from workers.sandbox.conduct import Box, conduct
from workers.sandbox.containers import Containers, find_containers
from workers.sandbox.environments import default_environment_folder
from workers.sandbox.settings import sandbox_settings, within_ceiling
from workers.sandbox.stream import Feed, feed_of, plain_parts
from workers.sandbox.terms import Ended, Environment, Limits, Outcome, Program, SandboxUnavailable

#: Limits of a trial, generous enough for a fully loaded machine.
_TRIAL = Limits(seconds=30.0, processor_seconds=10.0, written=1 << 20)


#: Time after which a failed trial is repeated, so that a changed kernel setting needs no restart of the worker.
FAILED_SECONDS = 60.0


class Backend(Protocol):
    """A way to start sandboxes in which the gold is readable, and which are gone when the block ends."""

    @property
    def name(self) -> str:
        """The name of the backend: `bubblewrap`, `docker` or `podman`."""

    def open(
        self, feed: Feed, reference: Path, environment: Path | str | None, limits: Limits
    ) -> AbstractContextManager[Box]:
        """Start a sandbox. Raises SandboxUnavailable."""


def run(program: Program, reference: Path, submission: Path, environment: Environment, limits: Limits) -> Outcome:
    """Run a program on copies of itself and of the submission, and on gold that is read-only for it; return the
    outcome.

    reference, submission: folders with files, shown as `/app/input/ref` and `/app/input/res`. limits: capped at the
    ceiling of this server. Nothing of the run remains afterwards. Raises SandboxUnavailable if there is no backend, or
    no such environment; ValueError for a folder with links or devices.
    """
    bounds = within_ceiling(limits)
    feed = feed_of(program.folder, submission)
    for _ in plain_parts(reference):
        pass  # its links would lead somewhere else inside
    backend: Backend
    surroundings: Path | str
    if environment.image is not None:
        backend, surroundings = find_container_backend(), environment.image
    else:
        backend, surroundings = find_backend(), environment.python or default_environment_folder()
    with backend.open(feed, reference, surroundings, bounds) as box:
        return conduct(box, feed, program.command, bounds)


def find_backend() -> Bubblewrap:
    """Return the backend for programs without an image: the strictest form of bubblewrap that works here.

    The first call tries it; a failure is cached for FAILED_SECONDS. Raises SandboxUnavailable.
    """
    settings = sandbox_settings()
    if settings.backend == "none":
        raise SandboxUnavailable("EVERGOLD_SANDBOX_BACKEND is 'none' on this machine")
    key = find_bubblewrap(), settings.uid, settings.python
    tried = _tried.get(key)
    if tried is None or (tried.trial.words and time.monotonic() > tried.at + FAILED_SECONDS):
        trials = trials_of(key[0])
        working = next((trial for trial in trials if not trial.words), trials[0])
        tried = _tried[key] = _Tried(working, time.monotonic())
    if tried.trial.words:
        raise SandboxUnavailable(tried.trial.words)
    return tried.trial.backend


def find_container_backend() -> Containers:
    """Return the backend for programs with an image. Raises SandboxUnavailable."""
    return find_containers(sandbox_settings().containers)


@dataclass(frozen=True, slots=True)
class Trial:
    """The result of trying bubblewrap. words: why it failed; "" if it worked."""

    backend: Bubblewrap
    words: str


@dataclass(frozen=True, slots=True)
class _Tried:
    """A trial, and the time when it was made."""

    trial: Trial
    at: float


#: Results of trials by their inputs: the path of bubblewrap, and two settings.
_tried: dict[tuple[str, int, str], _Tried] = {}


def trials_of(path: str) -> list[Trial]:
    """Return the trials of all forms, strictest first, up to the first that works."""
    found = []
    for has_proc, has_lock in ((True, True), (True, False), (False, True), (False, False)):
        backend = Bubblewrap(path, has_proc=has_proc, has_lock=has_lock)
        found.append(Trial(backend, try_out(backend)))
        if not found[-1].words:
            break
    return found


def try_out(backend: Bubblewrap) -> str:
    """Run a minimal program; return why that failed, or "" if it worked."""
    with tempfile.TemporaryDirectory() as folder:
        places = [Path(folder, name) for name in ("program", "ref", "res")]
        for place in places:
            place.mkdir()
        program, reference, submission = places
        feed = feed_of(program, submission)
        try:
            with backend.open(feed, reference, None, _TRIAL) as box:
                outcome = conduct(box, feed, ("true",), _TRIAL)
        except SandboxUnavailable as error:
            return str(error)
        return "" if outcome.ended is Ended.FINISHED else f"a trial ended {outcome.ended}: {outcome.detail}"
