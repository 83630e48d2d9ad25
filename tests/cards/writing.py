"""Shared by tests of method cards: a competition whose cards have more questions, and a way to write a card."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from sqlalchemy import Engine, select

from app.base.config import get_settings
from app.base.db import reading, writing
from app.cards.edits import card_history, card_of_submission, edit_card
from app.cards.form import MethodCard
from app.models import Competition, User
from app.people.act import UserAct
from app.submissions.find import get_submission
from tests.world import NOW

#: A question of each kind.
FIELDS: list[dict[str, Any]] = [
    {
        "name": "parameters",
        "title": "Parameters (millions)",
        "kind": "number",
        "choices": [],
        "required": False,
        "on_board": True,
        "help": "As a whole.",
    },
    {
        "name": "family",
        "title": "Family",
        "kind": "choice",
        "choices": ["encoder", "decoder"],
        "required": False,
        "on_board": False,
        "help": "",
    },
    {
        "name": "ensemble",
        "title": "Ensemble",
        "kind": "yes_no",
        "choices": [],
        "required": False,
        "on_board": True,
        "help": "",
    },
    {
        "name": "training",
        "title": "Training",
        "kind": "text",
        "choices": [],
        "required": False,
        "on_board": False,
        "help": "",
    },
]


def required(*names: str) -> list[dict[str, Any]]:
    """Return the questions, some of which must be answered."""
    return [{**field, "required": field["name"] in names} for field in FIELDS]


def ask(engine: Engine, fields: list[dict[str, Any]] | None = None, *parts: str) -> None:
    """Let the competition's cards ask these questions, and require these parts."""
    with writing(engine) as session:
        for competition in session.scalars(select(Competition)):
            competition.method_card = {"required": list(parts), "fields": FIELDS if fields is None else fields}


def write(engine: Engine, submission_id: UUID, user: User, now: Any = NOW, **card: Any) -> int:
    with writing(engine) as session:
        return edit_card(
            UserAct(session, user, now, get_settings()), get_submission(session, submission_id, user), card
        )


def card(engine: Engine, submission_id: UUID, user: User) -> MethodCard:
    with reading(engine) as session:
        return card_of_submission(session, get_submission(session, submission_id, user))


def history(engine: Engine, submission_id: UUID, user: User) -> list[tuple[int, str, tuple[str, ...]]]:
    """Return (version, user, changed parts) of every change."""
    with reading(engine) as session:
        changes = card_history(session, get_submission(session, submission_id, user))
    return [(one.version, one.changed_by, tuple(one.changed)) for one in changes]


def answers(found: MethodCard) -> Mapping[str, Any]:
    return {one.name: one.value for one in found.answers}
