"""The types of the sandbox: input, limits, and outcome."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

MEBIBYTE = 1 << 20


class SandboxUnavailable(Exception):
    """No sandbox can be started here, or not with this environment; the message names what to install or set."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one run, for all its processes together; sizes are in bytes.

    written: also limits the number of files, see `watching`. output: for stdout and stderr each; anything beyond is
    read and dropped.
    """

    seconds: float = 600.0
    processor_seconds: float = 600.0
    memory: int = 2048 * MEBIBYTE
    processes: int = 64
    files: int = 256
    written: int = 256 * MEBIBYTE
    output: int = 1 * MEBIBYTE
    scores: int = 1 * MEBIBYTE
    page: int = 4 * MEBIBYTE


@dataclass(frozen=True, slots=True)
class Program:
    """A folder with a scoring program. command: its words, in which $input, $output, … are not replaced yet."""

    folder: Path
    command: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Environment:
    """The environment of a program.

    python: the folder of a built environment; None: the default one. image: for Docker and Podman only, with its
    digest; a built environment is not used then.
    """

    python: Path | None = None
    image: str | None = None


class Ended(StrEnum):
    """The way in which a run ended.

    FINISHED: with exit code 0; FAILED: with another one, or a signal; KILLED: by something other than a limit of the
    run.
    """

    FINISHED = "finished"
    FAILED = "failed"
    TOO_LATE = "too-late"
    TOO_MUCH_MEMORY = "too-much-memory"
    TOO_MUCH_WRITTEN = "too-much-written"
    KILLED = "killed"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a run; everything except `ended`, `seconds` and `detail` was written by the program.

    exit_code: negative for the signal that ended the program; None if the worker ended it. scores, page: None if there
    is no such file, or it may not be read. detail: a sentence for organisers, or "".
    """

    ended: Ended
    exit_code: int | None
    scores_name: str | None
    scores: bytes | None
    page: bytes | None
    stdout: bytes
    stderr: bytes
    seconds: float
    detail: str
