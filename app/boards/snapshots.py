"""Official boards, frozen when their phase has ended and everything is scored.

They are created once and never changed, except for names of people who delete their accounts. Later changes
(submissions, rescoring, other columns, other names) affect only the live board; but a name that organisers hid is
hidden here, too (`app.boards.hidden_names`). Access to a frozen board follows the current rules of the live one: an
embargo applies to both. Only `close` is the moment at which the board was frozen, so that results once shown are not
hidden again when the end of the phase is moved.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any
from uuid import UUID

from sqlalchemy import and_, func, select
from sqlalchemy.orm import Session, defer

from app.base.errors import NotFound
from app.boards.hidden_names import HiddenNames, hidden_names
from app.boards.leaderboard import EntrySource, entry_sources, sight_of, whole_board, whole_sight
from app.boards.rows import CardColumn, Cell, CommittedGold, Leaderboard, LeaderboardRow
from app.boards.statistics import read_statistics, statistics_document
from app.boards.view import Source, UnfilteredBoard, ViewerContext, show
from app.cards.form import card_from
from app.competitions.columns import BoardColumn
from app.competitions.visibility import View, Viewer, min_decimals, task_in_phase, tells_statistics, view_of
from app.models import (
    Board,
    BoardShown,
    EntryRule,
    Phase,
    PhaseTask,
    RowStatus,
    Snapshot,
    Submission,
    Team,
)
from evergold.moments import date_words
from evergold.scoring.halves import Half


@dataclass(frozen=True, slots=True)
class Official:
    """An official board. successor: None while it is the latest."""

    snapshot: Snapshot
    successor: Successor | None


@dataclass(frozen=True, slots=True)
class Successor:
    """The results that replace an official board.

    snapshot: the next official board; None if the live board supersedes it so far.
    closes_at: the new end of the phase if it will be frozen then; None if it has no end, or nothing is due.
    newest: the latest official board.
    """

    snapshot: Snapshot | None
    closes_at: datetime | None = None
    newest: Snapshot | None = None

    @property
    def key(self) -> str:
        """A key that is equal for equal successors, for versions and tags."""
        moment = self.closes_at.isoformat() if self.closes_at else ""
        return f"by{self.snapshot.number if self.snapshot else moment}.{self.newest.number if self.newest else ''}"

    @property
    def name(self) -> str:
        """The superseding results in words, such as "official results no. 2 of 3 Feb 2026"."""
        if self.snapshot is None:
            return "the live board"
        return f"official results no. {self.snapshot.number} of {date_words(self.snapshot.closed_at)}"


def successor_of(snapshot: Snapshot, listed: Sequence[Snapshot], phase: Phase) -> Successor | None:
    """Return the successor of the board, or None while it is the latest.

    listed: the official boards of the same board that the viewer may see, by number.
    """
    later = [one for one in listed if one.number > snapshot.number]
    if later:
        return Successor(later[0], newest=later[-1])
    return Successor(None, phase.ends_at) if is_open_again(snapshot.closed_at, phase.ends_at) else None


def is_open_again(closed_at: datetime, ends_at: datetime | None) -> bool:
    """Return whether a phase continues after the close at which its results were frozen. ends_at: its current end."""
    return ends_at is None or ends_at > closed_at


def with_successors(listed: Sequence[Snapshot], phase: Phase) -> list[Official]:
    """Return official boards of the same board, each with its successor."""
    return [Official(one, successor_of(one, listed, phase)) for one in listed]


# ------------------------------------------------------------------------------------------------------------- making


def freeze(session: Session, phase: Phase, board: Board, now: datetime, note: str = "") -> Snapshot:
    """Store a new official board, unfiltered, and return it.

    The caller must hold the lock on the phase; `board.task` must be loaded.
    """
    sources = entry_sources(session, phase, board)
    here = and_(Snapshot.phase_id == phase.id, Snapshot.board_id == board.id)
    last = session.scalar(select(func.max(Snapshot.number)).where(here))
    snapshot = Snapshot(
        phase_id=phase.id,
        board_id=board.id,
        number=(last or 0) + 1,
        closed_at=phase.ends_at or now,
        made_at=now,
        note=note,
        document=_document(session, whole_board(session, board, sources, half=_last_half(sources)), sources),
    )
    session.add(snapshot)
    session.flush()
    return snapshot


def _last_half(sources: Sequence[EntrySource]) -> Half | None:
    """Return the private part of the items if there is one: official results are those of the private part."""
    return Half.PRIVATE if sources[0].phase_task.private_part else None


# ------------------------------------------------------------------------------------------------------------ looking


def last_snapshot(
    session: Session,
    phase: Phase,
    board: Board,
    viewer: Viewer,
) -> Snapshot | None:
    """Return the latest official board; None if there is none that this viewer may see."""
    found = list_snapshots(session, phase, board, viewer)
    return found[-1] if found else None


def list_official(
    session: Session,
    phase: Phase,
    board: Board,
    viewer: Viewer,
) -> list[Official]:
    """List all official boards that this viewer may see, each with its visible successor."""
    return with_successors(list_snapshots(session, phase, board, viewer), phase)


def list_snapshots(
    session: Session,
    phase: Phase,
    board: Board,
    viewer: Viewer,
) -> list[Snapshot]:
    """List the official boards, oldest first, without those whose board, or ranking private part, is hidden.

    Even the existence of a hidden one would reveal something.
    """
    here = select(Snapshot).where(Snapshot.phase_id == phase.id, Snapshot.board_id == board.id)
    found = session.scalars(here.options(defer(Snapshot.document)).order_by(Snapshot.number)).all()  # large
    if not found:
        return []
    phase_task = task_in_phase(session, phase, board)
    if phase_task.private_part:
        # Then those of phases whose entries were carried over count, too; their documents name them.
        return [one for one in found if _is_shown(_sight(session, one, viewer).own.view)]
    look = partial(view_of, session, phase_task, viewer)
    shown = {close: _is_shown(look(closed_at=close)) for close in {one.closed_at for one in found}}
    return [one for one in found if shown[one.closed_at]]


def _is_shown(view: View) -> bool:
    return view.board is not BoardShown.HIDDEN and (view.private or not view.is_divided)


def find_official(
    session: Session,
    phase: Phase,
    board: Board,
    number: int | None,
    viewer: Viewer,
) -> Official:
    """Return an official board, by default the latest; raises NotFound."""
    found = list_official(session, phase, board, viewer)
    wanted = [one for one in found if number in (None, one.snapshot.number)]
    if not wanted:
        raise NotFound("This official board does not exist or is not shown yet.")
    return wanted[-1]


def official_board(
    session: Session,
    snapshot: Snapshot,
    viewer: Viewer,
) -> Leaderboard:
    """Return the frozen board as this viewer sees it now."""
    whole = _whole(snapshot.document)
    names = _names(session, snapshot)
    whole = replace(whole, rows=tuple(map(names.in_row, whole.rows)))
    sight = _sight(session, snapshot, viewer)
    shown = replace(show(whole, sight), version=_version(snapshot, sight, names))
    # Statistics that were missing when it was frozen are never computed.
    return replace(shown, statistics="none") if shown.statistics == "pending" else shown


def official_version(
    session: Session,
    snapshot: Snapshot,
    viewer: Viewer,
) -> str:
    """Return a version that changes only with this viewer's access and with names that are hidden or shown again."""
    return _version(snapshot, _sight(session, snapshot, viewer), _names(session, snapshot))


def _names(session: Session, snapshot: Snapshot) -> HiddenNames:
    return hidden_names(session, session.get_one(Phase, snapshot.phase_id))


def _version(snapshot: Snapshot, sight: ViewerContext, names: HiddenNames) -> str:
    views = [sight.own.view, *(source.view for source in sight.carried.values())]
    erased = snapshot.document.get(_NAMES_ERASED, 0)
    number = f"{snapshot.id}.{erased}" if erased else str(snapshot.id)
    hidden = [names.key] if names.key else []
    return "-".join(["official", number, *(view.key for view in views), *hidden])


def _sight(
    session: Session,
    snapshot: Snapshot,
    viewer: Viewer,
) -> ViewerContext:
    """Return the viewer's access, as on the live board, but ranked by the smaller of the frozen and the current
    decimals.

    A board that an earlier release ranked at full precision still is, unless too few decimals are declared now to show
    statistics.
    """
    phase, board = session.get_one(Phase, snapshot.phase_id), session.get_one(Board, snapshot.board_id)
    own = EntrySource(phase, task_in_phase(session, phase, board), snapshot.closed_at)
    sources = [own, *_carried(session, snapshot, board)]
    sight = sight_of(session, sources, viewer)
    frozen, ranks_by = snapshot.document["ranks_by"], sight.own.view.ranks_by
    ranks_by = None if frozen is None and tells_statistics(ranks_by) else min_decimals(frozen, ranks_by)
    return replace(sight, own=Source(phase.id, replace(sight.own.view, ranks_by=ranks_by)))


def _carried(session: Session, snapshot: Snapshot, board: Board) -> list[EntrySource]:
    """Return the phases carried over to the frozen board, each with the end that it had when the board was frozen."""
    closes = snapshot.document.get("carried_closed_at", {})
    found = session.execute(
        select(Phase, PhaseTask)
        .join(PhaseTask, PhaseTask.phase_id == Phase.id)
        .where(Phase.id.in_(snapshot.document["carried"]), PhaseTask.task_id == board.task_id)
        .order_by(Phase.id)
    )
    return [
        EntrySource(phase, phase_task, datetime.fromisoformat(close) if (close := closes.get(str(phase.id))) else None)
        for phase, phase_task in found
    ]


#: How often names were erased from a document, which gives it another version.
_NAMES_ERASED = "names_erased"


def rename_in_snapshots(session: Session, team: Team) -> int:
    """Replace the team's name on official boards by its current one, and nothing else; return the number of boards.

    Only for a team whose people have deleted their accounts; other names stay as they were frozen.
    """
    sent = {str(one) for one in session.scalars(select(Submission.id).where(Submission.team_id == team.id))}
    here = (
        select(Snapshot).join(Phase, Phase.id == Snapshot.phase_id).where(Phase.competition_id == team.competition_id)
    )
    changed = 0
    for snapshot in session.scalars(here.order_by(Snapshot.id).with_for_update(of=Snapshot)):
        rows = snapshot.document["rows"]
        renamed = [{**row, "team": team.name} if row["submission_id"] in sent else row for row in rows]
        if renamed != rows:
            erased = snapshot.document.get(_NAMES_ERASED, 0) + 1
            snapshot.document = {**snapshot.document, "rows": renamed, _NAMES_ERASED: erased}
            changed += 1
    session.flush()
    return changed


# ------------------------------------------------------------------------------------------------------- the document


def _document(session: Session, whole: UnfilteredBoard, sources: Sequence[EntrySource]) -> dict[str, Any]:
    """Return the unfiltered board, as ranked for organisers, to store; `_whole` parses it."""
    sight = whole_sight(session, sources)
    ordered = show(whole, sight)
    teams = {row.submission_id: row.team_id for row in whole.rows}
    return {
        "columns": [asdict(column) for column in whole.columns],
        "rank_by": whole.rank_by,
        "ranks_by": sight.own.view.ranks_by,
        "entry_rule": whole.entry_rule,
        "has_tracks": whole.has_tracks,
        "gold_version": whole.gold_version,
        "half": whole.half,
        "sealed_gold": [asdict(gold) for gold in whole.sealed_gold],
        "card_columns": [asdict(column) for column in whole.card_columns],
        "carried": [one.phase.id for one in sources[1:]],
        "carried_closed_at": {
            str(one.phase.id): one.phase.ends_at.isoformat() for one in sources[1:] if one.phase.ends_at
        },
        "statistics": statistics_document(whole.statistics) if whole.statistics else None,
        "rows": [_row_document(row._replace(team_id=teams[row.submission_id])) for row in ordered.rows],
    }


def _row_document(row: LeaderboardRow) -> dict[str, Any]:
    of_viewers = ("interval", "rank_range", "cluster", "sealed_gold")  # computed for each viewer
    return {
        **{name: value for name, value in row._asdict().items() if name not in of_viewers},
        "cells": [{name: value for name, value in c._asdict().items() if name not in of_viewers} for c in row.cells],
        "achieved_at": row.achieved_at.isoformat() if row.achieved_at else None,
        "card": asdict(row.card) if row.card else None,
        "submission_id": str(row.submission_id) if row.submission_id else None,
        "page_id": str(row.page_id) if row.kind == "historic" and row.page_id else None,
    }


def _whole(document: dict[str, Any]) -> UnfilteredBoard:
    statistics = document["statistics"]
    return UnfilteredBoard(
        columns=tuple(BoardColumn(**column) for column in document["columns"]),
        rank_by=document["rank_by"],
        rows=tuple(_row(row) for row in document["rows"]),
        entry_rule=EntryRule(document["entry_rule"]),
        has_tracks=document["has_tracks"],
        gold_version=document["gold_version"],
        sealed_gold=tuple(CommittedGold(**gold) for gold in document["sealed_gold"]),
        card_columns=tuple(CardColumn(**column) for column in document["card_columns"]),
        statistics=read_statistics(statistics) if statistics else None,
        half=Half(document["half"]) if document.get("half") else None,
    )


def _row(document: dict[str, Any]) -> LeaderboardRow:
    achieved_at, submission_id = document["achieved_at"], document["submission_id"]
    status, card, page_id = document.get("status"), document.get("card"), document.get("page_id")
    return LeaderboardRow(
        **{
            **document,
            "cells": tuple(Cell(**cell) for cell in document["cells"]),
            "achieved_at": datetime.fromisoformat(achieved_at) if achieved_at else None,
            "submission_id": UUID(submission_id) if submission_id else None,
            "page_id": UUID(page_id) if page_id else None,
            "status": RowStatus(status) if status else None,
            "card": card_from(card) if card else None,
        }
    )
