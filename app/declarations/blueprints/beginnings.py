"""Initial content of a blueprint: a few answers, or another competition.

For zips: `app.declarations.blueprints.zips`.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from app.declarations.blueprints.build import without_plain_gold
from app.declarations.blueprints.stories import STORIES, with_story
from app.declarations.model import HIDDEN_GOLD_PER_DAY, HIDDEN_GOLD_TOTAL
from app.declarations.revisions.documents import Document
from evergold.scoring.tasks import TASKS

#: Duration of the first phase of a new blueprint.
_LASTS = timedelta(days=14)


def first_document(name: str, title: str, task_type: str, now: datetime) -> Document:
    """Return a declaration with one task of this type, one phase, and a board with the task's first scores.

    Visibility is the first story: a live board, with a private part if the task type can score parts.
    """
    try:
        columns = TASKS[task_type].columns(TASKS[task_type].options())
        shown = [{"metric": one.metric, "split": one.split} for one in columns[:2]]
    except (KeyError, ValueError):  # the task type has no scores without further options
        shown = []
    start = (now.astimezone(UTC) + timedelta(days=7)).replace(hour=12, minute=0)
    document = {
        "name": name,
        "title": title,
        "tasks": [{"name": "main", "type": task_type, "title": title}],
        "boards": [{"name": "main", "title": title, "task": "main", "columns": shown}],
        "phases": [
            {
                "name": "evaluation",
                "title": "Evaluation",
                "start": f"{start:%Y-%m-%d %H:%M} UTC",
                "end": f"{start + _LASTS:%Y-%m-%d} 23:59 AoE",
                "limits": {"per_day": HIDDEN_GOLD_PER_DAY, "total": HIDDEN_GOLD_TOTAL},
                "tasks": {"main": {}},
            }
        ],
    }
    return with_story(document, 0, STORIES[0].name)


def copied_document(document: Document, name: str, title: str) -> Document:
    """Return another competition's declaration under a new name; gold cannot be copied."""
    return {**without_plain_gold(document), "name": name, "title": title}
