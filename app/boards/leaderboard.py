"""A leaderboard, derived from scored runs on every request and never incremented.

Ranked: teams' entries with a defined score in the ranking column. Shown without a rank: entries whose ranking score is
undefined, baselines, and historic rows. Not shown: teams that did not enter the board's setting or track, and anything
that the viewer may not see (`app.competitions.visibility`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

from sqlalchemy import bindparam, func, select
from sqlalchemy.orm import Session

from app.base.errors import NotFound
from app.boards.details import published_page
from app.boards.entries import apply_team_marks, rows_of, with_cards, with_human_scores, with_public_part
from app.boards.marks import has_hidden, marks_of
from app.boards.rows import Cell, CommittedGold, Leaderboard, LeaderboardRow, RowKind
from app.boards.statistics import Statistics, statistics_of
from app.boards.view import Source, UnfilteredBoard, ViewerContext, show
from app.cards.form import MethodCard
from app.competitions.columns import BoardColumn, further_columns, visible_columns
from app.competitions.entry_rules import entry_settings
from app.competitions.private_part import scored_by
from app.competitions.visibility import (
    SeenAs,
    View,
    Viewer,
    declared_of,
    task_in_phase,
    view_of,
    with_last_private_part,
)
from app.gold.versions import gold_identity, published_gold
from app.models import (
    PUBLISHED_RANK,
    Board,
    BoardShown,
    Competition,
    EntryRule,
    HistoricRow,
    Phase,
    PhaseTask,
    Tally,
    Team,
    TeamKind,
)
from app.standings.check import standings_of
from app.standings.choose import BoardRows, rules_of
from app.standings.tries import Rescored, RunFilter
from app.teams.find import teams_of
from evergold.scoring.halves import Half

__all__ = [
    "Cell",
    "Leaderboard",
    "LeaderboardRow",
    "RowKind",
    "board_version",
    "build_leaderboard",
    "count_entries",
    "sight_of",
    "whole_board",
]


@dataclass(frozen=True, slots=True)
class EntrySource:
    """A task in a phase.

    closed_at: the close at which it was frozen; None for the live board.
    is_carried: True if the board belongs to another phase, which shows only runs scored with its gold.
    """

    phase: Phase
    phase_task: PhaseTask
    closed_at: datetime | None = None
    is_carried: bool = False


def build_leaderboard(
    session: Session,
    phase: Phase,
    board: Board,
    viewer: Viewer,
    *,
    more: Sequence[tuple[str, str]] = (),
    until: datetime | None = None,
    half: Half | None = None,
) -> Leaderboard:
    """Return the board as this viewer sees it now. `board.task` must be loaded.

    more: further scores, (metric, split), as columns for pictures; those that the viewer may not see are left out.
    until: only submissions before then, under today's access rules.
    half: the part of divided items; None for the default one. Raises NotFound if it is not shown.
    """
    sources = entry_sources(session, phase, board)
    sight = sight_of(session, sources, viewer)
    views = [sight.own.view, *(source.view for source in sight.carried.values())]
    allowed = [score for score in more if all(view.shows(*score) for view in views)]
    half = _half(sight, half)
    shown = show(whole_board(session, board, sources, allowed, until, half=half), sight)
    by_rows = shown if _version_from_rows(session, sources, sight) else None
    return replace(shown, version=_version(board, sources, sight, by_rows, half))


def board_version(
    session: Session,
    phase: Phase,
    board: Board,
    viewer: Viewer,
    *,
    half: Half | None = None,
) -> str:
    """Return a version that changes whenever this viewer's board could change, and reveals nothing else.

    This takes only a few small queries, so that a cached response can be checked cheaply; the board itself is built
    only if it shows just ranks or has hidden rows.
    """
    sources = entry_sources(session, phase, board)
    sight = sight_of(session, sources, viewer)
    half = _half(sight, half)
    if _version_from_rows(session, sources, sight):
        return _version(board, sources, sight, show(whole_board(session, board, sources, half=half), sight), half)
    return _version(board, sources, sight, None, half)


def _half(sight: ViewerContext, wanted: Half | None) -> Half | None:
    """Return the selected part of divided items, or the default one; raises NotFound if it is not shown."""
    view = sight.own.view
    if not {None: True, Half.PUBLIC: view.is_divided, Half.PRIVATE: view.private}[wanted]:
        raise NotFound("This part of the items is not shown yet or does not exist.")
    return wanted or view.half


def _version_from_rows(session: Session, sources: Sequence[EntrySource], sight: ViewerContext) -> bool:
    """Return True if the version number would reveal more than the board, because it also increases with hidden
    changes.
    """
    view = sight.own.view
    if view.board is BoardShown.PUBLIC and not view.is_organiser:
        return has_hidden(session, [one.phase_task.id for one in sources])
    return view.board is BoardShown.RANKS_ONLY


def _version(
    board: Board, sources: Sequence[EntrySource], sight: ViewerContext, shown: Leaderboard | None, half: Half | None
) -> str:
    """Return the version of a board. A hidden board's version has no number, which would reveal the number of scored
    runs.
    """
    start = f"{sources[0].phase.id}-{board.id}" + (f"-{half}" if half else "")
    view = sight.own.view
    if view.board is BoardShown.HIDDEN:
        return f"{start}-{view.key}"
    if shown is not None:
        rows = [row._replace(is_mine=False, submission_id=None) for row in shown.rows]
        shown_text = repr(
            [rows, shown.columns, shown.card_columns, shown.gold_version, shown.sealed_gold]
            + [shown.statistics, sorted(shown.pair_tests.items())]
        )
        return f"{start}-{hashlib.sha256(shown_text.encode()).hexdigest()[:16]}-{view.key}"
    seen_of = [(sources[0], view), *((one, sight.carried[one.phase.name].view) for one in sources[1:])]
    parts = [
        f"{one.phase_task.board_version}-{seen.key}" if seen.board is BoardShown.PUBLIC else seen.key
        for one, seen in seen_of
    ]
    return "-".join([start, *parts])


# ---------------------------------------------------------------------------------------------------- the whole board


def entry_sources(session: Session, phase: Phase, board: Board, rescoring: Rescored | None = None) -> list[EntrySource]:
    """Return the sources of a board's entries: its own phase, then the phase whose entries it carries over."""
    return sources_of(session, EntrySource(phase, task_in_phase(session, phase, board)), board, rescoring)


def sources_of(
    session: Session, own: EntrySource, board: Board, rescoring: Rescored | None = None
) -> list[EntrySource]:
    """Return the same as `entry_sources`, given the source of the board's own phase."""
    carried = _carried_over(session, own, board, rescoring)
    return [own, carried] if carried else [own]


def sight_of(
    session: Session,
    sources: Sequence[EntrySource],
    viewer: Viewer,
) -> ViewerContext:
    """Return the viewer's access to each phase.

    A private part stays hidden until the private part of the phase whose entries are carried over is shown, too.
    """
    user = None if viewer.seen_as is SeenAs.PUBLIC else viewer.user
    views = [view_of(session, one.phase_task, viewer, closed_at=one.closed_at) for one in sources]
    views[0] = with_last_private_part(*views)
    own, *carried = [Source(one.phase.id, view) for one, view in zip(sources, views, strict=True)]
    by_phase = {one.phase.name: source for one, source in zip(sources[1:], carried, strict=True)}
    competition = session.get_one(Competition, sources[0].phase.competition_id)
    return ViewerContext(own, by_phase, teams_of(session, user) if user else frozenset(), competition.neutral_salt)


def whole_sight(session: Session, sources: Sequence[EntrySource]) -> ViewerContext:
    """Return the access of organisers, who see everything, with the ranking decimals that apply to everybody."""
    ranks_by = min(declared_of(one.phase, one.phase_task).ranks_by for one in sources)
    everything = View(ranks_by=ranks_by, participants=View())
    own, *carried = [Source(one.phase.id, everything) for one in sources]
    by_phase = {one.phase.name: source for one, source in zip(sources[1:], carried, strict=True)}
    salt = session.get_one(Competition, sources[0].phase.competition_id).neutral_salt
    return ViewerContext(own, by_phase, frozenset(), salt)


def whole_board(
    session: Session,
    board: Board,
    sources: Sequence[EntrySource],
    more: Sequence[tuple[str, str]] = (),
    until: datetime | None = None,
    rescoring: Rescored | None = None,
    half: Half | None = None,
) -> UnfilteredBoard:
    """Return the whole board, for `app.boards.view` to filter.

    until: only submissions before then.
    rescoring: a set to treat as published.
    half: the part of divided items that the scores belong to.
    """
    own, *others = sources
    options = own.phase_task.options_of(board.task)
    columns = visible_columns(board, options)
    columns = (*columns, *further_columns(board, columns, more))
    rank_by = next(i for i, c in enumerate(columns) if (c.metric, c.split) == (board.rank_metric, board.rank_split))
    gold = _gold(session, own.phase_task, rescoring)
    bounds = RunFilter(until=until, rescoring=rescoring)
    look = partial(_live_rows, session, bounds, board=board, columns=columns, gold=gold, half=half)
    rows = rows_of_sources(session, sources, look)
    rows += _historic_rows(session, own.phase, board, columns)
    competition = session.get_one(Competition, own.phase.competition_id)
    whole = UnfilteredBoard(
        columns=columns,
        rank_by=rank_by,
        rows=tuple(rows),
        entry_rule=entry_settings(own.phase, own.phase_task).rule,
        has_tracks=bool(competition.tracks),
        gold_version=own.phase_task.gold_version,
        sealed_gold=tuple(
            CommittedGold(one.number, one.commitment)
            for one in published_gold(session, own.phase.id, own.phase_task.task_id)
        ),
        statistics=_statistics(session, sources, board, half) if until is None and rescoring is None else None,
        half=half,
    )
    whole = with_public_part(session, whole) if half is Half.PRIVATE else whole
    whole = with_human_scores(session, own.phase, board, whole)
    return with_cards(session, competition, board, [one.phase_task.id for one in sources], whole)


def rows_of_sources(
    session: Session, sources: Sequence[EntrySource], look: Callable[[EntrySource], list[LeaderboardRow]]
) -> list[LeaderboardRow]:
    """Return the rows of all sources of a board. look: returns the rows of one source."""
    own, *others = sources
    rows = look(own)
    here = {row.team_id for row in rows if row.kind == "baseline"}
    for other in others:
        carried = apply_team_marks(look(other), marks_of(session, own.phase_task))
        rows += [row._replace(carried_from=other.phase.name) for row in carried if row.team_id not in here]
    return rows


def _live_rows(
    session: Session,
    bounds: RunFilter,
    source: EntrySource,
    *,
    board: Board,
    columns: Sequence[BoardColumn],
    gold: str | None,
    half: Half | None,
) -> list[LeaderboardRow]:
    """Return the rows of a source. gold: the version in use; carried-over rows scored with another one are left out."""
    rules = rules_of(source.phase, source.phase_task, board)
    if rules is None:
        raise LookupError(f"the task type of board {board.name!r} is not installed here")
    rows = BoardRows(source.phase_task.id, board.id, rules, gold if source.is_carried else None)
    standings = standings_of(session, rows, bounds)
    return rows_of(session, source.phase_task, standings, columns, rules, gold, half)


def _statistics(session: Session, sources: Sequence[EntrySource], board: Board, half: Half | None) -> Statistics | None:
    return None if has_ladder(sources) else statistics_of(session, sources[0].phase_task.id, board.id, half)


def has_ladder(sources: Sequence[EntrySource]) -> bool:
    """Return True if a phase uses a Ladder, whose reported scores differ from the computed ones that statistics use."""
    return any(entry_settings(one.phase, one.phase_task).rule is EntryRule.LADDER for one in sources)


def _gold(session: Session, phase_task: PhaseTask, rescoring: Rescored | None) -> str | None:
    """Return the identity of a phase task's gold: of the rescoring set if it has one, else of the version in use."""
    found = rescoring.gold.get(phase_task.id) if rescoring is not None else None
    return found or gold_identity(session, phase_task)


def _carried_over(session: Session, own: EntrySource, board: Board, rescoring: Rescored | None) -> EntrySource | None:
    """Return the source of the carried-over entries; None if there is none or its scores are not comparable."""
    if own.phase.carry_over is None or own.phase_task.gold is None:
        return None
    found = session.execute(
        select(Phase, PhaseTask)
        .join(PhaseTask, PhaseTask.phase_id == Phase.id)
        .where(
            Phase.competition_id == own.phase.competition_id,
            Phase.name == own.phase.carry_over,
            Phase.id != own.phase.id,
            PhaseTask.task_id == board.task_id,
        )
    ).first()
    if found is None:
        return None
    other = EntrySource(found[0], found[1], is_carried=True)
    same_gold = _gold(session, own.phase_task, rescoring) == _gold(session, other.phase_task, rescoring)
    return other if same_gold and is_same_question(own.phase_task, other.phase_task) else None


def is_same_question(phase_task: PhaseTask, other: PhaseTask) -> bool:
    """Return True if scores of both tasks are comparable: same gold version, options and parts."""
    return _question(phase_task) == _question(other)


def _question(phase_task: PhaseTask) -> tuple[object, ...]:
    return phase_task.gold, phase_task.gold_version, phase_task.options, scored_by(phase_task.private_part)


def _historic_rows(
    session: Session, phase: Phase, board: Board, columns: Sequence[BoardColumn]
) -> list[LeaderboardRow]:
    rows = []
    for row in session.scalars(_HISTORIC, {"phase": phase.id, "board": board.id}):
        values = [row.scores.get(f"{column.metric} {column.split}") for column in columns]
        cells = tuple(Cell(value, "not published" if value is None else None, None) for value in values)
        card = MethodCard(row.method, paper=row.paper, code=row.code)
        found = LeaderboardRow(
            rank=None,
            team=row.team,
            kind="historic",
            cells=cells,
            achieved_at=row.achieved_at,
            method=row.method,
            entries=1,
            source=row.source,
            page_id=published_page(row),
            card=card if card.says_more else None,
            published_rank=row.scores.get(PUBLISHED_RANK),
        )
        rows.append(found)
    return rows


_HISTORIC = (
    select(HistoricRow)
    .where(HistoricRow.phase_id == bindparam("phase"), HistoricRow.board_id == bindparam("board"))
    .order_by(HistoricRow.id)
)


# ----------------------------------------------------------------------------------------------------------- for lists


def count_entries(session: Session, views: dict[int, View]) -> dict[int, int]:
    """Count teams with a scored submission, by phase task, for lists of boards; hidden boards are left out.

    views: by the id of the phase task, from `app.competitions.visibility.views_of`.
    """
    counted = session.execute(
        select(Tally.phase_task_id, func.count())
        .join(Team, Team.id == Tally.team_id)
        .where(
            Tally.phase_task_id.in_([key for key, view in views.items() if view.board is not BoardShown.HIDDEN]),
            Tally.runs > 0,
            Team.kind == TeamKind.TEAM,
        )
        .group_by(Tally.phase_task_id)
    )
    return {phase_task_id: count for phase_task_id, count in counted}
