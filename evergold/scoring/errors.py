"""The exceptions of scoring, and Problem: one thing wrong with a file, worded for the person who made it.

Readers collect every problem of a file in `Problems` and raise once: a team learns everything at its first upload.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from evergold.scoring.characters import visible

Severity = Literal["error", "warning"]

#: How many problems of one file are kept in words; the rest is only counted.
PROBLEMS_SHOWN = 100
#: How much of an offending value is quoted back.
QUOTED_CHARACTERS = 60


class ScoringError(Exception):
    """Root of everything that `scoring` raises on purpose."""


class UnknownTask(ScoringError):
    """No task type has this name."""


class InvalidOptions(ScoringError):
    """The options do not fit the task type; `problems` has the reasons."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("; ".join(str(problem) for problem in self.problems))


class InvalidFile(ScoringError):
    """A file cannot be used as it is; carries every problem found and how many more were only counted."""

    def __init__(self, problems: Iterable[Problem], omitted: int = 0) -> None:
        self.problems = tuple(problems)
        self.omitted = omitted
        super().__init__("; ".join(str(problem) for problem in self.problems[:3]))


class InvalidPrediction(InvalidFile):
    """The participant's file is wrong: the submission is `rejected`, and costs no quota."""


class InvalidGold(InvalidFile):
    """The organiser's gold is wrong: scoring stops; the participant is not at fault."""


class InvalidItems(InvalidFile):
    """The organiser's blind items file is wrong."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong with a file; `str()` gives the sentence: `line 14: id 203 appears twice, first on line 9`.

    code: stable kebab-case word for scripts (`duplicate-id`); message: the sentence without the place;
    file: member of an archive, if there are several; line: counted from 1, the header is line 1;
    column: name of the column; text: the offending text, shortened; lines: how many lines it stands for. In all of
    them, invisible characters and those that change the direction of text are escaped (`\\u200b`): a problem is one
    line that can be stored, shown and understood, whatever the file contains.
    """

    code: str
    message: str
    file: str | None = None
    line: int | None = None
    column: str | None = None
    text: str | None = None
    severity: Severity = "error"
    lines: int = 1

    def __post_init__(self) -> None:
        for name in ("message", "file", "column", "text"):
            value = getattr(self, name)
            if value is not None and (shown := visible(value)) is not value:
                object.__setattr__(self, name, shown)

    def __str__(self) -> str:
        place = ", ".join(
            part
            for part in (
                self.file or "",
                f"line {self.line}" if self.line is not None else "",
                f"column {self.column}" if self.column else "",
            )
            if part
        )
        return f"{place}: {self.message}" if place else self.message

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON form: all fields, plus `sentence`, the result of `str()`."""
        return {**asdict(self), "sentence": str(self)}

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Problem:
        """Restore a problem from `as_dict`."""
        return cls(**{name: value for name, value in document.items() if name != "sentence"})


@dataclass(slots=True)
class Problems:
    """Collects problems up to `shown` (errors and warnings separately), counts the rest, and raises once at the end."""

    shown: int = PROBLEMS_SHOWN
    errors: list[Problem] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)
    omitted: int = 0

    def add(
        self,
        code: str,
        message: str,
        *,
        file: str | None = None,
        line: int | None = None,
        column: str | None = None,
        text: str | None = None,
        severity: Severity = "error",
        lines: int = 1,
    ) -> None:
        """Note one problem; an error makes `raise_if_any` raise, a warning does not."""
        kept = self.errors if severity == "error" else self.warnings
        if len(kept) >= self.shown:
            self.omitted += severity == "error"
            return
        quoted = None if text is None else shorten(text)
        kept.append(Problem(code, message, file, line, column, quoted, severity, lines))

    def raise_if_any(self, error: type[InvalidFile] = InvalidPrediction) -> None:
        """Raise `error` with everything collected, in order of file and line, unless there is no error."""
        if self.errors:
            raise error(sorted(self.errors, key=_place), self.omitted)


def shorten(text: str, limit: int = QUOTED_CHARACTERS) -> str:
    """Return the text on one line, with invisible characters escaped, cut to `limit` characters with an ellipsis."""
    printable = visible(text[: limit + 1])
    return printable if len(printable) <= limit else printable[: limit - 1] + "…"


def quoted(text: str, limit: int = QUOTED_CHARACTERS) -> str:
    """Return the text in quotation marks, shortened, as a message quotes the content of a file: escaped once."""
    mark = '"' if "'" in text and '"' not in text else "'"
    return f"{mark}{shorten(text, limit)}{mark}"


def _place(problem: Problem) -> tuple[str, int]:
    return problem.file or "", problem.line or 0
