"""A board with what its rows' method cards say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from app.boards.rows import CardColumn, LeaderboardRow
from app.boards.view import WholeBoard
from app.cards.form import CardForm, card_form, card_of
from app.cards.kept import card_documents
from app.models import Competition


def with_cards(session: Session, competition: Competition, whole: WholeBoard) -> WholeBoard:
    """The board with the cards of its rows; what they say of the method comes before what was sent with the file."""
    form = card_form(competition.method_card)
    # Cards are of systems.
    kept = card_documents(session, [row.submission_id for row in whole.rows if row.submission_id and row.system])
    return replace(
        whole,
        rows=tuple(_with_card(row, kept, form) for row in whole.rows) if kept else whole.rows,
        card_columns=tuple(CardColumn(field.name, field.title) for field in form.fields if field.on_board),
    )


def _with_card(row: LeaderboardRow, kept: Mapping[UUID, Mapping[str, Any]], form: CardForm) -> LeaderboardRow:
    """Most have none but what was sent with the file, which they say already."""
    document = kept.get(row.submission_id) if row.submission_id else None
    if document is None:
        return row
    card = card_of(document, form)
    return row._replace(method=card.method, card=card)
