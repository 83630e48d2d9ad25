"""The binding of sealed gold: its task and phases, and whether it is public.

The binding is the first line of the sealed file, in clear, and the associated data of every chunk: it is fixed when
gold is sealed, and a file with a modified line does not open. Workers trust the file, never the database, for this
information.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from evergold.scoring.errors import InvalidOptions
from evergold.scoring.task import read_options
from evergold.scoring.tasks import TASKS

_START = b"evergold-sealed 2 gold "
_READER = re.compile(r"[0-9a-f]{64}")
#: Limit of the line: a competition has at most some hundred phases, each with a name of 64 characters.
LINE_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class GoldPlace:
    """The place of a gold version according to the database.

    options: `options_digest` of the current options; program: `program_digest` of those with which it is opened.
    """

    competition: str
    phase: str
    task: str
    task_type: str
    version: int
    options: str
    program: str = ""

    def __str__(self) -> str:
        return f"{self.competition}/{self.phase}/{self.task}, version {self.version}, {self.task_type}"


@dataclass(frozen=True, slots=True)
class Binding:
    """The place that gold was sealed for.

    versions: version numbers by phase.
    is_public: whether it was declared public when it was sealed.
    options: the digest of the options at that time, by phase.
    programs: for task types that run organisers' programs, the digest of the program that opens gold in a run, by
    phase.
    reader: the public key (X25519, hexadecimal) of the uploader's browser, to which a worker seals the problems
    together with the values; None without one.
    is_described: whether a worker may report its columns, their numbers of distinct values, and repeated values to the
    organisers, which an uploader requests if the browser runs no script that could read them.

    Options may change, but problems of gold are reported by line only under these options; otherwise somebody with
    access to the database could find out the lines of one label after another.
    """

    competition: str
    task: str
    task_type: str
    versions: Mapping[str, int]
    options: Mapping[str, str]
    is_public: bool = False
    programs: Mapping[str, str] = field(default_factory=dict)
    reader: str | None = None
    is_described: bool = False

    def covers(self, place: GoldPlace) -> bool:
        """Return whether the file is the gold of this place, sealed for this program."""
        return self.is_of(place) and self.has_program_of(place)

    def has_program_of(self, place: GoldPlace) -> bool:
        """Return whether the file was sealed for the program that would open it; True if no program does."""
        return self.programs.get(place.phase, "") == place.program

    def is_of(self, place: GoldPlace) -> bool:
        """Return whether the file is the gold of this place, for any program."""
        here = (self.competition, self.task, self.task_type, self.versions.get(place.phase))
        return here == (place.competition, place.task, place.task_type, place.version)

    def has_options_of(self, place: GoldPlace) -> bool:
        """Return whether the options are those with which the file was sealed."""
        return self.options.get(place.phase) == place.options

    def ahead(self, like: str, names: Iterable[str]) -> Binding:
        """Return the binding for additional phases that do not exist yet, with their first version. like: a phase
        already bound.
        """
        new = [name for name in names if name not in self.versions]
        options = {**self.options, **{name: self.options[like] for name in new if like in self.options}}
        programs = {**self.programs, **{name: self.programs[like] for name in new if like in self.programs}}
        return replace(self, versions={**self.versions, **dict.fromkeys(new, 1)}, options=options, programs=programs)

    def __str__(self) -> str:
        phases = ", ".join(f"{phase} (version {number})" for phase, number in self.versions.items())
        return f"{self.task}, {self.task_type}, of {self.competition}, in {phases}"

    def line(self) -> bytes:
        """Return the first line of the sealed file."""
        document = {
            "competition": self.competition,
            "task": self.task,
            "type": self.task_type,
            "versions": dict(self.versions),
            "options": dict(self.options),
            "public": self.is_public,
            **({"programs": dict(self.programs)} if self.programs else {}),
            **({"reader": self.reader} if self.reader else {}),
            **({"described": True} if self.is_described else {}),
        }
        line = _START + json.dumps(document, separators=(",", ":")).encode() + b"\n"
        if len(line) > LINE_BYTES:
            raise ValueError("gold for so many phases at once cannot be sealed")
        return line


def options_digest(options: Mapping[str, Any]) -> str:
    """Return a digest that is equal for equal declared options."""
    return hashlib.sha256(json.dumps(options, sort_keys=True).encode()).hexdigest()[:32]


def program_digest(task_type: str, options: Mapping[str, Any]) -> str:
    """Return a digest of everything that opens gold in a run: the program and its environment; "" if no program does.

    Options that the task type cannot read yield a digest for which no gold is sealed.
    """
    task = TASKS.get(task_type)
    if task is None or task.bound_to is None:
        return ""
    try:
        return task.bound_to(read_options(task, options))
    except InvalidOptions:
        return "invalid"


def read_binding(line: bytes) -> Binding | None:
    """Return the binding in a line from `Binding.line`; None for other lines. Trust it only once the file has opened
    with it.
    """
    if not line.startswith(_START) or not line.endswith(b"\n"):
        return None
    try:
        document = json.loads(line[len(_START) :])
        binding = Binding(
            document["competition"],
            document["task"],
            document["type"],
            dict(document["versions"]),
            dict(document["options"]),
            document["public"] is True,
            dict(document.get("programs", {})),
            document.get("reader"),
            document.get("described") is True,
        )
    except (ValueError, TypeError, KeyError):
        return None
    if binding.reader is not None and not is_reader(binding.reader):
        return None
    return binding if binding.line() == line else None


def is_reader(text: object) -> bool:
    """Return whether this is a public key in the format of a binding: 64 hexadecimal digits."""
    return isinstance(text, str) and _READER.fullmatch(text) is not None
