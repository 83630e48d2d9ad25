"""What is wrong with phases.yaml: findings by file and line, collected so that organisers learn all at once."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from evergold.scoring.errors import InvalidFile
from evergold.yaml_lines import Node

#: How many problems of a file a finding quotes.
QUOTED = 3


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to correct (error) or to look at (warning); `str()` gives `phases.yaml:12:5: error: …`."""

    severity: Literal["error", "warning"]
    file: str
    line: int
    message: str
    column: int = 1

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}: {self.severity}: {self.message}"


@dataclass(slots=True)
class Findings:
    """Collects findings; `in_order` gives them file by file, line by line, each once."""

    findings: list[Finding] = field(default_factory=list)

    def error(self, node: Node, message: str) -> None:
        """Something that must be corrected before the file can be applied."""
        self.findings.append(Finding("error", node.file, node.line, message, node.column))

    def warning(self, node: Node, message: str) -> None:
        """Something that is possible, but probably not meant."""
        self.findings.append(Finding("warning", node.file, node.line, message, node.column))

    def unreadable(self, file: str, message: str, line: int = 1, column: int = 1) -> None:
        """An error in a file, or a part of one, that could not be read."""
        self.findings.append(Finding("error", file, line, message, column))

    @property
    def errors(self) -> int:
        """How many errors there are."""
        return sum(finding.severity == "error" for finding in self.findings)

    def in_order(self) -> list[Finding]:
        """Files in the order in which they were first spoken of, then by line and column."""
        files = {name: place for place, name in enumerate(dict.fromkeys(finding.file for finding in self.findings))}
        return sorted(dict.fromkeys(self.findings), key=lambda f: (files[f.file], f.line, f.column))


def quoted(invalid: InvalidFile) -> str:
    """The first problems of a file, and how many more there are."""
    problems = invalid.problems[:QUOTED]
    more = len(invalid.problems) - len(problems) + invalid.omitted
    return "; ".join(str(problem) for problem in problems) + (f"; and {more} more" if more else "")
