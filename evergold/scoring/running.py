"""Running a program that is not ours: what a task type with a `run` hook is given, and what it gives back.

Scoring starts no process itself: the caller brings a runner, which has a sandbox. Nothing here opens a file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from evergold.scoring.errors import Problem, ScoringError
from evergold.scoring.task import Score


@dataclass(frozen=True, slots=True)
class RunFiles:
    """The files of one run.

    reference: a folder with the gold, under its file names; submission: the checked upload; name: its file name, as the
    team sent it.
    """

    reference: Path
    submission: Path
    name: str


@dataclass(frozen=True, slots=True)
class ProgramCall:
    """One call of a program.

    program: its sha256; command: its words, where `$input`, `$output` and `$program` are not replaced yet; None: that
    of the program's own `metadata`. reference, submission: folders. environment, python, image: as declared.
    limits: by name, in seconds and bytes.
    """

    program: str
    contract: str
    command: str | None
    reference: Path
    submission: Path
    environment: tuple[str, ...] | None
    python: str | None
    image: str | None
    phase: str
    limits: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class ProgramEnd:
    """The end of a program.

    failure: the reason, worded to follow "the program"; None: the program ended by itself, with exit code 0, and left
    scores.
    scores: what it wrote, by key, with values of any kind; None with a failure.
    page: HTML that it made; stdout, stderr: their beginnings; notes: what else the runner noticed.
    environment, image: digests of what it ran in, for the signature.
    """

    failure: str | None
    exit_code: int | None
    scores: Mapping[str, object] | None
    page: bytes | None
    stdout: bytes
    stderr: bytes
    seconds: float
    environment: str
    image: str | None
    notes: tuple[str, ...] = ()


class Runner(Protocol):
    """Runs a program in a sandbox. Raises NoSandbox or ProgramMissing if this machine cannot run it."""

    def __call__(self, call: ProgramCall, /) -> ProgramEnd: ...


class NoSandbox(ScoringError):
    """This machine has no sandbox, or not the environment that the program needs; another one may."""


class ProgramMissing(ScoringError):
    """The program cannot be opened here."""


@dataclass(frozen=True, slots=True)
class ProgramScores:
    """The result of a run.

    scores: only declared metrics; empty if the program failed. failure: as in `ProgramEnd`.
    log: JSON-able, only for the organisers, except the parts that they show to teams.
    """

    scores: Sequence[Score]
    failure: str | None
    log: dict[str, Any]
    warnings: tuple[Problem, ...] = field(default=())
