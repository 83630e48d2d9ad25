"""A board with what its rows' method cards say."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any
from uuid import UUID

from sqlalchemy import and_, bindparam, select
from sqlalchemy.orm import Session

from app.boards.rows import CardColumn, LeaderboardRow
from app.boards.view import WholeBoard
from app.cards.form import CardForm, card_form, card_of
from app.cards.kept import card_documents
from app.models import Board, CardVersion, Competition, Standing


def with_cards(
    session: Session, competition: Competition, board: Board, phase_task_ids: Collection[int], whole: WholeBoard
) -> WholeBoard:
    """The board with the cards of its rows; what they say of the method comes before what was sent with the file.
    phase_task_ids: where its rows come from."""
    form = card_form(competition.method_card)
    kept = _documents(session, board, phase_task_ids, whole)
    return replace(
        whole,
        rows=tuple(_with_card(row, kept, form) for row in whole.rows) if kept else whole.rows,
        card_columns=tuple(CardColumn(field.name, field.title) for field in form.fields if field.on_board),
    )


def _documents(
    session: Session, board: Board, phase_task_ids: Collection[int], whole: WholeBoard
) -> dict[UUID, Mapping[str, Any]]:
    """By submission. Cards are of systems: of what stands, a standing says which; of other rows, its submission."""
    runs = {row.run_id: row.submission_id for row in whole.rows if row.submission_id and row.system}
    if not runs:
        return {}
    place = {"board": board.id, "phase_tasks": sorted(phase_task_ids)}
    standing = {run: document for run, document in session.connection().execute(_OF_STANDINGS, place)}
    found = card_documents(session, [submission for run, submission in runs.items() if run not in standing])
    return found | {runs[run]: document for run, document in standing.items() if run in runs and document is not None}


#: A run's system is said once and stays: a standing that says one is right, whatever rules it was chosen by.
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
    """Most have none but what was sent with the file, which they say already."""
    document = kept.get(row.submission_id) if row.submission_id else None
    if document is None:
        return row
    card = card_of(document, form)
    return row._replace(method=card.method, card=card)
