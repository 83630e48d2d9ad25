"""Problems of a table's rows, grouped by kind, so that one mistake made on every line hides no other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from evergold.scoring.errors import Problems

#: For each kind of problem this many lines are reported one by one; the rest make one more problem.
LINES_NAMED = 20


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault of one row: its line, the message without the position, and the offending text."""

    line: int
    message: str
    text: str


def note_faults(
    code: str,
    column: str,
    faulty: Sequence[T],
    explain: Callable[[T], Fault],
    problems: Problems,
    file: str | None = None,
) -> None:
    """Add one kind of problem: the first rows one by one, the others together, so that they do not hide other kinds.

    faulty: the rows with the problem, in any form that `explain` accepts; `explain` is only called for the rows that
    are reported one by one, and for the first of the others.
    """
    for row in faulty[:LINES_NAMED]:
        fault = explain(row)
        problems.add(code, fault.message, file=file, line=fault.line, column=column, text=fault.text)
    if more := faulty[LINES_NAMED:]:
        first = explain(more[0])
        message = f"… and {len(more)} more lines like this, starting here: {first.message}"
        problems.add(code, message, file=file, line=first.line, column=column, text=first.text, lines=len(more))


@dataclass(slots=True)
class RowProblems:
    """Collects faults of rows; `report` lists the first lines of each kind and counts the others."""

    kinds: dict[tuple[str, str], list[Fault]] = field(default_factory=dict)

    def add(self, code: str, message: str, line: int, column: str, text: str = "") -> None:
        """Add one problem; `code` and `column` together are its kind."""
        self.kinds.setdefault((code, column), []).append(Fault(line, message, text))

    def report(self, problems: Problems, file: str | None = None) -> None:
        """Add all faults to `problems`. file: the name of the archive's member, if it has one."""
        for (code, column), faults in self.kinds.items():
            note_faults(code, column, faults, lambda fault: fault, problems, file)
