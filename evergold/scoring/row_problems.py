"""Problems of a table's rows, kept by kind, so that one mistake made on every line hides no other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from evergold.scoring.errors import Problems

#: Of one kind of problem this many lines are named one by one; all the others together are one more problem.
LINES_NAMED = 20


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with one row: its line, the sentence without the place, and the offending text."""

    line: int
    message: str
    text: str


def note_faults(code: str, column: str, faulty: Sequence[T], explain: Callable[[T], Fault], problems: Problems) -> None:
    """Add one kind of problem: the first rows one by one, the others together, so that it hides no other kind.

    faulty: the rows that have it, in whatever form `explain` takes; it is only called for those that are named.
    """
    for row in faulty[:LINES_NAMED]:
        fault = explain(row)
        problems.add(code, fault.message, line=fault.line, column=column, text=fault.text)
    if more := faulty[LINES_NAMED:]:
        first = explain(more[0])
        message = f"{len(more)} more lines, this one first, have the same problem: {first.message}"
        problems.add(code, message, line=first.line, column=column, text=first.text, lines=len(more))


@dataclass(slots=True)
class RowProblems:
    """Collects what is wrong with rows; `report` says the first lines of each kind and counts the others."""

    kinds: dict[tuple[str, str], list[Fault]] = field(default_factory=dict)

    def add(self, code: str, message: str, line: int, column: str, text: str = "") -> None:
        """Note one problem; `code` and `column` together are its kind."""
        self.kinds.setdefault((code, column), []).append(Fault(line, message, text))

    def report(self, problems: Problems) -> None:
        """Hand everything over to the file's problems."""
        for (code, column), faults in self.kinds.items():
            note_faults(code, column, faults, lambda fault: fault, problems)
