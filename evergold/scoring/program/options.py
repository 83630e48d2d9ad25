"""Options of the task type `program`: what organisers declare of their program, its files and its metrics."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from enum import StrEnum
from pathlib import PurePosixPath
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_validator, model_validator

from evergold.scoring.errors import shorten
from evergold.scoring.option_types import Texts
from evergold.scoring.task import Options

#: By digest of a registry, or, where a machine built it itself, by the image's own.
_IMAGE = re.compile(r"([a-z0-9][a-z0-9._/:-]*@)?sha256:[0-9a-f]{64}")
_METRIC = r"^[A-Za-z0-9][A-Za-z0-9_.@+-]*$"
#: The environment of a program that needs no packages but the usual ones.
DEFAULT = ("default",)


class Contract(StrEnum):
    """The rules by which a program finds its files and leaves its scores."""

    CODABENCH = "codabench"
    EVALAI = "evalai"


class Audience(StrEnum):
    """The readers of a part of the log."""

    ORGANISERS = "organisers"
    TEAMS = "teams"


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ProgramLimits(_Part):
    """Bounds of one run: seconds, processes and files by number, sizes in bytes. The server has ceilings of its own."""

    seconds: float = Field(600, gt=0, le=86_400)
    processor_seconds: float = Field(600, gt=0, le=86_400)
    memory: int = Field(2 << 30, ge=16 << 20)
    processes: int = Field(64, ge=1, le=4096)
    files: int = Field(256, ge=8, le=65_536)
    written: int = Field(256 << 20, ge=1 << 20)


def _check_pattern(pattern: str) -> str:
    if not pattern or pattern.startswith("/") or ".." in PurePosixPath(pattern).parts or not pattern.isprintable():
        raise ValueError(f"{shorten(pattern)!r} is not the name of a file in an upload: answers.csv, *.csv, en/*.tsv")
    return pattern


Pattern = Annotated[str, AfterValidator(_check_pattern)]


class FileRules(_Part):
    """Files of an upload: which must be there, which may be there (`*`: any characters), how large each is."""

    required: tuple[Pattern, ...] = Field((), max_length=100)
    allowed: tuple[Pattern, ...] = Field((), max_length=100)
    largest: int = Field(64 << 20, ge=1, le=2 << 30)

    @field_validator("required")
    @classmethod
    def _are_names(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        if patterns := [name for name in names if set(name) & set("*?[")]:
            raise ValueError(
                f"{shorten(patterns[0])!r} is a pattern: required files have names; patterns are `allowed`"
            )
        return names


_DERIVED = ("mean_of", "sum_of", "min_of", "max_of")


class DeclaredMetric(_Part):
    """A metric: what the program writes under `key`, or a figure made of metrics that are declared before it."""

    name: str = Field(max_length=64, pattern=_METRIC)
    key: str | None = Field(None, min_length=1, max_length=200)
    title: str = Field("", max_length=200)
    description: str = Field("", max_length=1_000)
    better: Literal["higher", "lower"] = "higher"
    minimum: float | None = None
    maximum: float | None = None
    decimals: int = Field(4, ge=0, le=10)
    percent: bool = False
    mean_of: Texts | None = Field(None, min_length=1)
    sum_of: Texts | None = Field(None, min_length=1)
    min_of: Texts | None = Field(None, min_length=1)
    max_of: Texts | None = Field(None, min_length=1)

    @property
    def written_as(self) -> str:
        """The key under which the program writes it."""
        return self.name if self.key is None else self.key

    @property
    def made_of(self) -> tuple[str, tuple[str, ...]] | None:
        """The rule, such as `mean_of`, and the metrics it is made of; None for one that the program writes."""
        for rule in _DERIVED:
            names: tuple[str, ...] | None = getattr(self, rule)
            if names is not None:
                return rule, names
        return None

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        rules = [rule for rule in _DERIVED if getattr(self, rule) is not None]
        if len(rules) > 1 or (rules and self.key is not None):
            raise ValueError(f"{self.name} is one thing: a key of the program's, or one of {', '.join(_DERIVED)}")
        low, high = self.minimum, self.maximum
        if any(one is not None and not math.isfinite(one) for one in (low, high)):
            raise ValueError(f"minimum and maximum of {self.name} must be finite; leave out a missing bound")
        if low is not None and high is not None and low >= high:
            raise ValueError(f"minimum of {self.name} must be below its maximum")
        return self


class Shown(_Part):
    """The readers of the program's output, errors and page."""

    stdout: Audience = Audience.ORGANISERS
    stderr: Audience = Audience.ORGANISERS
    details: Audience = Audience.ORGANISERS


def _requirement_lines(value: Any) -> Any:
    """Return the lines of a text, such as only `default`; any other value is returned unchanged."""
    return tuple(line.strip() for line in value.splitlines() if line.strip()) if isinstance(value, str) else value


def _check_requirements(lines: tuple[str, ...] | None) -> tuple[str, ...] | None:
    for line in lines or ():
        if not line.strip() or len(line) > 300 or line.lstrip().startswith("-") or not line.isprintable():
            raise ValueError(f"{shorten(line)!r} is not a requirement: write `default`, or lines such as numpy==2.1.0")
    return lines


class ProgramOptions(Options):
    """Options of the task type.

    contract: codabench (folders `ref` and `res`, scores.json) or evalai (a package with `evaluate`); command: words, as
    in the program's own `metadata.yaml`, which counts where this is absent; steps: only `scoring` today; phase: what
    EvalAI programs get as `phase_codename`; environment: `default`, or lines of requirements, `[]` for no packages;
    absent: those of the program's requirements.txt, or else `default`; python: the Python it needs; image: a
    container's name with its digest, instead of an environment; limits: bounds of one run; files: required, allowed
    and largest files of an upload; metrics: what the program writes, or what is made of that; shown: who reads
    stdout, stderr and details, organisers or teams; tables: by file, the columns of CSV and TSV files; json_schema:
    by file, the schema of a JSON file, or of each line of a .jsonl file; program_sha256: filled in by the server
    from `program`.
    """

    contract: Contract = Contract.CODABENCH
    command: str | None = Field(None, min_length=1, max_length=2_000)
    steps: tuple[str, ...] = ("scoring",)
    phase: str = Field("", max_length=200)
    environment: tuple[str, ...] | None = Field(None, max_length=200)
    python: str | None = Field(None, pattern=r"^[23]\.\d{1,2}$")
    image: str | None = None
    limits: ProgramLimits = ProgramLimits()
    files: FileRules = FileRules()
    tables: Mapping[Pattern, Annotated[tuple[str, ...], Field(min_length=1, max_length=1_000)]] = Field(
        default_factory=dict
    )
    json_schema: Mapping[Pattern, Mapping[str, Any]] = Field(default_factory=dict)
    metrics: tuple[DeclaredMetric, ...] = Field(min_length=1, max_length=100)
    shown: Shown = Shown()
    program_sha256: str = Field("", pattern=r"^([0-9a-f]{64})?$", json_schema_extra={"readOnly": True})

    @field_validator("environment", mode="before")
    @classmethod
    def _as_lines(cls, value: Any) -> Any:
        return _requirement_lines(value)

    @field_validator("environment")
    @classmethod
    def _are_requirements(cls, value: tuple[str, ...] | None) -> tuple[str, ...] | None:
        return _check_requirements(value)

    @field_validator("image")
    @classmethod
    def _is_pinned(cls, image: str | None) -> str | None:
        if image is not None and not _IMAGE.fullmatch(image):
            raise ValueError("give an image with its digest, name@sha256:… or sha256:…, so that it never changes")
        return image

    @field_validator("steps")
    @classmethod
    def _only_scoring(cls, steps: tuple[str, ...]) -> tuple[str, ...]:
        if steps != ("scoring",):
            raise ValueError(
                "the only step must be scoring: programs that run a team's code (ingestion) are not supported"
            )
        return steps

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.image is not None and (self.environment is not None or self.python is not None):
            raise ValueError("an image has its own environment: leave out environment and python")
        if self.contract is Contract.EVALAI and self.command is not None:
            raise ValueError("an EvalAI package has no command: its function evaluate is called")
        known: set[str] = set()
        keys: dict[str, str] = {}
        for metric in self.metrics:
            if metric.name in known:
                raise ValueError(f"the metric {metric.name} is declared twice")
            made_of = metric.made_of
            if made_of is None:
                other = keys.setdefault(metric.written_as, metric.name)
                if other != metric.name:
                    raise ValueError(f"the metrics {other} and {metric.name} read the same key, {metric.written_as!r}")
            elif unknown := [name for name in made_of[1] if name not in known]:
                raise ValueError(
                    f"{made_of[0]} of {metric.name}: {shorten(unknown[0])!r} is not a metric declared before it"
                )
            known.add(metric.name)
        for pattern, schema in self.json_schema.items():
            check_schema(pattern, schema)
        return self


def check_schema(pattern: str, schema: Mapping[str, Any]) -> None:
    """Raise ValueError unless this is a JSON Schema without references to other addresses."""
    from evergold.scoring.program.schemas import validator_of

    try:
        validator_of(schema)
    except ValueError as fault:
        raise ValueError(f"json_schema of {pattern}: {fault}") from None
