"""Answers of a task that declares none: which labels or types there are is known to gold alone, so none is refused:
not on a laptop, not on a server, with blind items or without. Teams and organisers are warned."""

from __future__ import annotations

from collections.abc import Iterable

from evergold.scoring.errors import Problems
from evergold.scoring.tables.settings import listed


def note_undeclared(answers: Iterable[str], kind: str, column: str, problems: Problems) -> None:
    """Warn a team that a slip in a label or type is not noticed, with those that its file has.

    answers: of the file, repeated or not, none of them empty; kind: `label` or `type`. Nothing of gold is revealed.
    """
    distinct = sorted(set(answers))
    if not distinct:
        return
    written = f"this file has {len(distinct)}: {listed(distinct)}"
    message = f"the task declares no {kind}s, so a misspelt {kind} is not refused but counts as wrong: {written}"
    problems.add(f"undeclared-{kind}s", message, column=column, severity="warning")


def advice(option: str, kind: str) -> str:
    """Return the warning for organisers who did not declare them. option: where they do."""
    return f"declare `{option}`: without it a misspelt {kind} is not refused, but counts as wrong"
