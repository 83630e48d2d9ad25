"""A server's responses for programs: submissions, validations, boards. `document` is the whole response of the API."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evergold.scoring import Problem, Score

Json = dict[str, Any]
#: Statuses that never change again.
FINAL = frozenset({"scored", "rejected", "failed"})
#: Fields of a board's row besides its scores.
ROW_FIELDS = ("rank", "team", "kind", "method", "track", "achieved_at")


@dataclass(frozen=True)
class Submission:
    """A submission as its team sees it. `scored`, `rejected` and `failed` are final."""

    document: Json = field(repr=False)
    #: The server's address.
    server: str = field(repr=False)
    id: str
    status: str
    #: The status in a sentence.
    message: str

    @classmethod
    def of(cls, document: Json, server: str) -> Submission:
        return cls(document, server, document["id"], document["status"], document["message"])

    @property
    def is_final(self) -> bool:
        return self.status in FINAL

    @property
    def to(self) -> str:
        """The place `competition/phase/task` to which it was submitted."""
        return "/".join(self.document[part] for part in ("competition", "phase", "task"))

    @property
    def method(self) -> str:
        name: str = self.document["method"]
        return name

    @property
    def submitted_at(self) -> datetime:
        return datetime.fromisoformat(self.document["submitted_at"])

    @property
    def scores(self) -> tuple[Score, ...]:
        """The scores that the phase shows; equal to those of `evergold.scoring.score` for the same files."""
        return tuple(_score(score) for score in self.document["scores"])

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Errors of the file, or, if it was scored, its warnings."""
        return tuple(_problem(problem) for problem in self.document["problems"])

    @property
    def page(self) -> str:
        """The address of the page for people."""
        return f"{self.server}{self.document['links']['page']}"


@dataclass(frozen=True)
class Validation:
    """The result of validating a file: `valid`, `invalid`, or `failed`, which is the server's own fault."""

    document: Json = field(repr=False)
    status: str
    message: str

    @classmethod
    def of(cls, document: Json) -> Validation:
        return cls(document, document["status"], document["message"])

    @property
    def is_valid(self) -> bool:
        return self.status == "valid"

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Errors of the file, or, if it is valid, its warnings."""
        return tuple(_problem(problem) for problem in self.document["problems"])


@dataclass(frozen=True)
class Board:
    """A leaderboard; iterating yields its rows."""

    document: Json = field(repr=False)
    #: `competition/phase/board`.
    place: str
    title: str

    @classmethod
    def of(cls, document: Json) -> Board:
        place = "/".join(document[part] for part in ("competition", "phase", "name"))
        return cls(document, place, document["title"])

    @property
    def columns(self) -> list[str]:
        """The scores, as `metric split`, in the order of the board."""
        return [f"{column['metric']} {column['split']}" for column in self.document["columns"]]

    @property
    def rows(self) -> list[dict[str, Any]]:
        """Rows with ROW_FIELDS and every score by its column's name: all digits shown, None where it is undefined."""
        columns = self.columns
        return [self._row(row, columns) for row in self.document["rows"]]

    def frame(self) -> Any:
        """Return the rows as a pandas DataFrame; raises ImportError with an explanation if pandas is not installed."""
        try:
            import pandas
        except ImportError:
            raise ImportError("Board.frame() needs pandas: pip install pandas. Board.rows works without it.") from None
        return pandas.DataFrame(self.rows, columns=[*ROW_FIELDS, *self.columns])

    @staticmethod
    def _row(row: Json, columns: list[str]) -> dict[str, Any]:
        fields = {name: row[name] for name in ROW_FIELDS}
        if fields["achieved_at"]:
            fields["achieved_at"] = datetime.fromisoformat(fields["achieved_at"])
        return fields | dict(zip(columns, (cell["value"] for cell in row["cells"]), strict=True))

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.document["rows"])


def _score(document: Json) -> Score:
    from evergold.scoring import Score

    return Score(*(document[name] for name in ("metric", "split", "value", "reason", "signature")))


def _problem(document: Json) -> Problem:
    """Return a problem from its document, without fields that only a newer server has; an older one may lack some."""
    from evergold.scoring import Problem

    return Problem.from_dict({name: document[name] for name in Problem.__dataclass_fields__ if name in document})
