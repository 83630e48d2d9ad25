"""The effect of publishing a set: its boards as they are and as they would be, built by the same code.

Only for organisers, whatever the boards show to others.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, and_, func, select
from sqlalchemy.orm import Session, aliased, joinedload

from app.boards.leaderboard import entry_sources, whole_board, whole_sight
from app.boards.rows import Cell, Leaderboard, LeaderboardRow
from app.boards.view import show
from app.competitions.visibility import task_in_phase
from app.models import Board, EntryRule, Phase, PhaseTask, RescoredTask, Rescoring, RunStatus, ScoringRun
from app.rescoring.sets import Progress, gold_of_set, progress_of
from app.standings.tries import Rescored
from evergold.scoring.halves import Half


@dataclass(frozen=True, slots=True)
class Move:
    """A row of a board before and after. None: it is absent, unranked, or has no defined score.

    cells_changed: number of cells that will look different.
    words: what changed, if the score alone does not show it.
    """

    team: str
    kind: str
    team_id: int
    submission: str | None
    carried_from: str | None
    rank_before: int | None
    rank_after: int | None
    score_before: float | None
    score_after: float | None
    cells_changed: int
    words: str

    @property
    def places(self) -> int | None:
        """The number of places that it rises (below 0: falls); None if it has no rank before or after."""
        if self.rank_before is None or self.rank_after is None:
            return None
        return self.rank_before - self.rank_after


@dataclass(frozen=True, slots=True)
class BoardMoves:
    """A board in a phase: the rows that change, largest moves first, and the number of unchanged ones.

    column: title of the ranking column; decimals, percent, out_of: its number format.
    half: the part of divided items that was scored.
    """

    phase: str
    board: str
    title: str
    column: str
    decimals: int
    percent: bool
    out_of: int | None
    moves: tuple[Move, ...]
    unchanged: int
    half: str | None = None


@dataclass(frozen=True, slots=True)
class Difference:
    """The effect of a set. newly_rejected, newly_accepted: submissions whose files become invalid, or valid."""

    progress: Progress
    newly_rejected: int
    newly_accepted: int
    boards: tuple[BoardMoves, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return a document for the database, which `read_difference` parses."""
        return asdict(self)


def read_difference(document: Mapping[str, Any]) -> Difference:
    """Return the difference in a stored document."""
    boards = [
        BoardMoves(**{**board, "moves": tuple(Move(**move) for move in board["moves"])}) for board in document["boards"]
    ]
    return Difference(
        **{**document, "progress": Progress(**document["progress"]), "boards": tuple(boards)},
    )


def difference_of(session: Session, rescoring: Rescoring) -> Difference:
    """Return the difference of an open set as far as it is scored, or the one stored at publication."""
    if rescoring.difference is not None:
        return read_difference(rescoring.difference)
    rescored = Rescored(rescoring.id, gold_of_set(session, rescoring))
    rejected, accepted = _changed_files(session, rescoring)
    return Difference(
        progress=progress_of(session, rescoring),
        newly_rejected=rejected,
        newly_accepted=accepted,
        boards=tuple(
            _board_moves(session, phase, board, rescored, half)
            for phase, board in boards_of_set(session, rescoring)
            for half in _halves(session, phase, board)
        ),
    )


def _halves(session: Session, phase: Phase, board: Board) -> tuple[Half | None, ...]:
    """Return the parts of divided items, which are ranked separately."""
    return (Half.PUBLIC, Half.PRIVATE) if task_in_phase(session, phase, board).private_part else (None,)


def boards_of_set(session: Session, rescoring: Rescoring) -> list[tuple[Phase, Board]]:
    """List every board that shows a submission of the set, in its own phase or carried over to another one."""
    carries, source = aliased(Phase), aliased(Phase)
    own = select(PhaseTask.phase_id, PhaseTask.task_id).join(
        RescoredTask, and_(RescoredTask.phase_task_id == PhaseTask.id, RescoredTask.rescoring_id == rescoring.id)
    )
    later = (
        select(carries.id, PhaseTask.task_id)
        .join(RescoredTask, RescoredTask.phase_task_id == PhaseTask.id)
        .join(source, source.id == PhaseTask.phase_id)
        .join(carries, and_(carries.competition_id == source.competition_id, carries.carry_over == source.name))
        .where(RescoredTask.rescoring_id == rescoring.id)
    )
    shown = own.union(later).subquery()
    found = session.execute(
        select(Phase, Board)
        .join(shown, shown.c.phase_id == Phase.id)
        .join(Board, and_(Board.task_id == shown.c.task_id, Board.competition_id == Phase.competition_id))
        .join(PhaseTask, and_(PhaseTask.phase_id == Phase.id, PhaseTask.task_id == Board.task_id))
        .options(joinedload(Board.task))
        .order_by(Phase.position, Phase.id, Board.position, Board.id)
    )
    return [(phase, board) for phase, board in found]


def _changed_files(session: Session, rescoring: Rescoring) -> tuple[int, int]:
    current = aliased(ScoringRun)

    def from_to(before: RunStatus, after: RunStatus) -> ColumnElement[int]:
        return func.count().filter(current.status == before, ScoringRun.status == after)

    counted = session.execute(
        select(
            from_to(RunStatus.SCORED, RunStatus.REJECTED),
            from_to(RunStatus.REJECTED, RunStatus.SCORED),
        )
        .select_from(ScoringRun)
        .join(current, and_(current.submission_id == ScoringRun.submission_id, current.is_current))
        .where(ScoringRun.rescoring_id == rescoring.id)
    ).one()
    return counted[0], counted[1]


# ---------------------------------------------------------------------------------------------------------- one board

#: A team's row: team, phase it was carried over from, and its submission on boards of all entries.
Key = tuple[int, str | None, UUID | None]
Row = tuple[LeaderboardRow, int]


def _board_moves(session: Session, phase: Phase, board: Board, rescored: Rescored, half: Half | None) -> BoardMoves:
    waiting = _not_scored_yet(session, rescored)
    before, rows_before = _as_organisers_see(session, phase, board, None, half)
    after, rows_after = _as_organisers_see(session, phase, board, rescored, half)
    column, rank_by = after.columns[after.rank_by], after.rank_by
    moves = []
    for key in dict.fromkeys([*rows_before, *rows_after]):
        move = _move(rows_before.get(key), rows_after.get(key), rank_by, waiting)
        if move is not None:
            moves.append(move)
    everyone = len(rows_before.keys() | rows_after.keys())
    return BoardMoves(
        phase=phase.name,
        board=board.name,
        title=f"{board.title}, {phase.title}" + (f", {half} part" if half else ""),
        column=column.title,
        decimals=column.decimals,
        percent=column.percent,
        out_of=column.out_of,
        moves=tuple(sorted(moves, key=_largest_first)),
        unchanged=everyone - len(moves),
        half=half,
    )


def _not_scored_yet(session: Session, rescored: Rescored) -> set[str]:
    """Return the ids of submissions in an open set whose run has not ended: their new scores are unknown."""
    unfinished = ScoringRun.status.in_((RunStatus.QUEUED, RunStatus.RUNNING, RunStatus.FAILED))
    query = select(ScoringRun.submission_id).where(ScoringRun.rescoring_id == rescored.rescoring_id, unfinished)
    return {str(submission_id) for submission_id in session.scalars(query)}


def _as_organisers_see(
    session: Session, phase: Phase, board: Board, rescored: Rescored | None, half: Half | None
) -> tuple[Leaderboard, dict[Key, Row]]:
    sources = entry_sources(session, phase, board, rescored)
    whole = whole_board(session, board, sources, rescoring=rescored, half=half)
    teams = {row.submission_id: row.team_id for row in whole.rows}
    shown = show(whole, whole_sight(session, sources))
    by_submission = whole.entry_rule is EntryRule.ALL
    rows: dict[Key, Row] = {}
    for row in shown.rows:
        team_id = teams.get(row.submission_id) if row.submission_id else None
        if team_id is not None:
            rows[team_id, row.carried_from, row.submission_id if by_submission else None] = row, team_id
    return shown, rows


def _move(before: Row | None, after: Row | None, rank_by: int, waiting: Collection[str]) -> Move | None:
    """Return the change of a row; None if there is none. Columns are declared, so their positions are the same."""
    found = after or before
    if found is None:
        return None
    row, team_id = found
    old, new = (one[0] if one is not None else None for one in (before, after))
    cells_changed = _cells_changed(old, new)
    same_rank = old is not None and new is not None and old.rank == new.rank
    if same_rank and not cells_changed and old is not None and old.submission_id == row.submission_id:
        return None
    return Move(
        team=row.team,
        kind=row.kind,
        team_id=team_id,
        submission=str(row.submission_id) if row.submission_id else None,
        carried_from=row.carried_from,
        rank_before=old.rank if old else None,
        rank_after=new.rank if new else None,
        score_before=old.cells[rank_by].value if old else None,
        score_after=new.cells[rank_by].value if new else None,
        cells_changed=cells_changed,
        words=_words(old, new, rank_by, waiting),
    )


def _cells_changed(old: LeaderboardRow | None, new: LeaderboardRow | None) -> int:
    """Return the number of cells that look different: in value, or in the reason for having none. Signatures may
    differ.
    """

    def visible(cell: Cell) -> tuple[float | None, str | None]:
        return cell.value, cell.reason

    if old is None or new is None:
        return sum(len(one.cells) for one in (old, new) if one is not None)
    return sum(visible(one) != visible(other) for one, other in zip(old.cells, new.cells, strict=True))


def _words(old: LeaderboardRow | None, new: LeaderboardRow | None, rank_by: int, waiting: Collection[str] = ()) -> str:
    if new is None:
        is_waiting = old is not None and str(old.submission_id) in waiting
        return "is not rescored yet" if is_waiting else "leaves the board"
    if old is None:
        return "is new on the board"
    sentences = []
    if old.cells[rank_by].value is not None and new.cells[rank_by].value is None:
        sentences.append(f"its score becomes undefined: {new.cells[rank_by].reason}")
    if old.cells[rank_by].value is None and new.cells[rank_by].value is not None:
        sentences.append("its score becomes defined")
    if old.submission_id != new.submission_id:
        sentences.append("another of its submissions counts")
    return "; ".join(sentences)


def _largest_first(move: Move) -> tuple[bool, int, float, str]:
    """Return the sort key: rows that appear or disappear, then by places, then by scores."""
    stays = (move.rank_before is None) == (move.rank_after is None)
    by_score = abs((move.score_after or 0.0) - (move.score_before or 0.0))
    return stays, -abs(move.places or 0), -by_score, move.team
