"""What sealed gold is bound to: the task in the phases that it is the gold of, and whether anybody may see it.

The binding is the first line of the sealed file, in clear, and every chunk's associated data: it is fixed when gold is
sealed, and a file with another line does not open. So workers learn it from the file, and never from the database.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_START = b"evergold-sealed 2 gold "
#: No line is longer: a competition has some hundred phases at most, each with a name of 64 characters.
LINE_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class GoldPlace:
    """What a version of gold is the gold of, as the database has it. options: `options_digest` of those that hold."""

    competition: str
    phase: str
    task: str
    task_type: str
    version: int
    options: str

    def __str__(self) -> str:
        return f"{self.competition}/{self.phase}/{self.task}, version {self.version}, {self.task_type}"


@dataclass(frozen=True, slots=True)
class Binding:
    """versions: the number of the version by phase; is_public: whoever sealed it said that anybody may have it.

    options: by phase, the digest of the options that held then. They may change: but what is wrong with gold is told by
    line only under these, else the database could ask for the lines of one label after the other.
    """

    competition: str
    task: str
    task_type: str
    versions: Mapping[str, int]
    options: Mapping[str, str]
    is_public: bool = False

    def covers(self, place: GoldPlace) -> bool:
        """Whether the file is the gold of this place."""
        here = (self.competition, self.task, self.task_type, self.versions.get(place.phase))
        return here == (place.competition, place.task, place.task_type, place.version)

    def has_options_of(self, place: GoldPlace) -> bool:
        """Whether the same options hold as when it was sealed."""
        return self.options.get(place.phase) == place.options

    def __str__(self) -> str:
        phases = ", ".join(f"{phase} (version {number})" for phase, number in self.versions.items())
        return f"{self.task}, {self.task_type}, of {self.competition}, in {phases}"

    def line(self) -> bytes:
        """The first line of the sealed file."""
        document = {
            "competition": self.competition,
            "task": self.task,
            "type": self.task_type,
            "versions": dict(self.versions),
            "options": dict(self.options),
            "public": self.is_public,
        }
        line = _START + json.dumps(document, separators=(",", ":")).encode() + b"\n"
        if len(line) > LINE_BYTES:
            raise ValueError("gold for so many phases at once cannot be sealed")
        return line


def options_digest(options: Mapping[str, Any]) -> str:
    """Equal for equal options, as they are declared."""
    return hashlib.sha256(json.dumps(options, sort_keys=True).encode()).hexdigest()[:32]


def read_binding(line: bytes) -> Binding | None:
    """The inverse of `Binding.line`; None for any other line. It is to be believed once the file has opened with it."""
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
        )
    except (ValueError, TypeError, KeyError):
        return None
    return binding if binding.line() == line else None
