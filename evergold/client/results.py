"""What a server answers, for programs: submissions, checks, boards. `document` is all of it, as in the API."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evergold.scoring import Problem, Score

Json = dict[str, Any]
#: A submission that is so stays so.
FINAL = frozenset({"scored", "rejected", "failed"})
#: What a board's row has besides its scores.
ROW_FIELDS = ("rank", "team", "kind", "method", "track", "achieved_at")


@dataclass(frozen=True)
class Submission:
    """A file that was sent, as its team sees it. `scored`, `rejected` and `failed` are final."""

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
        """`competition/phase/task`."""
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
        """As far as the phase shows them; equal to what `evergold.scoring.score` gives for the same files."""
        return tuple(_score(score) for score in self.document["scores"])

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What is wrong with the file, or, where it was scored, what was noticed in it."""
        return tuple(_problem(problem) for problem in self.document["problems"])

    @property
    def page(self) -> str:
        """The address for people."""
        return f"{self.server}{self.document['links']['page']}"


@dataclass(frozen=True)
class Validation:
    """What the server says of a file that it only checked: `valid`, `invalid`, or `failed`, which is its own fault."""

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
        """What is wrong with the file, or, where it is valid, what was noticed in it."""
        return tuple(_problem(problem) for problem in self.document["problems"])


@dataclass(frozen=True)
class Board:
    """A leaderboard; iterating gives its rows."""

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
        """Each with ROW_FIELDS, and every score by its column's name: all digits shown, None where it is undefined."""
        columns = self.columns
        return [self._row(row, columns) for row in self.document["rows"]]

    def frame(self) -> Any:
        """The rows as a pandas DataFrame; raises ImportError, in words, where pandas is not installed."""
        try:
            import pandas
        except ImportError:
            raise ImportError("Board.frame() needs pandas: pip install pandas. Board.rows does without.") from None
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
    """A newer server may say more of a problem than this version knows, an older one less."""
    from evergold.scoring import Problem

    return Problem.from_dict({name: document[name] for name in Problem.__dataclass_fields__ if name in document})
