"""Problems of a table's rows, kept by kind, so that one mistake made on every line hides no other."""

from __future__ import annotations

from dataclasses import dataclass, field

from scoring.errors import Problems

#: Of one kind of problem this many lines are named one by one; all the others together are one more problem.
LINES_NAMED = 20


@dataclass(frozen=True, slots=True)
class _Fault:
    line: int
    message: str
    column: str
    text: str


@dataclass(slots=True)
class RowProblems:
    """Collects what is wrong with rows; `report` says the first lines of each kind and counts the others."""

    kinds: dict[tuple[str, str], list[_Fault]] = field(default_factory=dict)

    def add(self, code: str, message: str, line: int, column: str, text: str = "") -> None:
        """Note one problem; `code` and `column` together are its kind."""
        self.kinds.setdefault((code, column), []).append(_Fault(line, message, column, text))

    def report(self, problems: Problems) -> None:
        """Hand everything over to the file's problems."""
        for (code, column), faults in self.kinds.items():
            for fault in faults[:LINES_NAMED]:
                problems.add(code, fault.message, line=fault.line, column=column, text=fault.text)
            if more := faults[LINES_NAMED:]:
                first = more[0]
                message = f"{len(more)} more lines, this one first, have the same problem: {first.message}"
                problems.add(code, message, line=first.line, column=column, text=first.text)
