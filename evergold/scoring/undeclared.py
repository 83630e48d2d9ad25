"""Labels or types of a task that declares none: only gold knows them, so no answer is refused, neither locally nor on
the server, with blind items or without. Teams and organisers are warned.
"""

from __future__ import annotations

from collections.abc import Iterable

from evergold.scoring.errors import Problems
from evergold.scoring.tables.settings import listed


def note_undeclared(answers: Iterable[str], kind: str, column: str, problems: Problems) -> None:
    """Warn a team, in one neutral line, to look over the labels or types of its own file.

    answers: the labels or types in the file, repeated or not, none of them empty; kind: `label` or `type`. The warning
    reveals nothing about gold.
    """
    distinct = sorted(set(answers))
    if not distinct:
        return
    message = f"the task lists no {kind}s: check the spelling of the {len(distinct)} in this file: {listed(distinct)}"
    problems.add(f"undeclared-{kind}s", message, column=column, severity="warning")


def advice(option: str, kind: str) -> str:
    """Return the warning for organisers who have not declared the labels or types. option: the option that declares
    them.
    """
    return f"declare `{option}`: without it a misspelt {kind} is not reported, but counts as wrong"
