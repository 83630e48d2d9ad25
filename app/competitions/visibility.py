"""Visibility: the only module that decides who sees which scores, ranks, names and counts, and when.

`Phase.visibility` and `PhaseTask.visibility` hold what was declared for a phase and a task of it, key by key. A
viewer's access is a pure function of that and of the current time: an embargo is lifted at its declared time, half-open
like phases, without any job. `app.boards.view` applies it to boards.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from math import isfinite
from typing import Any

from sqlalchemy import bindparam, select
from sqlalchemy.orm import Session, joinedload

from app.base.db import once
from app.competitions.columns import HUMAN_SCORE
from app.models import Board, BoardShown, Competition, EntryRule, OwnScores, Phase, PhaseTask, Right, Slices, User
from app.people.rights import may_organise
from evergold.moments import deadline_words
from evergold.scoring.halves import Half

#: A moment in phases.yaml: the end of the phase, even if that is moved.
CLOSE = "close"
#: A moment in phases.yaml: at no time.
NEVER = "never"
#: A precision in phases.yaml: all decimals.
FULL = "full"
#: Default decimals of a score while its gold is hidden: each further digit reveals more about the labels.
HIDDEN_GOLD_DECIMALS = 4
#: Decimals used to compare unrounded scores: the last digits of a sum are rounding noise.
EXACT_DECIMALS = 12


class SeenAs(StrEnum):
    """The role in which an organiser previews pages; a preview never shows more than the organiser's own view."""

    PARTICIPANT = "participant"
    PUBLIC = "public"


@dataclass(frozen=True, slots=True)
class Viewer:
    """A user (None: anonymous) at a moment. seen_as: the role in which an organiser previews pages."""

    user: User | None
    now: datetime
    seen_as: SeenAs | None = None

    def at(self, moment: datetime) -> Viewer:
        """Return the same viewer at another moment, as after waiting for news."""
        return replace(self, now=moment)


@dataclass(frozen=True, slots=True)
class View:
    """View of one task in one phase at one moment: everything that a viewer may see.

    - board: how much of its boards is shown; board_at: when they become fully visible (None: they are, or never will
      be).
    - names: whether team names are shown; own_scores: whether a team sees its own scores; names_at, own_scores_at: as
      board_at.
    - slices_at: when all slices are shown.
    - has_statistics: whether intervals, rank ranges and tests of the visible scores are shown as well.
    - only: the (metric, split) pairs that are shown; None for all.
    - precision: decimals of every value; None for all.
    - ranks_by: decimals used to choose entries and to rank, the same for everybody, so that no order reveals hidden
      decimals; None on an official board that an earlier version ranked by floats.
    - is_divided: whether the items have a private part; private: whether its scores are shown; private_at: when they
      will be.
    - participants: for organisers, the view of participants; None for everybody else.
    """

    board: BoardShown = BoardShown.PUBLIC
    board_at: datetime | None = None
    names: bool = True
    names_at: datetime | None = None
    own_scores: bool = True
    own_scores_at: datetime | None = None
    slices: Slices = Slices.ALL
    slices_at: datetime | None = None
    has_statistics: bool = True
    only: frozenset[tuple[str, str]] | None = None
    precision: int | None = None
    ranks_by: int | None = EXACT_DECIMALS
    is_divided: bool = False
    private: bool = False
    private_at: datetime | None = None
    participants: View | None = None

    @property
    def is_organiser(self) -> bool:
        """True if the viewer is an organiser, who sees everything."""
        return self.participants is not None

    @property
    def participant_view(self) -> View:
        """The view of participants, even if the viewer is an organiser; used for descriptions."""
        return self.participants or self

    @property
    def half(self) -> Half | None:
        """The part of the items whose scores are on boards by default; None if the items are not divided.

        It is the private part as soon as everybody may see that.
        """
        if not self.is_divided:
            return None
        return Half.PRIVATE if self.participant_view.private else Half.PUBLIC

    @property
    def has_details(self) -> bool:
        """True if texts and aggregates of reports are shown: their counts would reveal all decimals and all slices."""
        return self.slices is Slices.ALL and self.precision is None

    @property
    def has_usual_digits(self) -> bool:
        """True if values have at least as many decimals as scores of hidden gold have by default."""
        return tells_statistics(self.precision)

    @property
    def shows_ranking_scores_only(self) -> bool:
        """True if scores that rank no board are not even named."""
        return self.slices in (Slices.NONE, Slices.RANKED)

    @property
    def ranks_exactly(self) -> bool:
        """True if rows are ranked by exact values, so that only equal values tie."""
        return is_exact(self.ranks_by)

    @property
    def key(self) -> str:
        """A hash for tags and versions, equal for equal views. It reveals nothing that the view does not."""
        shown = replace(self.participants, participants=None) if self.participants else self
        only = sorted(shown.only) if shown.only is not None else None
        parts = [self.is_organiser, *(getattr(shown, name) for name in _TOLD), only]
        return hashlib.sha256(repr(parts).encode()).hexdigest()[:8]

    def shows(self, metric: str, split: str) -> bool:
        """Return True if this score may be shown."""
        return self.only is None or (metric, split) in self.only


_TOLD = ("board", "board_at", "names", "names_at", "own_scores", "own_scores_at", "slices", "precision", "ranks_by") + (
    "slices_at",
    "has_statistics",
    "is_divided",
    "private",
    "private_at",
)


def tells_statistics(precision: int | None) -> bool:
    """Return True if interval bounds and significance may be shown for values of this precision.

    If fewer decimals than usual are declared, they would reveal the hidden ones.
    """
    return precision is None or precision >= HIDDEN_GOLD_DECIMALS


def is_exact(decimals: int | None) -> bool:
    """Return True if values that agree to this many decimals are equal."""
    return decimals is None or decimals >= EXACT_DECIMALS


def rounded(value: float | None, decimals: int | None) -> float | None:
    """Round a value for output, half to even, only once; return it. decimals: None leaves it unrounded. Zero has no
    sign.

    A value of 10 or more gets no more digits than one below 10, but at least five: otherwise a mean of squares in the
    millions would reveal more about hidden gold than a fraction does.
    """
    if value is None or decimals is None or not isfinite(value):
        return value
    if not -10 < value < 10:
        digits = max(decimals, HIDDEN_GOLD_DECIMALS) + 1
        decimals = min(decimals, digits - len(str(int(abs(value)))))
    return round(value, decimals) + 0.0


def rounded_document(document: Any, decimals: int | None) -> Any:
    """Return a JSON document, such as the aggregates of a report, with every float rounded as by `rounded`."""
    if decimals is None:
        return document
    if isinstance(document, dict):
        return {name: rounded_document(inside, decimals) for name, inside in document.items()}
    if isinstance(document, list):
        return [rounded_document(inside, decimals) for inside in document]
    return rounded(document, decimals) if isinstance(document, float) else document


def min_decimals(decimals: int | None, other: int | None) -> int | None:
    """Return the smaller of two numbers of decimals; None means all."""
    return min((number for number in (decimals, other) if number is not None), default=None)


# ------------------------------------------------------------------------------------------------------------ deciding


@dataclass(frozen=True, slots=True)
class Declared:
    """The declaration of the organisers, with all defaults and times filled in."""

    board: BoardShown = BoardShown.PUBLIC
    public_from: datetime | None = None
    own_scores: OwnScores = OwnScores.AT_ONCE
    names_from: datetime | None = None
    is_anonymous: bool = False
    slices: Slices = Slices.ALL
    precision: int | None = None
    is_gold_hidden: bool = False
    is_divided: bool = False
    private_from: datetime | None = None
    closes_at: datetime | None = None

    @property
    def ranks_by(self) -> int:
        """The decimals used to choose entries and to rank: those shown, without rounding noise."""
        return EXACT_DECIMALS if self.precision is None else self.precision

    @property
    def has_statistics_while_open(self) -> bool:
        """True if intervals and tests are shown before the phase ends: the ends of an interval reveal as much as
        scores.
        """
        return tells_statistics(self.precision) and (self.slices is Slices.ALL or not self.is_gold_hidden)

    def has_statistics_at(self, now: datetime) -> bool:
        """Return whether intervals and tests are shown at this moment."""
        has_ended = _reached(self.closes_at, now)
        return tells_statistics(self.precision) if has_ended else self.has_statistics_while_open

    def slices_at(self, now: datetime) -> Slices:
        """Return the slices shown at this moment; the restriction `ranked` ends with the phase."""
        return Slices.ALL if self.slices is Slices.RANKED and _reached(self.closes_at, now) else self.slices


def is_gold_hidden(phase_task: PhaseTask | None, *, trusts_declaration: bool = True) -> bool:
    """Return whether scores of a task in a phase reveal something about gold that is not public.

    Without a task, the usual case of a phase. For sealed gold, only its upload or revelation decides, not the
    declaration. trusts_declaration: whether `gold_is_public` counts for plain gold; editors could set it to evade a
    rule about hidden gold.
    """
    if phase_task is None:
        return True
    if phase_task.sealed_gold_is_public is not None:
        return not phase_task.sealed_gold_is_public
    return not (trusts_declaration and phase_task.gold_is_public)


def declared_of(phase: Phase, phase_task: PhaseTask | None = None, *, closed_at: datetime | None = None) -> Declared:
    """Return the declaration of a task in the phase: key by key its own, or else that of the phase.

    Unless more is declared, only ranking scores of hidden gold are shown while the phase is open, without intervals,
    and few decimals at any time; once the gold is public, its scores reveal nothing new.
    closed_at: the close to use for a board that was frozen then; None for the current end of the phase.
    """
    close = closed_at or phase.ends_at
    declared = {**phase.visibility, **(phase_task.visibility if phase_task else {})}
    public_from, names_from = declared.get("public_from"), declared.get("names_from")
    # On a ladder a team learns its record and nothing else: any other score would get around that.
    own_rule = (phase_task.entry or {}).get("entry") if phase_task else None
    is_ladder = (own_rule or phase.entry_rule) == EntryRule.LADDER
    board = BoardShown(declared.get("board") or (BoardShown.HIDDEN if public_from else BoardShown.PUBLIC))
    private = phase_task.private_part if phase_task else {}
    return Declared(
        board=BoardShown.HIDDEN if public_from and board is BoardShown.PUBLIC else board,
        public_from=_moment(public_from, close),
        own_scores=OwnScores.NEVER if is_ladder else OwnScores(declared.get("own_scores") or OwnScores.AT_ONCE),
        names_from=_moment(names_from, close),
        is_anonymous=bool(names_from),
        slices=Slices.NONE
        if is_ladder
        else Slices(declared.get("slices") or _USUAL_SLICES[is_gold_hidden(phase_task)]),
        precision=_precision(declared.get("precision"), phase_task),
        is_gold_hidden=is_gold_hidden(phase_task),
        is_divided=bool(private),
        private_from=_moment(private.get("shown_from", CLOSE), close) if private else None,
        closes_at=close,
    )


#: Keyed by whether the gold is hidden.
_USUAL_SLICES = {True: Slices.RANKED, False: Slices.ALL}


def _precision(declared: int | str | None, phase_task: PhaseTask | None) -> int | None:
    if declared is None:
        return HIDDEN_GOLD_DECIMALS if is_gold_hidden(phase_task) else None
    return None if declared == FULL else int(declared)


def decide(declared: Declared, now: datetime, only: frozenset[tuple[str, str]] | None = None) -> View:
    """Return the view of viewers who are not organisers. only: the scores visible under the current slices."""
    is_public = declared.board is BoardShown.PUBLIC or _reached(declared.public_from, now)
    has_names = not declared.is_anonymous or _reached(declared.names_from, now)
    own_from = declared.closes_at if declared.own_scores is OwnScores.AFTER_CLOSE else None
    sees_private = declared.is_divided and _reached(declared.private_from, now)
    sees_own = declared.own_scores is OwnScores.AT_ONCE or _reached(own_from, now)
    slices = declared.slices_at(now)
    return View(
        board=BoardShown.PUBLIC if is_public else declared.board,
        board_at=None if is_public else declared.public_from,
        names=has_names,
        names_at=None if has_names else declared.names_from,
        own_scores=sees_own,
        own_scores_at=None if sees_own else own_from,
        slices=slices,
        slices_at=declared.closes_at if slices is Slices.RANKED else None,
        has_statistics=declared.has_statistics_at(now),
        only=only,
        precision=declared.precision,
        ranks_by=declared.ranks_by,
        is_divided=declared.is_divided,
        private=sees_private,
        private_at=None if sees_private else declared.private_from,
    )


def with_last_private_part(view: View, *others: View) -> View:
    """Return the view with its private part shown no earlier than that of phases carried over to the board."""
    if not view.is_divided:
        return view
    if view.participants:
        participants = with_last_private_part(view.participants, *(one.participant_view for one in others))
        return replace(view, participants=participants)
    waiting = [one.private_at for one in (view, *others) if one.is_divided and not one.private]
    last = None if None in waiting else max((one for one in waiting if one), default=None)
    return replace(view, private=not waiting, private_at=last)


def _reached(moment: datetime | None, now: datetime) -> bool:
    return moment is not None and now >= moment


def _moment(declared: Any, close: datetime | None) -> datetime | None:
    if declared in (None, NEVER, CLOSE):
        return close if declared == CLOSE else None
    return datetime.fromisoformat(declared)


# -------------------------------------------------------------------------------------------------------------- access


def view_of(
    session: Session,
    phase_task: PhaseTask,
    viewer: Viewer,
    *,
    closed_at: datetime | None = None,
) -> View:
    """Return what this viewer may see of a task in a phase.

    `app.competitions.find` decides who may open which submission.
    closed_at: for a frozen board, as in `declared_of`.
    """
    phase = session.get_one(Phase, phase_task.phase_id)
    view = _decided(session, phase, phase_task, viewer.now, closed_at)
    if viewer.seen_as is not None or viewer.user is None:
        return view
    competition = session.get_one(Competition, phase.competition_id)
    return _of_organiser(view) if may_organise(session, viewer.user, competition, Right.SUBMISSIONS) else view


def view_known(session: Session, phase_task: PhaseTask, now: datetime, *, organises: bool) -> View:
    """Return the view of a viewer if `organises` is known; the task's phase must be loaded.

    organises: whether the viewer is an organiser with permission to see submissions.
    """
    view = _decided(session, phase_task.phase, phase_task, now)
    return _of_organiser(view) if organises else view


def _decided(
    session: Session, phase: Phase, phase_task: PhaseTask, now: datetime, closed_at: datetime | None = None
) -> View:
    declared = declared_of(phase, phase_task, closed_at=closed_at)
    return decide(declared, now, _scores_left(session, phase, phase_task, declared.slices_at(now)))


def _of_organiser(view: View) -> View:
    everything = View(ranks_by=view.ranks_by, is_divided=view.is_divided, private=view.is_divided)
    return replace(everything, participants=view)


def view_of_board(
    session: Session,
    phase: Phase,
    board: Board,
    viewer: Viewer,
) -> View:
    """Return what this viewer may see of a board in a phase, as `view_of` does."""
    return view_of(session, task_in_phase(session, phase, board), viewer)


def views_of(
    session: Session,
    phase_tasks: Iterable[PhaseTask],
    viewer: Viewer,
) -> dict[int, View]:
    """Return the views of several phase tasks by id, for lists."""
    by_id = {phase_task.id: phase_task for phase_task in phase_tasks}
    return {key: view_of(session, one, viewer) for key, one in by_id.items()}


def task_in_phase(session: Session, phase: Phase, board: Board) -> PhaseTask:
    """Return the board's task in this phase."""
    where = {"phase": phase.id, "task": board.task_id}
    return once(session, ("task in phase", *where.values()), lambda: session.scalars(_ASKED, where).one())


_ASKED = select(PhaseTask).where(PhaseTask.phase_id == bindparam("phase"), PhaseTask.task_id == bindparam("task"))


def _scores_left(
    session: Session, phase: Phase, phase_task: PhaseTask, slices: Slices
) -> frozenset[tuple[str, str]] | None:
    """Return the scores that rank the task's boards, and for `columns` also those in other columns; None for all."""
    if slices is Slices.ALL:
        return None
    boards = boards_of_task(session, phase.competition_id, phase_task.task_id)
    ranking = {(board.rank_metric, board.rank_split) for board in boards}
    if slices in (Slices.NONE, Slices.RANKED):
        return frozenset(ranking)
    judged = {(HUMAN_SCORE, board.rank_split) for board in boards}
    columns = {(column["metric"], column["split"]) for board in boards for column in board.columns}
    return frozenset(ranking | columns | judged)


def boards_of_task(session: Session, competition_id: int, task_id: int) -> Sequence[Board]:
    """List the boards of a task in the organisers' order, with the task loaded."""
    where = {"competition": competition_id, "task": task_id}
    return once(session, ("boards of task", *where.values()), lambda: session.scalars(_BOARDS, where).all())


#: Built once: building it takes longer than executing it.
_BOARDS = (
    select(Board)
    .where(Board.competition_id == bindparam("competition"), Board.task_id == bindparam("task"))
    .options(joinedload(Board.task))
    .order_by(Board.position, Board.id)
)


# ---------------------------------------------------------------------------------------------------------- in words


def until_words(moment: datetime | None) -> str:
    """Return `until 2027-02-01 12:00 UTC`, or a phrase without a date if none is declared, to follow `hidden`."""
    return f"until {deadline_words(moment)}" if moment is not None else "until the organisers show it"


def own_scores_words(view: View) -> str:
    """Return why a team cannot see its scores (yet); "" if it can."""
    if view.own_scores:
        return ""
    if view.own_scores_at is None:
        return "This phase does not show teams the scores of their submissions."
    return f"The scores of this phase are shown to teams on {deadline_words(view.own_scores_at)}, when it ends."
