"""Method cards of the rows of a board."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any
from uuid import UUID

from sqlalchemy import and_, bindparam, select
from sqlalchemy.orm import Session

from app.boards.rows import CardColumn, LeaderboardRow
from app.boards.view import UnfilteredBoard
from app.cards.form import CardForm, card_form, card_of
from app.cards.kept import card_documents
from app.models import Board, CardVersion, Competition, Standing


def with_cards(
    session: Session, competition: Competition, board: Board, phase_task_ids: Collection[int], whole: UnfilteredBoard
) -> UnfilteredBoard:
    """Add the method cards of its rows to a board; their method takes precedence over the one submitted with the file.

    phase_task_ids: where its rows come from.
    """
    form = card_form(competition.method_card)
    kept = _documents(session, board, phase_task_ids, whole)
    return replace(
        whole,
        rows=tuple(_with_card(row, kept, form) for row in whole.rows) if kept else whole.rows,
        card_columns=tuple(CardColumn(field.name, field.title) for field in form.fields if field.on_board),
    )


def _documents(
    session: Session, board: Board, phase_task_ids: Collection[int], whole: UnfilteredBoard
) -> dict[UUID, Mapping[str, Any]]:
    """Return the cards by submission. A card belongs to a system: a standing names that of an entry; other rows have
    that of their submission."""
    runs = {row.run_id: row.submission_id for row in whole.rows if row.submission_id and row.system}
    if not runs:
        return {}
    place = {"board": board.id, "phase_tasks": sorted(phase_task_ids)}
    standing = {run: document for run, document in session.connection().execute(_OF_STANDINGS, place)}
    found = card_documents(session, [submission for run, submission in runs.items() if run not in standing])
    return found | {runs[run]: document for run, document in standing.items() if run in runs and document is not None}


#: The system of a run never changes once declared, so a standing's system is right even if its rules are outdated.
_OF_STANDINGS = (
    select(Standing.run_id, CardVersion.document)
    .outerjoin(CardVersion, and_(CardVersion.system_id == Standing.system_id, CardVersion.is_current))
    .where(
        Standing.phase_task_id.in_(bindparam("phase_tasks", expanding=True)),
        Standing.board_id == bindparam("board"),
        Standing.system_id.is_not(None),
    )
)


def _with_card(row: LeaderboardRow, kept: Mapping[UUID, Mapping[str, Any]], form: CardForm) -> LeaderboardRow:
    """Add its card to a row; most rows have only the method submitted with the file, which they show already."""
    document = kept.get(row.submission_id) if row.submission_id else None
    if document is None:
        return row
    card = card_of(document, form)
    return row._replace(method=card.method, card=card)
