"""Errors that prevent judging, each with its message."""

from __future__ import annotations

from collections.abc import Sequence

from app.base.errors import EvergoldError
from evergold.scoring.errors import Problem


class CannotJudge(EvergoldError):
    """This task, phase or submission has nothing that people can judge."""

    status = 409
    code = "cannot_judge"


class RoundPublished(EvergoldError):
    """The round is published, so it cannot be changed."""

    status = 409
    code = "round_published"


class RoundUnfinished(EvergoldError):
    """Some paraphrases have no marks yet (details: open)."""

    status = 409
    code = "round_unfinished"


class InvalidMarks(EvergoldError):
    """The file of marks is invalid, and nothing was imported (details: problems, problems_omitted)."""

    status = 422
    code = "invalid_marks"

    def __init__(self, problems: Sequence[Problem], omitted: int = 0) -> None:
        count = len(problems) + omitted
        super().__init__(
            f"The file has {count} problem{'' if count == 1 else 's'}; nothing was imported.",
            problems=[problem.as_dict() for problem in problems],
            problems_omitted=omitted,
        )
