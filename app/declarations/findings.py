"""Findings about phases.yaml by file and line, collected so that all are reported at once."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from evergold.scoring.errors import InvalidFile
from evergold.yaml_lines import Node

#: Number of problems of a file quoted in a finding.
QUOTED = 3


@dataclass(frozen=True, slots=True)
class Finding:
    """An error to correct or a warning to consider; as a string: `phases.yaml:12:5: error: …`."""

    severity: Literal["error", "warning"]
    file: str
    line: int
    message: str
    column: int = 1

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}: {self.severity}: {self.message}"


@dataclass(slots=True)
class Findings:
    """Collects findings. `in_order` returns them by file and line, without duplicates."""

    findings: list[Finding] = field(default_factory=list)

    def error(self, node: Node, message: str) -> None:
        """Add an error, which must be corrected before the file can be applied."""
        self.findings.append(Finding("error", node.file, node.line, message, node.column))

    def warning(self, node: Node, message: str) -> None:
        """Add a warning about something valid that is probably a mistake."""
        self.findings.append(Finding("warning", node.file, node.line, message, node.column))

    def unreadable(self, file: str, message: str, line: int = 1, column: int = 1) -> None:
        """Add an error about a file, or a part of one, that could not be read."""
        self.findings.append(Finding("error", file, line, message, column))

    @property
    def errors(self) -> int:
        """The number of errors."""
        return sum(finding.severity == "error" for finding in self.findings)

    def in_order(self) -> list[Finding]:
        """Return findings by file in the order of their first finding, then by line and column."""
        files = {name: place for place, name in enumerate(dict.fromkeys(finding.file for finding in self.findings))}
        return sorted(dict.fromkeys(self.findings), key=lambda f: (files[f.file], f.line, f.column))


def quoted(invalid: InvalidFile) -> str:
    """Return the first problems of a file and the number of others, as text."""
    problems = invalid.problems[:QUOTED]
    more = len(invalid.problems) - len(problems) + invalid.omitted
    return "; ".join(str(problem) for problem in problems) + (f"; and {more} more" if more else "")
