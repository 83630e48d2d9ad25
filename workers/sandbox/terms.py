"""The words of the sandbox: what goes in, what bounds it, and what comes out."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

MEBIBYTE = 1 << 20


class SandboxUnavailable(Exception):
    """No sandbox can be started here, or not with this environment; the words name what to install or set."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The bounds of one run, of all its processes together; sizes are bytes.

    written: also bounds the number of files, see `watching`. output: of stdout and stderr each; what is more is read
    and not kept.
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
    """A folder with a scoring program; command: its words, with $input, $output, … not yet replaced."""

    folder: Path
    command: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Environment:
    """The surroundings of a program.

    python: the folder of a built environment; None: the default one. image: for Docker and Podman alone, its digest
    pinned; a built environment is not used then.
    """

    python: Path | None = None
    image: str | None = None


class Ended(StrEnum):
    """The end of a run.

    FINISHED: exit code 0; FAILED: another one, or a signal; KILLED: something ended it that is no bound of the run.
    """

    FINISHED = "finished"
    FAILED = "failed"
    TOO_LATE = "too-late"
    TOO_MUCH_MEMORY = "too-much-memory"
    TOO_MUCH_WRITTEN = "too-much-written"
    KILLED = "killed"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a run; everything in it but `ended`, `seconds` and `detail` was written by the program.

    exit_code: negative for the signal that ended the program; None if it was ended by us. scores, page: None if there
    is no such file, or none that may be read. detail: for organisers, in words; else empty.
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
