"""A board to compare one team's results with: a few rows are read, the others are counted.

It reads the rows of the team, of baselines and of teams with a mark, and the next rows above and below; the database
counts the others (`app.standings.kept`). So it takes as long on a board of ten rows as on one of thousands. All rows
are read if standings are not stored, or if a phase whose entries are carried over uses other decimals.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from uuid import UUID

from sqlalchemy import bindparam, select
from sqlalchemy.orm import Session

from app.boards.entries import rows_of
from app.boards.leaderboard import EntrySource, rows_of_sources, sight_of, sources_of, whole_board
from app.boards.rows import Leaderboard, LeaderboardRow
from app.boards.view import UnfilteredBoard, ViewerContext, show
from app.competitions.columns import BoardColumn, visible_columns
from app.competitions.entry_rules import entry_settings
from app.competitions.visibility import View, Viewer, rounded
from app.gold.versions import gold_identity
from app.models import Board, BoardShown, PhaseTask, RowMark, Submission, Team, TeamKind
from app.standings.choose import BoardRows, Rules, rules_of
from app.standings.entry import BoardEntry
from app.standings.kept import count_values, entries_around, kept_entries, kept_values, value_of
from evergold.scoring.halves import Half

#: For more positions than this, all values of a board are read at once.
COUNTED_ONE_BY_ONE = 3
#: Number of ranked rows read above and below a row, if its neighbours are requested.
BESIDE = 2


@dataclass(frozen=True, slots=True)
class TeamSight:
    """A viewer's access to a task of a phase, for looking at the runs of one team.

    sources: of the boards' entries; sight: the viewer's access to them.
    apart: teams whose rows are read because they may not compete like others.
    half: the part of divided items whose scores teams see for their runs.
    """

    team_id: int
    sources: Sequence[EntrySource]
    sight: ViewerContext
    apart: frozenset[int]
    half: Half | None

    def view_of(self, source: EntrySource) -> View:
        """Return the viewer's access to a source."""
        return self.sight.carried[source.phase.name].view if source.is_carried else self.sight.own.view


def sight_of_team(
    session: Session,
    phase_task: PhaseTask,
    board: Board,
    team_id: int,
    viewer: Viewer,
) -> TeamSight:
    """Return the access that is the same for all boards of a task in a phase. board: any of them."""
    sources = sources_of(session, EntrySource(phase_task.phase, phase_task), board)
    sight = sight_of(session, sources, viewer)
    marked = session.execute(_MARKED, {"phase_tasks": [one.phase_task.id for one in sources]})
    apart = {team for row in marked for team in row if team is not None}
    apart |= {*session.scalars(_BASELINES, {"competition": phase_task.phase.competition_id}), *sight.mine, team_id}
    # A run shows scores of the public part, even if the private part ranks the board.
    half = Half.PUBLIC if sight.own.view.is_divided else None
    return TeamSight(team_id, sources, sight, frozenset(apart), half)


_MARKED = (
    select(RowMark.team_id, Submission.team_id)
    .outerjoin(Submission, Submission.id == RowMark.submission_id)
    .where(RowMark.phase_task_id.in_(bindparam("phase_tasks", expanding=True)))
)
_BASELINES = select(Team.id).where(Team.competition_id == bindparam("competition"), Team.kind == TeamKind.BASELINE)


@dataclass(frozen=True, slots=True)
class _Read:
    """The stored rows of a source, of which some were read.

    entries: those of the teams in `TeamSight.apart`; near: others next to a requested row; every: all values in order,
    if they were read;
    counted: cached counts, by value.
    """

    source: EntrySource
    rows: BoardRows
    entries: Sequence[BoardEntry]
    near: Sequence[BoardEntry] = ()
    every: Sequence[float] | None = None
    counted: dict[float, tuple[int, int]] = field(default_factory=dict)

    def unread_above(self, session: Session, value: float) -> tuple[int, int]:
        """Return how many unread rows are better than a value, and how many equal it."""
        return self._without([*self.entries, *self.near], session, value)

    def usual_above(self, session: Session, value: float) -> int:
        """Return how many teams outside `TeamSight.apart` have a better value."""
        return self._without(self.entries, session, value)[0]

    def _without(self, read: Sequence[BoardEntry], session: Session, value: float) -> tuple[int, int]:
        rules = self.rows.rules
        if self.every is None:
            if value not in self.counted:
                self.counted[value] = count_values(session, self.rows, value)
            better, count = self.counted[value]
        else:
            count = len(self.every)
            better = (
                count - bisect_right(self.every, value) if rules.higher_is_better else bisect_left(self.every, value)
            )
        known = [ranked_by for one in read if (ranked_by := value_of(one, rules)) is not None]
        return better - _count_better(known, value, rules), count - len(known)


@dataclass(frozen=True, slots=True)
class TeamBoard:
    """A board with the rows that matter to a team.

    shown: the rows that were read, as the viewer sees them.
    mine: the values of the viewer's own rows; own_values: values of the team's runs that are rows, by submission.
    reads: the stored rows of each source, read in part; empty if `shown` has all rows.
    own: the element of `reads` for the phase itself, None if no standings are stored.
    competing: values, by team, of its rows that were read and have a rank; carried: values of carried-over rows.
    """

    shown: Leaderboard
    rules: Rules
    mine: Sequence[float | None]
    own_values: Mapping[UUID | None, float | None]
    reads: Sequence[_Read]
    own: _Read | None
    competing: Mapping[int, float]
    carried: Sequence[float]

    @property
    def is_kept(self) -> bool:
        """True if the phase's standings are stored, so that earlier ones can be derived from them."""
        return self.own is not None

    @property
    def kept_entries(self) -> Sequence[BoardEntry]:
        """The kept entries of the teams whose rows are read; empty if no standings are kept."""
        return () if self.own is None else self.own.entries

    def unread_above(self, session: Session, value: float | None) -> tuple[int, int]:
        """Return how many unread rows are better than a value (0 for None), and how many equal it."""
        rounded_value = rounded(value, self.rules.decimals)
        counts = [one.unread_above(session, rounded_value or 0.0) for one in self.reads]
        return 0 if rounded_value is None else sum(better for better, _ in counts), sum(count for _, count in counts)

    def standing_still(self, session: Session, since: Collection[int] | None) -> StoodStill:
        """Return the unchanged entries, those of all other teams. since: None for carried-over entries only."""
        carried = [one for one in self.reads if one.source.is_carried]
        if self.own is None or since is None:
            return StoodStill(self.rules, self.carried, carried, None, ())
        usual = set(since).difference(one.team_id for one in self.own.entries)
        gone = kept_values(session, self.own.rows, usual).values() if usual else ()
        still = [value for team, value in self.competing.items() if team not in since]
        return StoodStill(self.rules, [*self.carried, *still], carried, self.own, tuple(gone))


@dataclass(frozen=True, slots=True)
class StoodStill:
    """The entries that have not changed since a moment, to count those that are better than a value.

    read: values of the entries that were read.
    carried, own: rows that the database counts.
    gone: values that `own` counts, although their teams are left out.
    """

    rules: Rules
    read: Sequence[float]
    carried: Sequence[_Read]
    own: _Read | None
    gone: Sequence[float]

    def above(self, session: Session, value: float) -> int:
        """Return the number of entries that are better than a rounded value."""
        found = _count_better(self.read, value, self.rules) - _count_better(self.gone, value, self.rules)
        found += sum(one.unread_above(session, value)[0] for one in self.carried)
        return found + (self.own.usual_above(session, value) if self.own is not None else 0)


def _count_better(values: Iterable[float], value: float, rules: Rules) -> int:
    return sum(one > value if rules.higher_is_better else one < value for one in values)


def board_of_team(
    session: Session, board: Board, seen: TeamSight, values: Sequence[float | None], around: UUID | None = None
) -> TeamBoard:
    """Return the rows of a team on a board, with their neighbours.

    values: scores whose positions are needed. around: a submission of the team; the rows next to its value, and next to
    its ranking value, are also read.
    """
    own, *_ = seen.sources
    rules = rules_of(own.phase, own.phase_task, board)
    if rules is None:
        raise LookupError(f"the task type of board {board.name!r} is not installed here")
    reads = [_read(session, board, one, seen) for one in _shown_sources(seen)]
    kept = [one for one in reads if one is not None]
    is_enough = len(kept) == len(reads) and _round_alike(seen, kept)
    if is_enough:
        known = [ranked_by for value in values if (ranked_by := rounded(value, rules.decimals)) is not None]
        centres = {*known, *_entry_values(kept, around)} if around is not None else set()
        kept = [_read_further(session, one, seen, centres, has_list=len(known) > COUNTED_ONE_BY_ONE) for one in kept]
        whole = _excerpt(session, board, seen, kept)
    else:
        whole = whole_board(session, board, seen.sources, half=seen.half)
    ranks_by, place = rules.decimals, whole.rank_by
    own_rows = [row for row in whole.rows if row.team_id == seen.team_id and row.carried_from is None]
    own_values = {row.submission_id: row.cells[place].value for row in own_rows}
    shown = with_own(show(whole, seen.sight), own_values)
    apart = [row for row in whole.rows if row.team_id in seen.apart and row.carried_from is None and row.competes]
    carried = [row.cells[shown.rank_by].value for row in shown.rows if row.carried_from and row.rank is not None]
    return TeamBoard(
        shown=shown,
        rules=rules,
        mine=[row.cells[place].value for row in whole.rows if row.team_id in seen.sight.mine],
        own_values=own_values,
        reads=kept if is_enough else (),
        own=next((one for one in kept if not one.source.is_carried), None),
        competing={
            row.team_id: ranked_by
            for row in apart
            if row.team_id is not None and (ranked_by := rounded(row.cells[place].value, ranks_by)) is not None
        },
        carried=[ranked_by for value in carried if (ranked_by := rounded(value, ranks_by)) is not None],
    )


def with_own(board: Leaderboard, runs: Collection[UUID | None]) -> Leaderboard:
    """Return the board with the team's rows marked as own, so that organisers who view its runs see the same."""
    rows = (
        row._replace(is_mine=row.is_mine or (row.submission_id in runs and row.submission_id is not None))
        for row in board.rows
    )
    return replace(board, rows=tuple(rows))


def _shown_sources(seen: TeamSight) -> list[EntrySource]:
    """Return the sources whose rows the viewer may see."""
    if seen.sight.own.view.board is BoardShown.HIDDEN:
        return []
    return [one for one in seen.sources if not one.is_carried or seen.view_of(one).board is BoardShown.PUBLIC]


def _round_alike(seen: TeamSight, kept: Sequence[_Read]) -> bool:
    """Return True if all rows are compared with the decimals by which their own phase ranked them."""
    views = [seen.view_of(one.source) for one in kept]
    return (
        len({(view.precision, view.ranks_by, one.rows.rules.decimals) for view, one in zip(views, kept, strict=True)})
        < 2
    )


def _read(session: Session, board: Board, source: EntrySource, seen: TeamSight) -> _Read | None:
    """Return the entries of the teams in `seen.apart`; None if no standings are stored."""
    rules = rules_of(source.phase, source.phase_task, board)
    gold = gold_identity(session, seen.sources[0].phase_task) if source.is_carried else None
    if rules is None or (source.is_carried and gold is None):
        return None
    rows = BoardRows(source.phase_task.id, board.id, rules, gold)
    entries = kept_entries(session, rows, seen.apart)
    return None if entries is None else _Read(source, rows, entries)


def _entry_values(kept: Sequence[_Read], around: UUID) -> list[float]:
    """Return a list with the ranking value of a submission; empty if it is not an entry."""
    found = ((one, value_of(one, read.rows.rules)) for read in kept for one in read.entries)
    return [value for one, value in found if one.submission_id == around and value is not None]


def _read_further(
    session: Session, read: _Read, seen: TeamSight, centres: Collection[float], *, has_list: bool
) -> _Read:
    """Read the rows next to these values and, if the places of many are needed, all values."""
    near = {
        one.run_id: one
        for value in sorted(centres)
        for one in entries_around(session, read.rows, value, BESIDE, seen.apart)
    }
    every = sorted(kept_values(session, read.rows).values()) if has_list else None
    return replace(read, near=tuple(near.values()), every=every)


def _ranking_column(board: Board, seen: TeamSight) -> BoardColumn:
    columns = visible_columns(board, seen.sources[0].phase_task.options_of(board.task))
    return next(one for one in columns if (one.metric, one.split) == (board.rank_metric, board.rank_split))


def _excerpt(session: Session, board: Board, seen: TeamSight, reads: Sequence[_Read]) -> UnfilteredBoard:
    """Return a board of the rows that were read, with only its ranking column."""
    own, column = seen.sources[0], _ranking_column(board, seen)
    of_source = {one.source.phase_task.id: one for one in reads}

    def look(source: EntrySource) -> list[LeaderboardRow]:
        read = of_source[source.phase_task.id]
        entries = [*read.entries, *read.near]
        return rows_of(session, source.phase_task, entries, (column,), read.rows.rules, None, seen.half)

    rows = rows_of_sources(session, [one.source for one in reads], look) if reads else []
    rule = entry_settings(own.phase, own.phase_task).rule
    return UnfilteredBoard(columns=(column,), rank_by=0, rows=tuple(rows), entry_rule=rule, half=seen.half)
