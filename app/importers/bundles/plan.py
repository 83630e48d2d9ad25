"""A competition read from a bundle, before it is written, in a form common to all versions and platforms."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

_METRIC = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.@+-]{0,63}")
_NAME_CHARACTERS = 60


@dataclass(frozen=True, slots=True)
class Metric:
    """A score. key: its name in the program's output. rule, made_of: how it is computed from other scores, if it is."""

    name: str
    key: str
    title: str
    better: str = "higher"
    decimals: int = 4
    rule: str = ""
    made_of: tuple[str, ...] = ()

    def declared(self) -> dict[str, Any]:
        """Return the metric in the format of options."""
        head: dict[str, Any] = {"name": self.name}
        if self.rule:
            head[self.rule] = list(self.made_of)
        elif self.key != self.name:
            head["key"] = self.key
        return {**head, "title": self.title, "better": self.better, "decimals": self.decimals}


@dataclass(frozen=True, slots=True)
class Board:
    """A board. columns: titles of its columns by metric; rank_by: the metric that ranks, by default the first."""

    name: str
    title: str
    columns: Mapping[str, str]
    rank_by: str = ""
    description: str = ""


@dataclass(frozen=True, slots=True)
class Program:
    """A scoring program. folder: on this machine; place: its path in the competition's folder.

    command: only if the program declares none; image: the container in which it ran.
    """

    folder: Path
    place: str
    contract: str = "codabench"
    command: str = ""
    image: str = ""


@dataclass(frozen=True, slots=True)
class Task:
    """A task with its program, metrics and boards. seconds: time limit of a run."""

    name: str
    title: str
    program: Program
    metrics: tuple[Metric, ...]
    boards: tuple[Board, ...]
    description: str = ""
    seconds: int = 600
    details: bool = False
    files: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Given:
    """A file to offer, with its name and title. place: where it is (folders are packed); text: its content instead of a
    place.
    """

    name: str
    title: str
    place: Path | None = None
    text: str = ""


@dataclass(frozen=True, slots=True)
class Sample:
    """A prediction of the organisers, which becomes a baseline."""

    name: str
    place: Path


@dataclass(frozen=True, slots=True)
class Part:
    """A task in a phase.

    - gold: a file or folder, None if the bundle has none; is_closed: whether uploads are refused even with gold.
    - seconds: time limit of a run, None for the task's; options: other differences from the task.
    """

    task: str
    gold: Path | None
    is_closed: bool = False
    seconds: int | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    downloads: tuple[Given, ...] = ()
    samples: tuple[Sample, ...] = ()


@dataclass(frozen=True, slots=True)
class Phase:
    """A phase with its parts; other fields are as in declarations."""

    name: str
    title: str
    description: str
    start: datetime
    end: datetime | None
    entry: str
    limits: Mapping[str, int]
    visibility: Mapping[str, Any]
    carry_over: str
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Page:
    """A page of the bundle as Markdown; a page without a text is offered as the file at `place`."""

    title: str
    text: str
    place: Path | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """A whole competition. image: a picture for the top of its page."""

    name: str
    title: str
    summary: str
    pages: tuple[Page, ...]
    terms: str
    mode: str
    contact: str
    questions: tuple[Mapping[str, Any], ...]
    tasks: tuple[Task, ...]
    phases: tuple[Phase, ...]
    image: Path | None = None


def name_of(text: str, taken: Collection[str] = (), otherwise: str = "task") -> str:
    """Return a name for addresses derived from a title, different from those taken. otherwise: if nothing remains."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    base = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:_NAME_CHARACTERS].strip("-") or otherwise
    return _free(base, taken, "-", _NAME_CHARACTERS)


def metric_name(key: str, taken: Collection[str] = ()) -> str:
    """Return a name for a metric: its key, without characters that names cannot have, different from those taken."""
    if _METRIC.fullmatch(key) and key not in taken:
        return key
    plain = unicodedata.normalize("NFKD", key).encode("ascii", "ignore").decode()
    base = re.sub(r"[^A-Za-z0-9_.@+-]+", "_", plain).strip("_.@+-")[:64] or "score"
    return _free(base, taken, "_", 64)


def _free(base: str, taken: Collection[str], joint: str, longest: int) -> str:
    found, number = base, 2
    while found in taken:
        end = f"{joint}{number}"
        found, number = base[: longest - len(end)] + end, number + 1
    return found


def one_line(text: str, longest: int, otherwise: str) -> str:
    """Return a text as one printable line, shortened; `otherwise` if nothing remains."""
    plain = "".join(character if character.isprintable() else " " for character in text)
    line = " ".join(plain.split())
    return (line if len(line) <= longest else f"{line[: longest - 1]}…") or otherwise
