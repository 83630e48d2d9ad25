"""All registrations as CSV for organisers: state, terms, and a column for each question."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from datetime import UTC, datetime

from app.base.text import spreadsheet_safe
from app.models import Competition, Registration
from app.teams.questions import answer_text
from app.teams.registration_rules import rules_of

_COLUMNS = [
    "username",
    "email",
    "display_name",
    "status",
    "registered_at",
    "terms_accepted_at",
    "decided_at",
    "decided_by",
]


def registrations_csv(competition: Competition, rows: Sequence[Registration]) -> str:
    """Write the table. rows: with users loaded. Columns `answer NAME` have the answers to current questions."""
    text = io.StringIO()
    writer = csv.writer(text)
    questions = [question.name for question in rules_of(competition).questions]
    writer.writerow([*_COLUMNS, *(f"answer {name}" for name in questions)])
    for row in rows:
        person = (row.user.username, row.user.email, row.user.display_name)
        moments = [_moment(at) for at in (row.registered_at, row.terms_accepted_at, row.decided_at)]
        answers = [spreadsheet_safe(answer_text(row.answers.get(name))) for name in questions]
        writer.writerow(
            [*map(spreadsheet_safe, person), row.status, *moments, spreadsheet_safe(row.decided_by or ""), *answers]
        )
    return text.getvalue()


def _moment(at: datetime | None) -> str:
    return at.astimezone(UTC).isoformat() if at else ""
